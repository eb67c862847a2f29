// SPDX-License-Identifier: Apache-2.0
/**
 * Elements of tensors: from texts to the bytes of the protocol and back. All numbers are little endian; an element of
 * BYTES is its length in four bytes, then itself.
 */

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder('utf-8', { fatal: true });

const integer = (bits, signed) => ({
    size: bits / 8,
    low: signed ? -(2n ** BigInt(bits - 1)) : 0n,
    high: signed ? 2n ** BigInt(bits - 1) - 1n : 2n ** BigInt(bits) - 1n,
});

const INTEGERS = {
    UINT8: integer(8, false),
    UINT16: integer(16, false),
    UINT32: integer(32, false),
    UINT64: integer(64, false),
    INT8: integer(8, true),
    INT16: integer(16, true),
    INT32: integer(32, true),
    INT64: integer(64, true),
};
const FLOATS = { FP16: 2, BF16: 2, FP32: 4, FP64: 8 };

/** The most elements that a form takes: what a browser holds and sends without being slow. */
export const MOST_ELEMENTS = 1 << 24;

/** Whether the form can make tensors of this datatype. */
export function isKnown(datatype) {
    return datatype === 'BYTES' || datatype === 'BOOL' || datatype in INTEGERS || datatype in FLOATS;
}

/** Whether v2's JSON has a form for it. */
export function hasJson(datatype) {
    return isKnown(datatype) && datatype !== 'FP16' && datatype !== 'BF16';
}

export function isInteger(datatype) {
    return datatype in INTEGERS;
}

export function isFloat(datatype) {
    return datatype in FLOATS;
}

/** The bytes of an element, if all have as many. */
export function elementSize(datatype) {
    return datatype === 'BOOL' ? 1 : (INTEGERS[datatype]?.size ?? FLOATS[datatype]);
}

/** The number of elements of a shape. */
export function elementCount(dims) {
    return dims.reduce((product, dim) => product * dim, 1);
}

/**
 * Reads a shape that a user wrote for a tensor.
 *
 * @throws Error that says what is wrong
 */
export function parseShape(text, spec) {
    const parts = text.split(/[\s,x×[\]]+/).filter(Boolean);
    const dims = parts.map((part) => {
        if (!/^\d{1,10}$/.test(part)) {
            throw new Error(`'${part}' is no dimension; expected a whole number.`);
        }
        return Number(part);
    });
    if (dims.length !== spec.shape.length) {
        throw new Error(`The shape has ${dims.length} dimensions; expected ${spec.shape.length}: [${spec.shape.join(', ')}].`);
    }
    spec.shape.forEach((dim, i) => {
        if (dim >= 0 && dims[i] !== dim) {
            throw new Error(`Dimension ${i + 1} is ${dims[i]}; the model wants ${dim}.`);
        }
    });
    if (elementCount(dims) > MOST_ELEMENTS) {
        throw new Error(`[${dims.join(', ')}] has more than ${MOST_ELEMENTS.toLocaleString('en-US')} elements, which is too much for this form.`);
    }
    return dims;
}

/**
 * Reads the elements that a user wrote: numbers between blanks, commas and brackets; texts one a line.
 *
 * @throws Error that names the element
 */
export function parseElements(datatype, text, count) {
    const parts = datatype === 'BYTES' ? lines(text, count) : text.split(/[\s,;[\]]+/).filter(Boolean);
    if (parts.length !== count) {
        throw new Error(`There ${parts.length === 1 ? 'is 1 element' : `are ${parts.length} elements`}; the shape wants ${count}.`);
    }
    return parts.map((part, i) => parseElement(datatype, part, i));
}

function lines(text, count) {
    const all = text.split('\n');
    if (all.length > count && all.at(-1) === '') {
        all.pop();
    }
    return count === 0 && text === '' ? [] : all;
}

function parseElement(datatype, part, i) {
    if (datatype === 'BYTES') {
        return utf8.encode(part);
    }
    if (datatype === 'BOOL') {
        const value = { true: true, 1: true, false: false, 0: false }[part.toLowerCase()];
        if (value === undefined) {
            throw new Error(`Element ${i + 1} is '${part}'; expected true or false.`);
        }
        return value;
    }
    if (datatype in INTEGERS) {
        const { low, high } = INTEGERS[datatype];
        if (!/^[+-]?\d{1,20}$/.test(part)) {
            throw new Error(`Element ${i + 1} is '${part.slice(0, 40)}'; expected a whole number.`);
        }
        const value = BigInt(part.replace('+', ''));
        if (value < low || value > high) {
            throw new Error(`Element ${i + 1} is ${part}; ${datatype} holds ${low} to ${high}.`);
        }
        return value;
    }
    const value = Number({ nan: 'NaN', inf: 'Infinity', '+inf': 'Infinity', '-inf': '-Infinity', '-infinity': '-Infinity' }[part.toLowerCase()] ?? part);
    if (Number.isNaN(value) && part.toLowerCase() !== 'nan') {
        throw new Error(`Element ${i + 1} is '${part.slice(0, 40)}'; expected a number.`);
    }
    return value;
}

/**
 * The bytes of elements as the protocol has them.
 *
 * @param elements booleans, numbers, BigInts, or arrays of bytes
 */
export function encode(datatype, elements) {
    if (datatype === 'BYTES') {
        return encodeBytes(elements);
    }
    const size = elementSize(datatype);
    const view = new DataView(new ArrayBuffer(elements.length * size));
    for (let i = 0; i < elements.length; i++) {
        put(view, i * size, datatype, elements[i]);
    }
    return new Uint8Array(view.buffer);
}

function encodeBytes(elements) {
    const whole = elements.reduce((sum, element) => sum + 4 + element.length, 0);
    const all = new Uint8Array(whole);
    const view = new DataView(all.buffer);
    let at = 0;
    for (const element of elements) {
        view.setUint32(at, element.length, true);
        all.set(element, at + 4);
        at += 4 + element.length;
    }
    return all;
}

function put(view, at, datatype, value) {
    switch (datatype) {
        case 'BOOL':
            return view.setUint8(at, value ? 1 : 0);
        case 'FP16':
            return view.setUint16(at, halfBits(value), true);
        case 'BF16':
            return view.setUint16(at, brainBits(value), true);
        case 'FP32':
            return view.setFloat32(at, value, true);
        case 'FP64':
            return view.setFloat64(at, value, true);
        default: {
            const { size } = INTEGERS[datatype];
            const big = typeof value === 'bigint' ? value : BigInt(Math.round(value));
            // The lowest bits are the same with and without a sign.
            return size === 8
                ? view.setBigUint64(at, BigInt.asUintN(64, big), true)
                : view[`setUint${size * 8}`](at, Number(BigInt.asUintN(size * 8, big)), true);
        }
    }
}

/**
 * The first elements of a tensor.
 *
 * @param most how many at most
 * @returns booleans, numbers, BigInts for 64 bits, or texts
 */
export function decode(datatype, bytes, most) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const elements = [];
    if (datatype === 'BYTES') {
        for (let at = 0; at + 4 <= bytes.length && elements.length < most; ) {
            const length = view.getUint32(at, true);
            elements.push(textOf(bytes.subarray(at + 4, Math.min(at + 4 + length, bytes.length))));
            at += 4 + length;
        }
        return elements;
    }
    const size = elementSize(datatype);
    if (!size) {
        return Array.from(bytes.subarray(0, most), (byte) => byte.toString(16).padStart(2, '0'));
    }
    for (let at = 0; at + size <= bytes.length && elements.length < most; at += size) {
        elements.push(take(view, at, datatype));
    }
    return elements;
}

/** The text of an element, or how many bytes it has that are no text. */
function textOf(bytes) {
    try {
        return fromUtf8.decode(bytes);
    } catch {
        return `(${bytes.length} bytes that are no text)`;
    }
}

function take(view, at, datatype) {
    switch (datatype) {
        case 'BOOL':
            return view.getUint8(at) !== 0;
        case 'FP16':
            return halfValue(view.getUint16(at, true));
        case 'BF16':
            return floatOf(view.getUint16(at, true) << 16);
        case 'FP32':
            return view.getFloat32(at, true);
        case 'FP64':
            return view.getFloat64(at, true);
        default: {
            const { size, low } = INTEGERS[datatype];
            const method = `get${size === 8 ? 'Big' : ''}${low < 0n ? 'Int' : 'Uint'}${size * 8}`;
            return view[method](at, true);
        }
    }
}

/** An element as a text, as short as it is exact to its datatype. */
export function elementText(datatype, value) {
    if (typeof value !== 'number' || Number.isInteger(value)) {
        return String(value);
    }
    const digits = { FP64: 17, FP32: 7, FP16: 4, BF16: 3 }[datatype] ?? 7;
    return String(Number(value.toPrecision(digits)));
}

const scratch = new DataView(new ArrayBuffer(4));

function bitsOf(value) {
    scratch.setFloat32(0, value);
    return scratch.getUint32(0);
}

function floatOf(bits) {
    scratch.setUint32(0, bits >>> 0);
    return scratch.getFloat32(0);
}

/** Rounded to the nearest, ties to even, as engines do. */
function brainBits(value) {
    const bits = bitsOf(value);
    if (Number.isNaN(value)) {
        return (bits >>> 16) | 0x40;
    }
    return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

function halfBits(value) {
    const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
    const size = Math.abs(value);
    if (Number.isNaN(value)) {
        return 0x7e00;
    }
    if (size >= 65520) {
        return sign | 0x7c00;
    }
    if (size < 2 ** -14) {
        return sign | roundEven(size * 2 ** 24);
    }
    const exponent = Math.floor(Math.log2(size));
    const scaled = roundEven((size / 2 ** exponent - 1) * 1024);
    return sign | (((exponent + 15) << 10) + scaled);
}

function roundEven(value) {
    const low = Math.floor(value);
    const rest = value - low;
    return rest > 0.5 || (rest === 0.5 && low % 2) ? low + 1 : low;
}

function halfValue(bits) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    if (exponent === 0) {
        return sign * fraction * 2 ** -24;
    }
    if (exponent === 31) {
        return fraction ? NaN : sign * Infinity;
    }
    return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
