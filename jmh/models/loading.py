#!/usr/bin/env python3
"""What it takes to load a model of 100 MB: `jmh/run loading [TURNS]`.

Prints tables of Markdown: the time until a server with that model is ready, without and with --model-cache-dir; the memory
of a server with one to eight instances, that share sessions or have each its own; and how a smaller model answers while the
large one is loaded and unloaded again and again. Needs what `jmh/run models` needs.
"""

import http.client
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import programs  # beside this file
import servers

MADE = programs.SCRATCH / "made"
LOADS_SECONDS = 6


def ready_seconds(repository, scratch, *flags):
    """How long the engine and its model take until the server is ready, beside what a server without models takes."""
    begin = time.monotonic()
    server = servers.Server(repository, scratch, str(programs.ROOT / "gatun"), *flags)
    seconds = time.monotonic() - begin
    memory = resident(server)
    server.close()
    (scratch / "ready").unlink(missing_ok=True)
    return seconds, memory


def resident(server):
    """MiB of a server's own memory, without the pages of files."""
    for line in pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("the system does not tell how much memory a process has")


def starts(scratch, turns):
    print("| start | seconds until ready |\n|---|---|")
    models = scratch / "starts"
    servers.repository(models, ["large"], 1, False, [])
    cache = scratch / "cache"
    figures = {"without a cache": [], "with one, for the first time": [], "with one, again": []}
    for _ in range(turns):
        figures["without a cache"].append(ready_seconds(models, scratch)[0])
        shutil.rmtree(cache, ignore_errors=True)
        figures["with one, for the first time"].append(ready_seconds(models, scratch, f"--model-cache-dir={cache}")[0])
        figures["with one, again"].append(ready_seconds(models, scratch, f"--model-cache-dir={cache}")[0])
    for name, seconds in figures.items():
        print(f"| {name} | {statistics.median(seconds):.2f} |", flush=True)


def memory(scratch):
    print("\n| instances | sessions shared, MiB | one for each, MiB |\n|---|---|---|")
    for instances in (1, 2, 4, 8):
        row = []
        for name, parameters in (("shared", []), ("own", ["intra_op_thread_count=1"])):
            models = scratch / f"memory-{name}-{instances}"
            servers.repository(models, ["large"], instances, False, parameters)
            row.append(ready_seconds(models, scratch)[1])
        print(f"| {instances} | {row[0]:,.0f} | {row[1]:,.0f} |", flush=True)


class Caller:
    """Asks the CNN over and over."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("localhost", port)
        head = json.dumps({"inputs": [{"name": "input", "datatype": "FP32", "shape": [1, 3, 112, 112],
                                       "parameters": {"binary_data_size": 150528}}]}).encode()
        self.body = head + bytes(150528)
        self.headers = {"Inference-Header-Content-Length": str(len(head))}

    def latencies(self, seconds):
        figures, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            begin = time.monotonic()
            self.connection.request("POST", "/v2/models/cnn/infer", self.body, self.headers)
            answer = self.connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise SystemExit(text)
            figures.append((time.monotonic() - begin) * 1e3)
        return sorted(figures)


def beside(scratch, turns):
    models = scratch / "beside"
    servers.repository(models, ["large", "cnn"], 1, False, [])
    server = servers.Server(
        models, scratch, str(programs.ROOT / "gatun"), "--model-control-mode=explicit", "--load-model=cnn")
    print("\n| beside the CNN | requests/s | p50, ms | p99, ms | longest, ms | loads |\n|---|---|---|---|---|---|")
    caller = Caller(int(server.ports["http.port"]))
    caller.latencies(10)
    for name in ("nothing", "loads and unloads of the large model"):
        rows = []
        for _ in range(turns):
            loads, ended = [0], threading.Event()

            def load():
                control = http.client.HTTPConnection("localhost", int(server.ports["http.port"]))
                while not ended.is_set():
                    for action in ("load", "unload"):
                        control.request("POST", f"/v2/repository/models/large/{action}", "{}")
                        answer = control.getresponse()
                        text = answer.read()
                        if answer.status != 200:
                            raise SystemExit(text)
                    loads[0] += 1

            loader = threading.Thread(target=load)
            if name != "nothing":
                loader.start()
            figures = caller.latencies(LOADS_SECONDS)
            ended.set()
            if name != "nothing":
                loader.join()
            rows.append((len(figures) / LOADS_SECONDS, figures[len(figures) // 2], figures[int(len(figures) * 0.99)],
                         figures[-1], loads[0]))
        row = [statistics.median(column) for column in zip(*rows)]
        print(f"| {name} | {row[0]:,.0f} | {row[1]:.2f} | {row[2]:.2f} | {row[3]:.1f} | {row[4]:.0f} |", flush=True)
    server.close()


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    programs.build()
    subprocess.run([sys.executable, programs.ROOT / "jmh/models/make_models.py", MADE, "--large"], check=True)
    scratch = pathlib.Path(tempfile.mkdtemp())
    try:
        starts(scratch, turns)
        memory(scratch)
        beside(scratch, turns)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
