// SPDX-License-Identifier: Apache-2.0
/** The page: its frame, the view that its address asks for, and the server's stream of events. */

import { html, nothing, render } from './lit/lit-html.js';
import { accessDialog, askAgain, forget, hasHeaders } from './access.js';
import { EventStream } from './events.js';
import { changed, drawWith } from './redraw.js';
import { connectionsAddress, memoryAddress, overviewAddress, parseAddress } from './routes.js';
import { noticeList } from './notices.js';
import { cut, span } from './format.js';
import { onTheme, startTheme, switchTheme, theme } from './theme.js';
import { OverviewView } from './views/overview.js';
import { ModelView } from './views/model.js';
import { TryView } from './views/try.js';
import { RequestView } from './views/request.js';
import { MemoryView } from './views/memory.js';
import { ConnectionsView } from './views/connections.js';

const VIEWS = {
    overview: OverviewView,
    model: ModelView,
    try: TryView,
    request: RequestView,
    memory: MemoryView,
    connections: ConnectionsView,
};

const MENU = [
    ['overview', overviewAddress, 'Overview', ['overview', 'model', 'try', 'request']],
    ['memory', memoryAddress, 'Memory', ['memory']],
    ['connections', connectionsAddress, 'Connections', ['connections']],
];

/** What views may look at. */
const app = { overview: undefined };

let view;
let route;
let link = { live: false };
let entered = false;

const stream = new EventStream(
    (name, data) => {
        if (name === 'overview' && typeof data === 'object') {
            app.overview = data;
            view.overview(data);
        } else if (name === 'model') {
            view.model?.(data);
        }
        changed();
    },
    (state) => {
        link = state;
        changed();
    },
);

function enter() {
    askAgain();
    view?.close();
    route = parseAddress(location.hash);
    view = new VIEWS[route.view](app, route);
    if (app.overview) {
        view.overview(app.overview);
    }
    const { model, version } = view.subject ?? {};
    stream.open(`/v2/console/events${model ? `?model=${encodeURIComponent(model)}&version=${encodeURIComponent(version)}` : ''}`);
    entered = true;
    changed();
}

function draw() {
    const server = app.overview?.server;
    document.title = `${view.title} · Gatun`;
    render(html`
        <a class="skip" href="#content" @click=${skip}>Skip to the content</a>
        <header class="top"><div class="top-inner">
            <a class="brand" href=${overviewAddress}><img src="/console/gatun.svg" alt="">Gatun</a>
            <nav class="views" aria-label="Views">${MENU.map(([name, address, text, of]) => html`<a href=${address}
                aria-current=${of.includes(route.view) ? (name === route.view ? 'page' : 'true') : nothing}>${text}</a>`)}</nav>
            <div class="tools">
                ${linkState(server)}
                ${hasHeaders() ? html`<button class="quiet" @click=${forget}>Forget token</button>` : nothing}
                <button class="quiet" aria-label=${theme() === 'dark' ? 'Light theme' : 'Dark theme'} @click=${switchTheme}>${theme() === 'dark' ? '☀' : '☾'}</button>
            </div>
        </div></header>
        <div role="status">${brokenLink()}</div>
        <main id="content" class=${link.live ? '' : 'stale'}>${view.render()}</main>
        ${accessDialog()} ${noticeList()}`, document.getElementById('app'));
    if (entered) {
        entered = false;
        scrollTo(0, 0);
        document.querySelector('h1')?.focus({ preventScroll: true });
    }
}

function skip(event) {
    event.preventDefault(); // The address is the view's.
    document.querySelector('h1').focus();
}

function tryNow() {
    askAgain();
    stream.retry();
}

function linkState(server) {
    if (!link.live) {
        return html`<span class="link-state"><span class="dot warning"></span>${app.overview ? 'Not connected' : 'Connecting'}</span>`;
    }
    const kind = server?.ready ? 'good' : server?.live ? 'warning' : 'bad';
    const text = server?.ready ? 'Ready' : server?.live ? 'Live, not ready' : 'Not live';
    return html`<span class="link-state" title=${`${server?.name ?? ''} ${server?.version ?? ''}`}><span class=${`dot ${kind}`}></span>${text}
        ${server?.uptimeMillis ? html`<span class="uptime">for ${span(server.uptimeMillis)}</span>` : nothing}</span>`;
}

function brokenLink() {
    return !link.live && link.reason
        ? html`<div class="banner"><span>${cut(link.reason, 300)} ${app.overview ? 'What is shown is old.' : ''} It is tried again by itself.</span>
            <button @click=${tryNow}>Try now</button></div>`
        : nothing;
}

startTheme();
onTheme(changed);
addEventListener('hashchange', enter);
enter();
drawWith(draw);
