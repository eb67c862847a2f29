// SPDX-License-Identifier: Apache-2.0
/** Requests to the server that the page is of. */

import { ask, headers } from './access.js';

/** A request that the server answered with a failure, or did not answer: status 0. */
export class RequestError extends Error {
    constructor(status, message) {
        super(message);
        this.status = status;
    }
}

/** The path of a model in v2's own API. */
export function modelPath(name, version) {
    return versionPath(`/v2/models/${encodeURIComponent(name)}`, version);
}

/** The path of a model in the console's API. */
export function consolePath(name, version) {
    return versionPath(`/v2/console/models/${encodeURIComponent(name)}`, version);
}

function versionPath(model, version) {
    return version ? `${model}/versions/${encodeURIComponent(version)}` : model;
}

/**
 * Sends a request. Where the server wants a token that the page does not have, its user is asked, and the request is
 * sent once more.
 *
 * @returns the response, whose status is a good one
 * @throws RequestError with the server's own text
 */
export async function send(path, options = {}) {
    for (;;) {
        const used = headers();
        const response = await reach(path, { ...options, headers: { ...options.headers, ...used }, credentials: 'omit' });
        if (response.ok) {
            return response;
        }
        const text = await failureText(response);
        if (response.status !== 401 && response.status !== 403) {
            throw new RequestError(response.status, text);
        }
        if (!(await ask(text, used))) {
            throw new RequestError(response.status, text);
        }
    }
}

/** The JSON that the server answers with. */
export async function json(path, options) {
    return (await send(path, options)).json();
}

/** Posts a JSON object to a path that answers with nothing. */
export async function post(path, body) {
    await send(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
}

async function reach(path, options) {
    try {
        return await fetch(path, options);
    } catch (e) {
        if (options.signal?.aborted) {
            throw e;
        }
        throw new RequestError(0, 'The server does not answer.');
    }
}

async function failureText(response) {
    let text = '';
    try {
        text = await response.text();
        const error = JSON.parse(text).error;
        return typeof error === 'string' && error ? error : text;
    } catch {
        return text || `${response.status} ${response.statusText}`;
    }
}
