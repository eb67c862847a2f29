// SPDX-License-Identifier: Apache-2.0
/** Lines over time, drawn by uPlot in the colours of the theme. */

import uPlot from './uplot/uPlot.esm.js';
import { colour, onTheme } from './theme.js';
import { time } from './format.js';

const HEIGHT = 150;
const AXIS_WIDTH = 58;

/**
 * A chart. Its element is put into the page as it is; the caller ends it by close().
 */
export class Chart {
    element = document.createElement('div');
    #format;
    #lines;
    #plot;
    #data;
    #resizes;
    #ends;

    /**
     * @param label what the chart shows, for those who do not see it
     * @param lines the name of each line, and the class that has its colour
     * @param format makes a text of a value
     */
    constructor(label, lines, format) {
        this.#lines = lines;
        this.#format = format;
        this.element.className = 'plot';
        this.element.setAttribute('role', 'img');
        this.element.setAttribute('aria-label', label);
        this.#data = [[], ...lines.map(() => [])];
        this.#resizes = new ResizeObserver(() => this.#resize());
        this.#resizes.observe(this.element);
        this.#ends = onTheme(() => requestAnimationFrame(() => this.#draw()));
    }

    /**
     * Shows these.
     *
     * @param times in milliseconds, ascending
     * @param values for each line as many as there are times; null where there is none
     */
    show(times, values) {
        this.#data = [times.map((at) => at / 1000), ...values];
        this.#plot?.setData(this.#data);
    }

    #resize() {
        const width = this.element.clientWidth;
        if (!width) {
            return;
        }
        if (this.#plot) {
            this.#plot.setSize({ width, height: HEIGHT });
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
        const format = this.#format;
        this.#plot = new uPlot(
            {
                width,
                height: HEIGHT,
                legend: { show: false },
                cursor: { points: { size: 6 }, drag: { setScale: false, x: false, y: false } },
                padding: [8, 4, 0, 0],
                scales: { y: { range: (plot, low, high) => [0, high > 0 ? high * 1.1 : 1] } },
                series: [
                    {},
                    ...this.#lines.map(([label, kind]) => ({
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
