// SPDX-License-Identifier: Apache-2.0
/** A line without axes, as small as a figure in a table. What it shows stands beside it as a number. */

import { html, svg } from './lit/lit-html.js';

const HEIGHT = 14;
const MARGIN = 1;

/** The path of values from 0 to the greatest; what is unknown is a gap. */
export function sparkPath(values) {
    const most = values.reduce((a, b) => Math.max(a, b ?? 0), 0) || 1;
    const isKnown = (value) => value !== null && value !== undefined;
    let path = '';
    values.forEach((value, i) => {
        if (isKnown(value)) {
            const y = (HEIGHT - MARGIN - (value / most) * (HEIGHT - 2 * MARGIN)).toFixed(1);
            const isFirst = !isKnown(values[i - 1]);
            // A point alone would not be seen.
            path += `${isFirst ? 'M' : 'L'}${i},${y}${isFirst && !isKnown(values[i + 1]) ? 'h1' : ''}`;
        }
    });
    return path;
}

/** The line of a path of so many values. */
export function sparkline(path, points) {
    return html`<svg class="trend" viewBox=${`0 0 ${points} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">${svg`<path class="spark" d=${path}></path>`}</svg>`;
}
