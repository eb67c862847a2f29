// SPDX-License-Identifier: Apache-2.0
/**
 * What the inputs of a form begin with: shapes that agree with each other and elements that models take, so that a model
 * can be asked as it stands. What an input is for is told by its name, its datatype and its shape.
 */

import { elementCount, isFloat, MOST_ELEMENTS } from './tensors.js';
import { pictureLayout } from './picture.js';

/** The lengths where the request decides: of texts in tokens, of sounds in samples and in frames of features. */
const TOKENS = 8;
const SAMPLES = 16000;
const FRAMES = 100;

/** The samples of models that are told the rate of them: they take a sound in short windows. */
const WINDOW = 512;

const SAMPLE_RATE = 16000;
const PICTURE_SIDE = 224;

/** Ways to fill a tensor, by the names that the form shows. */
export const FILLS = {
    'Count up': (i) => i + 1,
    Zeros: () => 0,
    Ones: () => 1,
    Random: () => Math.random(),
};

const NAMES = [
    ['rate', /^(sr|fs|(audio_?)?(sample|sampling)_?(rate|freq(uency)?))$/i],
    ['length', /(^|[_.])(len|lens|length|lengths)$/i],
    ['past', /past|cache/i],
    ['state', /state|hidden|(^|[_.])[hc](_?[0n]|_in|x)?$/i],
    ['mask', /mask/i],
    ['type', /token_?type|segment/i],
    ['position', /position/i],
    ['audio', /audio|wav|speech|signal|pcm|sound|samples?$/i],
];

/** What an input is for: one of NAMES, or 'picture', 'features', 'tokens', 'text', 'other'. */
function purposeOf(spec, hasBatch, hasRate) {
    const named = NAMES.find(([, pattern]) => pattern.test(spec.name))?.[0];
    const isSound = isFloat(spec.datatype) || spec.datatype === 'INT16';
    const inner = spec.shape.slice(isBatched(spec, hasBatch) ? 1 : 0);
    if (named && named !== 'audio') {
        return named;
    }
    if (isSound && inner.at(-1) < 0 && inner.slice(0, -1).every((dim) => dim === 1) && (named || hasRate)) {
        return 'audio';
    }
    if (pictureLayout(spec, hasBatch)) {
        return 'picture';
    }
    if (spec.datatype === 'BYTES') {
        return 'text';
    }
    return isFloat(spec.datatype) ? (inner.length >= 2 ? 'features' : 'other') : 'tokens';
}

/** Whether the first dimension is that of batches: the configuration says so, or it is open and not the only one. */
function isBatched(spec, hasBatch) {
    return hasBatch || (spec.shape.length > 1 && spec.shape[0] < 0);
}

/** The length of an input's open dimensions, but for that of batches; undefined where other inputs decide it. */
function ownLength(purpose, spec, hasBatch, hasRate) {
    switch (purpose) {
        case 'audio':
            return hasRate ? WINDOW : SAMPLES;
        case 'picture':
            return PICTURE_SIDE;
        case 'features':
            return FRAMES;
        case 'past':
            return 0; // Nothing was generated yet.
        case 'tokens':
        case 'other':
            // A list of any length, of which one element says least that is wrong.
            return isBatched(spec, hasBatch) ? TOKENS : 1;
        case 'mask':
        case 'type':
        case 'position':
            return undefined;
        default:
            return 1;
    }
}

function fillOf(purpose, length) {
    switch (purpose) {
        case 'rate':
            return () => SAMPLE_RATE;
        case 'length':
            return () => length;
        case 'past':
        case 'state':
        case 'type':
        case 'audio':
            return FILLS.Zeros;
        case 'mask':
            return FILLS.Ones;
        case 'position':
            return (i) => i % Math.max(1, length);
        default:
            return FILLS['Count up'];
    }
}

/**
 * What each of a model's inputs begins with.
 *
 * @param specs {name, datatype, shape}
 * @param hasBatch whether the first dimension of each is that of batches
 * @returns for each {dims, fill: makes a number of an element's index}
 */
export function inputDefaults(specs, hasBatch) {
    const hasRate = specs.some((spec) => NAMES[0][1].test(spec.name));
    const purposes = specs.map((spec) => purposeOf(spec, hasBatch, hasRate));
    const lengths = specs.map((spec, i) => ownLength(purposes[i], spec, hasBatch, hasRate));
    // The masks, positions and lengths beside it are those of the first input whose length is open.
    const leads = (spec, i) => ['audio', 'features', 'tokens', 'other'].includes(purposes[i]) && spec.shape.lastIndexOf(-1) > 0;
    const leader = specs.findIndex(leads);
    const common = leader < 0 ? 1 : lengths[leader];
    return specs.map((spec, i) => {
        const length = lengths[i] ?? common;
        const isBatch = (at) => at === 0 && isBatched(spec, hasBatch);
        const dims = spec.shape.map((dim, at) => (dim >= 0 ? dim : isBatch(at) ? 1 : length));
        const isFit = elementCount(dims) <= MOST_ELEMENTS;
        return { dims: isFit ? dims : spec.shape.map((dim) => (dim < 0 ? 1 : dim)), fill: fillOf(purposes[i], common) };
    });
}
