// SPDX-License-Identifier: Apache-2.0
/** Pictures as tensors. */

import { isFloat, isInteger } from './tensors.js';

const SMALLEST_SIDE = 8;
const LARGEST_SIDE = 4096;

/** Where a model leaves the size open. */
const USUAL_SIDE = 224;

/** Networks that read handwriting have such small greyscale inputs. */
const LARGEST_HANDWRITING = 64;

/** The longer side of the ink, of 28: what networks for handwritten digits are trained with. */
const INK_PART = 20 / 28;

/** Ink fainter than this part of the strongest is taken for paper. */
const FAINTEST_INK = 0.15;

/** Fewer greys than these between paper and ink, of 255, are nothing to read. */
const LEAST_CONTRAST = 8;

/** How values are scaled, by the names that the form shows. */
export const SCALES = {
    unit: { text: '0 to 1', of: (grey) => grey / 255 },
    bytes: { text: '0 to 255', of: (grey) => grey },
    signed: { text: '−1 to 1', of: (grey) => grey / 127.5 - 1 },
    imagenet: {
        text: 'ImageNet: mean and deviation',
        of: (grey, channel) => (grey / 255 - [0.485, 0.456, 0.406][channel]) / [0.229, 0.224, 0.225][channel],
    },
};

/**
 * How a tensor is a picture, or undefined if its shape is none of one.
 *
 * @returns {channels, height, width, isChannelFirst}, the sizes -1 where the request decides
 */
export function pictureLayout(spec, hasBatch) {
    if (!isFloat(spec.datatype) && !isInteger(spec.datatype)) {
        return undefined;
    }
    let dims = spec.shape.slice();
    if ((hasBatch && dims.length === 4) || (dims.length === 4 && dims[0] <= 1)) {
        dims = dims.slice(1);
    }
    if (dims.length !== 3) {
        return undefined;
    }
    const isChannel = (dim) => dim === 1 || dim === 3;
    const isSide = (dim) => dim < 0 || (dim >= SMALLEST_SIDE && dim <= LARGEST_SIDE);
    const first = { channels: dims[0], height: dims[1], width: dims[2], isChannelFirst: true };
    const last = { channels: dims[2], height: dims[0], width: dims[1], isChannelFirst: false };
    const fits = (layout) => isChannel(layout.channels) && isSide(layout.height) && isSide(layout.width);
    const order = spec.format === 'NHWC' ? [last, first] : [first, last];
    return order.find(fits);
}

/** Whether the input is likely to read handwriting. */
export function isHandwriting(layout) {
    return layout.channels === 1 && layout.height > 0 && layout.height <= LARGEST_HANDWRITING && layout.width <= LARGEST_HANDWRITING;
}

/** The picture in a file. The caller closes it. */
export async function readPicture(file) {
    try {
        return await createImageBitmap(file);
    } catch {
        throw new Error(`'${file.name ?? 'This file'}' is no picture that the browser can read.`);
    }
}

/** The bytes of a canvas as a PNG file. */
export async function pngOf(canvas) {
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
    return new Uint8Array(await blob.arrayBuffer());
}

/**
 * A tensor of a picture.
 *
 * @param picture a canvas or a bitmap
 * @param layout as pictureLayout gives it
 * @param choices {scale: a key of SCALES, ink: whether to fit the ink of a handwritten sign into the middle,
 *     whole: whether to keep the whole picture, in bars, rather than cutting its middle}
 * @returns {dims without a batch, elements}
 */
export function pictureTensor(picture, layout, choices) {
    const height = layout.height > 0 ? layout.height : side(picture.height);
    const width = layout.width > 0 ? layout.width : side(picture.width);
    const { channels, isChannelFirst } = layout;
    const dims = isChannelFirst ? [channels, height, width] : [height, width, channels];
    if (choices.ink && channels === 1) {
        return { dims, elements: inkTensor(picture, width, height) };
    }
    const pixels = scaled(picture, width, height, choices.whole);
    const elements = new Float32Array(width * height * channels);
    const scale = SCALES[choices.scale].of;
    for (let i = 0; i < width * height; i++) {
        const [red, green, blue] = pixels.subarray(i * 4, i * 4 + 3);
        const values = channels === 1 ? [0.299 * red + 0.587 * green + 0.114 * blue] : [red, green, blue];
        values.forEach((value, channel) => {
            elements[isChannelFirst ? channel * width * height + i : i * channels + channel] = scale(value, channel);
        });
    }
    return { dims, elements };
}

function side(length) {
    return Math.min(Math.max(length, SMALLEST_SIDE), USUAL_SIDE);
}

function contextOf(width, height) {
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context.fillStyle = '#fff';
    context.fillRect(0, 0, width, height);
    context.imageSmoothingQuality = 'high';
    return context;
}

function scaled(picture, width, height, isWhole) {
    const context = contextOf(width, height);
    const factor = Math[isWhole ? 'min' : 'max'](width / picture.width, height / picture.height);
    const [w, h] = [picture.width * factor, picture.height * factor];
    context.drawImage(picture, (width - w) / 2, (height - h) / 2, w, h);
    return context.getImageData(0, 0, width, height).data;
}

/**
 * The ink of a handwritten sign: 1 for the strongest, 0 for paper; its longer side as large as networks know it, its centre
 * of mass in the middle. The paper is what most of the picture's border is; ink may be darker or lighter.
 */
function inkTensor(picture, width, height) {
    const limit = 512 / Math.max(picture.width, picture.height, 512);
    const [w, h] = [Math.max(1, Math.round(picture.width * limit)), Math.max(1, Math.round(picture.height * limit))];
    const context = contextOf(w, h);
    context.drawImage(picture, 0, 0, w, h);
    const ink = inkOf(context.getImageData(0, 0, w, h).data, w, h);
    const box = boxOf(ink, w, h);
    const elements = new Float32Array(width * height);
    if (!box) {
        return elements; // Nothing is drawn.
    }
    const factor = (Math.min(width, height) * INK_PART) / Math.max(box.width, box.height);
    const small = {
        width: Math.min(width, Math.max(1, Math.round(box.width * factor))),
        height: Math.min(height, Math.max(1, Math.round(box.height * factor))),
    };
    const values = shrunk(ink, w, box, small);
    const left = middle(values, small, width, (i) => i % small.width, small.width);
    const top = middle(values, small, height, (i) => Math.floor(i / small.width), small.height);
    values.forEach((value, i) => {
        elements[(top + Math.floor(i / small.width)) * width + left + (i % small.width)] = value;
    });
    return elements;
}

function inkOf(pixels, width, height) {
    const greys = new Float32Array(width * height);
    for (let i = 0; i < greys.length; i++) {
        greys[i] = 0.299 * pixels[4 * i] + 0.587 * pixels[4 * i + 1] + 0.114 * pixels[4 * i + 2];
    }
    const isBorder = (i) => i < width || i >= width * (height - 1) || i % width === 0 || i % width === width - 1;
    const border = greys.filter((unused, i) => isBorder(i)).sort();
    const paper = border[border.length >> 1];
    let [darker, lighter] = [0, 0];
    greys.forEach((grey) => (grey < paper ? (darker += paper - grey) : (lighter += grey - paper)));
    const sign = darker >= lighter ? -1 : 1;
    const ink = greys.map((grey) => Math.max(0, sign * (grey - paper)));
    const most = ink.reduce((a, b) => Math.max(a, b), 0);
    return most < LEAST_CONTRAST ? ink.fill(0) : ink.map((value) => (value < FAINTEST_INK * most ? 0 : value / most));
}

function boxOf(ink, width, height) {
    let [left, right, top, bottom] = [width, -1, height, -1];
    ink.forEach((value, i) => {
        if (value > 0) {
            const [x, y] = [i % width, Math.floor(i / width)];
            left = Math.min(left, x);
            right = Math.max(right, x);
            top = Math.min(top, y);
            bottom = Math.max(bottom, y);
        }
    });
    return right < 0 ? undefined : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

/** The mean of what falls into each pixel, with the strongest 1 again. */
function shrunk(ink, stride, box, small) {
    const values = new Float32Array(small.width * small.height);
    const [stepX, stepY] = [box.width / small.width, box.height / small.height];
    for (let y = 0; y < small.height; y++) {
        for (let x = 0; x < small.width; x++) {
            values[y * small.width + x] = mean(ink, stride, box.left + x * stepX, box.top + y * stepY, stepX, stepY);
        }
    }
    const most = values.reduce((a, b) => Math.max(a, b), 0);
    return values.map((value) => value / most);
}

function mean(ink, stride, x, y, width, height) {
    const [right, bottom] = [x + width, y + height];
    let sum = 0;
    for (let row = Math.floor(y); row < bottom; row++) {
        const tall = Math.min(row + 1, bottom) - Math.max(row, y);
        for (let column = Math.floor(x); column < right; column++) {
            const wide = Math.min(column + 1, right) - Math.max(column, x);
            sum += (ink[row * stride + column] || 0) * tall * wide;
        }
    }
    return sum / (width * height);
}

function middle(values, small, room, position, length) {
    let [mass, moment] = [0, 0];
    values.forEach((value, i) => {
        mass += value;
        moment += value * (position(i) + 0.5);
    });
    return Math.min(Math.max(Math.round(room / 2 - moment / mass), 0), room - length);
}

/** Draws a tensor of a picture as the model sees it, from its least value as black to its greatest as white. */
export function showTensor(canvas, { dims, elements }, layout) {
    const [channels, height, width] = layout.isChannelFirst ? dims : [dims[2], dims[0], dims[1]];
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext('2d');
    const image = context.createImageData(width, height);
    let [low, high] = [Infinity, -Infinity];
    elements.forEach((value) => {
        low = Math.min(low, value);
        high = Math.max(high, value);
    });
    const range = high - low || 1;
    for (let i = 0; i < width * height; i++) {
        for (let c = 0; c < 3; c++) {
            const channel = Math.min(c, channels - 1);
            const value = elements[layout.isChannelFirst ? channel * width * height + i : i * channels + channel];
            image.data[4 * i + c] = ((value - low) / range) * 255;
        }
        image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
}
