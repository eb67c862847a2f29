// SPDX-License-Identifier: Apache-2.0
/** Which rows of a long table are drawn anew: those in sight each time, and the others in turns. */

import { changed } from './redraw.js';

/** Of so many drawings one draws a row that is out of sight. */
const TURNS = 8;

/** How near to the sight a row counts as in it. */
const MARGIN = '150px 0px';

export class RowWatch {
    #turn = 0;
    #shown = new Set();
    #added = new Set();
    #inSight = new Set();
    #observed = new WeakSet();
    #observer = new IntersectionObserver((entries) => this.#moved(entries), { rootMargin: MARGIN });

    /** There is something new to draw. */
    turn() {
        this.#turn = (this.#turn + 1) % TURNS;
    }

    /** The keys of the rows that are drawn now. The element of each has its key as a property. */
    show(keys) {
        const before = this.#shown;
        this.#shown = new Set(keys);
        this.#added = new Set(keys.filter((key) => !before.has(key)));
        queueMicrotask(() => this.#observe());
    }

    /** Whether a row is to be drawn; otherwise it stays as it was. */
    isDue(key, index) {
        return this.#added.has(key) || this.#inSight.has(key) || index % TURNS === this.#turn;
    }

    close() {
        this.#observer.disconnect();
    }

    #observe() {
        for (const row of document.querySelectorAll('.models tbody tr')) {
            if (!this.#observed.has(row)) {
                this.#observed.add(row);
                this.#observer.observe(row);
            }
        }
    }

    #moved(entries) {
        let anyCame = false;
        for (const { target, isIntersecting } of entries) {
            if (!isIntersecting) {
                this.#inSight.delete(target.key);
            } else if (!this.#inSight.has(target.key)) {
                this.#inSight.add(target.key);
                anyCame = true;
            }
            if (!target.isConnected) {
                this.#observer.unobserve(target);
            }
        }
        if (anyCame) {
            changed();
        }
    }
}
