// SPDX-License-Identifier: Apache-2.0
/** The last hour of a model version, second by second, as the server keeps it. */
export class History {
    #step = 1000;
    #most = 3600;
    #times = [];
    #series = {};

    /** Takes all that the server has. */
    load(answer) {
        this.#step = answer.stepMillis || 1000;
        const names = Object.keys(answer.series ?? {});
        const length = Math.max(0, ...names.map((name) => answer.series[name].length));
        this.#most = Math.max(answer.points || 0, length);
        this.#times = Array.from({ length }, (unused, i) => answer.endMillis - (length - 1 - i) * this.#step);
        this.#series = Object.fromEntries(names.map((name) => [name, answer.series[name].slice()]));
    }

    /** Adds the newest second, in the form of an answer with one point; the oldest goes. */
    add(answer) {
        const last = this.#times.at(-1);
        if (!answer?.series || (last !== undefined && answer.endMillis < last + this.#step / 2)) {
            return;
        }
        if (last === undefined) {
            this.load(answer);
            this.#most = 3600;
            return;
        }
        this.#times.push(answer.endMillis);
        for (const [name, values] of Object.entries(this.#series)) {
            values.push(answer.series[name]?.at(-1) ?? null);
        }
        if (this.#times.length > this.#most) {
            this.#times.shift();
            Object.values(this.#series).forEach((values) => values.shift());
        }
    }

    /** The times and the values of these series within the last so many milliseconds. */
    last(millis, names) {
        const newest = this.#times.at(-1) ?? 0;
        let from = this.#times.findIndex((at) => at > newest - millis);
        from = from < 0 ? this.#times.length : from;
        const times = this.#times.slice(from);
        return [times, names.map((name) => (this.#series[name] ?? times.map(() => null)).slice(-times.length || this.#times.length))];
    }

    /** The newest value of a series. */
    newest(name) {
        return this.#series[name]?.at(-1) ?? undefined;
    }

    /** The time of the newest second; undefined when there is none. */
    get endMillis() {
        return this.#times.at(-1);
    }

    get isEmpty() {
        return this.#times.length === 0;
    }
}
