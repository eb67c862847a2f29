// SPDX-License-Identifier: Apache-2.0
/** A picture for an input: drawn, from a file, dropped, or from the camera; and what the model sees of it. */

import { html, nothing } from './lit/lit-html.js';
import { changed } from './redraw.js';
import { count } from './format.js';
import { Drawing } from './drawing.js';
import { pictureTensor, SCALES, showTensor } from './picture.js';

/** Wider pictures are shown by their width, others by their height. */
const WIDE = 220 / 84;

/** Of so few pixels each is to be seen. */
const COARSE = 84;

export class PictureInput {
    #id;
    #layout;
    #drawing;
    #choices;
    #seen = document.createElement('canvas');
    #sight;
    #isOver = false;
    #problem;
    #camera;
    #onPicture;

    /**
     * @param id of the input, unique in the page
     * @param layout of the tensor, or undefined where the picture is sent as a file
     * @param ink whether to fit handwriting into the middle
     * @param onPicture called when there is another picture
     */
    constructor(id, layout, ink, onPicture) {
        this.#id = id;
        this.#layout = layout;
        this.#onPicture = onPicture;
        this.#choices = { scale: 'unit', ink: Boolean(ink), whole: false };
        this.#seen.className = 'seen';
        this.#seen.setAttribute('role', 'img');
        this.#seen.setAttribute('aria-label', 'What the model sees');
        const isFixed = layout?.width > 0 && layout.height > 0;
        this.#drawing = new Drawing(isFixed ? layout.width / layout.height : 1, () => this.#changed());
        this.#see();
    }

    get canvas() {
        return this.#drawing.element;
    }

    get isEmpty() {
        return this.#drawing.isEmpty;
    }

    /** Shows a picture instead of what was there. */
    show(picture) {
        this.#drawing.show(picture);
    }

    /** The picture as a tensor without a batch. */
    tensor() {
        if (this.isEmpty) {
            throw new Error('Draw something, or choose a picture.');
        }
        return pictureTensor(this.canvas, this.#layout, this.#choices);
    }

    close() {
        this.#stopCamera();
    }

    #changed() {
        this.#see();
        this.#onPicture();
        changed();
    }

    #see() {
        if (this.#layout) {
            this.#sight = showTensor(this.#seen, pictureTensor(this.canvas, this.#layout, this.#choices), this.#layout);
            const { width, height } = this.#sight;
            this.#seen.classList.toggle('wide', width / height > WIDE);
            this.#seen.classList.toggle('coarse', Math.max(width, height) < COARSE);
        }
    }

    /** The size of what the model sees, and its values: "192 × 48, values −1 to 1". */
    #sightText() {
        const { width, height, low, high } = this.#sight;
        return `${width} × ${height}, values ${number(low)} to ${number(high)}`;
    }

    #choose(choice) {
        Object.assign(this.#choices, choice);
        this.#changed();
    }

    async #take(files, takeFile) {
        this.#isOver = false;
        this.#problem = undefined;
        try {
            if (files[0]) {
                await takeFile(files[0]);
            }
        } catch (e) {
            this.#problem = e.message;
        }
        changed();
    }

    async #startCamera() {
        this.#problem = undefined;
        try {
            const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
            const video = document.createElement('video');
            Object.assign(video, { srcObject: stream, muted: true, playsInline: true, className: 'camera' });
            video.setAttribute('aria-label', 'The camera');
            this.#camera = { stream, video };
            await video.play();
        } catch (e) {
            this.#stopCamera();
            this.#problem = `The camera cannot be used: ${e.message}`;
        }
        changed();
    }

    #snap() {
        const { video } = this.#camera;
        const canvas = document.createElement('canvas');
        canvas.width = video.videoWidth;
        canvas.height = video.videoHeight;
        canvas.getContext('2d').drawImage(video, 0, 0);
        this.#stopCamera();
        this.show(canvas);
    }

    #stopCamera() {
        this.#camera?.stream.getTracks().forEach((track) => track.stop());
        this.#camera = undefined;
        changed();
    }

    /**
     * The drawing, its buttons and choices.
     *
     * @param takeFile gets a file that was chosen or dropped; what it throws is shown
     * @param mode whether the picture becomes a tensor, or is sent as a file
     * @param bytes the file, if one was chosen
     */
    render(takeFile, mode, bytes) {
        const dropped = (event) => {
            event.preventDefault();
            this.#take(event.dataTransfer.files, takeFile);
        };
        const over = (isOver) => (event) => {
            event.preventDefault();
            if (this.#isOver !== isOver) {
                this.#isOver = isOver;
                changed();
            }
        };
        return html`<div class=${this.#isOver ? 'drop over' : 'drop'} @dragover=${over(true)} @dragleave=${over(false)} @drop=${dropped}>
            <div class="canvases">
                ${this.#camera ? this.#camera.video : this.canvas}
                ${mode === 'picture' ? html`<figure>${this.#seen}<figcaption>The model sees ${this.#sightText()}</figcaption></figure>` : nothing}
            </div>
            ${bytes ? html`<p class="muted">A file of ${count(bytes.length)} bytes is sent as it is.</p>` : nothing}
            <span class="row">
                ${this.#camera
                    ? html`<button type="button" class="primary" @click=${() => this.#snap()}>Take the picture</button>
                        <button type="button" @click=${() => this.#stopCamera()}>Cancel</button>`
                    : html`<label class="button" for=${`${this.#id}-file`}>Choose a picture …</label>
                        <input class="hidden-text" type="file" id=${`${this.#id}-file`} accept=${mode === 'file' ? '' : 'image/*'}
                            @change=${(event) => {
                                this.#take(event.currentTarget.files, takeFile);
                                event.currentTarget.value = '';
                            }}>
                        ${navigator.mediaDevices?.getUserMedia ? html`<button type="button" @click=${() => this.#startCamera()}>Camera</button>` : nothing}
                        <button type="button" @click=${() => this.#drawing.clear()}>Clear</button>`}
            </span>
            <p class="muted">Draw here, drop a picture here, or choose one.</p>
            ${mode === 'picture' ? this.#choiceRow() : nothing}
            ${this.#problem ? html`<p class="problem" role="alert">${this.#problem}</p>` : nothing}
        </div>`;
    }

    #choiceRow() {
        const isGrey = this.#layout.channels === 1;
        return html`<span class="row">
            ${isGrey ? html`<label class="check"><input type="checkbox" .checked=${this.#choices.ink}
                @change=${(event) => this.#choose({ ink: event.currentTarget.checked })}> Handwriting: fit the ink into the middle</label>` : nothing}
            ${this.#choices.ink && isGrey ? nothing : html`
                <label for=${`${this.#id}-scale`}>Values</label>
                <select id=${`${this.#id}-scale`} @change=${(event) => this.#choose({ scale: event.currentTarget.value })}>
                    ${Object.entries(SCALES).filter(([key]) => key !== 'imagenet' || !isGrey).map(([key, scale]) =>
                        html`<option value=${key} ?selected=${key === this.#choices.scale}>${scale.text}</option>`)}
                </select>
                <label class="check"><input type="checkbox" .checked=${this.#choices.whole}
                    @change=${(event) => this.#choose({ whole: event.currentTarget.checked })}> Keep the whole picture</label>`}
        </span>`;
    }
}

function number(value) {
    return String(Number(value.toFixed(2))).replace('-', '−');
}
