// SPDX-License-Identifier: Apache-2.0
/** Who is connected, over what, and how much. */

import { html, nothing } from '../lit/lit-html.js';
import { ago, bytes, count, cut, UNKNOWN } from '../format.js';
import { empty, ownerText, panel } from '../parts.js';
import { Polled } from '../polled.js';

export class ConnectionsView {
    title = 'Connections';
    #app;
    #list = new Polled('/v2/console/connections');

    constructor(app) {
        this.#app = app;
    }

    overview() {
        this.#list.overview();
    }

    close() {}

    render() {
        const { http, grpc, lanes, viewers } = this.#app.overview?.connections ?? {};
        return html`<h1 tabindex="-1">Connections</h1>
            <dl class="tiles live">
                <div class="tile"><dt>HTTP</dt><dd>${count(http)}</dd></div>
                <div class="tile"><dt>gRPC</dt><dd>${count(grpc)}</dd></div>
                <div class="tile"><dt>Lanes</dt><dd>${count(lanes)}</dd></div>
                <div class="tile"><dt>Viewers of this page</dt><dd>${count(viewers)}</dd></div>
            </dl>
            ${this.#list.render((answer) => this.#table(answer))}`;
    }

    #table({ connections = [], shown, total }) {
        const now = this.#app.overview?.atMillis;
        const knows = (key) => connections.some((connection) => connection[key] !== undefined);
        const columns = [
            ['requests', 'Requests', (c) => count(c.requests)],
            ['inFlight', 'In flight', (c) => count(c.inFlight)],
            ['bytesIn', 'In', (c) => bytes(c.bytesIn)],
            ['bytesOut', 'Out', (c) => bytes(c.bytesOut)],
        ].filter(([key]) => knows(key));
        const body = connections.length ? html`<table class="cards four live" role="table">
            <thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Peer</th><th role="columnheader" scope="col">Protocol</th>
                ${knows('sinceMillis') ? html`<th role="columnheader" scope="col">Since</th>` : nothing}
                ${columns.map(([, text]) => html`<th role="columnheader" scope="col" class="number">${text}</th>`)}</tr></thead>
            <tbody role="rowgroup">${connections.map((c) => html`<tr role="row">
                <th role="rowheader" scope="row" class="whole">${cut(c.peer, 200) || UNKNOWN}
                    ${c.owner ? html`<span class="muted">${ownerText(c.owner)}</span>` : nothing}</th>
                <td role="cell" data-label="Protocol">${c.protocol}${c.tls ? ', TLS' : ''}</td>
                ${knows('sinceMillis') ? html`<td role="cell" data-label="Since">${ago(c.sinceMillis, now)}</td>` : nothing}
                ${columns.map(([, text, of]) => html`<td role="cell" class="number" data-label=${text}>${of(c)}</td>`)}
            </tr>`)}</tbody>
        </table>` : empty('Nobody is connected.');
        return panel('connections', 'Who is connected', html`${body}${total > (shown ?? connections.length)
            ? html`<p class="body muted">${count(shown)} of ${count(total)} are shown.</p>` : nothing}`);
    }
}
