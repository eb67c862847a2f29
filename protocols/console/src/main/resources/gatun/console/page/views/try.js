// SPDX-License-Identifier: Apache-2.0
/** A form made of a model's inputs: asks the model, shows what it answers, and writes the same request in other languages. */

import { html, nothing } from '../lit/lit-html.js';
import { changed } from '../redraw.js';
import { headers } from '../access.js';
import { consolePath, json } from '../server.js';
import { modelAddress, overviewAddress } from '../routes.js';
import { cut, millis } from '../format.js';
import { infer, inferStream } from '../inference.js';
import { inputDefaults } from '../input-defaults.js';
import { InputField } from '../input-field.js';
import { outputView } from '../results.js';
import { LANGUAGES, snippetRequest } from '../snippets.js';
import { tell, tellFailure } from '../notices.js';

/** Responses of a stream that are shown; the oldest go. */
const MOST_RESPONSES = 200;
const MOST_RESPONSE_CHARACTERS = 4000;

/** Where the server does not say on which port it speaks gRPC. */
const USUAL_GRPC_PORT = 8001;

/** Characters of a program that are shown; all are copied. */
const MOST_SNIPPET = 20000;

export class TryView {
    #app;
    #route;
    #details;
    #problem;
    #fields = [];
    #sequence = { id: 1, start: true, end: false };
    #asksAtOnce = false;
    #running;
    #result;
    #failure;
    #language = 'curl';
    #snippet;
    #closed = false;

    constructor(app, route) {
        this.#app = app;
        this.#route = route;
        this.#load();
    }

    get title() {
        return `Try ${this.#route.name}`;
    }

    overview() {}

    close() {
        this.#closed = true;
        this.#running?.abort();
        this.#fields.forEach((field) => field.close());
    }

    async #load() {
        try {
            const details = await json(consolePath(this.#route.name, this.#route.version));
            if (!this.#closed) {
                this.#details = details;
                const hasBatch = details.maxBatchSize > 0;
                const inputs = details.inputs ?? [];
                const first = inputDefaults(inputs, hasBatch);
                this.#fields = inputs.map((spec, i) => new InputField(spec, i, hasBatch, first[i], () => this.#pictured()));
            }
        } catch (e) {
            this.#problem = e.message;
        }
        changed();
    }

    #pictured() {
        this.#snippet = undefined;
        if (this.#asksAtOnce) {
            this.#run();
        }
    }

    async #request() {
        const inputs = [];
        for (const field of this.#fields) {
            const input = await field.read();
            if (input) {
                inputs.push(input);
            }
        }
        const { id, start, end } = this.#sequence;
        return { inputs, parameters: this.#details.stateful ? { sequence_id: id, sequence_start: start, sequence_end: end } : {} };
    }

    async #run() {
        this.#running?.abort();
        const running = new AbortController();
        this.#running = running;
        this.#failure = undefined;
        const isCurrent = () => this.#running === running;
        changed();
        try {
            const { inputs, parameters } = await this.#request();
            const began = performance.now();
            if (this.#details.decoupled) {
                await this.#stream(inputs, parameters, running.signal, began);
            } else {
                const outputs = await infer(this.#route, inputs, parameters, running.signal);
                if (isCurrent()) {
                    this.#result = { outputs, tookMillis: performance.now() - began };
                }
            }
            if (this.#details.stateful) {
                this.#sequence.start = this.#sequence.end;
            }
        } catch (e) {
            if (isCurrent() && !running.signal.aborted) {
                this.#failure = e.message;
                this.#result = undefined;
            }
        }
        if (isCurrent()) {
            this.#running = undefined;
        }
        changed();
    }

    async #stream(inputs, parameters, signal, began) {
        const result = { responses: [], count: 0, tookMillis: 0, isStream: true };
        this.#result = result;
        await inferStream(this.#route, inputs, parameters, signal, (response) => {
            result.count++;
            result.tookMillis = performance.now() - began;
            result.responses.push({ number: result.count, atMillis: result.tookMillis, text: responseText(response) });
            if (result.responses.length > MOST_RESPONSES) {
                result.responses.shift();
            }
            changed();
        });
    }

    #stop() {
        this.#running?.abort();
        this.#running = undefined;
        changed();
    }

    async #write(language) {
        this.#language = language;
        try {
            const { inputs, parameters } = await this.#request();
            const { httpPort, grpcPort } = this.#app.overview?.server ?? {};
            const address = new URL(location.origin);
            if (httpPort) {
                address.port = httpPort;
            }
            const model = { name: this.#route.name, version: this.#route.version, isDecoupled: this.#details.decoupled };
            const grpcAddress = `${location.hostname}:${grpcPort ?? USUAL_GRPC_PORT}`;
            const request = snippetRequest(address.origin, grpcAddress, model, inputs, this.#details.outputs ?? [], parameters, Object.keys(headers()));
            this.#snippet = LANGUAGES[language](request);
        } catch (e) {
            this.#snippet = { problem: e.message };
        }
        changed();
    }

    render() {
        const { name, version } = this.#route;
        return html`<div class="title"><div class="grow">
                <p class="crumbs"><a href=${overviewAddress}>Overview</a> / <a href=${modelAddress(name, version)}>${name} ${version}</a></p>
                <h1 tabindex="-1">Try ${name}</h1>
            </div></div>
            ${this.#problem ? html`<p class="panel problem empty" role="alert">${cut(this.#problem, 2000)}</p>` : nothing}
            ${this.#details ? this.#parts() : this.#problem ? nothing : html`<p class="panel empty">Loading …</p>`}`;
    }

    #parts() {
        const submitted = (event) => {
            event.preventDefault();
            this.#run();
        };
        return html`<div class="try">
            <form class="panel" aria-label="Request" @submit=${submitted} @input=${() => (this.#snippet = undefined)}>
                ${this.#fields.map((field) => html`<div class="body">${field.render()}</div>`)}
                ${this.#details.stateful ? this.#sequenceRow() : nothing}
                <div class="body row">
                    ${this.#running
                        ? html`<button type="button" @click=${() => this.#stop()}>Stop</button><span class="muted">Running …</span>`
                        : html`<button class="primary">Ask the model</button>`}
                    ${this.#details.decoupled || !this.#fields.some((field) => field.takesPicture) ? nothing : html`<label class="check"><input type="checkbox" .checked=${this.#asksAtOnce}
                        @change=${(event) => (this.#asksAtOnce = event.currentTarget.checked)}> Ask with each new picture</label>`}
                </div>
            </form>
            <section class="panel" aria-labelledby="answer">
                <header><h2 id="answer">Answer</h2>${this.#result ? html`<span class="muted">${this.#timeText()}</span>` : nothing}</header>
                <div aria-live="polite">${this.#answer()}</div>
            </section>
        </div>
        ${this.#snippets()}`;
    }

    #sequenceRow() {
        const sequence = this.#sequence;
        const set = (key) => (event) => (sequence[key] = event.currentTarget.checked);
        return html`<div class="body row">
            <label for="sequence">Sequence</label>
            <input id="sequence" type="number" min="1" step="1" .value=${String(sequence.id)} @change=${(event) => (sequence.id = Number(event.currentTarget.value))}>
            <label class="check"><input type="checkbox" .checked=${sequence.start} @change=${set('start')}> first request</label>
            <label class="check"><input type="checkbox" .checked=${sequence.end} @change=${set('end')}> last request</label>
        </div>`;
    }

    #timeText() {
        const { isStream, count, tookMillis } = this.#result;
        const took = `${millis(tookMillis)}, measured here`;
        return isStream ? `${count} ${count === 1 ? 'response' : 'responses'}, ${took}` : took;
    }

    #answer() {
        if (this.#failure) {
            return html`<pre class="body problem long-text" role="alert" tabindex="0">${this.#failure}</pre>`;
        }
        if (!this.#result) {
            return html`<p class="empty">Nothing was asked yet.</p>`;
        }
        if (this.#result.isStream) {
            const { responses, count } = this.#result;
            return html`<ol class="body plain" start=${count - responses.length + 1}>${responses.map((response) => html`<li>
                <span class="muted">${response.number} · after ${millis(response.atMillis)}</span> <pre>${response.text}</pre></li>`)}</ol>`;
        }
        const specs = new Map((this.#details.outputs ?? []).map((spec) => [spec.name, spec]));
        return this.#result.outputs.map((output) => html`<div class="body">${outputView(output, specs.get(output.name)?.labels)}</div>`);
    }

    #snippets() {
        const snippet = this.#snippet;
        const text = snippet?.text ?? '';
        return html`<section class="panel" aria-labelledby="snippets">
            <header><h2 id="snippets">The same request elsewhere</h2>
                <span class="choice" role="group" aria-label="Language">${Object.keys(LANGUAGES).map((language) => html`<button
                    aria-pressed=${String(Boolean(snippet) && language === this.#language)} @click=${() => this.#write(language)}>${language}</button>`)}</span>
            </header>
            ${snippet ? html`<div class="body answer">
                ${snippet.problem ? html`<p class="problem" role="alert">${snippet.problem}</p>` : html`
                    <pre class="snippet" tabindex="0" role="region" aria-label=${`The request in ${this.#language}`}>${cut(text, MOST_SNIPPET)}</pre>
                    <span class="row">
                        <button @click=${() => copy(text)}>Copy</button>
                        ${snippet.file ? html`<button @click=${() => save(snippet.file)}>Save ${snippet.file.name}</button>` : nothing}
                        ${Object.keys(headers()).length ? html`<span class="muted">TOKEN holds the value of the header that the server wants.</span>` : nothing}
                    </span>`}
            </div>` : html`<p class="empty">Choose a language.</p>`}
        </section>`;
    }
}

function responseText(response) {
    if (typeof response !== 'object' || response === null) {
        return cut(response, MOST_RESPONSE_CHARACTERS);
    }
    const { model_name: model, model_version: version, ...outputs } = response;
    return cut(JSON.stringify(outputs), MOST_RESPONSE_CHARACTERS);
}

async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        tell('Copied.');
    } catch {
        tellFailure('The browser lets nothing be copied here, since the page did not come over HTTPS. Select the text instead.');
    }
}

function save({ name, blob }) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
