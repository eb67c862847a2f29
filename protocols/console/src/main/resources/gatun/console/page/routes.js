// SPDX-License-Identifier: Apache-2.0
/** The views' addresses, behind the # of the page's own. */

export const overviewAddress = '#/';
export const memoryAddress = '#/memory';
export const connectionsAddress = '#/connections';

export function modelAddress(name, version, part) {
    const model = `#/models/${encodeURIComponent(name)}/${encodeURIComponent(version)}`;
    return part ? `${model}/${part}` : model;
}

export function requestAddress(name, version, id) {
    return modelAddress(name, version, `requests/${encodeURIComponent(id)}`);
}

/** What an address asks for: the name of a view, and the model, version and request that it is about. */
export function parseAddress(hash) {
    const parts = hash.replace(/^#?\/?/, '').split('/').map(decoded);
    if (parts[0] === 'memory' || parts[0] === 'connections') {
        return { view: parts[0] };
    }
    if (parts[0] === 'models' && parts[1]) {
        const about = { name: parts[1], version: parts[2] ?? '' };
        if (parts[3] === 'try') {
            return { view: 'try', ...about };
        }
        if (parts[3] === 'requests' && parts[4]) {
            return { view: 'request', ...about, id: parts[4] };
        }
        return { view: 'model', ...about };
    }
    return { view: 'overview' };
}

function decoded(part) {
    try {
        return decodeURIComponent(part);
    } catch {
        return part; // Somebody wrote a % by hand.
    }
}
