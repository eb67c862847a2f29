// SPDX-License-Identifier: Apache-2.0
/** The charts of a model: what it did in the last minutes, or the last hour. */

import { html, nothing } from './lit/lit-html.js';
import { Chart } from './chart.js';
import { History } from './history.js';
import { amount, nanos, rate } from './format.js';
import { rangeButtons, rangeMinutes, rangeText } from './ranges.js';

const FIGURES = [
    {
        title: 'Rate',
        format: rate,
        idle: 1,
        lines: [
            ['requestsPerSecond', 'Requests/s', 'line-main'],
            ['failuresPerSecond', 'Failures/s', 'line-bad'],
        ],
    },
    {
        title: 'Latency',
        format: nanos,
        idle: 1e6,
        lines: [
            ['p50Nanos', 'p50', 'line-main'],
            ['p99Nanos', 'p99', 'line-tail'],
            ['queueP50Nanos', 'Queue p50', 'line-queue'],
            ['inferP50Nanos', 'Inference p50', 'line-engine'],
        ],
    },
    { title: 'Batches', format: rate, idle: 1, lines: [['meanBatch', 'Mean size', 'line-main']] },
    {
        title: 'Load',
        format: amount,
        idle: 1,
        lines: [
            ['pending', 'Waiting', 'line-queue'],
            ['instances', 'Instances', 'line-engine'],
            ['busyInstances', 'Busy', 'line-main'],
        ],
    },
];

export class ModelCharts {
    #history = new History();
    #charts = FIGURES.map((figure) => new Chart(`${figure.title} over time`, figure));

    constructor() {
        this.#show();
    }

    /** Shows the history as the server has it. */
    load(history) {
        this.#history.load(history);
        this.#show();
    }

    /** Adds the last second, as a history of one point. */
    add(last) {
        this.#history.add(last);
        this.#show();
    }

    close() {
        this.#charts.forEach((chart) => chart.close());
    }

    #show() {
        const millis = rangeMinutes() * 60000;
        const end = this.#history.endMillis ?? Date.now();
        FIGURES.forEach((figure, i) => {
            const [times, values] = this.#history.last(millis, figure.lines.map(([key]) => key));
            this.#charts[i].show(times, values, end - millis, end);
        });
    }

    render() {
        return html`<section class="panel" aria-labelledby="charts">
            <header><h2 id="charts">The last ${rangeText()}</h2>${rangeButtons(() => this.#show())}</header>
            <div class="charts live">${FIGURES.map((figure, i) => html`<figure class="chart">
                <figcaption>${figure.title} ${this.#legend(figure)}</figcaption>
                ${this.#charts[i].element}
            </figure>`)}</div>
            ${this.#history.isEmpty ? html`<p class="body muted">The server keeps no history of this version yet.</p>` : nothing}
        </section>`;
    }

    #legend(figure) {
        return figure.lines.map(([key, text, kind]) => html`<span class="legend"><span class=${`key ${kind}`}></span>${text}
            <b>${figure.format(this.#history.newest(key))}</b></span>`);
    }
}
