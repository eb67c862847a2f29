// SPDX-License-Identifier: Apache-2.0
/** A sheet of paper to draw on, with a pointer or with the arrow keys. */

const SIDE = 280;
const PEN = 20;
const STEP = 10;

const ARROWS = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] };

export class Drawing {
    element = document.createElement('canvas');
    #context;
    #onStroke;
    #at;
    #key = { x: SIDE / 2, y: SIDE / 2, down: false };
    isEmpty = true;

    /** @param onStroke called when a stroke has ended, and when the paper is new */
    constructor(onStroke) {
        const canvas = this.element;
        this.#onStroke = onStroke;
        canvas.width = SIDE;
        canvas.height = SIDE;
        canvas.className = 'paper';
        canvas.tabIndex = 0;
        canvas.setAttribute('role', 'img');
        canvas.setAttribute('aria-label', 'Paper. Draw with a pointer, or with the arrow keys: the space bar puts the pen down and lifts it.');
        this.#context = canvas.getContext('2d', { willReadFrequently: true });
        canvas.addEventListener('pointerdown', (event) => this.#down(event));
        canvas.addEventListener('pointermove', (event) => this.#move(event));
        canvas.addEventListener('pointerup', () => this.#up());
        canvas.addEventListener('pointercancel', () => this.#up());
        canvas.addEventListener('keydown', (event) => this.#pressed(event));
        this.#blank();
    }

    #blank() {
        this.#context.fillStyle = '#fff';
        this.#context.fillRect(0, 0, SIDE, SIDE);
        this.#context.strokeStyle = '#000';
        this.#context.lineWidth = PEN;
        this.#context.lineCap = 'round';
        this.#context.lineJoin = 'round';
        this.isEmpty = true;
    }

    /** Takes a new sheet. */
    clear() {
        this.#blank();
        this.#onStroke();
    }

    /** Draws a picture onto the paper. */
    show(picture) {
        this.#blank();
        const factor = Math.min(SIDE / picture.width, SIDE / picture.height);
        const [width, height] = [picture.width * factor, picture.height * factor];
        this.#context.drawImage(picture, (SIDE - width) / 2, (SIDE - height) / 2, width, height);
        this.isEmpty = false;
        this.#onStroke();
    }

    #point(event) {
        const box = this.element.getBoundingClientRect();
        return { x: ((event.clientX - box.left) / box.width) * SIDE, y: ((event.clientY - box.top) / box.height) * SIDE };
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
            const [x, y] = ARROWS[event.key];
            const next = { x: inside(key.x + x), y: inside(key.y + y), down: key.down };
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

function inside(at) {
    return Math.min(Math.max(at, 0), SIDE);
}
