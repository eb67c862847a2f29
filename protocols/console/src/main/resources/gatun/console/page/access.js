// SPDX-License-Identifier: Apache-2.0
/**
 * The headers that the server wants of those who may ask it, such as a token. They are kept for this tab only, and sent
 * with each request. A group of the API may need a header of its own, so that there may be several.
 */

import { html, nothing } from './lit/lit-html.js';
import { changed } from './redraw.js';

const KEPT = 'gatun.headers';
const TOKEN_HEADER = 'Authorization';

let kept = read();
let question;
let isDeclined = false;

function read() {
    try {
        const found = JSON.parse(sessionStorage.getItem(KEPT) ?? '{}');
        return found && typeof found === 'object' ? found : {};
    } catch {
        return {};
    }
}

function keep(headers) {
    kept = headers;
    try {
        sessionStorage.setItem(KEPT, JSON.stringify(headers));
    } catch {
        // Without storage they last until the page is left.
    }
}

/** The headers to send. */
export function headers() {
    return kept;
}

/** Whether there are any. */
export function hasHeaders() {
    return Object.keys(kept).length > 0;
}

/** Sends none from now on. */
export function forget() {
    keep({});
    changed();
}

/**
 * Asks the user for a header, once for all requests that wait for one.
 *
 * @param reason what the server said
 * @param used the headers that were not enough; if there are others by now, nobody is asked
 * @returns whether to send the request again
 */
export function ask(reason, used) {
    if (used !== kept) {
        return Promise.resolve(true);
    }
    if (isDeclined) {
        return Promise.resolve(false);
    }
    if (!question) {
        let answer;
        const answered = new Promise((resolve) => (answer = resolve));
        question = { reason, answered, answer, again: hasHeaders() };
        changed();
    }
    return question.answered;
}

/** Asks once more, though the user did not want to answer. */
export function askAgain() {
    isDeclined = false;
}

function answer(sendAgain) {
    isDeclined = !sendAgain;
    question.answer(sendAgain);
    question = undefined;
    changed();
}

function submitted(event) {
    event.preventDefault();
    const form = event.currentTarget.elements;
    const name = form.header.value.trim();
    const value = form.value.value.trim();
    const isToken = name.toLowerCase() === TOKEN_HEADER.toLowerCase() && !value.includes(' ');
    try {
        new Headers([[name, value]]); // Refuses what cannot be sent.
        keep({ ...kept, [name]: isToken ? `Bearer ${value}` : value });
        answer(true);
    } catch {
        form.header.setCustomValidity('Neither a name of a header nor its value may have such characters.');
        form.header.reportValidity();
    }
}

function opened(dialog) {
    if (dialog && !dialog.open) {
        dialog.showModal();
        dialog.querySelector('[name=value]').focus();
    }
}

/** The dialog, while there is something to ask. */
export function accessDialog() {
    if (!question) {
        return nothing;
    }
    queueMicrotask(() => opened(document.getElementById('access')));
    return html`<dialog id="access" aria-labelledby="access-title" @cancel=${() => answer(false)}>
        <form @submit=${submitted}>
            <h2 id="access-title">The server wants a token</h2>
            <p class="muted">${question.reason}</p>
            ${question.again ? html`<p class="problem" role="alert">What was sent was not enough.</p>` : nothing}
            <p class="field">
                <label for="access-value">Token, or the header's value</label>
                <input id="access-value" name="value" type="password" autocomplete="off" required>
            </p>
            <p class="field">
                <label for="access-header">Header</label>
                <input id="access-header" name="header" .value=${TOKEN_HEADER} autocomplete="off" spellcheck="false" required
                    @input=${(event) => event.currentTarget.setCustomValidity('')}>
            </p>
            <p class="muted">Kept in this tab until it is closed.</p>
            <p class="row">
                <button type="button" @click=${() => answer(false)}>Cancel</button>
                <button class="primary">Continue</button>
            </p>
        </form>
    </dialog>`;
}
