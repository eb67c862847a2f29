// SPDX-License-Identifier: Apache-2.0
/** Light or dark: as the system has it, or as the user chose here. */

const KEPT = 'gatun.theme';
const CHOICES = ['light', 'dark'];
const dark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set();

function chosen() {
    try {
        return localStorage.getItem(KEPT);
    } catch {
        return null;
    }
}

function apply(theme) {
    if (CHOICES.includes(theme)) {
        document.documentElement.dataset.theme = theme;
    }
}

/** Applies what was chosen before. */
export function startTheme() {
    apply(chosen());
    dark.addEventListener('change', () => listeners.forEach((listener) => listener()));
}

/** The theme that is shown. */
export function theme() {
    return document.documentElement.dataset.theme ?? (dark.matches ? 'dark' : 'light');
}

/** Changes to the other one. */
export function switchTheme() {
    const next = theme() === 'dark' ? 'light' : 'dark';
    apply(next);
    try {
        localStorage.setItem(KEPT, next);
    } catch {
        // Then it lasts until the page is left.
    }
    listeners.forEach((listener) => listener());
}

/** Calls {@code listener} after each change, until the returned function is called. */
export function onTheme(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
}

/** The colour that a variable of the style sheet has now. */
export function colour(name) {
    const probe = document.createElement('span');
    probe.className = name;
    document.body.append(probe);
    const value = getComputedStyle(probe).color;
    probe.remove();
    return value;
}
