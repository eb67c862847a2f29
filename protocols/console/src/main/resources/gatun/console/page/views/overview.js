// SPDX-License-Identifier: Apache-2.0
/** What all models do, and what needs somebody's attention. */

import { html, noChange, nothing } from '../lit/lit-html.js';
import { repeat } from '../lit/directives/repeat.js';
import { changed } from '../redraw.js';
import { modelAddress } from '../routes.js';
import { ago, amount, bytes, count, cut, nanos, rate, UNKNOWN } from '../format.js';
import { OverviewCharts } from '../overview-charts.js';
import { loadingText, memoryText, modelChip } from '../parts.js';
import { RowWatch } from '../row-watch.js';

/** Rows of a page: what a browser draws each second without being noticed. */
const PAGE_ROWS = 200;

const COLUMNS = [
    { key: 'name', text: 'Model', class: 'name', of: (m) => m.name },
    { key: 'state', text: 'State', class: 'condition', of: (m) => m.state },
    { key: 'engine', text: 'Engine', class: 'kind', of: (m) => m.engine ?? '' },
    { key: 'instances', text: 'Instances', number: true, of: (m) => m.instances },
    { key: 'requestsPerSecond', text: 'Requests/s', number: true, of: (m) => m.requestsPerSecond },
    { key: 'failuresPerSecond', text: 'Failures/s', number: true, of: (m) => m.failuresPerSecond },
    { key: 'p50Nanos', text: 'p50', number: true, of: (m) => m.p50Nanos },
    { key: 'p99Nanos', text: 'p99', number: true, of: (m) => m.p99Nanos },
    { key: 'pending', text: 'Waiting', number: true, of: (m) => m.pending },
    { key: 'meanBatch', text: 'Batch', number: true, of: (m) => m.meanBatch },
    { key: 'memoryBytes', text: 'Memory', class: 'memory', number: true, of: (m) => m.memoryBytes },
];

const names = new Intl.Collator('en', { numeric: true });

export class OverviewView {
    title = 'Overview';
    #app;
    #sort = 'name';
    #descending = false;
    #filter = '';
    #page = 0;
    #charts = new OverviewCharts();
    #rows = new RowWatch();

    constructor(app) {
        this.#app = app;
    }

    /** A new overview has come. */
    overview() {
        this.#rows.turn();
        this.#charts.overview();
    }

    close() {
        this.#charts.close();
        this.#rows.close();
    }

    render() {
        const overview = this.#app.overview;
        if (!overview) {
            return html`<h1 tabindex="-1" class="hidden-text">Overview</h1><p class="panel empty">Waiting for the server …</p>`;
        }
        return html`<h1 tabindex="-1" class="hidden-text">Overview</h1>
            ${this.#tiles(overview)} ${alerts(overview)} ${this.#charts.render()} ${this.#models(overview)}`;
    }

    #tiles(overview) {
        const models = overview.models ?? [];
        const ready = models.filter((model) => model.state === 'READY').length;
        const loading = models.filter((model) => model.state === 'LOADING').length;
        const { totals = {}, pool = {}, heap = {}, process = {}, connections = {} } = overview;
        return html`<dl class="tiles live">
            <div class="tile"><dt>Requests/s</dt><dd>${rate(totals.requestsPerSecond)}</dd></div>
            <div class="tile"><dt>Failures/s</dt><dd>${rate(totals.failuresPerSecond)}</dd></div>
            <div class="tile"><dt>Versions ready</dt>
                <dd>${count(ready)} <small>of ${count(models.length)}${loading ? `, ${loading} loading` : ''}</small></dd></div>
            <div class="tile"><dt>Connections</dt><dd>${count((connections.http ?? 0) + (connections.grpc ?? 0))}
                <small>${connections.lanes ? `and ${count(connections.lanes)} ${connections.lanes === 1 ? 'lane' : 'lanes'}` : ''}</small></dd></div>
            ${usage('Buffer pool', pool.usedBytes, pool.totalBytes)}
            ${(overview.gpuPools ?? []).map((gpu) => usage(`Pool of GPU ${gpu.device}`, gpu.usedBytes, gpu.totalBytes))}
            ${usage('Java heap', heap.usedBytes, heap.maxBytes)}
            <div class="tile"><dt>Processor</dt><dd>${rate(process.cpuPerSecond)} <small>cores</small></dd></div>
            <div class="tile"><dt>Process memory</dt><dd>${bytes(process.residentBytes)}</dd></div>
        </dl>`;
    }

    #models(overview) {
        const all = overview.models ?? [];
        const shown = this.#ordered(all);
        const pages = Math.max(1, Math.ceil(shown.length / PAGE_ROWS));
        this.#page = Math.min(this.#page, pages - 1);
        const rows = shown.slice(this.#page * PAGE_ROWS, (this.#page + 1) * PAGE_ROWS);
        this.#rows.show(rows.map(keyOf));
        return html`<section class="panel" aria-labelledby="models">
            <header>
                <h2 id="models">Models</h2>
                <span class="row">
                    <label class="hidden-text" for="filter">Filter models</label>
                    <input id="filter" type="search" placeholder="Filter by name, state, engine" size="26" .value=${this.#filter}
                        @input=${(event) => this.#filterBy(event.currentTarget.value)}>
                </span>
            </header>
            ${rows.length === 0 ? html`<p class="empty">${all.length ? 'No model matches the filter.' : 'No model is known.'}</p>` : html`
            <table class=${all.some((m) => m.memoryBytes !== undefined) ? 'models cards live' : 'models cards live no-memory'} role="table">
                <thead role="rowgroup"><tr role="row">${COLUMNS.map((column) => this.#heading(column))}</tr></thead>
                <tbody role="rowgroup">${repeat(rows, keyOf, (m, i) => (this.#rows.isDue(keyOf(m), i) ? row(m, this.#charts) : noChange))}</tbody>
            </table>`}
            ${pages > 1 ? this.#pages(pages, shown.length) : nothing}
        </section>`;
    }

    #filterBy(text) {
        this.#filter = text;
        this.#page = 0;
        changed();
    }

    #ordered(models) {
        const words = this.#filter.toLowerCase().split(/\s+/).filter(Boolean);
        const found = words.length
            ? models.filter((m) => {
                  const text = `${m.name} ${m.version} ${m.state} ${m.engine ?? ''}`.toLowerCase();
                  return words.every((word) => text.includes(word));
              })
            : models.slice();
        const of = COLUMNS.find((column) => column.key === this.#sort).of;
        const sign = this.#descending ? -1 : 1;
        return found.sort((one, other) => sign * compare(of(one), of(other)) || byName(one, other));
    }

    #heading(column) {
        const sorted = this.#sort === column.key ? (this.#descending ? 'descending' : 'ascending') : undefined;
        return html`<th role="columnheader" scope="col" class=${`${column.class ?? ''} ${column.number ? 'number' : ''}`}
            aria-sort=${sorted ?? nothing}>
            <button class="sort" @click=${() => this.#sortBy(column)}>${column.text}</button></th>`;
    }

    #sortBy(column) {
        this.#descending = this.#sort === column.key ? !this.#descending : Boolean(column.number);
        this.#sort = column.key;
        changed();
    }

    #pages(pages, total) {
        const turn = (by) => {
            this.#page += by;
            changed();
        };
        return html`<nav class="pages" aria-label="Pages of models">
            <button ?disabled=${this.#page === 0} @click=${() => turn(-1)}>Previous</button>
            <span>${count(this.#page * PAGE_ROWS + 1)} to ${count(Math.min(total, (this.#page + 1) * PAGE_ROWS))} of ${count(total)}</span>
            <button ?disabled=${this.#page === pages - 1} @click=${() => turn(1)}>Next</button>
        </nav>`;
    }
}

function compare(one, other) {
    if (typeof one === 'string' || typeof other === 'string') {
        return names.compare(one ?? '', other ?? '');
    }
    return (one ?? -1) - (other ?? -1);
}

function byName(one, other) {
    return names.compare(one.name, other.name) || names.compare(one.version ?? '', other.version ?? '');
}

function keyOf(m) {
    return `${m.name}\n${m.version}`;
}

function row(m, charts) {
    const line = (column) => charts.sparkline(keyOf(m), column);
    const instances = !m.instances ? UNKNOWN : m.busyInstances === undefined ? count(m.instances) : `${amount(m.busyInstances)} of ${count(m.instances)}`;
    return html`<tr role="row" .key=${keyOf(m)}>
        <th role="rowheader" scope="row" class="two"><a href=${modelAddress(m.name, m.version ?? '')}>${cut(m.name, 200)}</a>
            <span class="muted">${m.version}</span></th>
        <td role="cell" class=${m.reason && m.version ? 'whole' : 'one'}>${modelChip(m)}${condition(m)}</td>
        <td role="cell" class="minor" data-label="Engine">${m.engine ?? UNKNOWN}</td>
        <td role="cell" class="number minor" data-label="Instances">${instances}${m.instances ? line('busyInstances') : nothing}</td>
        <td role="cell" class="number" data-label="Requests/s">${rate(m.requestsPerSecond)}${line('requestsPerSecond')}</td>
        <td role="cell" class=${m.failuresPerSecond > 0 ? 'number attention' : 'number'} data-label="Failures/s">${rate(m.failuresPerSecond)}</td>
        <td role="cell" class="number" data-label="p50">${nanos(m.p50Nanos)}${line('p50Nanos')}</td>
        <td role="cell" class="number" data-label="p99">${nanos(m.p99Nanos)}${line('p99Nanos')}</td>
        <td role="cell" class="number" data-label="Waiting">${count(m.pending)}</td>
        <td role="cell" class="number minor" data-label="Batch">${rate(m.meanBatch)}</td>
        <td role="cell" class="number memory" data-label="Memory">${memoryText(m)}</td>
    </tr>`;
}

function condition(m) {
    const loading = loadingText(m);
    if (loading) {
        return html`<span class="muted"> ${loading}</span>`;
    }
    return m.reason && m.version ? html`<div class="reason">${cut(m.reason, 200)}</div>` : nothing;
}

function usage(what, used, total) {
    if (total === undefined && used === undefined) {
        return nothing;
    }
    return html`<div class="tile"><dt>${what}</dt>
        <dd>${bytes(used)} <small>of ${bytes(total)}</small>
        ${total ? html`<meter min="0" max=${total} high=${total * 0.9} .value=${used ?? 0} aria-label=${`${what} in use`}></meter>` : nothing}</dd>
    </div>`;
}

function subjectLink(overview, subject) {
    const model = subject && overview.models?.find((m) => m.name === subject);
    return model ? html`<a href=${modelAddress(model.name, model.version ?? '')}>Show ${cut(model.name, 60)}</a>` : nothing;
}

function alerts(overview) {
    const all = overview.alerts ?? [];
    return html`<section aria-label="Alerts" aria-live="polite" aria-relevant="additions"><ul class="alerts">
        ${repeat(all.slice(0, 20), (alert) => `${alert.code}\n${alert.subject}`, (alert) => html`
            <li class=${alert.severity === 'error' ? 'alert error' : 'alert'}>
                <strong>${alert.severity === 'error' ? 'Error' : 'Warning'}</strong>
                <span>${cut(alert.text, 600)}</span>
                <time>${ago(alert.sinceMillis, overview.atMillis)}</time>
                <span class="advice">${cut(alert.advice, 600)} ${subjectLink(overview, alert.subject)}</span>
            </li>`)}
        ${all.length > 20 ? html`<li class="muted">and ${count(all.length - 20)} more</li>` : nothing}
    </ul></section>`;
}
