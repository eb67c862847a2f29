// SPDX-License-Identifier: Apache-2.0
/** Pieces that several views show. */

import { html } from './lit/lit-html.js';
import { isLong } from './format.js';

const STATES = {
    READY: ['good', 'Ready'],
    LOADING: ['warning', 'Loading'],
    UNLOADING: ['warning', 'Unloading'],
    UNAVAILABLE: ['bad', 'Unavailable'],
    NOT_LOADED: ['', 'Not loaded'],
};

/** A state as a word with a dot. */
export function stateChip(state) {
    const [kind, text] = STATES[state] ?? ['', state ?? 'Unknown'];
    return html`<span class=${`state ${kind}`}><span class=${`dot ${kind}`}></span>${text}</span>`;
}

/** A text of the server, of which a long one is opened on request. */
export function longText(text, label) {
    return isLong(text)
        ? html`<details><summary>${text.slice(0, 300)} …</summary><pre class="long-text" tabindex="0" role="region" aria-label=${label}>${text}</pre></details>`
        : html`<pre>${text ?? ''}</pre>`;
}

/** A panel with a heading. */
export function panel(id, heading, body, tools = '') {
    return html`<section class="panel" aria-labelledby=${id}>
        <header><h2 id=${id}>${heading}</h2>${tools}</header>
        ${body}
    </section>`;
}

/** A panel's body where there is nothing to show. */
export function empty(text) {
    return html`<p class="empty">${text}</p>`;
}

/** Who owns something: "ada (pid 5, user 1000)". */
export function ownerText(owner) {
    if (!owner) {
        return undefined;
    }
    const parts = [];
    if (owner.pid !== undefined) {
        parts.push(`pid ${owner.pid}`);
    }
    if (owner.user !== undefined) {
        parts.push(`user ${owner.user}`);
    }
    return owner.name ? `${owner.name}${parts.length ? ` (${parts.join(', ')})` : ''}` : parts.join(', ');
}
