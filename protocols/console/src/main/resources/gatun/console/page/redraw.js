// SPDX-License-Identifier: Apache-2.0
/** Draws the page once for all that changed since the last picture of the screen, and not at all while nobody looks. */

let draw = () => {};
let waiting = false;

/** Who draws. */
export function drawWith(drawing) {
    draw = drawing;
    changed();
}

/** Something that the page shows has changed. */
export function changed() {
    if (!waiting) {
        waiting = true;
        requestAnimationFrame(() => {
            waiting = false;
            const start = performance.now();
            draw();
            performance.measure('gatun.draw', { start });
            performance.clearMeasures('gatun.draw'); // Who observes them has seen it.
        });
    }
}
