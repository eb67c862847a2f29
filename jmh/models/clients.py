"""Clients that cost little, for servers on the same cores: wrk over HTTP, h2load over gRPC, lane_load in lanes, all written in C.

Each sends one request again and again, from as many connections or lanes as there are callers. The body is made once, by hand,
of the model's inputs; what comes back is only counted.
"""

import contextlib
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

import numpy

import programs

LENGTH = 64  # tokens of the encoder's input

# Name, datatype and shape of each model's inputs, and of its output, for one request.
TENSORS = {
    "cnn": ([("input", "FP32", (1, 3, 112, 112))], ("output", (1, 100))),
    "encoder": ([("tokens", "INT64", (1, LENGTH))], ("output", (1, 256))),
    "mlp": ([("input", "FP32", (1, 784))], ("output", (1, 10))),
    "forest": ([("input", "FP32", (1, 50))], ("output", (1, 1))),
    "recommender": ([("numbers", "FP32", (1, 13)), ("categories", "INT64", (1, 26))], ("output", (1, 1))),
    "quantised": ([("input", "FP32", (1, 512))], ("output", (1, 10))),
    "simple": ([("INPUT0", "INT32", (1, 16)), ("INPUT1", "INT32", (1, 16))], ("OUTPUT0", (1, 16))),
    "python": ([("input", "FP32", (1, 784))], ("output", (1, 10))),
    "bare_picture": ([("input", "FP32", (1, 3, 112, 112))], ("output", (1, 1, 1, 100))),
    "bare_row": ([("input", "FP32", (1, 256))], ("output", (1, 256))),
}

LUA = """
wrk.method = "POST"
wrk.body = assert(io.open("{body}", "rb")):read("*a")
wrk.headers["Content-Type"] = "application/octet-stream"
wrk.headers["Inference-Header-Content-Length"] = "{header}"
function done(summary, latency, requests)
    local errors = summary.errors
    io.write(string.format("figures %d %d %d %d %d\\n", summary.requests, summary.duration, latency:percentile(50),
        latency:percentile(99), errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
"""


def require():
    """Ends the program when a client is missing."""
    for program, package in (("wrk", "wrk"), ("h2load", "nghttp2-client")):
        if shutil.which(program) is None:
            sys.exit(f"{program} is missing; install it, for example 'apt-get install {package}'")


def contents(model):
    """The bytes of each input: the same in every run, of the range that the C program takes them from."""
    random = numpy.random.default_rng(0)
    make = {
        "FP32": lambda shape: random.random(shape, numpy.float32),
        "INT32": lambda shape: random.integers(0, 100, shape, numpy.int32),
        "INT64": lambda shape: random.integers(0, 100, shape, numpy.int64),
    }
    return [make[datatype](shape).tobytes() for _, datatype, shape in TENSORS[model][0]]


class Layout:
    """A request's inputs in memory, and room for its output behind them, each at a multiple of 64 bytes."""

    def __init__(self, model):
        parts = [part.ljust(-(-len(part) // 64) * 64, b"\0") for part in contents(model)]
        self.sizes = [len(part) for part in contents(model)]
        self.offsets = list(itertools.accumulate(map(len, parts), initial=0))
        self.output_offset = self.offsets.pop()
        self.output_size = 4 * int(numpy.prod(TENSORS[model][1][1]))
        self.content = b"".join(parts) + bytes(self.output_size)


class Region(Layout):
    """A POSIX region with a request's tensors, registered with a server."""

    def __init__(self, model, server):
        super().__init__(model)
        self.url = server.url("http") + "/v2/systemsharedmemory"
        self.name = f"gatun-models-{model}"
        self.file = pathlib.Path("/dev/shm") / self.name
        self.file.write_bytes(self.content)

    def call(self, path, body):
        request = urllib.request.Request(f"{self.url}/region/{self.name}/{path}", json.dumps(body).encode(), method="POST")
        urllib.request.urlopen(request).close()

    def __enter__(self):
        self.call("register", {"key": "/" + self.name, "offset": 0, "byte_size": len(self.content)})
        return self

    def __exit__(self, *failure):
        self.call("unregister", {})
        self.file.unlink()


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """A field of a protobuf message: a number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def window(region, offset, size):
    """The parameters of a tensor in shared memory, each an InferParameter: 2 is int64_param, 3 is string_param."""
    values = {
        "shared_memory_region": field(3, region.name), "shared_memory_offset": field(2, offset),
        "shared_memory_byte_size": field(2, size)}
    return values.items()


def grpc_body(model, region=None):
    """A ModelInferRequest behind the prefix of a message; its tensors lie in the region, if there is one."""
    inputs, (output, _) = TENSORS[model]
    message = field(1, model)
    for index, (name, datatype, shape) in enumerate(inputs):
        tensor = field(1, name) + field(2, datatype) + field(3, b"".join(map(varint, shape)))
        if region:
            for key, value in window(region, region.offsets[index], region.sizes[index]):
                tensor += field(4, field(1, key) + field(2, value))
        message += field(5, tensor)
    tensor = field(1, output)
    if region:
        for key, value in window(region, region.output_offset, region.output_size):
            tensor += field(2, field(1, key) + field(2, value))
    message += field(6, tensor)
    if not region:
        message += b"".join(field(7, part) for part in contents(model))
    return b"\0" + len(message).to_bytes(4, "big") + message


def over_grpc(server, model, callers, seconds, shared=False, threads=1):
    """Requests a second, p50 and p99 in microseconds, and how many were answered."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        region = stack.enter_context(Region(model, server)) if shared else None
        (folder / "body").write_bytes(grpc_body(model, region))
        log = folder / "log"
        subprocess.run(
            ["h2load", "-D", str(seconds), "-c", str(callers), "-m", "1", "-t", str(threads), "-d", folder / "body",
             "-w", "20", "-W", "24", "-H", "content-type: application/grpc", "-H", "te: trailers", f"--log-file={log}",
             f"{server.url('http', 'grpc')}/inference.GRPCInferenceService/ModelInfer"],
            check=True, stdout=subprocess.DEVNULL)
        rows = [list(map(int, line.split())) for line in log.read_text().splitlines()]
    failed = sum(status != 200 for _, status, _ in rows)
    if failed or not rows:
        raise SystemExit(f"{failed} of {len(rows)} calls of {model} failed over gRPC; expected none")
    times = sorted(time for _, _, time in rows)
    return len(rows) / seconds, times[len(times) // 2], times[len(times) * 99 // 100], len(rows)


def over_http(server, model, callers, seconds, threads=1):
    """The same over HTTP with binary tensors."""
    inputs, (output, _) = TENSORS[model]
    parts = contents(model)
    header = json.dumps({
        "inputs": [
            {"name": name, "datatype": datatype, "shape": shape, "parameters": {"binary_data_size": len(part)}}
            for (name, datatype, shape), part in zip(inputs, parts)],
        "outputs": [{"name": output, "parameters": {"binary_data": True}}]}).encode()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "body").write_bytes(header + b"".join(parts))
        (folder / "wrk.lua").write_text(LUA.format(body=folder / "body", header=len(header)))
        out = subprocess.run(
            ["wrk", f"-t{threads}", f"-c{callers}", f"-d{seconds}s", "-s", folder / "wrk.lua",
             f"{server.url('http')}/v2/models/{model}/infer"],
            check=True, stdout=subprocess.PIPE, text=True).stdout
    count, micros, p50, p99, failed = map(int, re.search(r"^figures (.*)$", out, re.M).group(1).split())
    if failed or not count:
        raise SystemExit(f"{failed} of {count} requests of {model} failed over HTTP; expected none:\n{out}")
    return count * 1e6 / micros, p50, p99, count


def over_lane(server, model, callers, seconds):
    """The same in lanes, of which each caller has one; without a socket between a request and its response."""
    inputs, (output, shape) = TENSORS[model]
    layout = Layout(model)
    request = {"inputs": [{"name": name, "datatype": datatype} for name, datatype, _ in inputs], "outputs": [{"name": output}]}
    windows = zip(
        [*layout.offsets, layout.output_offset], [*layout.sizes, layout.output_size], [*(shape for *_, shape in inputs), shape])
    with tempfile.NamedTemporaryFile() as data:
        data.write(layout.content)
        data.flush()
        out = subprocess.run(
            [programs.LANE_CLIENT, server.socket, model, str(callers), str(seconds), json.dumps(request), data.name,
             *(f"{offset}:{size}:{','.join(map(str, shape))}" for offset, size, shape in windows)],
            check=True, stdout=subprocess.PIPE, text=True).stdout
    rate, p50, p99, count = map(float, out.split())
    return rate, p50, p99, int(count)
