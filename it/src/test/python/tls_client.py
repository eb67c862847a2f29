"""Asks over TLS, with the C core, whether the server is live: TARGET ROOTS KEY CERTIFICATE."""

import sys

import grpc


def read(path):
    with open(path, "rb") as file:
        return file.read()


target, roots, key, certificate = sys.argv[1:]
credentials = grpc.ssl_channel_credentials(read(roots), read(key), read(certificate))
with grpc.secure_channel(target, credentials) as channel:
    live = channel.unary_unary("/inference.GRPCInferenceService/ServerLive")
    for _ in range(20):
        answer = live(b"", timeout=20)
        assert answer == b"\x08\x01", answer
    # A field that the server does not know, of 3 MiB: more than one TLS record and one window.
    large = live(b"\x7a\x80\x80\xc0\x01" + bytes(3 << 20), timeout=20)
    assert large == b"\x08\x01", large
without = grpc.ssl_channel_credentials(read(roots))
with grpc.secure_channel(target, without) as channel:
    try:
        channel.unary_unary("/inference.GRPCInferenceService/ServerLive")(b"", timeout=20)
    except grpc.RpcError as refused:
        assert refused.code() == grpc.StatusCode.UNAVAILABLE, refused
    else:
        raise AssertionError("served without a certificate")
print("all ok")
