#!/usr/bin/python3
"""Adds and subtracts sixteen integers with a running server; the tensors lie in shared memory.

    examples/python/shared_memory.py [--url http://localhost:8000] [--memory sealed|posix]

Needs nothing but Python's own library, on Linux, and a server that was started with
--allow-client-shm. Where NVIDIA's tritonclient is installed it makes the calls: nothing about it
has to change. Memory of either kind is written and read in place; only names and sizes are sent.

sealed  a memfd that nobody can truncate, without a name in the file system: what Gatun uses without
        a guard, for servers of the same user
posix   an object in /dev/shm: what every server with the shared-memory extension understands
"""

import argparse
import fcntl
import http.client
import json
import mmap
import os
import sys
import urllib.parse
import uuid
from multiprocessing import shared_memory

try:
    import tritonclient.http as tritonclient
except ImportError:
    tritonclient = None

MODEL = "simple"
SHAPE = [1, 16]
TENSOR_BYTES = 16 * 4
INPUTS = {"INPUT0": 0, "INPUT1": TENSOR_BYTES}
OUTPUTS = {"OUTPUT0": 2 * TENSOR_BYTES, "OUTPUT1": 3 * TENSOR_BYTES}
REGION_BYTES = 4 * TENSOR_BYTES


class SealedMemory:
    """Gone with the last process that has it open, so that nothing is ever left behind."""

    def __init__(self, size):
        self.descriptor = os.memfd_create("gatun-example", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, size)
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        self.key = f"/proc/{os.getpid()}/fd/{self.descriptor}"
        self.mapping = mmap.mmap(self.descriptor, size)
        self.bytes = memoryview(self.mapping)

    def close(self):
        self.bytes.release()
        self.mapping.close()
        os.close(self.descriptor)


class PosixMemory:
    """Has a name that it must be rid of in the end."""

    def __init__(self, size):
        self.object = shared_memory.SharedMemory(create=True, size=size)
        self.key = "/" + self.object.name
        self.bytes = self.object.buf

    def close(self):
        self.object.close()
        self.object.unlink()


class PlainClient:
    """The protocol by hand: four calls, each a POST of a little JSON."""

    def __init__(self, url):
        place = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(place.hostname, place.port or 80, timeout=10)

    def post(self, path, message):
        self.connection.request("POST", path, json.dumps(message))
        response = self.connection.getresponse()
        body = json.loads(response.read() or b"{}")
        if response.status != 200:
            sys.exit(f"the server refused {path}: {body.get('error', response.reason)}")
        return body

    def register(self, region, key):
        self.post(f"/v2/systemsharedmemory/region/{region}/register",
                  {"key": key, "offset": 0, "byte_size": REGION_BYTES})

    def unregister(self, region):
        self.post(f"/v2/systemsharedmemory/region/{region}/unregister", {})

    def infer(self, region):
        def place(offset):
            return {"shared_memory_region": region, "shared_memory_offset": offset,
                    "shared_memory_byte_size": TENSOR_BYTES}
        self.post(f"/v2/models/{MODEL}/infer", {
            "inputs": [{"name": name, "datatype": "INT32", "shape": SHAPE, "parameters": place(offset)}
                       for name, offset in INPUTS.items()],
            "outputs": [{"name": name, "parameters": place(offset)} for name, offset in OUTPUTS.items()]})


class TritonClient:
    """The same with the client that most people have."""

    def __init__(self, url):
        self.client = tritonclient.InferenceServerClient(urllib.parse.urlsplit(url).netloc)

    def register(self, region, key):
        self.client.register_system_shared_memory(region, key, REGION_BYTES)

    def unregister(self, region):
        self.client.unregister_system_shared_memory(region)

    def infer(self, region):
        inputs = [tritonclient.InferInput(name, SHAPE, "INT32") for name in INPUTS]
        outputs = [tritonclient.InferRequestedOutput(name) for name in OUTPUTS]
        for tensor, offset in zip(inputs + outputs, [*INPUTS.values(), *OUTPUTS.values()]):
            tensor.set_shared_memory(region, TENSOR_BYTES, offset)
        self.client.infer(MODEL, inputs, outputs=outputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="http://localhost:8000")
    parser.add_argument("--memory", choices=["sealed", "posix"], default="sealed")
    arguments = parser.parse_args()

    client = (TritonClient if tritonclient else PlainClient)(arguments.url)
    memory = (SealedMemory if arguments.memory == "sealed" else PosixMemory)(REGION_BYTES)
    region = f"example-{uuid.uuid4()}"
    try:
        client.register(region, memory.key)
        try:
            # The shared memory itself, as integers: nothing is copied.
            with memory.bytes.cast("i") as integers:
                for number in range(3):
                    for i in range(16):
                        integers[i] = i + 1
                        integers[16 + i] = number
                    client.infer(region)
                    print("sum:       ", *integers[32:48])
                    print("difference:", *integers[48:64])
        finally:
            client.unregister(region)
    finally:
        memory.close()


if __name__ == "__main__":
    main()
