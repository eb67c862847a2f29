// SPDX-License-Identifier: Apache-2.0
/**
 * The server's stream of events. It is read by fetch, since an EventSource cannot send the header that the server may
 * want. When it breaks, it is opened again after ever longer pauses.
 */

import { send } from './server.js';

const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30000;

/** Events come each second; after so long without one the connection is taken for broken. */
const SILENCE = 10000;

/** No event is that long. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

/** A tab that nobody looks at for so long leaves its place to others. */
const HIDDEN = 60000;

export class EventStream {
    #onEvent;
    #onState;
    #path;
    #pause = FIRST_PAUSE;
    #timer;
    #hidden;
    #reading;

    /**
     * @param onEvent gets the name and the object of each event
     * @param onState gets {live: true}, or {live: false, reason, retryAt} by the browser's clock
     */
    constructor(onEvent, onState) {
        this.#onEvent = onEvent;
        this.#onState = onState;
        document.addEventListener('visibilitychange', () => this.#visibility());
    }

    /** Reads the stream of {@code path} in the place of the one before. */
    open(path) {
        if (path !== this.#path || !this.#reading) {
            this.#path = path;
            this.retry();
        }
    }

    /** Tries again now. */
    retry() {
        clearTimeout(this.#timer);
        this.#reading?.abort();
        const reading = new AbortController();
        this.#reading = reading;
        this.#read(reading);
    }

    #visibility() {
        clearTimeout(this.#hidden);
        if (document.hidden) {
            this.#hidden = setTimeout(() => this.#leave(), HIDDEN);
        } else if (!this.#reading) {
            this.retry();
        }
    }

    #leave() {
        clearTimeout(this.#timer);
        this.#reading?.abort();
        this.#reading = undefined;
    }

    async #read(reading) {
        let reason;
        let watch;
        const isCurrent = () => this.#reading === reading;
        const heard = () => {
            clearTimeout(watch);
            watch = setTimeout(() => reading.abort('silence'), SILENCE);
        };
        try {
            const response = await send(this.#path, { signal: reading.signal, headers: { Accept: 'text/event-stream' } });
            heard();
            const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
            const lines = new EventLines((name, data) => {
                if (isCurrent()) {
                    this.#pause = FIRST_PAUSE;
                    this.#onState({ live: true });
                    this.#onEvent(name, data);
                }
            });
            for (let part = await reader.read(); !part.done; part = await reader.read()) {
                heard();
                lines.add(part.value);
            }
            reason = 'The server has ended the stream.';
        } catch (e) {
            reason = e === 'silence' || reading.signal.reason === 'silence' ? 'The server has gone silent.' : e.message;
        }
        clearTimeout(watch);
        reading.abort();
        if (isCurrent()) {
            this.#later(reason);
        }
    }

    #later(reason) {
        // Not all pages at once, when a server starts again.
        const pause = this.#pause * (0.75 + Math.random() / 2);
        this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
        this.#onState({ live: false, reason, retryAt: Date.now() + pause });
        this.#timer = setTimeout(() => this.retry(), pause);
    }
}

/** Takes a stream of server-sent events apart. */
export class EventLines {
    #onEvent;
    #rest = '';
    #name = '';
    #data = [];

    constructor(onEvent) {
        this.#onEvent = onEvent;
    }

    /** More characters of the stream. Events whose data are no JSON are given as texts. */
    add(text) {
        const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
        this.#rest = lines.pop();
        if (this.#rest.length > MOST_CHARACTERS) {
            throw new Error('An event of the server is too long.');
        }
        lines.forEach((line) => this.#line(line));
    }

    #line(line) {
        if (line === '') {
            if (this.#data.length) {
                this.#onEvent(this.#name || 'message', parsed(this.#data.join('\n')));
            }
            this.#name = '';
            this.#data = [];
            return;
        }
        const colon = line.indexOf(':');
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
        if (field === 'event') {
            this.#name = value;
        } else if (field === 'data') {
            this.#data.push(value);
        }
    }
}

function parsed(data) {
    try {
        return JSON.parse(data);
    } catch {
        return data;
    }
}
