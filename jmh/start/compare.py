#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts the server with and without its AOT cache, in turns, and compares how long it takes: jmh/run start [TURNS].

A start is from the call of the launcher until the server says that its example models are ready. Processor time and
resident memory are read at that moment, and once more after the first request over HTTP.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
REQUEST = b'{"inputs":[' + b",".join(
    b'{"name":"%s","shape":[1,16],"datatype":"INT32","data":[%s]}' % (name, b",".join([b"1"] * 16))
    for name in (b"INPUT0", b"INPUT1")) + b"]}"


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"no resident memory of {pid}")


def start(options):
    with tempfile.TemporaryDirectory() as folder:
        ready = pathlib.Path(folder) / "ready"
        environment = {**os.environ, "GATUN_BUILD": "never", "GATUN_JAVA_OPTS": options}
        ports = [f"--{listener}-port=0" for listener in ("http", "grpc", "metrics")]
        begin = time.monotonic()
        server = subprocess.Popen(
            [ROOT / "gatun", "serve", f"--model-repository={ROOT}/examples/models", f"--ready-file={ready}", *ports],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        try:
            while not ready.exists():
                if server.poll() is not None:
                    sys.exit(f"the server ended with {server.returncode}; run 'mvn package' first")
                time.sleep(0.002)
            figures = [1000 * (time.monotonic() - begin), processor_seconds(server.pid), resident_megabytes(server.pid)]
            port = next(line.split("=")[1] for line in ready.read_text().splitlines() if line.startswith("http.port="))
            begin = time.monotonic()
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/models/simple/infer", REQUEST) as response:
                response.read()
            return [*figures, 1000 * (time.monotonic() - begin)]
        finally:
            server.terminate()
            server.wait()


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    kinds = {"with the cache": "-XX:AOTMode=on", "without": "-XX:AOTMode=off"}
    figures = {kind: [] for kind in kinds}
    for _ in range(turns):
        for kind, options in kinds.items():
            figures[kind].append(start(options))
    print("| 9 models | ready, ms | processor, s | resident, MB | first request, ms |\n|---|---|---|---|---|")
    for kind, rows in figures.items():
        print(f"| {kind} | " + " | ".join(
            f"{statistics.median(column):.{digits}f} ({min(column):.{digits}f} to {max(column):.{digits}f})"
            for column, digits in zip(zip(*rows), (0, 2, 0, 1))) + " |")


main()
