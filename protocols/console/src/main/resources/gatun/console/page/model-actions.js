// SPDX-License-Identifier: Apache-2.0
/** What can be done with a model: load, unload, and another number of instances. All by v2's own API. */

import { html, nothing } from './lit/lit-html.js';
import { changed } from './redraw.js';
import { json, modelPath, post } from './server.js';
import { tell, tellFailure } from './notices.js';

const MOST_INSTANCES = 1024;

const WHY_NOT = {
    none: 'The server loads its models at its start only: --model-control-mode=explicit lets it be done here.',
    poll: 'The server follows the files of its repository: change them, or start it with --model-control-mode=explicit.',
};

export class ModelActions {
    #name;
    #done;
    #busy;
    #asking;

    /**
     * @param name the model's
     * @param done called after each action
     */
    constructor(name, done) {
        this.#name = name;
        this.#done = done;
    }

    /** The buttons that the server's control mode allows, or why there are none. */
    buttons(server, state, details) {
        const { load, unload, instances } = server.actions ?? {};
        if (!load && !unload && !instances) {
            return server.actions ? html`<span class="badge" title=${WHY_NOT[server.controlMode] ?? 'Not allowed here.'}>
                fixed models<span class="hidden-text">: ${WHY_NOT[server.controlMode] ?? 'not allowed here'}</span></span>` : nothing;
        }
        const isReady = state === 'READY';
        const busy = Boolean(this.#busy);
        return html`
            ${load ? html`<button ?disabled=${busy} @click=${() => this.#load()}>${this.#busy === 'load' ? 'Loading …' : isReady ? 'Load again' : 'Load'}</button>` : nothing}
            ${instances && isReady && details.instanceGroups?.length
                ? html`<button ?disabled=${busy} @click=${() => this.#ask('instances', details)}>${this.#busy === 'instances' ? 'Changing …' : 'Instances …'}</button>`
                : nothing}
            ${unload && state && state !== 'UNAVAILABLE'
                ? html`<button class="danger" ?disabled=${busy} @click=${() => this.#ask('unload', details)}>${this.#busy === 'unload' ? 'Unloading …' : 'Unload …'}</button>`
                : nothing}`;
    }

    #load() {
        return this.#run('load', `${this.#name} is loaded.`, () => post(this.#control('load'), {}));
    }

    #unload() {
        return this.#run('unload', `${this.#name} is unloaded.`, () => post(this.#control('unload'), {}));
    }

    /** The whole configuration is sent, with other counts: the server takes a configuration as it is, or not at all. */
    #change(counts) {
        return this.#run('instances', `${this.#name} has other instances.`, async () => {
            const configuration = await json(`${modelPath(this.#name)}/config`);
            const groups = configuration.instance_group ?? [];
            groups.forEach((group, i) => (group.count = counts[i] ?? group.count));
            await post(this.#control('load'), { parameters: { config: JSON.stringify(configuration) } });
        });
    }

    #control(action) {
        return `/v2/repository/models/${encodeURIComponent(this.#name)}/${action}`;
    }

    async #run(what, told, action) {
        this.#busy = what;
        changed();
        try {
            await action();
            tell(told);
        } catch (e) {
            tellFailure(e.message);
        }
        this.#busy = undefined;
        changed();
        this.#done();
    }

    #ask(what, details) {
        this.#asking = { what, details };
        changed();
    }

    #close() {
        this.#asking = undefined;
        changed();
    }

    /** The dialog of the action that was chosen, if one was. */
    dialog() {
        if (!this.#asking) {
            return nothing;
        }
        queueMicrotask(() => {
            const dialog = document.getElementById('action');
            if (dialog && !dialog.open) {
                dialog.showModal();
            }
        });
        const { what, details } = this.#asking;
        return html`<dialog id="action" aria-labelledby="action-title" @cancel=${() => this.#close()}>
            ${what === 'unload' ? this.#unloadForm() : this.#instancesForm(details)}
        </dialog>`;
    }

    #unloadForm() {
        const submitted = (event) => {
            event.preventDefault();
            this.#close();
            this.#unload();
        };
        return html`<form @submit=${submitted}>
            <h2 id="action-title">Unload ${this.#name}?</h2>
            <p>All its versions go. Requests that run are answered; new ones are refused until it is loaded again.</p>
            <p class="row"><button type="button" @click=${() => this.#close()}>Cancel</button><button class="danger">Unload</button></p>
        </form>`;
    }

    #instancesForm(details) {
        const submitted = (event) => {
            event.preventDefault();
            const counts = details.instanceGroups.map((group, i) => Number(event.currentTarget.elements[`group-${i}`].value));
            this.#close();
            this.#change(counts);
        };
        return html`<form @submit=${submitted}>
            <h2 id="action-title">Instances of ${this.#name}</h2>
            <p>The model is loaded again with as many beside the present ones, which then go. No request fails.</p>
            ${details.instanceGroups.map((group, i) => html`<p class="field">
                <label for=${`group-${i}`}>${group.name || 'Group'}, ${group.kind}${group.gpus?.length ? `, on each of GPU ${group.gpus.join(', ')}` : ''}</label>
                <input id=${`group-${i}`} name=${`group-${i}`} type="number" min="1" max=${MOST_INSTANCES} step="1" .value=${String(group.count)} required>
            </p>`)}
            <p class="row"><button type="button" @click=${() => this.#close()}>Cancel</button><button class="primary">Change</button></p>
        </form>`;
    }
}
