#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the first request of each kind after a start with later ones: jmh/run first [TURNS [SECONDS]].

Each request is the first of a new connection, after the server had nothing to do for a second. "First" is asked of a
server that has answered no request of clients, after a warm-up of SECONDS (10); "later" of one with the same flags that
has answered thousands of each kind, from the same client in the same way. "In a row" is the median of a thousand
requests of one connection, without a pause. The client is made of bare sockets, so that it needs no time of its own.
"""

import json
import random
import socket
import statistics
import struct
import sys
import time

import example_server

REST = 1  # seconds
LATER = 15  # requests of each kind
ROW = 1000
NUMBERS = list(range(1, 17))
DATA = struct.pack("<16i", *NUMBERS)
NAMES = ("INPUT0", "INPUT1")
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000040000000000")
DATA_FRAME, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.unread = b""

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.socket.close()

    def read(self, size):
        while len(self.unread) < size:
            self.more()
        taken, self.unread = self.unread[:size], self.unread[size:]
        return taken

    def more(self):
        received = self.socket.recv(1 << 16)
        if not received:
            sys.exit("the server closed a connection")
        self.unread += received


class Http(Connection):
    def __init__(self, port, path, body, fields="Content-Type: application/json"):
        super().__init__(port)
        self.request = (f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n"
                        f"Content-Length: {len(body)}\r\n\r\n").encode() + body

    def ask(self):
        """Returns the microseconds until the response is there."""
        begin = time.perf_counter()
        self.socket.sendall(self.request)
        while b"\r\n\r\n" not in self.unread:
            self.more()
        head = self.read(self.unread.index(b"\r\n\r\n") + 4).lower()
        self.read(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
        took = time.perf_counter() - begin
        if b" 200 " not in head.split(b"\r\n")[0]:
            sys.exit(head.decode())
        return 1e6 * took


class Grpc(Connection):
    def __init__(self, port, method, message):
        super().__init__(port)
        self.fields = (b"\x83\x86\x44" + text(method) + b"\x41" + text("localhost") + b"\x0f\x10"
                       + text("application/grpc") + b"\x00" + text("te") + text("trailers"))
        self.data = b"\0" + struct.pack(">I", len(message)) + message
        self.stream = -1

    def ask(self):
        """Returns the microseconds until the response is there."""
        begin = time.perf_counter()
        preface = PREFACE if self.stream < 0 else b""
        self.stream += 2
        self.socket.sendall(
            preface + frame(HEADERS, 4, self.stream, self.fields) + frame(DATA_FRAME, 1, self.stream, self.data))
        received = 0
        ended = False
        while not ended:
            head = self.read(9)
            kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
            payload = self.read(int.from_bytes(head[:3], "big"))
            if kind in (RST_STREAM, GOAWAY):
                sys.exit(f"the server ended a stream: {payload}")
            if kind in (SETTINGS, PING) and not flags & 1:
                self.socket.sendall(frame(kind, 1, 0, payload if kind == PING else b""))
            if stream == self.stream and kind in (DATA_FRAME, HEADERS):
                received += len(payload) if kind == DATA_FRAME else 0
                ended = flags & 1
        took = time.perf_counter() - begin
        if received < 100:
            sys.exit("a call was answered without tensors")
        self.socket.sendall(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", received)))
        return 1e6 * took


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def text(value):
    return bytes([len(value)]) + value.encode()  # of less than 127 bytes


def field(number, value):
    """A field of a protobuf message: a number, or bytes of less than 128."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    if len(value) < 128:
        return bytes([number << 3 | 2, len(value)]) + value
    return bytes([number << 3 | 2, len(value) & 127 | 128, len(value) >> 7]) + value


def v2_message():
    tensor = field(2, b"INT32") + field(3, bytes([1, 16]))
    tensors = b"".join(field(5, field(1, name.encode()) + tensor) for name in NAMES)
    return field(1, b"simple") + tensors + 2 * field(7, DATA)


def tensorflow_message():
    shape = field(2, field(1, 1)) + field(2, field(1, 16))
    tensor = field(1, 3) + field(2, shape) + field(4, DATA)
    return field(1, field(1, b"simple")) + b"".join(
        field(2, field(1, name.encode()) + field(2, tensor)) for name in NAMES)


def v1_message():
    tensors = [field(number, field(1, name.encode()))
               for number, name in ((2, "INPUT0"), (2, "INPUT1"), (3, "OUTPUT0"), (3, "OUTPUT1"))]
    header = field(1, 1) + b"".join(tensors)
    return field(1, b"simple") + field(2, 1) + field(3, header) + 2 * field(4, DATA)


def inputs(**content):
    return [{"name": name, "shape": [1, 16], "datatype": "INT32", **content} for name in NAMES]


def kinds():
    """How to open a connection for each kind of request, by its name."""
    plain = json.dumps({"inputs": inputs(data=NUMBERS)}).encode()
    sizes = inputs(parameters={"binary_data_size": len(DATA)})
    header = json.dumps({"inputs": sizes, "parameters": {"binary_data_output": True}}).encode()
    binary = ("Content-Type: application/octet-stream\r\n"
              f"Inference-Header-Content-Length: {len(header)}")
    instances = json.dumps({"instances": [dict.fromkeys(NAMES, NUMBERS)]}).encode()
    legacy = "NV-InferRequest: batch_size: 1 " + " ".join(
        f'{kind} {{ name: "{kind.upper()}{number}" }}' for kind in ("input", "output") for number in (0, 1))
    infer, predict = "/v2/models/simple/infer", "/v1/models/simple:predict"
    return {
        "v2, HTTP, JSON": lambda ports: Http(ports["http"], infer, plain),
        "v2, HTTP, binary": lambda ports: Http(ports["http"], infer, header + 2 * DATA, binary),
        "v2, gRPC": lambda ports: Grpc(ports["grpc"], "/inference.GRPCInferenceService/ModelInfer", v2_message()),
        "TensorFlow Serving, REST": lambda ports: Http(ports["http"], predict, instances),
        "TensorFlow Serving, gRPC": lambda ports: Grpc(
            ports["grpc"], "/tensorflow.serving.PredictionService/Predict", tensorflow_message()),
        "v1, HTTP": lambda ports: Http(ports["http"], "/api/infer/simple", 2 * DATA, legacy),
        "v1, gRPC": lambda ports: Grpc(
            ports["grpc"], "/nvidia.inferenceserver.GRPCService/Infer", v1_message()),
    }


def ask_each(server, connect):
    """Asks one request of each kind, in any order, after a rest; returns its microseconds by kind."""
    took = {}
    for kind in random.sample(list(connect), len(connect)):
        time.sleep(REST)
        with connect[kind](server.ports) as connection:
            took[kind] = connection.ask()
    return took


def heat(server, connect):
    for open_one in connect.values():
        with open_one(server.ports) as connection:
            for _ in range(20 * ROW):
                connection.ask()
        for _ in range(300):
            with open_one(server.ports) as connection:
                connection.ask()


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    flag = "--start-warm-up-secs=" + (sys.argv[2] if len(sys.argv) > 2 else "10")
    connect = kinds()
    with example_server.running(flag) as hot:
        heat(hot, connect)
        first = []
        for _ in range(turns):
            with example_server.running(flag) as new:
                first.append(ask_each(new, connect))
        later = [ask_each(hot, connect) for _ in range(LATER)]
        print("| request | first, us | later, us | ratio of medians | in a row, us |\n|---|---|---|---|---|")
        for kind, open_one in connect.items():
            with open_one(hot.ports) as connection:
                row = statistics.median(connection.ask() for _ in range(ROW))
            ours, theirs = ([took[kind] for took in part] for part in (first, later))
            cells = [f"{statistics.median(part):,.0f} ({min(part):,.0f} to {max(part):,.0f})" for part in (ours, theirs)]
            ratio = statistics.median(ours) / statistics.median(theirs)
            print(f"| {kind} | {' | '.join(cells)} | {ratio:.1f} | {row:.0f} |")


main()
