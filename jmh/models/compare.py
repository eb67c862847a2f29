#!/usr/bin/env python3
"""Real-sized ONNX models served by Gatun, beside a C program that runs them without a server: `jmh/run models`.

For every model, number of instances and of callers it takes turns: the C program with ONNX Runtime's defaults and with several
other settings, and a client of each transport against a server with dynamic batching and one without; each turn is a process of
its own, and the servers are idle while others run. The C program runs as Gatun's instances do, one request at a time for each
session, or as many at a time as there are callers; the best of all its settings counts. What the transport takes is measured by
as many callers of a model that does nothing. Beside "both" stands what a request takes in the C program and in the transport
together: of the rate for the first figure, of the mean latency for p50, of both p99 for the last. For HTTP there is another
program in C, and for gRPC one in C++ where grpc++ is installed (libgrpc++-dev): servers that do the least they can around the
same sessions, asked by the same clients; the best of all settings counts, and the best of those that run one request of a
session at a time, as instances do. Prints a line of Markdown for each cell: medians of the turns.

Needs wrk, h2load, a C compiler named cc, and numpy and onnx for making the models (Debian's python3-numpy and python3-onnx, or
`pip install numpy onnx`).
"""

import argparse
import contextlib
import csv
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile

import clients

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = ROOT / "jmh" / "target" / "models"
LIBRARY = SCRATCH / "libonnxruntime.so"
LOOP = SCRATCH / "session_load"
SERVERS_IN_C = {"HTTP": SCRATCH / "session_server", "gRPC": SCRATCH / "session_server_grpc"}
BARE = {"cnn": "bare_picture"}  # what does nothing with the same inputs; of all others bare_row

SETTLING = 4  # seconds in which servers learn how so many callers are served best

SPIN = ["session.intra_op.allow_spinning=1", "session.intra_op.spin_duration_us=50"]
ONE = "loop.one_at_a_time=1"

# What the C program is told: threads within an operator and options. As many runs of a session at a time as there are callers,
# but where it says one.
SETTINGS = {
    "defaults": ["0"],
    "defaults, one at a time": ["0", ONE],
    "one thread": ["1"],
    "all cores": ["{cores}", *SPIN, ONE],
    "a share": ["{share}", *SPIN, ONE],
}

OVER = {
    "shared memory": lambda *cell: clients.over_grpc(*cell, shared=True),
    "gRPC": clients.over_grpc,
    "HTTP": clients.over_http,
}


def build():
    """The models, the engine's library and the C program, made once."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, ROOT / "jmh/models/make_models.py", SCRATCH / "made"], check=True)
    if not LIBRARY.exists():
        jar = next((ROOT / "jmh/target/benchmarks").glob("onnxruntime-1*.jar"))
        machine = {"x86_64": "linux-x64", "aarch64": "linux-aarch64"}[os.uname().machine]
        with zipfile.ZipFile(jar) as archive, open(LIBRARY, "wb") as out:
            out.write(archive.read(f"ai/onnxruntime/native/{machine}/libonnxruntime.so"))
    for program in (LOOP, SERVERS_IN_C["HTTP"]):
        compile(["cc"], program, ".c", [])
    if shutil.which("pkg-config") and subprocess.run(["pkg-config", "--exists", "grpc++"]).returncode == 0:
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "grpc++"], check=True, stdout=subprocess.PIPE, text=True)
        compile(["c++", "-std=c++20"], SERVERS_IN_C["gRPC"], ".cc", flags.stdout.split())


def compile(compiler, program, suffix, libraries):
    source = ROOT / "jmh/src/main/c" / (program.name + suffix)
    if not program.exists() or program.stat().st_mtime < max(source.stat().st_mtime, (source.parent / "sessions.h").stat().st_mtime):
        subprocess.run(
            [*compiler, "-O2", f"-I{ROOT / 'native-headers/onnxruntime'}", "-o", program, source, *libraries, "-ldl", "-lpthread"],
            check=True)


def repository(folder, models, instances, batching, extra):
    """A model repository with these models, all configured alike."""
    for model in models:
        target = folder / model
        (target / "1").mkdir(parents=True)
        (target / "1" / "model.onnx").symlink_to(SCRATCH / "made" / model / "1" / "model.onnx")
        # A model that may batch is given dynamic batching, as Triton does; one that may not batch is not.
        text = f'name: "{model}"\nbackend: "onnxruntime"\nmax_batch_size: {32 if batching else 1}\n'
        text += f"instance_group [ {{ count: {instances}, kind: KIND_CPU }} ]\n"
        text += "dynamic_batching { }\n" if batching else ""
        for entry in extra:
            key, value = entry.split("=", 1)
            text += f'parameters {{ key: "{key}" value: {{ string_value: "{value}" }} }}\n'
        (target / "config.pbtxt").write_text(text)


class Server:
    """A server of a repository, with default flags and perhaps more."""

    def __init__(self, models, scratch, gatun, *flags):
        self.models = models
        self.gatun = gatun
        ready = scratch / "ready"
        self.log = open(scratch / "log", "w")
        self.process = subprocess.Popen(
            [gatun, "serve", f"--model-repository={models}", "--allow-client-shm", "--http-port=0", "--grpc-port=0",
             "--metrics-port=0", f"--ready-file={ready}", *flags],
            stdout=self.log, stderr=subprocess.STDOUT, env={**os.environ, "GATUN_BUILD": "never"})
        while not ready.exists():
            if self.process.poll() is not None:
                raise SystemExit((scratch / "log").read_text())
            time.sleep(0.1)
        lines = ready.read_text().replace("\\", "").splitlines()
        self.ports = dict(line.split("=", 1) for line in lines if "=" in line)

    def url(self, scheme, port=None):
        return f"{scheme}://localhost:{self.ports[(port or scheme) + '.port']}"

    def count(self, model):
        """Inferences that a model has answered."""
        with urllib.request.urlopen(f"{self.url('http')}/v2/models/{model}/stats") as answer:
            return json.load(answer)["model_stats"][0]["inference_count"]

    def cpu_micros(self):
        fields = (pathlib.Path("/proc") / str(self.process.pid) / "stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1e6 / os.sysconf("SC_CLK_TCK")

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


class ServerInC:
    """The least that a server in C or C++ does, for one model and with some settings."""

    def __init__(self, program, model, instances, settings):
        self.process = subprocess.Popen(
            [program, LIBRARY, file_of(model), str(instances), str(clients.LENGTH), *options_of(instances, settings)],
            stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def url(self, scheme, port=None):
        return f"{scheme}://127.0.0.1:{self.port}"

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def ask(server, model, transport, callers, seconds):
    """Rate, p50 and p99 in microseconds and the server's processor time for each request, of one cell."""
    count, cpu = server.count(model), server.cpu_micros()
    rate, p50, p99, answered = OVER[transport](server, model, callers, seconds)
    cpu, count = server.cpu_micros() - cpu, server.count(model) - count
    if count < answered:
        raise SystemExit(f"{model} answered {count} requests, but {answered} of {transport} were counted; expected as many")
    return rate, p50, p99, cpu / count


def embedded(models, gatun, model, callers, flags):
    """The same of `gatun bench` around an embedded server, for all numbers of callers at once; the processor time is of both."""
    with tempfile.NamedTemporaryFile(suffix=".csv") as table:
        shape = [f"--shape={name}:{','.join(map(str, shape[1:]))}" for name, _, shape in clients.TENSORS[model][0]]
        subprocess.run(
            [gatun, "bench", "-m", model, f"--concurrency={','.join(map(str, callers))}", f"--warm-up={2 * flags.warm_up}s",
             f"--measurement-interval={flags.window}s", "--max-trials=3", f"--csv={table.name}", f"--embedded={models}", *shape],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "GATUN_BUILD": "never"})
        rows = list(csv.DictReader(open(table.name)))
    fields = ["requests_per_second", "p50_us", "p99_us", "process_cpu_us_per_request"]
    return {number: tuple(float(row[field]) for field in fields) for number, row in zip(callers, rows, strict=True)}


def file_of(model):
    return SCRATCH / "made" / model / "1" / "model.onnx"


def options_of(instances, settings):
    cores = os.cpu_count()
    return [option.format(cores=cores, share=max(1, cores // instances)) for option in settings]


def loop(model, instances, callers, settings, window):
    """The same of the C program."""
    out = subprocess.run(
        [LOOP, LIBRARY, file_of(model), str(instances), str(callers), "1", str(clients.LENGTH), "0.3", str(window),
         *options_of(instances, settings)],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    return tuple(map(float, out.split()))


def median(turns):
    return [sorted(figures)[len(figures) // 2] for figures in zip(*turns)]


def settings_for(instances):
    return {name: settings for name, settings in SETTINGS.items() if instances > 1 or name != "a share"}


def best_of(settings):
    """The name and the medians of the settings with the highest rate."""
    return max(((name, median(turns)) for name, turns in settings.items()), key=lambda entry: entry[1][0])


class Cells:
    """What is measured of one model with one number of instances, on servers that run meanwhile."""

    def __init__(self, servers, in_c, model, instances, flags):
        self.servers = servers  # by whether they batch, and by their launchers where there are several
        self.in_c = in_c  # by transports, and by the names of their settings
        self.model = model
        self.instances = instances
        self.flags = flags
        self.bare = BARE.get(model, "bare_row")

    def warm(self):
        """Has the servers compile their ways of requests, as servers have that have run for a while."""
        for server in self.servers.values():
            for transport in self.transports():
                for model in (self.bare, self.model):
                    ask(server, model, transport, 4, self.flags.warm_up)

    def transports(self):
        return [transport for transport in self.flags.transports if transport != "embedded"]

    def measure(self):
        flags = self.flags
        inside = {
            batching: embedded(server.models, server.gatun, self.model, flags.callers, flags)
            for batching, server in self.servers.items() if "embedded" in flags.transports}
        for callers in flags.callers:
            loops, cells, bare, in_c = {}, {}, {}, {}
            for server in self.servers.values():
                for transport in self.transports():
                    ask(server, self.model, transport, callers, SETTLING)
            for _ in range(flags.turns):
                for name, settings in settings_for(self.instances).items():
                    loops.setdefault(name, []).append(loop(self.model, self.instances, callers, settings, flags.window))
                for transport, settings in self.in_c.items():
                    for name, server in settings.items():
                        in_c.setdefault(transport, {}).setdefault(name, []).append(
                            OVER[transport](server, self.model, callers, flags.window)[:3])
                for batching, server in self.servers.items():
                    for transport in self.transports():
                        cells.setdefault((batching, transport), []).append(
                            ask(server, self.model, transport, callers, flags.window))
                        bare.setdefault((batching, transport), []).append(
                            ask(server, self.bare, transport, callers, flags.window))
            for batching in inside:
                cells[batching, "embedded"] = [inside[batching][callers]]
            best = best_of(loops)
            for (batching, transport), turns in cells.items():
                cost = bare.get((batching, transport))
                self.print(callers, (batching, transport), median(turns), best, median(cost) if cost else None)
                if transport in in_c:
                    alone = {name: turns for name, turns in in_c[transport].items() if ONE in SETTINGS[name]}
                    for settings in dict([best_of(in_c[transport]), best_of(alone)]).items():
                        self.print_server_in_c(callers, (batching, transport), median(turns), *settings)

    def print_server_in_c(self, callers, cell, ours, name, theirs):
        batching, transport = cell
        print(
            f"| {self.model} | {self.instances} | {batching} | {callers} | {transport}, beside the server in C: {theirs[0]:,.0f} ({name}) "
            f"| {ours[0]:,.0f} | | | | **{ours[0] / theirs[0]:.2f}** | {ours[1]:,.0f} | {ours[1] / theirs[1]:.2f} "
            f"| {ours[2]:,.0f} | {ours[2] / theirs[2]:.2f} | | |", flush=True)

    def print(self, callers, cell, ours, best, bare):
        name, theirs = best
        # A request takes what its run takes and what the transport takes, whether callers wait for both or both want the cores.
        expected = 1 / (1 / theirs[0] + (1 / bare[0] if bare else 0))
        waits = bare[1] if bare else 0
        batching, transport = cell
        print(
            f"| {self.model} | {self.instances} | {batching} | {callers} | {transport} | {ours[0]:,.0f} | {theirs[0]:,.0f} ({name}) "
            f"| {ours[0] / theirs[0]:.2f} | {expected:,.0f} | **{ours[0] / expected:.2f}** | {ours[1]:,.0f} "
            f"| {ours[1] * expected / callers / 1e6:.2f} | {ours[2]:,.0f} | {ours[2] / (theirs[2] + waits):.2f} | {ours[3]:,.0f} "
            f"| {theirs[3]:,.0f} |", flush=True)


def main():
    names = ["cnn", "encoder", "mlp", "forest", "recommender", "quantised"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=names, choices=names)
    parser.add_argument("--instances", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--batching", nargs="+", choices=["no", "yes"], default=["no", "yes"])
    parser.add_argument("--callers", nargs="+", type=int, default=[1, 2, 4, 8, 32])
    parser.add_argument("--transports", nargs="+", choices=["embedded", *OVER], default=["embedded", *OVER])
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--window", type=int, default=2, help="seconds of a window of measurement")
    parser.add_argument("--warm-up", type=int, default=15, help="seconds of each model and transport before the first window")
    parser.add_argument("--parameter", action="append", default=[], metavar="KEY=VALUE", help="a parameter of each model")
    parser.add_argument("--gatun", nargs="+", default=[str(ROOT / "gatun")], metavar="LAUNCHER",
                        help="other launchers, or several to compare in turns")
    flags = parser.parse_args()
    clients.require()
    build()
    print("| model | instances | batching | callers | transport | requests/s | C program, its best setting | of it | C program and transport "
          "| **of both** | p50, us | of both | p99, us | of both | server CPU, us | C program's |")
    print("|" + "---|" * 16, flush=True)
    for instances in flags.instances:
        for model in flags.models:
            scratch = pathlib.Path(tempfile.mkdtemp())
            with contextlib.ExitStack() as stack:
                stack.callback(shutil.rmtree, scratch)
                servers = {}
                for batching, (number, gatun) in itertools.product(flags.batching, enumerate(flags.gatun)):
                    name = batching if number == 0 else f"{batching}, {gatun}"
                    folder = scratch / f"{batching}-{number}"
                    folder.mkdir()
                    bare = BARE.get(model, "bare_row")
                    repository(folder / "repository", [model, bare], instances, batching == "yes", flags.parameter)
                    servers[name] = Server(folder / "repository", folder, gatun)
                    stack.callback(servers[name].close)
                in_c = {}
                for transport, program in SERVERS_IN_C.items():
                    if transport in flags.transports and program.exists():
                        servers_in_c = in_c.setdefault(transport, {})
                        for name, settings in settings_for(instances).items():
                            servers_in_c[name] = ServerInC(program, model, instances, settings)
                            stack.callback(servers_in_c[name].close)
                cells = Cells(servers, in_c, model, instances, flags)
                cells.warm()
                cells.measure()


if __name__ == "__main__":
    main()
