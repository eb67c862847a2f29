// SPDX-License-Identifier: Apache-2.0
/** What a view shows of an answer that it asks for again and again. */

import { html, nothing } from './lit/lit-html.js';
import { changed } from './redraw.js';
import { json } from './server.js';
import { cut } from './format.js';

/** Overviews, one a second, between two looks. */
const EVERY = 2;

export class Polled {
    #path;
    #answer;
    #problem;
    #events = 0;

    /** Asks for the JSON at a path, for the first time now. */
    constructor(path) {
        this.#path = path;
        this.#load();
    }

    /** An overview has come. A page that nobody looks at asks for nothing. */
    overview() {
        if (++this.#events % EVERY === 0 && !document.hidden) {
            this.#load();
        }
    }

    async #load() {
        try {
            this.#answer = await json(this.#path);
            this.#problem = undefined;
        } catch (e) {
            this.#problem = e.message;
        }
        changed();
    }

    /** What came last, as a function makes it; and what went wrong since. */
    render(shown) {
        return html`
            ${this.#problem ? html`<p class="panel problem empty" role="alert">${cut(this.#problem, 2000)}</p>` : nothing}
            ${this.#answer ? shown(this.#answer) : this.#problem ? nothing : html`<p class="panel empty">Loading …</p>`}`;
    }
}
