// SPDX-License-Identifier: Apache-2.0
/** What a model answered: values, bars, and the label of a picture. */

import { html, nothing } from './lit/lit-html.js';
import { count, cut, shape } from './format.js';
import { elementText } from './tensors.js';

const MOST_BARS = 32;
const TOP_LABELS = 10;

/**
 * An output.
 *
 * @param output {name, datatype, dims, count, elements (the first ones)}
 * @param labels of its last dimension, if the model has some
 */
export function outputView(output, labels) {
    const numbers = output.elements.map(Number);
    const isNumeric = output.datatype !== 'BYTES' && output.datatype !== 'BOOL' && numbers.every(Number.isFinite);
    // A file of labels may have an empty line at its end.
    const classes = labels?.length >= output.count && isNumeric && output.count > 1 && output.elements.length === output.count;
    return html`<section class="answer" aria-label=${output.name}>
        <h3>${cut(output.name, 200)} <span class="muted">${output.datatype} ${shape(output.dims)}</span></h3>
        ${classes ? labelView(numbers, labels) : nothing}
        ${classes ? bars(topClasses(numbers, labels)) : isNumeric && output.count > 1 && output.count <= MOST_BARS
            ? bars(numbers.map((value, i) => ({ text: String(i), value, shown: elementText(output.datatype, output.elements[i]) })))
            : nothing}
        ${output.datatype === 'BYTES' && output.count === 1 ? html`<p class="label-of">${cut(output.elements[0], 300)}</p>` : nothing}
        ${valuesView(output)}
    </section>`;
}

function isDistribution(values) {
    const sum = values.reduce((a, b) => a + b, 0);
    return Math.abs(sum - 1) < 0.01 && values.every((value) => value >= 0);
}

function scoreText(value, isShare) {
    return isShare ? `${(value * 100).toFixed(value > 0.0995 && value < 0.9995 ? 1 : 2)} %` : elementText('FP32', value);
}

function labelView(values, labels) {
    const best = values.indexOf(Math.max(...values));
    return html`<p class="label-of">${cut(labels[best] || best, 200)} <small>${scoreText(values[best], isDistribution(values))}</small></p>`;
}

function topClasses(values, labels) {
    const isShare = isDistribution(values);
    return values
        .map((value, i) => ({ text: cut(labels[i] || i, 100), value, shown: scoreText(value, isShare) }))
        .sort((one, other) => other.value - one.value)
        .slice(0, TOP_LABELS);
}

function bars(rows) {
    const most = Math.max(...rows.map((row) => Math.abs(row.value)), 1e-30);
    return html`<div class="bars">${rows.map((row) => html`<span class="what">${row.text}</span>
        <span class="bar-track"><span class=${row.value < 0 ? 'bar lesser' : 'bar'} .style=${`width: ${(Math.abs(row.value) / most) * 100}%`}></span></span>
        <span class="number">${row.shown}</span>`)}</div>`;
}

function valuesView(output) {
    const texts = output.elements.map((value) => cut(elementText(output.datatype, value), 2000));
    const more = output.count - output.elements.length;
    return html`<details ?open=${output.count > MOST_BARS || output.datatype === 'BYTES' || output.count === 1}><summary class="muted">${count(output.count)}
        ${output.count === 1 ? 'value' : 'values'}</summary>
        <pre class="values" tabindex="0" role="region" aria-label=${`Values of ${cut(output.name, 100)}`}>${texts.join(output.datatype === 'BYTES' ? '\n' : ', ')}${
            more > 0 ? `\n… and ${count(more)} more` : ''}</pre></details>`;
}
