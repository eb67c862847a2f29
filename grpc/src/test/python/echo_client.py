"""Calls the echo service with gRPC's C core, whose HTTP/2 differs from grpc-java's in many small ways.

Usage: echo_client.py TARGET. Prints "ok" after the name of each check; fails with a traceback otherwise.
"""

import sys
import threading

import grpc

target = sys.argv[1]
options = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
]


def check(name, condition, detail=""):
    if not condition:
        raise AssertionError(f"{name}: {detail}")
    print(name, "ok", flush=True)


def status_of(call):
    try:
        call()
        return grpc.StatusCode.OK, ""
    except grpc.RpcError as error:
        return error.code(), error.details()


with grpc.insecure_channel(target, options) as channel:
    unary = channel.unary_unary("/test.Echo/Unary")
    join = channel.stream_unary("/test.Echo/Join")
    repeat = channel.unary_stream("/test.Echo/Repeat")
    bidi = channel.stream_stream("/test.Echo/Bidi")

    for size in (0, 1, 100, 65536, 1 << 20, 20 << 20):
        message = bytes(i % 251 for i in range(min(size, 5000))) + b"x" * max(0, size - 5000)
        check(f"unary {size}", unary(message, timeout=30) == message)

    check("metadata", unary.with_call(b"m", timeout=30, metadata=(("a-text", "1"), ("b-bin", b"\x00\xff")))[0] == b"m")
    check("join", join(iter([b"a", b"", b"bc"]), timeout=30) == b"abc")
    check("repeat", list(repeat(b"r", timeout=30)) == [b"r"] * 10)
    big = [bytes([i]) * (1 << 20) for i in range(20)]
    check("bidi", list(bidi(iter(big), timeout=60)) == big)

    unknown = channel.unary_unary("/test.Echo/Nothing")
    check("unimplemented", status_of(lambda: unknown(b"", timeout=30))[0] == grpc.StatusCode.UNIMPLEMENTED)
    endless = threading.Event()

    def never():
        endless.wait(20)
        yield b""

    code, details = status_of(lambda: join(never(), timeout=0.3))
    check("deadline", code == grpc.StatusCode.DEADLINE_EXCEEDED, code)
    endless.set()

    compressed = unary(b"z" * 300000, timeout=30, compression=grpc.Compression.Gzip)
    check("gzip", compressed == b"z" * 300000)
    compressed = unary(b"y" * 300000, timeout=30, compression=grpc.Compression.Deflate)
    check("deflate", compressed == b"y" * 300000)

    failures = []

    def load(k):
        for i in range(50):
            body = bytes([k]) * (i * 997)
            if unary(body, timeout=30) != body:
                failures.append((k, i))

    threads = [threading.Thread(target=load, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("concurrent", not failures, failures)

    cancelled = unary.future(b"c" * 100)
    cancelled.cancel()
    check("after cancel", unary(b"again", timeout=30) == b"again")
