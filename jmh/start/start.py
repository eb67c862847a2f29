#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts the server with and without its AOT cache, in turns, and compares how long it takes: jmh/run start [TURNS].

A start is from the call of the launcher until the server says that its example models are ready. Processor time and
resident memory are read at that moment, and once more after the first request over HTTP.
"""

import statistics
import sys
import time
import urllib.request

import example_server

REQUEST = b'{"inputs":[' + b",".join(
    b'{"name":"%s","shape":[1,16],"datatype":"INT32","data":[%s]}' % (name, b",".join([b"1"] * 16))
    for name in (b"INPUT0", b"INPUT1")) + b"]}"


def start(options):
    with example_server.running(java_options=options) as server:
        figures = [1000 * server.took, server.processor_seconds(), server.resident_megabytes()]
        begin = time.monotonic()
        url = f"http://127.0.0.1:{server.ports['http']}/v2/models/simple/infer"
        with urllib.request.urlopen(url, REQUEST) as response:
            response.read()
        return [*figures, 1000 * (time.monotonic() - begin)]


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
