// SPDX-License-Identifier: Apache-2.0
/** Inference requests by v2's API: with binary tensors, which hold every datatype and value, or as a stream of events. */

import { EventLines } from './events.js';
import { modelPath, send } from './server.js';
import { decode, elementCount, encode } from './tensors.js';

const LENGTH_HEADER = 'Inference-Header-Content-Length';

/** Elements of an output that are shown. */
export const SHOWN_ELEMENTS = 500;

/**
 * The body of a request, and the header that says where its JSON ends.
 *
 * @param inputs {name, datatype, dims, elements}
 * @param parameters such as those of a sequence
 */
export function binaryRequest(inputs, parameters) {
    const tensors = inputs.map((input) => encode(input.datatype, input.elements));
    const head = new TextEncoder().encode(
        JSON.stringify({
            inputs: inputs.map((input, i) => ({
                name: input.name,
                datatype: input.datatype,
                shape: input.dims,
                parameters: { binary_data_size: tensors[i].length },
            })),
            parameters: { ...parameters, binary_data_output: true },
        }),
    );
    return { body: new Blob([head, ...tensors]), headLength: head.length };
}

/**
 * Sends a request and waits for its response.
 *
 * @returns outputs: {name, datatype, dims, elements (the first ones), count, byteSize}
 */
export async function infer(model, inputs, parameters, signal) {
    const { body, headLength } = binaryRequest(inputs, parameters);
    const response = await send(`${modelPath(model.name, model.version)}/infer`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/octet-stream', [LENGTH_HEADER]: String(headLength) },
        body,
        signal,
    });
    return outputsOf(new Uint8Array(await response.arrayBuffer()), Number(response.headers.get(LENGTH_HEADER)));
}

function outputsOf(bytes, headLength) {
    const json = new TextDecoder().decode(headLength ? bytes.subarray(0, headLength) : bytes);
    let at = headLength || bytes.length;
    return (JSON.parse(json).outputs ?? []).map((output) => {
        const byteSize = output.parameters?.binary_data_size ?? 0;
        const data = bytes.subarray(at, at + byteSize);
        at += byteSize;
        return {
            name: output.name,
            datatype: output.datatype,
            dims: output.shape,
            count: elementCount(output.shape),
            elements: decode(output.datatype, data, SHOWN_ELEMENTS),
            byteSize,
        };
    });
}

/** A request in JSON. */
export function inferJson(inputs, parameters) {
    const tensors = inputs.map((input) => {
        const head = JSON.stringify({ name: input.name, datatype: input.datatype, shape: input.dims });
        return `${head.slice(0, -1)},"data":${jsonList(input)}}`;
    });
    const more = Object.keys(parameters).length ? `,"parameters":${JSON.stringify(parameters)}` : '';
    return `{"inputs":[${tensors.join(',')}]${more}}`;
}

/** A request to generate in JSON: inputs are members, a single element is no list. */
export function generateJson(inputs, parameters) {
    const members = inputs.map((input) => {
        const values = jsonList(input);
        return `${JSON.stringify(input.name)}:${input.elements.length === 1 ? values.slice(1, -1) : values}`;
    });
    const more = Object.keys(parameters).length ? [`"parameters":${JSON.stringify(parameters)}`] : [];
    return `{${[...members, ...more].join(',')}}`;
}

/** The elements in JSON, where NaN and infinity are bare words, and integers have all their digits. */
function jsonList({ datatype, elements }) {
    const text = datatype === 'BYTES' ? (bytes) => JSON.stringify(new TextDecoder().decode(bytes)) : String;
    return `[${Array.from(elements, text).join(',')}]`;
}

/**
 * Sends a request to a model that answers any number of times.
 *
 * @param onResponse gets the object of each response
 */
export async function inferStream(model, inputs, parameters, signal, onResponse) {
    const response = await send(`${modelPath(model.name, model.version)}/generate_stream`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: generateJson(inputs, parameters),
        signal,
    });
    const lines = new EventLines((unused, data) => onResponse(data));
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
        lines.add(part.value);
    }
}
