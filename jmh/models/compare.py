#!/usr/bin/env python3
"""Real-sized ONNX models served by Gatun, beside a C program that runs them without a server: `jmh/run models`.

For every model, number of instances and of callers it takes turns: the C program with ONNX Runtime's defaults, with several
other settings, and `gatun bench` over each transport against a server; each turn is a process of its own, and the server
is idle while the others run. The C program runs as Gatun's instances do, one request at a time for each session, and as
many at a time as there are callers. Prints a line of Markdown for each cell: medians of the turns, and the ratios to the
best setting of the C program. Needs a C compiler named cc, and numpy and onnx for making the models (Debian's
python3-numpy and python3-onnx, or `pip install numpy onnx`).
"""

import argparse
import csv
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = ROOT / "jmh" / "target" / "models"
LIBRARY = SCRATCH / "libonnxruntime.so"
LOOP = SCRATCH / "session_load"
QUICK = "forest"
LENGTH = 64  # tokens of the encoder's input
SHAPES = {"encoder": [f"--shape=tokens:{LENGTH}"]}

SPIN = ["session.intra_op.allow_spinning=1", "session.intra_op.spin_duration_us=50"]
ONE = "loop.one_at_a_time=1"

# What the C program is told: threads within an operator and options. As an instance runs: one request at a time.
SETTINGS = {
    "all cores": ["{cores}", *SPIN, ONE],
    "all cores, no spinning": ["{cores}", "session.intra_op.allow_spinning=0", ONE],
    "a share": ["{share}", *SPIN, ONE],
}
# As many runs of a session at a time as there are callers.
FREE = {
    "defaults": ["0"],
    "one thread": ["1"],
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
    subprocess.run(
        ["cc", "-O2", f"-I{ROOT / 'native-headers/onnxruntime'}", "-o", LOOP, ROOT / "jmh/src/main/c/session_load.c",
         "-ldl", "-lpthread"], check=True)


def repository(folder, models, instances, batching, extra):
    """A model repository with these models, all configured alike."""
    for model in models:
        target = folder / model
        (target / "1").mkdir(parents=True)
        (target / "1" / "model.onnx").symlink_to(SCRATCH / "made" / model / "1" / "model.onnx")
        text = f'name: "{model}"\nbackend: "onnxruntime"\nmax_batch_size: 32\n'
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

    def url(self, kind):
        return f"{kind}://localhost:{self.ports[kind + '.port']}"

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


def bench(server, gatun, model, transport, callers, settings):
    """Rate, p50, p99 and processor time of one cell, in microseconds; the last is the server's alone, or all of an embedded one's."""
    flags = {
        "embedded": [f"--embedded={server.models}"],
        "shared memory": ["-u", server.url("grpc"), "--transport=posix"],
        "gRPC": ["-u", server.url("grpc")],
        "HTTP": ["-u", server.url("http")],
    }[transport]
    count, cpu = server.count(model), server.cpu_micros()
    with tempfile.NamedTemporaryFile(suffix=".csv") as table:
        subprocess.run(
            [gatun, "bench", "-m", model, f"--concurrency={callers}", f"--warm-up={settings.warm_up}s",
             f"--measurement-interval={settings.window}s", "--max-trials=4", f"--csv={table.name}", *SHAPES.get(model, []), *flags],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "GATUN_BUILD": "never"})
        row = next(csv.DictReader(open(table.name)))
    answered = server.count(model) - count
    cost = (server.cpu_micros() - cpu) / answered if answered else float(row["process_cpu_us_per_request"])
    return float(row["requests_per_second"]), float(row["p50_us"]), float(row["p99_us"]), cost


def warm(server, gatun, flags):
    """Has the server compile its ways of requests, by a model that is quick, as one that has run for a while has."""
    for transport in flags.transports:
        if transport != "embedded":
            bench(server, gatun, QUICK, transport, 4, flags)


def loop(model, instances, callers, settings, window):
    """The same of the C program."""
    cores = os.cpu_count()
    options = [option.format(cores=cores, share=max(1, cores // instances)) for option in settings]
    file = SCRATCH / "made" / model / "1" / "model.onnx"
    out = subprocess.run(
        [LOOP, LIBRARY, file, str(instances), str(callers), "1", str(LENGTH), "0.5", str(2 * window), *options],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    return tuple(map(float, out.split()))


def median(turns):
    return [sorted(figures)[len(figures) // 2] for figures in zip(*turns)]


def compare(server, gatun, model, instances, batching, flags):
    for callers in flags.callers:
        served, loops, free = {name: [] for name in flags.transports}, {}, {}
        for _ in range(flags.turns):
            for all_settings, figures in ((SETTINGS, loops), (FREE, free)):
                for name, settings in all_settings.items():
                    if instances > 1 or name != "a share":
                        figures.setdefault(name, []).append(loop(model, instances, callers, settings, flags.window))
            for transport in flags.transports:
                served[transport].append(bench(server, gatun, model, transport, callers, flags))
        best_name, best = max(((name, median(turns)) for name, turns in loops.items()), key=lambda entry: entry[1][0])
        free = {name: median(turns) for name, turns in free.items()}
        for transport, turns in served.items():
            ours = median(turns)
            print(
                f"| {model} | {instances} | {'yes' if batching else 'no'} | {callers} | {transport} | {ours[0]:,.0f} "
                f"| {best[0]:,.0f} ({best_name}) | **{ours[0] / best[0]:.2f}** | {ours[0] / free['defaults'][0]:.2f} "
                f"| {ours[0] / free['one thread'][0]:.2f} | {ours[1]:,.0f} | {ours[1] / best[1]:.2f} "
                f"| {ours[2] / best[2]:.2f} | {ours[3]:,.0f} | {best[3]:,.0f} |", flush=True)


def main():
    names = ["cnn", "encoder", "mlp", "forest", "recommender", "quantised"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=names, help="of " + ", ".join([*names, "identity"]))
    parser.add_argument("--instances", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--batching", nargs="+", choices=["no", "yes"], default=["no", "yes"])
    parser.add_argument("--callers", nargs="+", type=int, default=[1, 2, 4, 8, 32])
    parser.add_argument("--transports", nargs="+", default=["embedded", "shared memory", "gRPC", "HTTP"])
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--window", type=float, default=1, help="seconds of a window of measurement")
    parser.add_argument("--warm-up", type=float, default=8, help="seconds before the windows of gatun bench")
    parser.add_argument("--parameter", action="append", default=[], metavar="KEY=VALUE", help="a parameter of each model")
    parser.add_argument("--gatun", default=str(ROOT / "gatun"), help="another launcher, to compare with")
    flags = parser.parse_args()
    build()
    print("| model | instances | batching | callers | transport | requests/s | C loop, best setting | **of it** "
          "| of defaults | of as many runs as callers | p50, us | of the C loop's | p99, of the C loop's | server CPU, us "
          "| C loop's |")
    print("|" + "---|" * 15, flush=True)
    for instances in flags.instances:
        for batching in flags.batching:
            scratch = pathlib.Path(tempfile.mkdtemp())
            try:
                for model in flags.models:
                    models = scratch / model
                    models.mkdir()
                    repository(
                        models / "repository", {model, QUICK}, instances, batching == "yes", flags.parameter)
                    server = Server(models / "repository", models, flags.gatun)
                    try:
                        warm(server, flags.gatun, flags)
                        compare(server, flags.gatun, model, instances, batching == "yes", flags)
                    finally:
                        server.close()
            finally:
                shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
