#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two running servers that serve examples/models, one with the console and one with --console=false: the
median latency of the smallest request over HTTP, in turns, without viewers of the console and with ten of them.

    jmh/console/compare.py http://localhost:8000 http://localhost:9000
"""
import http.client
import json
import statistics
import sys
import threading
import time
from urllib.parse import urlsplit

VIEWERS = 10
PAIRS = 60
BURST = 300
PATH = "/v2/models/identity_fp32/infer"


class Client:
    """One connection to a server."""

    def __init__(self, url):
        self.host = urlsplit(url).netloc
        self.connection = http.client.HTTPConnection(self.host)
        self.connection.request("GET", "/v2/models/identity_fp32")
        tensor = json.loads(self.connection.getresponse().read())["inputs"][0]
        shape = [1 if dim < 0 else dim for dim in tensor["shape"]]
        count = 1
        for dim in shape:
            count *= dim
        self.body = json.dumps(
            {"inputs": [{"name": tensor["name"], "shape": shape, "datatype": "FP32", "data": [1.0] * count}]})

    def burst(self):
        """The median latency of some requests in a row, in nanoseconds."""
        latencies = []
        for _ in range(BURST):
            began = time.perf_counter_ns()
            self.connection.request("POST", PATH, self.body)
            response = self.connection.getresponse()
            response.read()
            latencies.append(time.perf_counter_ns() - began)
            assert response.status == 200, response.status
        return statistics.median(latencies)


def view(host, stop):
    """Reads the console's events until it is told to stop."""
    connection = http.client.HTTPConnection(host)
    connection.request("GET", "/v2/console/events?model=identity_fp32")
    response = connection.getresponse()
    assert response.status == 200, response.status
    while not stop.is_set():
        response.readline()
    connection.close()


def compare(title, console, plain):
    ratios = sorted(console.burst() / plain.burst() for _ in range(PAIRS))
    print(f"{title}: {statistics.median(ratios):.3f} (quartiles {ratios[PAIRS // 4]:.3f}, {ratios[3 * PAIRS // 4]:.3f})")


def main():
    console, plain = Client(sys.argv[1]), Client(sys.argv[2])
    for client in (console, plain):
        for _ in range(10):
            client.burst()
    compare("no viewers", console, plain)
    stop = threading.Event()
    viewers = [threading.Thread(target=view, args=(console.host, stop), daemon=True) for _ in range(VIEWERS)]
    for viewer in viewers:
        viewer.start()
    time.sleep(1)
    compare(f"{VIEWERS} viewers", console, plain)
    stop.set()


if __name__ == "__main__":
    main()
