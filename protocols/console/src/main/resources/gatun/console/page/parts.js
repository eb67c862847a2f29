// SPDX-License-Identifier: Apache-2.0
/** Pieces that several views show. */

import { html } from './lit/lit-html.js';
import { bytes, count, isLong, span } from './format.js';

const STATES = {
    READY: ['good', 'Ready'],
    LOADING: ['warning', 'Loading'],
    UNLOADING: ['warning', 'Unloading'],
    UNAVAILABLE: ['bad', 'Unavailable'],
    NOT_LOADED: ['', 'Not loaded'],
};

/** A state as a word with a dot. */
function stateChip(state) {
    const [kind, text] = STATES[state] ?? ['', state ?? 'Unknown'];
    return html`<span class=${`state ${kind}`}><span class=${`dot ${kind}`}></span>${text}</span>`;
}

/** The state of a model's version; one whose files are fetched is being loaded. */
export function modelChip(model) {
    return stateChip(model.loading ? 'LOADING' : model.version ? model.state : 'NOT_LOADED');
}

const PHASES = {
    waiting: 'waits for other versions',
    'reading-configuration': 'reads the configuration',
    opening: 'the engine reads the model',
    'starting-instances': 'starts instances',
    'warming-up': 'warms up',
};

/** How far a load is: "for 12 s, warms up, 1 of 2 instances ready"; nothing where nothing is loaded. */
export function loadingText(model) {
    if (model.loadingMillis === undefined) {
        return '';
    }
    const { phase, bytes: there, totalBytes, instancesReady, instances } = model.loading ?? {};
    const parts = [`for ${span(model.loadingMillis)}`];
    if (phase === 'fetching') {
        parts.push(`${bytes(there)} of ${bytes(totalBytes)} fetched`);
    } else if (phase) {
        parts.push(PHASES[phase] ?? phase);
    }
    if (instances) {
        parts.push(`${count(instancesReady)} of ${count(instances)} instances ready`);
    }
    return parts.join(', ');
}

/** The memory of a model: "about" where it is estimated. */
export function memoryText(model) {
    return `${model.memoryIs === 'estimated' ? '≈ ' : ''}${bytes(model.memoryBytes)}`;
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
