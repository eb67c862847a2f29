#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts the server with and without a warm-up, in turns, and compares its first seconds: jmh/run hot [TURNS [SECONDS...]].

As soon as the server says that it is ready, wrk asks the model "simple" for one second over 32 connections, with JSON;
then for a second, for four more, and for two, in which the server is as fast as it becomes. SECONDS are times for
--start-warm-up-secs, which are compared with none. Needs wrk.
"""

import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import example_server

MILLISECONDS = {"us": 0.001, "ms": 1, "s": 1000}
TENSOR = '{"name":"%s","shape":[1,16],"datatype":"INT32","data":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}'
SCRIPT = "wrk.method='POST'\nwrk.headers['Content-Type']='application/json'\nwrk.body='{\"inputs\":[%s,%s]}'\n" % (
    TENSOR % "INPUT0", TENSOR % "INPUT1")


def ask(server, script, seconds):
    """Returns responses a second, the same for each second of the server's processor time, and the 99th percentile in ms."""
    before = server.processor_seconds()
    said = subprocess.run(
        ["wrk", "-t1", "-c32", f"-d{seconds}s", "--latency", f"-s{script}",
         f"http://127.0.0.1:{server.ports['http']}/v2/models/simple/infer"], capture_output=True, text=True, check=True).stdout
    used = server.processor_seconds() - before
    if "Non-2xx" in said or "Socket errors" in said:
        sys.exit(said)
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", said).groups()
    return rate, rate * seconds / used, float(value) * MILLISECONDS[unit]


def start(warm_up):
    with tempfile.TemporaryDirectory() as folder, \
            example_server.running(f"--start-warm-up-secs={warm_up}") as server:
        script = pathlib.Path(folder) / "simple.lua"
        script.write_text(SCRIPT)
        first, second = (ask(server, script, 1) for _ in range(2))
        ask(server, script, 4)
        steady = ask(server, script, 2)
        return [server.took, *first, *second, *steady, first[0] / steady[0], first[1] / steady[1]]


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    times = [0, *(map(int, sys.argv[2:]) if len(sys.argv) > 2 else [8])]
    figures = {seconds: [] for seconds in times}
    for _ in range(turns):
        for seconds in times:
            figures[seconds].append(start(seconds))
    print("| warm-up, s | ready, s | first second: responses, per s of processor, p99 ms | second second | steady"
          " | first of steady | the same per s of processor |\n|---|---|---|---|---|---|---|")
    for seconds, rows in figures.items():
        took, *asked, part, efficiency = (statistics.median(column) for column in zip(*rows))
        cells = [f"{rate:,.0f}, {each:,.0f}, {high:.1f}" for rate, each, high in zip(asked[::3], asked[1::3], asked[2::3])]
        print(f"| {seconds} | {took:.1f} | " + " | ".join(cells) + f" | {part:.2f} | {efficiency:.2f} |")


main()
