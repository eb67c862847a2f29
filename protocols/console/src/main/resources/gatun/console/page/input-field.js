// SPDX-License-Identifier: Apache-2.0
/** The part of a form that makes one input tensor: of numbers, texts, a picture or a file. */

import { html, nothing } from './lit/lit-html.js';
import { changed } from './redraw.js';
import { count, cut, shape } from './format.js';
import { FILLS } from './input-defaults.js';
import { elementCount, isFloat, isKnown, parseElements, parseShape } from './tensors.js';
import { isHandwriting, pictureLayout, pngOf, readPicture } from './picture.js';
import { PictureInput } from './picture-input.js';

/** More elements are not written out in the form. */
const MOST_WRITTEN = 4096;

const MOST_FILE_BYTES = 64 * 1024 * 1024;
const PICTURE_NAME = /png|jpe?g|image|picture|photo/i;

export class InputField {
    #spec;
    #id;
    #first;
    #layout;
    #mode;
    #modes;
    #text = '';
    #shape = '';
    #fill;
    #bytes;
    #picture;
    #isSent = true;

    /**
     * @param spec {name, datatype, shape, optional, format}
     * @param index tells the field from others of the form
     * @param hasBatch whether the first dimension is that of batches
     * @param first what the field begins with: {dims, fill}
     * @param onPicture called when there is another picture
     */
    constructor(spec, index, hasBatch, first, onPicture) {
        this.#spec = spec;
        this.#id = `input-${index}`;
        this.#first = first;
        this.#isSent = !spec.optional;
        this.#layout = pictureLayout(spec, hasBatch);
        const takesFile = spec.datatype === 'BYTES' && spec.shape.every((dim) => dim < 0 || dim === 1);
        this.#modes = this.#layout ? ['picture', 'values'] : takesFile ? ['values', 'file'] : ['values'];
        this.#mode = takesFile && PICTURE_NAME.test(spec.name) ? 'file' : this.#modes[0];
        if (this.#layout || takesFile) {
            this.#picture = new PictureInput(this.#id, this.#layout, this.#layout && isHandwriting(this.#layout), () => {
                this.#bytes = undefined;
                onPicture();
            });
        }
        const isOpen = spec.shape.some((dim) => dim < 0);
        if (isOpen && (!this.#canInfer() || elementCount(first.dims) > MOST_WRITTEN)) {
            this.#shape = first.dims.join(', ');
        }
        this.#fillWith(first.fill);
    }

    /** Whether a picture can be drawn or chosen for it. */
    get takesPicture() {
        return Boolean(this.#picture);
    }

    close() {
        this.#picture?.close();
    }

    /** Whether the dimensions that the request decides follow from the number of elements, of one batch. */
    #canInfer() {
        const open = this.#spec.shape.filter((dim) => dim < 0).length;
        return open <= 1 || (open === 2 && this.#spec.shape[0] < 0);
    }

    #dims(length) {
        if (this.#shape.trim() || !this.#canInfer()) {
            return parseShape(this.#shape, this.#spec);
        }
        const dims = this.#spec.shape.slice();
        const open = dims.findLastIndex((dim) => dim < 0);
        if (open < 0 || length === undefined) {
            return this.#first.dims;
        }
        if (open > 0 && dims[0] < 0) {
            dims[0] = 1;
        }
        const others = elementCount(dims.filter((dim, i) => i !== open));
        if (length % others !== 0) {
            throw new Error(`There are ${count(length)} elements; the shape ${shape(this.#spec.shape)} wants a multiple of ${count(others)}.`);
        }
        dims[open] = others ? length / others : 0;
        return dims;
    }

    /**
     * The tensor, or undefined for an optional one that is not sent.
     *
     * @throws Error that says what is wrong
     */
    async read() {
        if (!this.#isSent) {
            return undefined;
        }
        try {
            const { name, datatype } = this.#spec;
            if (!isKnown(datatype)) {
                throw new Error(`Tensors of ${datatype} cannot be made here.`);
            }
            return { name, datatype, ...(await this.#content()) };
        } catch (e) {
            throw new Error(`${cut(this.#spec.name, 100)}: ${e.message}`);
        }
    }

    async #content() {
        if (this.#mode === 'picture') {
            const { dims, elements } = this.#picture.tensor();
            return { dims: this.#spec.shape.length > dims.length ? [1, ...dims] : dims, elements };
        }
        if (this.#mode === 'file') {
            if (!this.#bytes && this.#picture.isEmpty) {
                throw new Error('Choose a file, or draw something.');
            }
            return { dims: this.#spec.shape.map(() => 1), elements: [this.#bytes ?? (await pngOf(this.#picture.canvas))] };
        }
        const { datatype } = this.#spec;
        if (this.#fill) {
            const dims = this.#dims();
            return { dims, elements: Array.from({ length: elementCount(dims) }, (unused, i) => this.#filled(i)) };
        }
        const length = this.#length();
        const dims = this.#dims(length);
        return { dims, elements: parseElements(datatype, this.#text, elementCount(dims)) };
    }

    #length() {
        if (this.#spec.datatype === 'BYTES') {
            return this.#text === '' ? 1 : this.#text.replace(/\n$/, '').split('\n').length;
        }
        return this.#text.split(/[\s,;[\]]+/).filter(Boolean).length;
    }

    #filled(i) {
        const { datatype } = this.#spec;
        const value = this.#fill(i);
        if (datatype === 'BOOL') {
            return value !== 0;
        }
        // The numbers of tokens and bytes: small datatypes hold no more, and models know no more.
        return isFloat(datatype) ? value : Math.round(this.#fill === FILLS['Count up'] ? value % 128 : value);
    }

    #fillWith(fill) {
        let length;
        try {
            length = elementCount(this.#dims());
        } catch {
            return; // The shape says what is wrong when the form is sent.
        }
        this.#fill = fill;
        if (length <= MOST_WRITTEN) {
            const texts = Array.from({ length }, (unused, i) => {
                const value = this.#filled(i);
                return typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(4) : String(value);
            });
            this.#text = texts.join(this.#spec.datatype === 'BYTES' ? '\n' : ' ');
            this.#fill = undefined;
        } else {
            this.#text = '';
        }
        changed();
    }

    async #takeFile(file) {
        if (file.size > MOST_FILE_BYTES) {
            throw new Error(`'${file.name}' has more than 64 MiB.`);
        }
        const bytes = this.#mode === 'file' ? new Uint8Array(await file.arrayBuffer()) : undefined;
        try {
            const picture = await readPicture(file);
            this.#picture.show(picture);
            picture.close();
        } catch (e) {
            if (this.#mode !== 'file') {
                throw e;
            }
        }
        this.#bytes = bytes;
        changed();
    }

    render() {
        const { name, datatype, optional } = this.#spec;
        const names = { picture: 'Picture', values: datatype === 'BYTES' ? 'Text' : 'Values', file: 'File or drawing' };
        return html`<fieldset class="tensor">
            <legend>${cut(name, 200)} <span>${datatype} ${shape(this.#spec.shape)}${optional ? ', optional' : ''}</span></legend>
            ${optional ? html`<label class="check"><input type="checkbox" .checked=${this.#isSent} @change=${(event) => {
                this.#isSent = event.currentTarget.checked;
                changed();
            }}> Send it</label>` : nothing}
            ${this.#modes.length > 1 ? html`<span><span class="choice" role="group" aria-label=${`How to make ${name}`}>${this.#modes.map((mode) => html`<button type="button"
                aria-pressed=${String(mode === this.#mode)} @click=${() => {
                    this.#mode = mode;
                    changed();
                }}>${names[mode]}</button>`)}</span></span>` : nothing}
            ${this.#isSent ? (this.#mode === 'values' ? this.#values() : this.#picture.render((file) => this.#takeFile(file), this.#mode, this.#bytes)) : nothing}
        </fieldset>`;
    }

    #values() {
        const { name, datatype } = this.#spec;
        const isOpen = this.#spec.shape.some((dim) => dim < 0);
        const filled = this.#fill ? `${fillName(this.#fill)}: as many elements as the shape says` : '';
        return html`
            ${isOpen ? html`<p class="row"><label for=${`${this.#id}-shape`}>Shape</label>
                <input id=${`${this.#id}-shape`} size="14" spellcheck="false" autocomplete="off" .value=${this.#shape}
                    placeholder=${this.#canInfer() ? 'as the elements' : '1, 16'} @input=${(event) => (this.#shape = event.currentTarget.value)}></p>` : nothing}
            <label class="hidden-text" for=${this.#id}>Elements of ${name}</label>
            <textarea id=${this.#id} rows=${datatype === 'BYTES' ? 4 : 3} spellcheck="false" autocomplete="off" .value=${this.#text}
                placeholder=${filled || (datatype === 'BYTES' ? 'One text a line' : 'Numbers, between blanks or commas')}
                @input=${(event) => {
                    this.#text = event.currentTarget.value;
                    this.#fill = undefined;
                }}></textarea>
            ${datatype === 'BYTES' ? nothing : html`<span class="row">${Object.keys(FILLS).map((fill) => html`<button type="button" class="quiet"
                @click=${() => this.#fillWith(FILLS[fill])}>${fill}</button>`)}</span>`}`;
    }
}

function fillName(fill) {
    return Object.keys(FILLS).find((name) => FILLS[name] === fill) ?? 'Filled';
}
