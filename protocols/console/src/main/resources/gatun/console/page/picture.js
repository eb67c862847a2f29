// SPDX-License-Identifier: Apache-2.0
/** Pictures as tensors. */

import { isFloat, isInteger } from './tensors.js';

const SMALLEST_SIDE = 16;
const LARGEST_SIDE = 4096;

/** The least and the most for the longer side of a picture where a model leaves both open. */
const OPEN_SIDES = [320, 640];

/** Open sides are a multiple of it: networks halve pictures up to five times. */
const OPEN_STEP = 32;

const PICTURE_NAME = /image|img|pixel|picture|photo|frame|rgb|bgr|gr[ae]y/i;
const OTHER_NAME = /mel|spec|feat|audio|wav|speech|signal|state|hidden|cache|past|embed|latent|logit|mask|token|point|box/i;

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
        of: (grey, channel) => (grey / 255 - [0.485, 0.456, 0.406, 0][channel]) / [0.229, 0.224, 0.225, 1][channel],
    },
};

/**
 * How a tensor is a picture, or undefined if it is none. A picture has 1, 3 or 4 channels, before or behind two sides
 * that are open or at least 16; and its format is declared, or its name tells of pictures, or it is of bytes. Without any
 * of these, floats are a picture if no name tells of something else and they are three channels in a batch, or 1 or 3
 * channels of a square: grey oblongs are features, such as the mel frames of a sound.
 *
 * @returns {channels, height, width, isChannelFirst}, the sizes -1 where the request decides
 */
export function pictureLayout(spec, hasBatch) {
    if (!isFloat(spec.datatype) && !isInteger(spec.datatype)) {
        return undefined;
    }
    const isInBatch = hasBatch || (spec.shape.length === 4 && spec.shape[0] <= 1);
    const dims = isInBatch ? spec.shape.slice(1) : spec.shape;
    if (dims.length !== 3) {
        return undefined;
    }
    const isDeclared = spec.format === 'NCHW' || spec.format === 'NHWC';
    const isTold = isDeclared || PICTURE_NAME.test(spec.name) || (spec.datatype === 'UINT8' && !OTHER_NAME.test(spec.name));
    const isLikely = ({ channels, height, width }) => isFloat(spec.datatype) && !OTHER_NAME.test(spec.name)
        && ((channels === 3 && isInBatch) || (channels !== 4 && height > 0 && height === width));
    const isSide = (dim) => dim < 0 || (dim >= SMALLEST_SIDE && dim <= LARGEST_SIDE);
    const first = { channels: dims[0], height: dims[1], width: dims[2], isChannelFirst: true };
    const last = { channels: dims[2], height: dims[0], width: dims[1], isChannelFirst: false };
    const fits = (layout) => [1, 3, 4].includes(layout.channels) && isSide(layout.height) && isSide(layout.width)
        && (isTold || isLikely(layout));
    const order = spec.format === 'NHWC' ? [last, first] : [first, last];
    return order.find(fits);
}

/** Whether the input is likely to read handwriting. */
export function isHandwriting(layout) {
    return layout.channels === 1 && layout.height > 0 && layout.height <= LARGEST_HANDWRITING && layout.width > 0 && layout.width <= LARGEST_HANDWRITING;
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
    const { width, height } = pictureSize(picture, layout);
    const { channels, isChannelFirst } = layout;
    const dims = isChannelFirst ? [channels, height, width] : [height, width, channels];
    if (choices.ink && channels === 1) {
        return { dims, elements: inkTensor(picture, width, height) };
    }
    const pixels = scaled(picture, width, height, choices.whole);
    const elements = new Float32Array(width * height * channels);
    const scale = SCALES[choices.scale].of;
    for (let i = 0; i < width * height; i++) {
        const [red, green, blue, alpha] = pixels.subarray(i * 4, i * 4 + 4);
        const values = channels === 1 ? [0.299 * red + 0.587 * green + 0.114 * blue] : [red, green, blue, alpha].slice(0, channels);
        values.forEach((value, channel) => {
            elements[isChannelFirst ? channel * width * height + i : i * channels + channel] = scale(value, channel);
        });
    }
    return { dims, elements };
}

/**
 * The size of a tensor of a picture. An open side follows from the other one and the picture's shape; where both are
 * open, the picture keeps its own size, within limits.
 */
export function pictureSize(picture, { height, width }) {
    if (height > 0 && width > 0) {
        return { height, width };
    }
    if (height <= 0 && width <= 0) {
        const longer = Math.max(picture.width, picture.height);
        const factor = Math.min(Math.max(longer, OPEN_SIDES[0]), OPEN_SIDES[1]) / longer;
        return { height: rounded(picture.height * factor, OPEN_STEP), width: rounded(picture.width * factor, OPEN_STEP) };
    }
    const fixed = height > 0 ? height : width;
    // As fine as the fixed side allows: the greatest power of two that divides it.
    const step = Math.min(fixed & -fixed, OPEN_STEP);
    return height > 0
        ? { height, width: rounded((picture.width / picture.height) * fixed, step) }
        : { height: rounded((picture.height / picture.width) * fixed, step), width };
}

/** The nearest multiple of a step, at least one. */
function rounded(length, step) {
    return Math.min(Math.max(step, Math.round(length / step) * step), LARGEST_SIDE);
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

/**
 * Draws a tensor of a picture as the model sees it, from its least value as black to its greatest as white.
 *
 * @returns {width, height, low, high}: its size, its least and its greatest value
 */
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
    return { width, height, low, high };
}
