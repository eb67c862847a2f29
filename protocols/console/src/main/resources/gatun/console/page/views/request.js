// SPDX-License-Identifier: Apache-2.0
/** One request from socket to socket: where its time went. */

import { html, nothing, svg } from '../lit/lit-html.js';
import { changed } from '../redraw.js';
import { consolePath, json } from '../server.js';
import { modelAddress, overviewAddress } from '../routes.js';
import { ago, bytes, count, cut, nanos, time, UNKNOWN } from '../format.js';
import { empty, panel } from '../parts.js';
import { transportText } from './model.js';

const STAGES = {
    read: [1, 'Read from the socket'],
    queue: [2, 'Wait in the queue'],
    computeInput: [3, 'Prepare the inputs'],
    computeInfer: [4, 'Inference'],
    computeOutput: [5, 'Take the outputs'],
    write: [6, 'Write to the socket'],
};
const BETWEEN = 'Between the stages';

export class RequestView {
    #app;
    #route;
    #request;
    #problem;

    constructor(app, route) {
        this.#app = app;
        this.#route = route;
        this.#load();
    }

    get title() {
        return `Request of ${this.#route.name}`;
    }

    overview() {}

    close() {}

    async #load() {
        try {
            const { name, version, id } = this.#route;
            const { requests = [] } = await json(`${consolePath(name, version)}/slowest`);
            this.#request = requests.find((request) => String(request.id) === id);
            this.#problem = this.#request ? undefined : 'This request is no longer among the slowest of the last hour.';
        } catch (e) {
            this.#problem = e.message;
        }
        changed();
    }

    render() {
        const { name, version } = this.#route;
        return html`<div class="title"><div class="grow">
                <p class="crumbs"><a href=${overviewAddress}>Overview</a> / <a href=${modelAddress(name, version)}>${name} ${version}</a></p>
                <h1 tabindex="-1">A request that took ${this.#request ? nanos(this.#request.totalNanos) : '…'}</h1>
            </div></div>
            ${this.#request ? this.#parts(this.#request) : html`<div class="panel">${empty(this.#problem ?? 'Loading …')}</div>`}`;
    }

    #parts(request) {
        const stages = stagesOf(request);
        return html`
            ${panel('stages', 'From socket to socket', html`<div class="body flame">
                ${flame(request, stages)}
                <p class="ruler" aria-hidden="true"><span>0</span><span>${nanos(request.totalNanos / 2)}</span><span>${nanos(request.totalNanos)}</span></p>
            </div>
            <table>
                <thead><tr><th scope="col">Stage</th><th scope="col" class="number">Begins at</th><th scope="col" class="number">Takes</th>
                    <th scope="col" class="number">Share</th></tr></thead>
                <tbody>${stages.map((stage) => html`<tr>
                    <th scope="row"><span class=${`stage-key stage-${stage.colour}`}></span>${stage.text}</th>
                    <td class="number">${nanos(stage.startNanos)}</td><td class="number">${nanos(stage.nanos)}</td>
                    <td class="number">${percent(stage.nanos, request.totalNanos)}</td></tr>`)}
                    <tr><th scope="row" class="muted">${BETWEEN}</th><td></td><td class="number">${nanos(rest(request, stages))}</td>
                        <td class="number">${percent(rest(request, stages), request.totalNanos)}</td></tr>
                </tbody>
            </table>`)}
            ${panel('about', 'About it', html`<dl class="facts body">
                <dt>Ended</dt><dd>${time(request.atMillis)}, ${ago(request.atMillis, this.#app.overview?.atMillis)}</dd>
                <dt>Over</dt><dd>${transportText(request)}</dd>
                <dt>Batch size</dt><dd>${count(request.batchSize)}</dd>
                <dt>Bytes</dt><dd>${bytes(request.bytesIn)} in, ${bytes(request.bytesOut)} out</dd>
                <dt>The client's id</dt><dd>${request.requestId ? cut(request.requestId, 64) : UNKNOWN}</dd>
                ${request.traceId ? html`<dt>Trace</dt><dd class="mono">${cut(request.traceId, 64)}</dd>` : nothing}
            </dl>`)}`;
    }
}

function stagesOf(request) {
    return (request.stages ?? []).map((stage) => {
        const [colour, text] = STAGES[stage.name] ?? [1, cut(stage.name, 64)];
        return { ...stage, colour, text };
    });
}

function rest(request, stages) {
    return Math.max(0, request.totalNanos - stages.reduce((sum, stage) => sum + stage.nanos, 0));
}

function percent(part, whole) {
    return whole > 0 ? `${((part / whole) * 100).toFixed(1)} %` : UNKNOWN;
}

function flame(request, stages) {
    const whole = Math.max(request.totalNanos, 1);
    const width = 1000;
    const text = stages.map((stage) => `${stage.text} ${nanos(stage.nanos)}`).join(', ');
    return html`<svg viewBox=${`0 0 ${width} 46`} preserveAspectRatio="none" role="img" aria-label=${text}>
        ${stages.map((stage) => svg`<rect class=${`stage-${stage.colour}`} x=${((stage.startNanos / whole) * width).toFixed(2)} y="0" height="46"
            width=${Math.max(1, (stage.nanos / whole) * width - 0.8).toFixed(2)}><title>${stage.text} ${nanos(stage.nanos)}</title></rect>`)}
    </svg>`;
}
