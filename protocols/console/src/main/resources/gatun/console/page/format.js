// SPDX-License-Identifier: Apache-2.0
/** Numbers and times as texts. What is unknown is an en dash. */

export const UNKNOWN = '–';

const known = (value) => value !== undefined && value !== null && !Number.isNaN(value);

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** A count: 12,345. */
export function count(value) {
    return known(value) ? whole.format(value) : UNKNOWN;
}

/** A number per second or a mean, with as many digits as are worth reading. */
export function rate(value) {
    if (!known(value)) {
        return UNKNOWN;
    }
    if (value === 0) {
        return '0';
    }
    if (value < 0.01) {
        return '< 0.01';
    }
    return value < 10 ? value.toFixed(value < 1 ? 2 : 1) : whole.format(value);
}

/** A number that is whole most of the time, such as the mean of a count. */
export function amount(value) {
    return !known(value) || Number.isInteger(value) || value >= 10 ? count(value) : value.toFixed(value < 1 ? 2 : 1);
}

/** A duration in nanoseconds, to three digits. */
export function nanos(value) {
    if (!known(value)) {
        return UNKNOWN;
    }
    if (value < 1000) {
        return `${Math.round(value)} ns`;
    }
    if (value < 1e6) {
        return `${digits(value / 1e3)} µs`;
    }
    return value < 1e9 ? `${digits(value / 1e6)} ms` : `${seconds(value / 1e9)}`;
}

/** A duration in milliseconds. */
export function millis(value) {
    return known(value) ? nanos(value * 1e6) : UNKNOWN;
}

function digits(value) {
    return value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0);
}

function seconds(value) {
    if (value < 60) {
        return `${digits(value)} s`;
    }
    if (value < 3600) {
        return `${Math.floor(value / 60)} min ${Math.floor(value % 60)} s`;
    }
    if (value < 86400) {
        return `${Math.floor(value / 3600)} h ${Math.floor((value % 3600) / 60)} min`;
    }
    return `${Math.floor(value / 86400)} d ${Math.floor((value % 86400) / 3600)} h`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** A number of bytes. */
export function bytes(value) {
    if (!known(value)) {
        return UNKNOWN;
    }
    let unit = 0;
    let scaled = value;
    while (scaled >= 1024 && unit < UNITS.length - 1) {
        scaled /= 1024;
        unit++;
    }
    return `${unit === 0 ? whole.format(scaled) : digits(scaled)} ${UNITS[unit]}`;
}

/** A duration in milliseconds, to the second. */
export function span(value) {
    return !known(value) ? UNKNOWN : value < 60000 ? `${Math.floor(value / 1000)} s` : seconds(value / 1000);
}

/**
 * How long ago something was.
 *
 * @param now the server's time in milliseconds: the clock of the browser may be wrong
 */
export function ago(atMillis, now) {
    if (!known(atMillis) || !known(now)) {
        return UNKNOWN;
    }
    const passed = Math.max(0, now - atMillis);
    return passed < 1000 ? 'now' : `${span(passed)} ago`;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });

/** A time of day, by the server's clock. */
export function time(atMillis) {
    return known(atMillis) ? clock.format(new Date(atMillis)) : UNKNOWN;
}

/** A shape: [1, 16]. */
export function shape(dims) {
    return `[${(dims ?? []).join(', ')}]`;
}

/** At most so many characters of a text. */
export function cut(text, most) {
    const all = String(text ?? '');
    return all.length > most ? `${all.slice(0, most)}…` : all;
}

/** Whether a text is longer than what a row of a table shows. */
export function isLong(text) {
    return String(text ?? '').length > 400;
}
