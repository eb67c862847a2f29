// SPDX-License-Identifier: Apache-2.0
/** One version of a model: what it does, how it is configured, and what can be done with it. */

import { html, nothing } from '../lit/lit-html.js';
import { changed } from '../redraw.js';
import { consolePath, json } from '../server.js';
import { modelAddress, overviewAddress, requestAddress } from '../routes.js';
import { ago, amount, bytes, count, cut, nanos, rate, shape, time, UNKNOWN } from '../format.js';
import { empty, loadingText, longText, memoryText, modelChip, panel } from '../parts.js';
import { ModelActions } from '../model-actions.js';
import { ModelCharts } from '../model-charts.js';

/** Seconds between two looks at the slowest requests. */
const SLOWEST_SECONDS = 10;

const STAGES = [
    ['request', 'Whole request'],
    ['queue', 'Queue'],
    ['computeInput', 'Inputs'],
    ['computeInfer', 'Inference'],
    ['computeOutput', 'Outputs'],
];

export class ModelView {
    #app;
    #name;
    #version;
    #details;
    #problem;
    #slowest;
    #seen;
    #events = 0;
    #closed = false;
    #charts = new ModelCharts();
    #actions;

    constructor(app, route) {
        this.#app = app;
        this.#name = route.name;
        this.#version = route.version;
        this.#actions = new ModelActions(this.#name, () => this.#load());
        this.#load();
    }

    get title() {
        return this.#name;
    }

    /** What the stream is to tell besides the overview. */
    get subject() {
        return { model: this.#name, version: this.#version };
    }

    /** A new overview has come. */
    overview() {
        const row = this.#row();
        const seen = row ? `${row.state} ${row.instances} ${row.reason ?? ''}` : '';
        if (this.#seen !== undefined && seen !== this.#seen) {
            this.#load();
        }
        this.#seen = seen;
        if (++this.#events % SLOWEST_SECONDS === 0 && this.#hasServed()) {
            this.#loadSlowest();
        }
    }

    /** What has changed of the model. */
    model(update) {
        if (this.#details && typeof update === 'object') {
            const { last, ...details } = update;
            Object.assign(this.#details, details);
            this.#charts.add(last);
        }
    }

    close() {
        this.#closed = true;
        this.#charts.close();
    }

    #row() {
        const of = (m) => m.name === this.#name && (!this.#version || m.version === this.#version);
        return this.#app.overview?.models?.find(of);
    }

    async #load() {
        const path = consolePath(this.#name, this.#version);
        if (this.#row()?.version === '') {
            // Nothing is known of a model before it is loaded.
            this.#details = undefined;
            this.#problem = { status: 404 };
            changed();
            return;
        }
        try {
            const details = await json(path);
            if (!this.#closed) {
                this.#details = details;
                this.#problem = undefined;
                if (this.#hasServed()) {
                    this.#loadHistory();
                    this.#loadSlowest();
                }
            }
        } catch (e) {
            this.#details = undefined;
            this.#problem = e;
        }
        changed();
    }

    /** Whether the server has kept anything. */
    #hasServed() {
        return this.#details?.state === 'READY' || this.#details?.origins?.length > 0;
    }

    async #loadHistory() {
        try {
            this.#charts.load(await json(`${consolePath(this.#name, this.#version)}/history`));
        } catch {
            return; // The charts say that there is nothing.
        }
        changed();
    }

    async #loadSlowest() {
        try {
            this.#slowest = (await json(`${consolePath(this.#name, this.#version)}/slowest`)).requests ?? [];
        } catch {
            this.#slowest ??= []; // The page says already that the server does not answer.
        }
        changed();
    }

    render() {
        const details = this.#details ?? {};
        const state = this.#row()?.state ?? details.state;
        return html`
            ${this.#head(details, state)}
            ${this.#problem ? this.#problemText(state) : nothing}
            ${details.reason ? html`<section class="reason-box" aria-label="Why it is so"><div>${longText(details.reason, 'Reason')}</div></section>` : nothing}
            ${this.#details ? this.#parts(details) : this.#problem ? nothing : html`<p class="panel empty">Loading …</p>`}
            ${this.#actions.dialog()}`;
    }

    /** A model that was never loaded is in the repository, but nothing else is known of it. */
    #problemText(state) {
        return this.#problem.status === 404 && state
            ? html`<p class="panel empty">It is not loaded. Nothing is known of it before it is.</p>`
            : html`<p class="panel problem empty" role="alert">${cut(this.#problem.message, 2000)}</p>`;
    }

    #head(details, state) {
        const versions = (details.versions ?? []).filter((version) => version !== this.#version);
        const server = this.#app.overview?.server ?? {};
        const row = this.#row() ?? {};
        return html`<div class="title">
            <div class="grow">
                <p class="crumbs"><a href=${overviewAddress}>Overview</a></p>
                <h1 tabindex="-1">${this.#name} <span class="muted">${this.#version}</span></h1>
            </div>
            ${state ? modelChip({ ...row, state, version: row.version || details.version }) : nothing}
            <span class="muted">${loadingText(row)}</span>
            ${versions.length ? html`<nav class="row" aria-label="Other versions">${versions.map((version) =>
                html`<a href=${modelAddress(this.#name, version)}>version ${version}</a>`)}</nav>` : nothing}
            <span class="row">
                ${state === 'READY' ? html`<a class="button primary" href=${modelAddress(this.#name, this.#version, 'try')}>Try it</a>` : nothing}
                ${this.#actions.buttons(server, state, details)}
            </span>
        </div>`;
    }

    #parts(details) {
        const row = this.#row() ?? {};
        return html`
            <dl class="tiles live">
                <div class="tile"><dt>Requests/s</dt><dd>${rate(row.requestsPerSecond)}</dd></div>
                <div class="tile"><dt>Failures/s</dt><dd>${rate(row.failuresPerSecond)}</dd></div>
                <div class="tile"><dt>p50</dt><dd>${nanos(row.p50Nanos)}</dd></div>
                <div class="tile"><dt>p99</dt><dd>${nanos(row.p99Nanos)}</dd></div>
                <div class="tile"><dt>Waiting</dt><dd>${count(row.pending)}</dd></div>
                ${row.memoryBytes === undefined ? nothing : html`<div class="tile"><dt>Memory</dt><dd>${memoryText(row)}
                    <small>${row.memoryIs === 'estimated' ? 'by its files' : 'of its processes'}</small></dd></div>`}
                <div class="tile"><dt>Instances</dt><dd>${count(row.instances)}
                    ${row.busyInstances === undefined ? nothing : html`<small>${amount(row.busyInstances)} busy</small>`}</dd></div>
            </dl>
            ${this.#charts.render()}
            ${panel('latency', 'Latency by stage and transport', latencies(details))}
            <div class="grid-2">
                ${panel('slowest', 'Slowest requests of the last hour', this.#slowestTable())}
                ${panel('failures', 'Failures', this.#failures(details))}
                ${panel('batches', 'Batch sizes', batches(details))}
                ${details.inputs ? panel('tensors', 'Inputs and outputs', tensors(details)) : nothing}
            </div>
            ${details.configuration ? panel('configuration', 'Configuration', configuration(details, row)) : nothing}`;
    }

    #slowestTable() {
        if (!this.#slowest?.length) {
            return empty(this.#slowest || !this.#hasServed() ? 'No request in the last hour.' : 'Loading …');
        }
        const now = this.#app.overview?.atMillis;
        return html`<div class="scroll limited" tabindex="0" role="region" aria-label="Table of the slowest requests"><table>
            <thead><tr><th scope="col">Took</th><th scope="col">When</th><th scope="col">Over</th>
                <th scope="col" class="number">Batch</th><th scope="col" class="number">In</th><th scope="col" class="number">Out</th></tr></thead>
            <tbody>${this.#slowest.map((request) => html`<tr>
                <th scope="row"><a href=${requestAddress(this.#name, this.#version, request.id)}>${nanos(request.totalNanos)}</a></th>
                <td>${ago(request.atMillis, now)}</td>
                <td>${transportText(request)}</td>
                <td class="number">${count(request.batchSize)}</td>
                <td class="number">${bytes(request.bytesIn)}</td>
                <td class="number">${bytes(request.bytesOut)}</td>
            </tr>`)}</tbody>
        </table></div>`;
    }

    #failures(details) {
        const { rejected, canceled, backend, other } = details.failures ?? {};
        const last = details.lastFailures ?? [];
        const now = this.#app.overview?.atMillis;
        return html`<div class="body"><dl class="facts">
                <dt>Refused by a full queue or a deadline</dt><dd>${count(rejected)}</dd>
                <dt>Given up by clients</dt><dd>${count(canceled)}</dd>
                <dt>Failed in the engine</dt><dd>${count(backend)}</dd>
                <dt>Others, such as wrong tensors</dt><dd>${count(other)}</dd>
            </dl></div>
            ${last.length ? html`<div class="body"><h3>Last ones</h3><ul class="plain">${last.slice(0, 20).map((failure) => html`<li>
                <span class="muted">${failure.count > 1 ? `${count(failure.count)} times, the last ` : ''}${time(failure.atMillis)} · ${ago(failure.atMillis, now)} · ${failure.code}</span>
                ${longText(failure.text, 'Failure')}</li>`)}</ul></div>` : nothing}`;
    }
}

/** Over what a request came: "http, shared memory". */
export function transportText(request) {
    const { protocol, transport } = request;
    return [protocol, transport].filter((part, i, all) => part && all.indexOf(part) === i).join(', ') || UNKNOWN;
}

function latencies(details) {
    const origins = (details.origins ?? []).filter((origin) => origin.requests > 0);
    if (!origins.length) {
        return empty('No request yet.');
    }
    return html`<table class="cards live" role="table">
        <thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Over</th>
            <th role="columnheader" scope="col" class="number">Requests</th>
            ${STAGES.map(([, text]) => html`<th role="columnheader" scope="col" class="number">${text}</th>`)}</tr></thead>
        <tbody role="rowgroup">${origins.map((origin) => html`<tr role="row">
            <th role="rowheader" scope="row" class="whole">${transportText(origin)}</th>
            <td role="cell" class="number whole" data-label="Requests">${count(origin.requests)}</td>
            ${STAGES.map(([key, text]) => html`<td role="cell" class="number" data-label=${text}>${stage(origin.stages?.[key])}</td>`)}
        </tr>`)}</tbody>
    </table>
    <p class="body muted">Median, and the 99th percentile below it, since the version was loaded.</p>`;
}

function stage(latency) {
    if (!latency?.count) {
        return UNKNOWN;
    }
    return html`${nanos(latency.p50Nanos ?? latency.meanNanos)}<br><span class="muted">${nanos(latency.p99Nanos)}</span>`;
}

function batches(details) {
    const sizes = (details.batchSizes ?? []).filter((batch) => batch.count > 0);
    if (!sizes.length) {
        return empty('No run yet.');
    }
    const most = Math.max(...sizes.map((batch) => batch.count));
    return html`<table class="live">
        <thead><tr><th scope="col">Size</th><th scope="col" class="number">Runs</th><th scope="col"><span class="hidden-text">Share</span></th>
            <th scope="col" class="number">Mean inference</th></tr></thead>
        <tbody>${sizes.slice(0, 64).map((batch) => html`<tr>
            <th scope="row">${count(batch.size)}</th>
            <td class="number">${count(batch.count)}</td>
            <td class="wide"><span class="bar" .style=${`width: ${(batch.count / most) * 100}%`}></span></td>
            <td class="number">${nanos(batch.computeInferNanos / batch.count)}</td>
        </tr>`)}</tbody>
    </table>`;
}

function tensors(details) {
    const rows = [
        ...(details.inputs ?? []).map((tensor) => ['input', tensor]),
        ...(details.outputs ?? []).map((tensor) => ['output', tensor]),
    ];
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Table of tensors"><table>
        <thead><tr><th scope="col">Name</th><th scope="col">Is</th><th scope="col">Datatype</th><th scope="col">Shape</th><th scope="col">In shared memory</th></tr></thead>
        <tbody>${rows.slice(0, 256).map(([what, tensor]) => html`<tr>
            <th scope="row">${cut(tensor.name, 200)}</th>
            <td>${what}${tensor.optional ? ', optional' : ''}</td>
            <td>${tensor.datatype}</td>
            <td class="mono">${shape(tensor.shape)}${tensor.format && tensor.format !== 'NONE' ? ` ${tensor.format}` : ''}</td>
            <td class="prose">${sharedMemory(tensor.sharedMemory)}</td>
        </tr>`)}</tbody>
    </table></div>
    ${details.maxBatchSize ? html`<p class="body muted">Batches of up to ${count(details.maxBatchSize)}; −1 is what a request decides.</p>` : nothing}`;
}

/** Where runs touch a tensor that lies in a client's memory, and why. */
function sharedMemory(use) {
    if (!use) {
        return UNKNOWN;
    }
    const place = use.inPlace ? 'in place' : 'copied';
    return use.reason ? `${place}: ${cut(use.reason, 300)}` : place;
}

function configuration(details, row) {
    const completed = details.completed ?? [];
    return html`<div class="body"><dl class="facts">
            <dt>Engine</dt><dd>${details.engine ?? UNKNOWN}</dd>
            <dt>Kind</dt><dd>${[details.decoupled ? 'decoupled' : '', details.stateful ? 'sequences' : ''].filter(Boolean).join(', ') || 'one response to a request'}</dd>
            <dt>Instances</dt><dd>${(details.instanceGroups ?? []).map((group) =>
                `${group.count} × ${group.kind}${group.gpus?.length ? ` on GPU ${group.gpus.join(', ')}` : ''}`).join('; ') || UNKNOWN}</dd>
            ${row.loadNanos ? html`<dt>Loaded in</dt><dd>${nanos(row.loadNanos)}</dd>` : nothing}
            ${details.cache ? html`<dt>Cache</dt><dd>${count(details.cache.hits)} hits, ${count(details.cache.misses)} misses</dd>` : nothing}
        </dl></div>
        ${completed.length ? html`<div class="body"><h3>Completed by the server</h3><div class="scroll" tabindex="0" role="region" aria-label="What was completed"><table class="reasoned">
            <thead><tr><th scope="col">What</th><th scope="col">Value</th><th scope="col">Why</th></tr></thead>
            <tbody>${completed.slice(0, 200).map((one) => html`<tr><th scope="row" class="mono">${cut(one.path, 200) || 'in the engine'}</th>
                <td class="mono">${cut(one.value, 300)}</td><td>${cut(one.why, 300)}</td></tr>`)}</tbody>
        </table></div></div>` : nothing}
        ${details.configuration ? html`<details class="body"><summary>The whole configuration</summary>
            <pre class="long-text" tabindex="0" role="region" aria-label="Configuration">${details.configuration}</pre></details>` : nothing}`;
}
