// SPDX-License-Identifier: Apache-2.0
/** What the server did in the last minutes: its charts, and the small lines of the versions that did the most. */

import { html, nothing } from './lit/lit-html.js';
import { changed } from './redraw.js';
import { Chart } from './chart.js';
import { amount, nanos, rate } from './format.js';
import { rangeButtons, rangeMinutes, rangeText } from './ranges.js';
import { json } from './server.js';
import { sparkline, sparkPath } from './sparkline.js';

/** Overviews, one a second, between two looks. */
const EVERY = 5;

const HEIGHT = 120;

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
        ],
    },
    { title: 'Busy instances', format: amount, idle: 1, lines: [['busyInstances', 'Busy', 'line-main']] },
];

/** The columns of the table that have a line. */
const SPARKED = ['busyInstances', 'requestsPerSecond', 'p50Nanos', 'p99Nanos'];

export class OverviewCharts {
    #charts = FIGURES.map((figure) => new Chart(`${figure.title} of the server over time`, figure, HEIGHT));
    #events = -1;
    #isLoading = false;
    #isClosed = false;
    #trends;
    #sparks = new Map();

    constructor() {
        this.#show();
    }

    /** An overview has come. A page that nobody looks at asks for nothing. */
    overview() {
        if (++this.#events % EVERY !== 0) {
            return;
        }
        if (document.hidden) {
            this.#events = -1; // At once, when somebody looks again.
        } else {
            this.#load();
        }
    }

    async #load() {
        if (this.#isLoading) {
            return;
        }
        this.#isLoading = true;
        const minutes = rangeMinutes();
        try {
            const trends = await json(`/v2/console/trends?minutes=${minutes}`);
            if (!this.#isClosed && minutes === rangeMinutes()) {
                this.#trends = trends;
                this.#sparks = new Map(trends.versions.map((version) => [`${version.name}\n${version.version}`, sparksOf(version)]));
                this.#show();
            }
        } catch {
            // The page says already that the server does not answer.
        }
        this.#isLoading = false;
        if (minutes !== rangeMinutes() && !this.#isClosed) {
            this.#load();
        }
        changed();
    }

    #show() {
        const { server, endMillis = Date.now() } = this.#trends ?? {};
        const points = server?.points ?? 0;
        const times = Array.from({ length: points }, (unused, i) => endMillis - (points - 1 - i) * server.stepMillis);
        FIGURES.forEach((figure, i) => {
            this.#charts[i].show(times, figure.lines.map(([key]) => server?.series[key] ?? []), endMillis - rangeMinutes() * 60000, endMillis);
        });
    }

    close() {
        this.#isClosed = true;
        this.#charts.forEach((chart) => chart.close());
    }

    /** The line of a version in a column; nothing for one that did less than others, or nothing. */
    sparkline(key, column) {
        const sparks = this.#sparks.get(key);
        return sparks ? sparkline(sparks[column], sparks.points) : nothing;
    }

    render() {
        return html`<section class="panel" aria-labelledby="charts">
            <header><h2 id="charts">The last ${rangeText()}</h2>${rangeButtons(() => this.#load())}</header>
            <div class="charts three live">${FIGURES.map((figure, i) => html`<figure class="chart">
                <figcaption>${figure.title} ${this.#legend(figure)}</figcaption>
                ${this.#charts[i].element}
            </figure>`)}</div>
        </section>`;
    }

    #legend(figure) {
        return figure.lines.map(([key, text, kind]) => html`<span class="legend"><span class=${`key ${kind}`}></span>${text}
            <b>${figure.format(this.#trends?.server.series[key].at(-1))}</b></span>`);
    }
}

function sparksOf({ points, series }) {
    return { points, ...Object.fromEntries(SPARKED.map((key) => [key, sparkPath(series[key])])) };
}
