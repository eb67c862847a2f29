// SPDX-License-Identifier: Apache-2.0
/** The range of time that charts show: one for all views, kept until another is chosen. */

import { html } from './lit/lit-html.js';
import { changed } from './redraw.js';

const KEPT = 'gatun.range';

/** Minutes, and their text. */
const RANGES = [
    [5, '5 min'],
    [15, '15 min'],
    [60, '1 h'],
];

let chosen = kept();

function kept() {
    try {
        const minutes = Number(localStorage.getItem(KEPT));
        return RANGES.find((range) => range[0] === minutes) ?? RANGES[0];
    } catch {
        return RANGES[0];
    }
}

/** The length of the range in minutes. */
export function rangeMinutes() {
    return chosen[0];
}

/** The length of the range as a text. */
export function rangeText() {
    return chosen[1];
}

/**
 * Buttons for the ranges.
 *
 * @param onChoice called when another is chosen
 */
export function rangeButtons(onChoice) {
    return html`<span class="choice" role="group" aria-label="Time shown">${RANGES.map((range) => html`<button
        aria-pressed=${String(range === chosen)} @click=${() => choose(range, onChoice)}>${range[1]}</button>`)}</span>`;
}

function choose(range, onChoice) {
    chosen = range;
    try {
        localStorage.setItem(KEPT, String(range[0]));
    } catch {
        // Then it lasts until the page is left.
    }
    onChoice();
    changed();
}
