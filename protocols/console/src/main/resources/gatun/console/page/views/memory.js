// SPDX-License-Identifier: Apache-2.0
/** Whose memory the server uses: its pool, and regions and lanes of clients. */

import { html, nothing } from '../lit/lit-html.js';
import { bytes, count, cut, UNKNOWN } from '../format.js';
import { empty, ownerText, panel } from '../parts.js';
import { Polled } from '../polled.js';

const MOST_ROWS = 500;

export class MemoryView {
    title = 'Memory';
    #memory = new Polled('/v2/console/memory');

    overview() {
        this.#memory.overview();
    }

    close() {}

    render() {
        return html`<h1 tabindex="-1">Memory</h1>
            ${this.#memory.render(parts)}`;
    }
}

function parts({ pool = {}, regions = [], regionsHidden = false, lanes = [] }) {
    return html`
        <dl class="tiles live">
            <div class="tile"><dt>Buffer pool</dt><dd>${bytes(pool.usedBytes)} <small>of ${bytes(pool.totalBytes)}</small>
                ${pool.totalBytes ? html`<meter min="0" max=${pool.totalBytes} high=${pool.totalBytes * 0.9} .value=${pool.usedBytes ?? 0} aria-label="Buffer pool in use"></meter>` : nothing}</dd></div>
            ${pool.idleBytes === undefined ? nothing : html`<div class="tile"><dt>Kept for the next requests</dt><dd>${bytes(pool.idleBytes)}</dd></div>`}
            ${pool.lockedBytes === undefined ? nothing : html`<div class="tile"><dt>Locked for GPUs</dt><dd>${bytes(pool.lockedBytes)}</dd></div>`}
            ${regionsHidden ? nothing : html`<div class="tile"><dt>Regions of clients</dt><dd>${count(regions.length)} <small>${bytes(sum(regions))}</small></dd></div>`}
            <div class="tile"><dt>Lanes</dt><dd>${count(lanes.length)} <small>${bytes(sum(lanes))}</small></dd></div>
        </dl>
        ${panel('regions', 'Shared memory regions', regions.length ? regionTable(regions) : empty(regionsHidden
            ? 'Shown on the server\'s own machine only: start the server with --allow-remote-client-shm=true to see it from here.'
            : 'No client has registered shared memory.'))}
        ${panel('lanes', 'Lanes', lanes.length ? laneTable(lanes) : empty('No client has a lane.'))}`;
}

function sum(parts) {
    return parts.reduce((all, part) => all + (part.byteSize ?? 0), 0);
}

function regionTable(regions) {
    return html`<table class="cards live" role="table">
        <thead role="rowgroup"><tr role="row">${['Region', 'Kind', 'Owner'].map((text) => html`<th role="columnheader" scope="col">${text}</th>`)}
            <th role="columnheader" scope="col" class="number">Size</th><th role="columnheader" scope="col" class="number">In use by</th>
            <th role="columnheader" scope="col">State</th></tr></thead>
        <tbody role="rowgroup">${regions.slice(0, MOST_ROWS).map((region) => html`<tr role="row">
            <th role="rowheader" scope="row" class="whole">${cut(region.name, 200)}
                ${region.key ? html`<br><span class="muted mono">${cut(region.key, 200)}${region.offset ? ` + ${count(region.offset)}` : ''}</span>` : nothing}</th>
            <td role="cell" data-label="Kind">${region.kind}${region.device === undefined ? '' : `, GPU ${region.device}`}</td>
            <td role="cell" data-label="Owner" class="two">${ownerText(region.owner) ?? UNKNOWN}</td>
            <td role="cell" class="number" data-label="Size">${bytes(region.byteSize)}</td>
            <td role="cell" class="number" data-label="In use by">${count(region.leases)} <span class="muted">${region.leases === 1 ? 'request' : 'requests'}</span></td>
            <td role="cell" data-label="State">${region.retired
                ? html`<span class="state warning"><span class="dot warning"></span>Retired</span> <span class="muted">${cut(region.retiredReason, 300)}</span>`
                : html`<span class="state good"><span class="dot good"></span>Registered</span>`}</td>
        </tr>`)}</tbody>
    </table>${more(regions)}`;
}

function laneTable(lanes) {
    return html`<table class="cards live" role="table">
        <thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Lane</th><th role="columnheader" scope="col">Owner</th>
            ${['Size', 'Slots', 'In flight'].map((text) => html`<th role="columnheader" scope="col" class="number">${text}</th>`)}</tr></thead>
        <tbody role="rowgroup">${lanes.slice(0, MOST_ROWS).map((lane) => html`<tr role="row">
            <th role="rowheader" scope="row" class="whole">${lane.id}</th>
            <td role="cell" data-label="Owner" class="whole">${ownerText(lane.owner) ?? UNKNOWN}</td>
            <td role="cell" class="number" data-label="Size">${bytes(lane.byteSize)}</td>
            <td role="cell" class="number" data-label="Slots">${count(lane.slots)}</td>
            <td role="cell" class="number" data-label="In flight">${count(lane.inFlight)}</td>
        </tr>`)}</tbody>
    </table>${more(lanes)}`;
}

function more(rows) {
    return rows.length > MOST_ROWS ? html`<p class="body muted">and ${count(rows.length - MOST_ROWS)} more</p>` : nothing;
}
