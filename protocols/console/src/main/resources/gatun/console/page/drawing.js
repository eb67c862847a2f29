// SPDX-License-Identifier: Apache-2.0
/** A sheet of paper to draw on, with a pointer or with the arrow keys. */

/** The longer side of an empty sheet, and of the largest picture; the shorter is at least a fourth. */
const SIDE = 280;
const LARGEST_SIDE = 2048;
const LONGEST = 4;

/** The pen and the steps of arrow keys, as parts of the longer side. */
const PEN = 1 / 14;
const STEP = 1 / 28;

const ARROWS = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] };

export class Drawing {
    element = document.createElement('canvas');
    #context;
    #onStroke;
    #at;
    #sheet;
    #key;
    isEmpty = true;

    /**
     * @param aspect the width of an empty sheet, in its heights
     * @param onStroke called when a stroke has ended, and when the paper is new
     */
    constructor(aspect, onStroke) {
        const canvas = this.element;
        this.#onStroke = onStroke;
        const shape = Math.min(Math.max(aspect, 1 / LONGEST), LONGEST);
        this.#sheet = shape > 1 ? { width: SIDE, height: Math.round(SIDE / shape) } : { width: Math.round(SIDE * shape), height: SIDE };
        canvas.tabIndex = 0;
        canvas.setAttribute('role', 'img');
        canvas.setAttribute('aria-label', 'Paper. Draw with a pointer, or with the arrow keys: the space bar puts the pen down and lifts it.');
        this.#context = canvas.getContext('2d', { willReadFrequently: true });
        canvas.addEventListener('pointerdown', (event) => this.#down(event));
        canvas.addEventListener('pointermove', (event) => this.#move(event));
        canvas.addEventListener('pointerup', () => this.#up());
        canvas.addEventListener('pointercancel', () => this.#up());
        canvas.addEventListener('keydown', (event) => this.#pressed(event));
        this.#blank(this.#sheet);
    }

    #blank({ width, height }) {
        this.element.width = width;
        this.element.height = height;
        this.element.className = height > width ? 'paper tall' : 'paper';
        this.#key = { x: width / 2, y: height / 2, down: false };
        this.#context.fillStyle = '#fff';
        this.#context.fillRect(0, 0, width, height);
        this.#context.strokeStyle = '#000';
        this.#context.lineWidth = PEN * this.#longer;
        this.#context.lineCap = 'round';
        this.#context.lineJoin = 'round';
        this.isEmpty = true;
    }

    get #longer() {
        return Math.max(this.element.width, this.element.height);
    }

    /** Takes a new sheet. */
    clear() {
        this.#blank(this.#sheet);
        this.#onStroke();
    }

    /** Takes a picture for the paper: as large and as long as it is, unless it is too large. */
    show(picture) {
        const factor = Math.min(1, LARGEST_SIDE / Math.max(picture.width, picture.height));
        const [width, height] = [picture.width, picture.height].map((side) => Math.max(1, Math.round(side * factor)));
        this.#blank({ width, height });
        this.#context.drawImage(picture, 0, 0, width, height);
        this.isEmpty = false;
        this.#onStroke();
    }

    #point(event) {
        const box = this.element.getBoundingClientRect();
        const { width, height } = this.element;
        return { x: ((event.clientX - box.left) / box.width) * width, y: ((event.clientY - box.top) / box.height) * height };
    }

    #down(event) {
        this.element.setPointerCapture(event.pointerId);
        this.#at = this.#point(event);
        this.#line(this.#at, this.#at);
    }

    #move(event) {
        if (this.#at) {
            for (const one of event.getCoalescedEvents?.() ?? [event]) {
                const next = this.#point(one);
                this.#line(this.#at, next);
                this.#at = next;
            }
        }
    }

    #up() {
        if (this.#at) {
            this.#at = undefined;
            this.#onStroke();
        }
    }

    #pressed(event) {
        const key = this.#key;
        if (event.key === ' ') {
            key.down = !key.down;
            if (!key.down) {
                this.#onStroke();
            } else {
                this.#line(key, key);
            }
        } else if (ARROWS[event.key]) {
            const [x, y] = ARROWS[event.key].map((step) => step * this.#longer);
            const next = { x: inside(key.x + x, this.element.width), y: inside(key.y + y, this.element.height), down: key.down };
            if (key.down) {
                this.#line(key, next);
            }
            this.#key = next;
        } else {
            return;
        }
        event.preventDefault();
    }

    #line(from, to) {
        this.#context.beginPath();
        this.#context.moveTo(from.x, from.y);
        this.#context.lineTo(to.x, to.y);
        this.#context.stroke();
        this.isEmpty = false;
    }
}

function inside(at, length) {
    return Math.min(Math.max(at, 0), length);
}
