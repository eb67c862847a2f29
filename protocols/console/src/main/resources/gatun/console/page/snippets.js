// SPDX-License-Identifier: Apache-2.0
/**
 * The same request in other languages. Names and texts come from models and users: each is quoted as its language wants
 * it, and tokens are never part of what is copied.
 */

import { binaryRequest, generateJson, inferJson } from './inference.js';
import { modelPath } from './server.js';
import { encode, hasJson } from './tensors.js';

/** More elements go into a file beside the program. */
const MOST_INLINE = 1024;

const LENGTH = 'Inference-Header-Content-Length';
const BINARY = 'request.bin';
const MESSAGE = 'request.json';

/** The languages by their names, each a function of a request to {text, file: {name, blob} or nothing}. */
export const LANGUAGES = { curl, Python: python, Java: java, C: c, gRPC: grpc };

/**
 * What the functions take.
 *
 * @param origin the server's address
 * @param grpcAddress host and port
 * @param model {name, version, isDecoupled}
 * @param inputs {name, datatype, dims, elements}
 * @param outputs {name, datatype}
 * @param headers the names of headers that the server wants
 */
export function snippetRequest(origin, grpcAddress, model, inputs, outputs, parameters, headers) {
    const count = inputs.reduce((sum, input) => sum + input.elements.length, 0);
    const isInline = count <= MOST_INLINE && inputs.every((input) => hasJson(input.datatype) && isText(input));
    const path = modelPath(model.name, model.version);
    const isStream = Boolean(model.isDecoupled);
    return {
        model,
        inputs,
        outputs,
        parameters,
        headers,
        isStream,
        isInline: isInline || isStream,
        isSecure: origin.startsWith('https'),
        origin,
        grpcAddress,
        url: new URL(`${path}/${isStream ? 'generate_stream' : 'infer'}`, origin).href,
        json: isInline || isStream ? (isStream ? generateJson(inputs, parameters) : inferJson(inputs, parameters)) : '',
    };
}

function isText({ datatype, elements }) {
    if (datatype !== 'BYTES') {
        return true;
    }
    const strict = new TextDecoder('utf-8', { fatal: true });
    try {
        elements.forEach((bytes) => strict.decode(bytes));
        return elements.every((bytes) => bytes.length <= 4096 && !bytes.includes(0));
    } catch {
        return false;
    }
}

function binaryFile({ inputs, parameters }) {
    const { body, headLength } = binaryRequest(inputs, parameters);
    return { file: { name: BINARY, blob: body }, headLength };
}

/** Quoted for a shell: nothing has a meaning between single quotes but they themselves. */
export function shellQuoted(text) {
    return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A string of Python, Java or JavaScript: all know JSON's escapes. */
export function codeQuoted(text) {
    return JSON.stringify(text).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A string of Python: two halves of a character beyond the first 65,536 would stay two there. */
export function pythonQuoted(text) {
    const escaped = Array.from(text, (c) => {
        const point = c.codePointAt(0);
        return point > 0xffff ? `\\U${point.toString(16).padStart(8, '0')}` : codeQuoted(c).slice(1, -1);
    });
    return `"${escaped.join('')}"`;
}

/** A string of C, as bytes in UTF-8; a question mark could begin a trigraph. */
export function cQuoted(text) {
    const bytes = new TextEncoder().encode(text);
    const escaped = Array.from(bytes, (byte) => {
        const c = String.fromCharCode(byte);
        if (c === '"' || c === '\\' || c === '?') {
            return `\\${c}`;
        }
        return byte >= 0x20 && byte < 0x7f ? c : `\\${byte.toString(8).padStart(3, '0')}`;
    });
    return `"${escaped.join('')}"`;
}

function curl(request) {
    const flags = request.headers.map((name) => ` \\\n  -H ${shellQuoted(`${name}: `)}"$TOKEN"`).join('');
    if (request.isInline) {
        const glob = /[[\]{}]/.test(request.url) ? 'g' : '';
        return { text: `curl -s${glob}${request.isStream ? 'N' : ''} ${shellQuoted(request.url)}${flags} \\\n  -d ${shellQuoted(request.json)}\n` };
    }
    const { file, headLength } = binaryFile(request);
    return {
        file,
        text: `curl -s ${shellQuoted(request.url)}${flags} \\\n  -H '${LENGTH}: ${headLength}' \\\n  --data-binary @${BINARY} --output response.bin\n`,
    };
}

function python(request) {
    const headers = (own) => {
        const all = own.concat(request.headers.map((name) => `${pythonQuoted(name)}: os.environ["TOKEN"]`));
        return `{${all.join(', ')}}`;
    };
    const imports = (names) => [...names, ...(request.headers.length ? ['os'] : [])].sort().map((name) => `import ${name}\n`).join('');
    const url = pythonQuoted(request.url);
    if (request.isStream) {
        return {
            text: `${imports(['urllib.request'])}
body = ${pythonQuoted(request.json)}
call = urllib.request.Request(${url}, body.encode(), ${headers(['"Content-Type": "application/json"'])})
with urllib.request.urlopen(call) as events:
    for line in events:
        if line.startswith(b"data:"):
            print(line[5:].decode().strip())
`,
        };
    }
    if (request.isInline) {
        const inputs = request.inputs.map((input) => `        {"name": ${pythonQuoted(input.name)}, "datatype": "${input.datatype}",`
            + ` "shape": [${input.dims.join(', ')}],\n         "data": ${pythonList(input)}},\n`);
        const parameters = Object.entries(request.parameters).map(([key, value]) => `${pythonQuoted(key)}: ${pythonValue(value)}`);
        return {
            text: `${imports(['json', 'urllib.request'])}
request = {
    "inputs": [
${inputs.join('')}    ],
${parameters.length ? `    "parameters": {${parameters.join(', ')}},\n` : ''}}
call = urllib.request.Request(${url}, json.dumps(request).encode(), ${headers(['"Content-Type": "application/json"'])})
with urllib.request.urlopen(call) as response:
    for output in json.load(response)["outputs"]:
        print(output["name"], output["datatype"], output["shape"], output["data"])
`,
        };
    }
    const { file, headLength } = binaryFile(request);
    return {
        file,
        text: `${imports(['json', 'urllib.request'])}
with open("${BINARY}", "rb") as file:
    call = urllib.request.Request(${url}, file.read(), ${headers([`"${LENGTH}": "${headLength}"`])})
with urllib.request.urlopen(call) as response:
    head = json.loads(response.read(int(response.headers["${LENGTH}"])))
    for output in head["outputs"]:
        data = response.read(output["parameters"]["binary_data_size"])
        print(output["name"], output["datatype"], output["shape"], len(data), "bytes")
`,
    };
}

function pythonList({ datatype, elements }) {
    const text = datatype === 'BYTES' ? (bytes) => pythonQuoted(new TextDecoder().decode(bytes)) : pythonValue;
    return `[${Array.from(elements, text).join(', ')}]`;
}

function pythonValue(value) {
    if (typeof value === 'boolean') {
        return value ? 'True' : 'False';
    }
    if (typeof value === 'string') {
        return pythonQuoted(value);
    }
    return typeof value === 'number' && !Number.isFinite(value) ? `float("${value}")` : String(value);
}

const JAVA_ARRAYS = { FP32: 'float', FP64: 'double', INT16: 'short', INT32: 'int', INT64: 'long', BOOL: 'boolean', BYTES: 'String' };
const JAVA_READS = { FP32: 'floats', FP64: 'doubles', INT16: 'shorts', INT32: 'ints', INT64: 'longs', BOOL: 'booleans', BYTES: 'strings' };

function java(request) {
    return request.isInline && !request.isStream ? javaClient(request) : javaHttp(request);
}

/** By the project's own client. */
function javaClient({ origin, model, inputs, outputs, parameters, headers }) {
    const tensors = inputs.map((input) => `                .input(${javaTensor(input)})\n`).join('');
    const more = Object.entries(parameters).map(([key, value]) =>
        `                .parameter(${codeQuoted(key)}, ${typeof value === 'string' ? codeQuoted(value) : typeof value === 'boolean' ? value : `${value}L`})\n`);
    const prints = outputs.map((output) => {
        const read = JAVA_READS[output.datatype] ?? 'bytes';
        const value = `response.${read}(${codeQuoted(output.name)})`;
        return `            System.out.println(${codeQuoted(`${output.name} `)} + ${read === 'strings' ? value : `Arrays.toString(${value})`});\n`;
    });
    const options = headers.map((name) => `.withHeader(${codeQuoted(name)}, System.getenv("TOKEN"))`).join('');
    const connect = headers.length ? `ClientOptions.of(${codeQuoted(origin)})${options}` : codeQuoted(origin);
    const datatype = inputs.some((input) => !(input.datatype in JAVA_ARRAYS));
    return {
        text: `// With gatun-client on the class path.
import gatun.client.ArrayTensors;
${headers.length ? 'import gatun.client.ClientOptions;\n' : ''}import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
${datatype ? 'import gatun.memory.tensor.Datatype;\n' : ''}import java.util.Arrays;

class Ask {
    public static void main(String[] arguments) {
        InferRequest request = InferRequest.to(${codeQuoted(model.name)})
${model.version ? `                .version(${codeQuoted(model.version)})\n` : ''}${tensors}${more.join('')}                .build();
        try (GatunClient client = GatunClient.connect(${connect});
                InferResponse response = client.infer(request)) {
${prints.join('')}        }
    }
}
`,
    };
}

function javaTensor({ name, datatype, dims, elements }) {
    const shape = dims.map((dim) => `, ${dim}`).join('');
    const type = JAVA_ARRAYS[datatype];
    if (!type) {
        const bytes = Array.from(encode(datatype, elements), (byte) => (byte << 24) >> 24);
        return `ArrayTensors.of(${codeQuoted(name)}, Datatype.${datatype}, new byte[] {${bytes.join(', ')}}${shape})`;
    }
    const text = {
        FP32: (value) => (Number.isFinite(value) ? `${value}f` : javaSpecial('Float', value)),
        FP64: (value) => (Number.isFinite(value) ? `${value}d` : javaSpecial('Double', value)),
        INT64: (value) => `${value}L`,
        BYTES: (bytes) => codeQuoted(new TextDecoder().decode(bytes)),
    }[datatype] ?? String;
    return `ArrayTensors.of(${codeQuoted(name)}, new ${type}[] {${Array.from(elements, text).join(', ')}}${shape})`;
}

function javaSpecial(type, value) {
    return `${type}.${Number.isNaN(value) ? 'NaN' : value > 0 ? 'POSITIVE_INFINITY' : 'NEGATIVE_INFINITY'}`;
}

/** By the JDK's client, for what is in a file and for streams. */
function javaHttp(request) {
    const headers = request.headers.map((name) => `\n                .header(${codeQuoted(name)}, System.getenv("TOKEN"))`).join('');
    const { file, headLength } = request.isStream ? {} : binaryFile(request);
    const body = request.isStream ? `ofString(${codeQuoted(request.json)})` : `ofFile(Path.of("${BINARY}"))`;
    const length = request.isStream ? '' : `\n                .header("${LENGTH}", "${headLength}")`;
    const read = request.isStream
        ? `client.send(request, BodyHandlers.ofLines()).body()
                    .filter(line -> line.startsWith("data:"))
                    .forEach(line -> System.out.println(line.substring(5).strip()));`
        : `HttpResponse<byte[]> response = client.send(request, BodyHandlers.ofByteArray());
            int json = Integer.parseInt(response.headers().firstValue("${LENGTH}").orElseThrow());
            System.out.println(new String(response.body(), 0, json, StandardCharsets.UTF_8));`;
    const imports = [
        'java.net.URI',
        'java.net.http.HttpClient',
        'java.net.http.HttpRequest',
        'java.net.http.HttpRequest.BodyPublishers',
        ...(request.isStream ? [] : ['java.net.http.HttpResponse']),
        'java.net.http.HttpResponse.BodyHandlers',
        ...(request.isStream ? [] : ['java.nio.charset.StandardCharsets', 'java.nio.file.Path']),
    ];
    return {
        file,
        text: `${imports.map((name) => `import ${name};\n`).join('')}
class Ask {
    public static void main(String[] arguments) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(${codeQuoted(request.url)}))${length}${headers}
                .POST(BodyPublishers.${body})
                .build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            ${read}
        }
    }
}
`,
    };
}

function c(request) {
    const { file, headLength } = request.isInline ? {} : binaryFile(request);
    const lines = [
        ...(request.isInline ? ['"Content-Type: application/json"'] : [`"${LENGTH}: ${headLength}"`]),
    ].map((text) => `    headers = curl_slist_append(headers, ${text});\n`);
    const tokens = request.headers.map((name) => `    snprintf(token, sizeof token, "%s: %s", ${cQuoted(name)}, getenv("TOKEN"));
    headers = curl_slist_append(headers, token);\n`);
    const body = request.isInline
        ? `    const char *body = ${cQuoted(request.json)};
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);\n`
        : `    FILE *body = fopen("${BINARY}", "rb");
    if (body == NULL) {
        perror("${BINARY}");
        return 1;
    }
    fseek(body, 0, SEEK_END);
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)ftell(body));
    rewind(body);
    curl_easy_setopt(curl, CURLOPT_READDATA, body);\n`;
    return {
        file,
        text: `/* cc ask.c -lcurl: what the server answers goes to the standard output. */
#include <curl/curl.h>
#include <stdio.h>
${tokens.length ? '#include <stdlib.h>\n' : ''}
int main(void) {
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = NULL;
${tokens.length ? '    char token[4096];\n' : ''}${lines.join('')}${tokens.join('')}    curl_easy_setopt(curl, CURLOPT_URL, ${cQuoted(request.url)});
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
${body}    CURLcode result = curl_easy_perform(curl);
    if (result != CURLE_OK) {
        fprintf(stderr, "%s\\n", curl_easy_strerror(result));
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return result != CURLE_OK;
}
`,
    };
}

const CONTENTS = {
    BOOL: 'bool_contents',
    INT8: 'int_contents',
    INT16: 'int_contents',
    INT32: 'int_contents',
    INT64: 'int64_contents',
    UINT8: 'uint_contents',
    UINT16: 'uint_contents',
    UINT32: 'uint_contents',
    UINT64: 'uint64_contents',
    FP32: 'fp32_contents',
    FP64: 'fp64_contents',
    BYTES: 'bytes_contents',
};

function grpc(request) {
    const message = grpcMessage(request);
    const isInline = request.inputs.reduce((sum, input) => sum + input.elements.length, 0) <= MOST_INLINE && message.length < 65536;
    const flags = request.headers.map((name) => ` -H ${shellQuoted(`${name.toLowerCase()}: `)}"$TOKEN"`).join('');
    const method = `inference.GRPCInferenceService/${request.isStream ? 'ModelStreamInfer' : 'ModelInfer'}`;
    const call = `grpcurl${request.isSecure ? '' : ' -plaintext'}${flags} -d ${isInline ? shellQuoted(message) : '@'} \\\n  ${shellQuoted(request.grpcAddress)} ${method}`;
    return isInline
        ? { text: `${call}\n` }
        : { text: `${call} <${MESSAGE}\n`, file: { name: MESSAGE, blob: new Blob([message]) } };
}

function grpcMessage({ model, inputs, parameters }) {
    const isRaw = inputs.some((input) => !(input.datatype in CONTENTS));
    const tensors = inputs.map((input) => {
        const head = { name: input.name, datatype: input.datatype, shape: input.dims };
        return isRaw ? head : { ...head, contents: { [CONTENTS[input.datatype]]: Array.from(input.elements, grpcValue) } };
    });
    const message = { model_name: model.name, model_version: model.version || undefined, inputs: tensors };
    if (isRaw) {
        message.raw_input_contents = inputs.map((input) => base64(encode(input.datatype, input.elements)));
    }
    if (Object.keys(parameters).length) {
        const kind = { boolean: 'bool_param', number: 'int64_param', string: 'string_param' };
        message.parameters = Object.fromEntries(
            Object.entries(parameters).map(([key, value]) => [key, { [kind[typeof value]]: value }]),
        );
    }
    return JSON.stringify(message);
}

/** As protobuf's JSON has it: integers of 64 bits and what is no number are texts, bytes are base64. */
function grpcValue(value) {
    if (value instanceof Uint8Array) {
        return base64(value);
    }
    if (typeof value === 'bigint') {
        return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    }
    return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

function base64(bytes) {
    let text = '';
    for (let at = 0; at < bytes.length; at += 8192) {
        text += String.fromCharCode(...bytes.subarray(at, at + 8192));
    }
    return btoa(text);
}

