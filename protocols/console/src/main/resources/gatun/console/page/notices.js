// SPDX-License-Identifier: Apache-2.0
/** Short notices about what the user has done, which screen readers say too. */

import { html } from './lit/lit-html.js';
import { changed } from './redraw.js';

const MOST = 3;
const SHOWN_MILLIS = 8000;

let notices = [];

/** Tells that something was done. It goes by itself. */
export function tell(text) {
    const notice = add(text, false);
    setTimeout(() => dismiss(notice), SHOWN_MILLIS);
}

/** Tells that something failed. It stays until it is dismissed. */
export function tellFailure(text) {
    add(text, true);
}

function add(text, bad) {
    const notice = { text, bad };
    notices = [...notices, notice].slice(-MOST);
    changed();
    return notice;
}

function dismiss(notice) {
    notices = notices.filter((one) => one !== notice);
    changed();
}

/** The notices, in a region that is always there, as screen readers want it. */
export function noticeList() {
    return html`<div class="notices" role="status" aria-live="polite">
        ${notices.map((notice) => html`<div class=${notice.bad ? 'notice bad' : 'notice'}>
            <p>${notice.text}</p>
            <button class="quiet" aria-label="Dismiss" @click=${() => dismiss(notice)}>✕</button>
        </div>`)}
    </div>`;
}
