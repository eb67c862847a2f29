# SPDX-License-Identifier: Apache-2.0
"""Compares what a request of `simple` costs the server in this tree and in an earlier commit: jmh/gate COMMIT.

Builds the commit's tree once beside this one, starts both servers by their own launchers with the flags that users
have, and asks them in turns. Prints for each cell the server's processor time for a request, requests a second, p50 and
p99, as medians of five turns; the ratio is the median of the turns' ratios. A cell above the limit is measured again
with 21 turns; one that is above it still makes the exit status 1. A cell that the commit's server lacks is left out.
Takes three minutes without the build. Needs wrk, h2load, and a C compiler named cc for the lane.
"""

import argparse
import contextlib
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile

import example_server

ROOT = example_server.ROOT
BUILT = ROOT / "jmh/target/gate"
TURNS, MORE_TURNS = 5, 21
SECONDS, WARM_UP_SECONDS = 2, 5
CONNECTIONS = 8
VALUES = range(1, 17)

LUA = """
wrk.method = "POST"
wrk.body = assert(io.open("{body}", "rb")):read("*a")
wrk.headers["Content-Type"] = "application/octet-stream"
{header}
function done(summary, latency, requests)
    local errors = summary.errors
    io.write(string.format("figures %d %d %d %d %d\\n", summary.requests, summary.duration, latency:percentile(50),
        latency:percentile(99), errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
"""


class Lacking(Exception):
    """The server has no such transport."""


def tensors_bytes():
    return b"".join(value.to_bytes(4, "little") for value in VALUES)


def json_body():
    inputs = ",".join(
        '{"name":"%s","datatype":"INT32","shape":[1,16],"data":%s}' % (name, list(VALUES)) for name in ("INPUT0", "INPUT1"))
    return f'{{"inputs":[{inputs}]}}'.encode(), None


def binary_body():
    inputs = ",".join(
        '{"name":"%s","datatype":"INT32","shape":[1,16],"parameters":{"binary_data_size":64}}' % name
        for name in ("INPUT0", "INPUT1"))
    header = f'{{"inputs":[{inputs}],"parameters":{{"binary_data_output":true}}}}'.encode()
    return header + 2 * tensors_bytes(), len(header)


def grpc_body():
    """A ModelInferRequest behind the prefix of a message: each field is a tag, a length of one byte, and the content."""
    field = lambda number, content: bytes([number << 3 | 2, len(content)]) + content
    message = field(1, b"simple")
    for name in (b"INPUT0", b"INPUT1"):
        message += field(5, field(1, name) + field(2, b"INT32") + field(3, bytes([1, 16])))
    message += 2 * field(7, tensors_bytes())
    return b"\0" + len(message).to_bytes(4, "big") + message


class Http:
    """wrk, over some connections: the count of requests, requests a second, p50 and p99 in microseconds."""

    def __init__(self, folder, body, header_length):
        content = folder / f"body{header_length or ''}"
        content.write_bytes(body)
        header = f'wrk.headers["Inference-Header-Content-Length"] = "{header_length}"' if header_length else ""
        self.script = folder / f"{content.name}.lua"
        self.script.write_text(LUA.format(body=content, header=header))

    def ask(self, server, seconds):
        said = subprocess.run(
            ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", f"-s{self.script}",
             f"http://127.0.0.1:{server.ports['http']}/v2/models/simple/infer"],
            check=True, stdout=subprocess.PIPE, text=True).stdout
        count, micros, p50, p99, failed = map(int, re.search(r"^figures (.*)$", said, re.M)[1].split())
        if failed or not count:
            sys.exit(f"{failed} of {count} requests failed over HTTP; expected none:\n{said}")
        return count, count * 1e6 / micros, p50, p99


class Grpc:
    """h2load, over some connections with a call each: as Http."""

    def __init__(self, folder, connections):
        self.connections = connections
        self.body, self.log = folder / "message", folder / f"calls{connections}"
        self.body.write_bytes(grpc_body())

    def ask(self, server, seconds):
        self.log.unlink(missing_ok=True)
        subprocess.run(
            ["h2load", "-D", str(seconds), "-c", str(self.connections), "-m", "1", "-t", "1", "-d", self.body,
             "-H", "content-type: application/grpc", "-H", "te: trailers", f"--log-file={self.log}",
             f"http://127.0.0.1:{server.ports['grpc']}/inference.GRPCInferenceService/ModelInfer"],
            check=True, stdout=subprocess.DEVNULL)
        rows = [list(map(int, line.split())) for line in self.log.read_text().splitlines()]
        failed = sum(status != 200 for _, status, _ in rows)
        if failed or not rows:
            sys.exit(f"{failed} of {len(rows)} calls failed over gRPC; expected none")
        times = sorted(time for _, _, time in rows)
        return len(rows), len(rows) / seconds, times[len(times) // 2], times[len(times) * 99 // 100]


class Lane:
    """A client of lanes in C that asks, sleeps until the answer is there, and asks again: as Http."""

    WARM_UP = 2000  # requests that the program makes and does not count
    FIRST = 20000

    def __init__(self, folder):
        self.program, self.rates = folder / "lane_pingpong", {}
        subprocess.run(
            ["cc", "-std=gnu11", "-O2", f"-I{ROOT / 'examples/lane'}", "-o", self.program,
             ROOT / "jmh/src/main/c/lane_pingpong.c"], check=True)

    def ask(self, server, seconds):
        count = round(self.rates.get(server, self.FIRST / seconds) * seconds)
        asked = subprocess.run([self.program, "lane", "0", str(count), server.socket], capture_output=True, text=True)
        if asked.returncode != 0:
            raise Lacking(asked.stderr.strip())
        p50, p99, rate = map(float, asked.stdout.split())
        self.rates[server] = rate
        return count + self.WARM_UP, rate, p50, p99


def require_programs():
    for program, package in (("wrk", "wrk"), ("h2load", "nghttp2-client"), ("cc", "gcc")):
        if shutil.which(program) is None:
            sys.exit(f"{program} is missing; install it, for example 'apt-get install {package}'")


def built(commit):
    """The tree of a commit, built by its own launcher; what was built before is taken as it is."""
    sha = subprocess.run(["git", "-C", ROOT, "rev-parse", "--verify", f"{commit}^{{commit}}"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout.strip()
    tree = BUILT / sha
    if not tree.exists():
        tree.mkdir(parents=True)
        with subprocess.Popen(["git", "-C", ROOT, "archive", sha], stdout=subprocess.PIPE) as archive, \
                tarfile.open(fileobj=archive.stdout, mode="r|") as files:
            files.extractall(tree)
    for each in (tree, ROOT):
        subprocess.run([each / "gatun", "--version"], check=True, stdout=subprocess.DEVNULL)
    return tree


@contextlib.contextmanager
def serving(tree, folder, *flags, java_options=""):
    socket = folder / "http.sock"
    with example_server.running("--allow-client-shm", f"--http-unix-socket={socket}", *flags, root=tree,
                                java_options=java_options) as server:
        server.socket = str(socket)
        yield server


def measure(client, server, seconds=SECONDS):
    """Microseconds of the server's processor for a request, requests a second, p50 and p99 in microseconds."""
    before = server.processor_seconds()
    count, *figures = client.ask(server, seconds)
    return ((server.processor_seconds() - before) * 1e6 / count, *figures)


def cells(folder):
    """The clients by the names of their cells; what they need of files lies in the folder."""
    return {
        f"JSON, {CONNECTIONS} connections": Http(folder, *json_body()),
        f"binary, {CONNECTIONS} connections": Http(folder, *binary_body()),
        "gRPC, 1 connection": Grpc(folder, 1),
        f"gRPC, {CONNECTIONS} connections": Grpc(folder, CONNECTIONS),
        "lane, 1 caller": Lane(folder)}


def compare(client, servers, turns):
    """The medians of both servers, and the median of the ratios of processor time."""
    rows = ([], [])
    for turn in range(turns):
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            rows[side].append(measure(client, servers[side]))
    ratio = statistics.median(new[0] / old[0] for old, new in zip(*rows))
    return *([statistics.median(column) for column in zip(*side)] for side in rows), ratio


def main():
    parser = argparse.ArgumentParser(prog="jmh/gate", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("commit", help="what this tree is compared with")
    parser.add_argument("--limit", type=float, default=1.05, help="the most processor time of this tree over the commit's (1.05)")
    flags = parser.parse_args()
    require_programs()
    tree = built(flags.commit)
    above = False
    with contextlib.ExitStack() as stack:
        folders = [pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(3)]
        servers = [stack.enter_context(serving(*side)) for side in zip((tree, ROOT), folders)]
        print(f"| `simple`: {tree.name[:8]} and this tree | processor, us a request | **ratio** | requests/s | p50, us | p99, us | turns |\n"
              "|---|---|---|---|---|---|---|", flush=True)
        for name, client in cells(folders[2]).items():
            try:
                for server in servers:
                    client.ask(server, WARM_UP_SECONDS)
            except Lacking as lacking:
                print(f"| {name} | left out: {lacking} ||||||", flush=True)
                continue
            turns = TURNS
            old, new, ratio = compare(client, servers, turns)
            if ratio > flags.limit:
                turns = MORE_TURNS
                old, new, ratio = compare(client, servers, turns)
            above |= ratio > flags.limit
            pairs = [f"{before:{form}} and {now:{form}}" for before, now, form in zip(old, new, (".1f", ",.0f", ",.0f", ",.0f"))]
            print(f"| {name} | {pairs[0]} | **{ratio:.2f}** | {' | '.join(pairs[1:])} | {turns} |", flush=True)
    if above:
        sys.exit(f"a cell is above the limit of {flags.limit}")


if __name__ == "__main__":
    main()
