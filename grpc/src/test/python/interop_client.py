"""The interoperability cases of gRPC's authors, with gRPC's C core as the client.

Usage: interop_client.py TARGET. The server serves grpc.testing.TestService. Prints "ok" after the name of each case; fails
with a traceback otherwise. The few messages are written and read by hand, so that nothing needs to be generated.
"""

import queue
import sys

import grpc

SERVICE = "/grpc.testing.TestService/"
LIMIT_SECONDS = 30
REQUEST_SIZES = (27182, 8, 1828, 45904)
RESPONSE_SIZES = (31415, 9, 2653, 58979)
LARGE_REQUEST, LARGE_RESPONSE = 271828, 314159


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, value):
    return varint(field << 3 | 2) + varint(len(value)) + value


def fields(data):
    """The fields of a message of numbers and blocks, the last of each."""
    found, at = {}, 0

    def next_varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return value

    while at < len(data):
        tag = next_varint()
        value = next_varint()
        if tag & 7 == 2:
            data_at, at = at, at + value
            value = data[data_at:at]
        found[tag >> 3] = value
    return found


def payload(size):
    return block(2, bytes(size))


def simple(response_size, request_size, *more):
    return number(2, response_size) + block(3, payload(request_size)) + b"".join(more)


def status(field, code, text):
    return block(field, number(1, code) + block(2, text.encode()))


def streamed(sizes, *more):
    """A request for as many responses as there are sizes, each of which may be (size, microseconds)."""
    wanted = [size if isinstance(size, tuple) else (size, 0) for size in sizes]
    parameters = [block(2, number(1, size) + number(2, interval)) for size, interval in wanted]
    return b"".join(parameters) + b"".join(more)


def body_size(response):
    return len(fields(fields(response).get(1, b"")).get(2, b""))


def check(name, actual, expected):
    if actual != expected:
        raise AssertionError(f"{name}: {actual!r} instead of {expected!r}")


class Conversation:
    """A bidirectional call to which messages are given one by one."""

    def __init__(self, method, **options):
        self.requests = queue.Queue()
        self.call = method(iter(self.requests.get, None), **{"timeout": LIMIT_SECONDS, **options})

    def send(self, request):
        self.requests.put(request)

    def end(self):
        self.requests.put(None)


def failure(action):
    try:
        action()
    except grpc.RpcError as error:
        return error.code(), error.details()
    raise AssertionError("the call succeeded")


with grpc.insecure_channel(sys.argv[1]) as channel:
    empty = channel.unary_unary(SERVICE + "EmptyCall")
    unary = channel.unary_unary(SERVICE + "UnaryCall")
    upload = channel.stream_unary(SERVICE + "StreamingInputCall")
    download = channel.unary_stream(SERVICE + "StreamingOutputCall")
    duplex = channel.stream_stream(SERVICE + "FullDuplexCall")

    def empty_unary():
        check("response", empty(b"", timeout=LIMIT_SECONDS), b"")

    def large_unary():
        answer = unary(simple(LARGE_RESPONSE, LARGE_REQUEST), timeout=LIMIT_SECONDS)
        check("size", body_size(answer), LARGE_RESPONSE)

    def client_compressed_unary():
        for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate, grpc.Compression.NoCompression):
            answer = unary(simple(LARGE_RESPONSE, LARGE_REQUEST), timeout=LIMIT_SECONDS, compression=compression)
            check("size", body_size(answer), LARGE_RESPONSE)

    def server_compressed_unary():
        wanted = block(6, number(1, 1))
        answer = unary(simple(LARGE_RESPONSE, LARGE_REQUEST, wanted), timeout=LIMIT_SECONDS)
        check("size", body_size(answer), LARGE_RESPONSE)

    def client_streaming():
        answer = upload((block(1, payload(size)) for size in REQUEST_SIZES), timeout=LIMIT_SECONDS)
        check("sum", fields(answer)[1], sum(REQUEST_SIZES))

    def server_streaming():
        answers = download(streamed(RESPONSE_SIZES), timeout=LIMIT_SECONDS)
        check("sizes", tuple(map(body_size, answers)), RESPONSE_SIZES)

    def ping_pong():
        talk = Conversation(duplex)
        for sent, wanted in zip(REQUEST_SIZES, RESPONSE_SIZES):
            talk.send(streamed([wanted], block(3, payload(sent))))
            check("size", body_size(next(talk.call)), wanted)
        talk.end()
        check("rest", list(talk.call), [])

    def empty_stream():
        talk = Conversation(duplex)
        talk.end()
        check("responses", list(talk.call), [])

    def cancel_after_begin():
        hold = queue.Queue()
        call = upload.future(iter(hold.get, None), timeout=LIMIT_SECONDS)
        call.cancel()
        check("code", call.code(), grpc.StatusCode.CANCELLED)
        hold.put(None)

    def cancel_after_first_response():
        talk = Conversation(duplex)
        talk.send(streamed([RESPONSE_SIZES[0]], block(3, payload(REQUEST_SIZES[0]))))
        check("size", body_size(next(talk.call)), RESPONSE_SIZES[0])
        talk.call.cancel()
        check("code", failure(lambda: next(talk.call))[0], grpc.StatusCode.CANCELLED)
        talk.end()

    def timeout_on_sleeping_server():
        talk = Conversation(duplex, timeout=0.05)
        talk.send(streamed([(31415, 20_000_000)], block(3, payload(27182))))
        check("code", failure(lambda: next(talk.call))[0], grpc.StatusCode.DEADLINE_EXCEEDED)
        talk.end()

    def custom_metadata():
        text, binary = "test_initial_metadata_value", b"\x0a\x0b\x0a\x0b\x0a\x0b"
        metadata = (("x-grpc-test-echo-initial", text), ("x-grpc-test-echo-trailing-bin", binary))

        def check_metadata(call):
            check("headers", dict(call.initial_metadata()).get("x-grpc-test-echo-initial"), text)
            check("trailers", dict(call.trailing_metadata()).get("x-grpc-test-echo-trailing-bin"), binary)

        _, call = unary.with_call(simple(314159, 271828), timeout=LIMIT_SECONDS, metadata=metadata)
        check_metadata(call)
        talk = Conversation(duplex, metadata=metadata)
        talk.send(streamed([314159], block(3, payload(271828))))
        talk.end()
        check("sizes", [body_size(answer) for answer in talk.call], [314159])
        check_metadata(talk.call)

    def fails_with(code, text):
        expected = (code, text)
        wanted = status(7, code.value[0], text)
        check("unary", failure(lambda: unary(wanted, timeout=LIMIT_SECONDS)), expected)
        talk = Conversation(duplex)
        talk.send(wanted)
        talk.end()
        check("stream", failure(lambda: list(talk.call)), expected)

    def status_code_and_message():
        fails_with(grpc.StatusCode.UNKNOWN, "test status message")

    def special_status_message():
        fails_with(grpc.StatusCode.UNKNOWN, "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n")

    def unimplemented_method():
        method = channel.unary_unary(SERVICE + "UnimplementedCall")
        check("code", failure(lambda: method(b"", timeout=LIMIT_SECONDS))[0], grpc.StatusCode.UNIMPLEMENTED)

    def unimplemented_service():
        method = channel.unary_unary("/grpc.testing.UnimplementedService/UnimplementedCall")
        check("code", failure(lambda: method(b"", timeout=LIMIT_SECONDS))[0], grpc.StatusCode.UNIMPLEMENTED)

    for case in (
        empty_unary,
        large_unary,
        client_compressed_unary,
        server_compressed_unary,
        client_streaming,
        server_streaming,
        ping_pong,
        empty_stream,
        cancel_after_begin,
        cancel_after_first_response,
        timeout_on_sleeping_server,
        custom_metadata,
        status_code_and_message,
        special_status_message,
        unimplemented_method,
        unimplemented_service,
    ):
        case()
        print(case.__name__, "ok", flush=True)
