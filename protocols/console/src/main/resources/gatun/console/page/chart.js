// SPDX-License-Identifier: Apache-2.0
/** Lines over time, drawn by uPlot in the colours of the theme. */

import uPlot from './uplot/uPlot.esm.js';
import { colour, onTheme } from './theme.js';
import { time } from './format.js';

const STANDARD_HEIGHT = 150;
const AXIS_WIDTH = 58;

/** Room for half of the last time at the right. */
const RIGHT = 24;

/**
 * A chart. Its element is put into the page as it is; the caller ends it by close().
 */
export class Chart {
    element = document.createElement('div');
    #figure;
    #height;
    #plot;
    #data;
    #from = 0;
    #to = 1;
    #resizes;
    #ends;

    /**
     * @param label what the chart shows, for those who do not see it
     * @param figure {lines: of each its series, its name and the class that has its colour; format: makes a text of a
     *     value; idle: the top of the scale while there is nothing to show}
     */
    constructor(label, figure, height = STANDARD_HEIGHT) {
        this.#figure = figure;
        this.#height = height;
        this.element.className = 'plot';
        this.element.setAttribute('role', 'img');
        this.element.setAttribute('aria-label', label);
        this.element.style.height = `${height}px`;
        this.#data = [[], ...figure.lines.map(() => [])];
        this.#resizes = new ResizeObserver(() => this.#resize());
        this.#resizes.observe(this.element);
        this.#ends = onTheme(() => requestAnimationFrame(() => this.#draw()));
    }

    /**
     * Shows these between two times, whether or not there are values from the first to the last.
     *
     * @param times in milliseconds, ascending
     * @param values for each line as many as there are times; null where there is none
     */
    show(times, values, from, to) {
        // A chart without a point would have no axes.
        const shown = times.length ? times : [from, to];
        this.#data = [shown.map((at) => at / 1000), ...values.map((line) => (times.length ? line : [null, null]))];
        this.#from = from / 1000;
        this.#to = to / 1000;
        this.#plot?.setData(this.#data);
    }

    #resize() {
        const width = this.element.clientWidth;
        if (!width) {
            return;
        }
        if (this.#plot) {
            this.#plot.setSize({ width, height: this.#height });
        } else {
            this.#draw();
        }
    }

    #draw() {
        this.#plot?.destroy();
        const width = this.element.clientWidth;
        if (!width) {
            this.#plot = undefined;
            return;
        }
        const text = colour('muted');
        const line = colour('grid-line');
        const font = `11px ${getComputedStyle(document.body).fontFamily}`;
        const axis = { stroke: text, font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
        const { lines, format, idle } = this.#figure;
        this.#plot = new uPlot(
            {
                width,
                height: this.#height,
                legend: { show: false },
                cursor: { points: { size: 6 }, drag: { setScale: false, x: false, y: false } },
                padding: [8, RIGHT, 0, 0],
                scales: {
                    x: { range: () => [this.#from, this.#to] },
                    y: { range: (plot, low, high) => [0, high > 0 ? high * 1.1 : idle] },
                },
                series: [
                    {},
                    ...lines.map(([, label, kind]) => ({
                        label,
                        stroke: colour(kind),
                        width: 1.5,
                        points: { show: (plot, series, from, to) => isSparse(plot.data[series], from, to), size: 4 },
                    })),
                ],
                axes: [
                    { ...axis, size: 26, space: 60, values: (plot, splits) => splits.map((at) => time(at * 1000)) },
                    { ...axis, size: AXIS_WIDTH, space: 30, values: (plot, splits) => splits.map(format) },
                ],
            },
            this.#data,
            this.element,
        );
    }

    close() {
        this.#ends();
        this.#resizes.disconnect();
        this.#plot?.destroy();
        this.#plot = undefined;
    }
}

/** Whether lines alone would not be seen: a second with requests between two without. */
function isSparse(values, from, to) {
    let alone = 0;
    for (let i = from; i <= to; i++) {
        const none = (value) => value === null || value === undefined;
        if (!none(values[i]) && none(values[i - 1]) && none(values[i + 1])) {
            alone++;
        }
    }
    return alone > 0;
}
