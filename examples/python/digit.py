#!/usr/bin/python3
"""Reads the digit in a picture with a running server, over HTTP and through shared memory.

    examples/python/digit.py picture.png [--url http://localhost:8000]

The protocol needs nothing but Python's own library; numpy and Pillow (Debian's python3-numpy and
python3-pil) prepare the picture. Shared memory is Linux only and needs a server that was started
with --allow-client-shm=true.
"""

import argparse
import http.client
import json
import mmap
import os
import sys
import time
import urllib.parse
import uuid

import numpy

import picture

INFER = "/v2/models/digits/infer"
SHAPE = [1, 1, picture.SIDE, picture.SIDE]
DIGITS = 10


class Refused(Exception):
    """The server answered with an error; its text is the message."""


class Server:
    """One HTTP connection that stays open."""

    def __init__(self, url):
        place = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(place.hostname, place.port or 80, timeout=10)

    def post(self, path, message, tensors=b""):
        """Sends JSON with raw tensors behind it; gives back the same two of the answer."""
        head = json.dumps(message).encode()
        headers = {"Inference-Header-Content-Length": str(len(head))} if tensors else {}
        self.connection.request("POST", path, head + tensors, headers)
        response = self.connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise Refused(json.loads(body).get("error", body) if body else response.reason)
        length = int(response.getheader("Inference-Header-Content-Length", len(body)))
        return json.loads(body[:length] or b"{}"), body[length:]


def over_http(server, image):
    """The pixels go behind the request's JSON, the probabilities come behind the answer's."""
    pixels = image.astype("<f4").tobytes()
    _, answer = server.post(INFER, {
        "inputs": [{"name": "image", "datatype": "FP32", "shape": SHAPE,
                    "parameters": {"binary_data_size": len(pixels)}}],
        "outputs": [{"name": "probabilities", "parameters": {"binary_data": True}}],
    }, pixels)
    return numpy.frombuffer(answer, dtype="<f4")


class SharedMemory:
    """A shared memory object, known to the server as a region, that holds picture and answer."""

    def __init__(self, server):
        self.server = server
        self.name = f"gatun-digit-{uuid.uuid4()}"
        self.path = f"/dev/shm/{self.name}"  # where Linux shows the object "/<name>"
        self.input_size = picture.SIDE * picture.SIDE * 4
        self.size = self.input_size + DIGITS * 4

    def __enter__(self):
        descriptor = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, self.size)
            self.bytes = mmap.mmap(descriptor, self.size)
            self.server.post(f"/v2/systemsharedmemory/region/{self.name}/register",
                             {"key": f"/{self.name}", "offset": 0, "byte_size": self.size})
        except BaseException:
            os.unlink(self.path)
            raise
        finally:
            os.close(descriptor)
        return self

    def __exit__(self, *_):
        try:
            self.server.post(f"/v2/systemsharedmemory/region/{self.name}/unregister", {})
        finally:
            self.bytes.close()
            os.unlink(self.path)

    def place(self, offset, size):
        return {"shared_memory_region": self.name, "shared_memory_offset": offset,
                "shared_memory_byte_size": size}

    def read(self, image):
        """The request carries names only: the engine reads and writes the object in place."""
        self.bytes[:self.input_size] = image.astype("<f4").tobytes()
        self.server.post(INFER, {
            "inputs": [{"name": "image", "datatype": "FP32", "shape": SHAPE,
                        "parameters": self.place(0, self.input_size)}],
            "outputs": [{"name": "probabilities",
                         "parameters": self.place(self.input_size, DIGITS * 4)}],
        })
        return numpy.frombuffer(self.bytes[self.input_size:], dtype="<f4")


def show(transport, read, image):
    """One row: the median time of 20 calls after the first."""
    probabilities, times = read(image), []
    for _ in range(20):
        start = time.perf_counter()
        read(image)
        times.append(time.perf_counter() - start)
    digit = int(probabilities.argmax())
    milliseconds = 1000 * sorted(times)[10]
    print(f"{transport:20}  {digit:5}  {100 * probabilities[digit]:8.2f} %  {milliseconds:12.2f}")


def main():
    parser = argparse.ArgumentParser(description="Reads the digit in a picture.")
    parser.add_argument("picture", help="a PNG that shows one digit")
    parser.add_argument("--url", default="http://localhost:8000", help="the server's HTTP port")
    arguments = parser.parse_args()
    try:
        image = picture.read(arguments.picture)
    except (OSError, picture.NoInk) as problem:
        return f"Cannot read {arguments.picture}: {problem}"

    server = Server(arguments.url)
    print(f"{'transport':20}  {'digit':>5}  {'confidence':>10}  {'milliseconds':>12}")
    try:
        show("HTTP, binary", lambda pixels: over_http(server, pixels), image)
        with SharedMemory(server) as shared:
            show("shared memory, HTTP", shared.read, image)
    except ConnectionError:
        return (f"No server answers at {arguments.url}. Start one with: "
                "./gatun serve --model-repository=examples/models --allow-client-shm=true")
    except Refused as refusal:
        return f"The server refused: {refusal}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
