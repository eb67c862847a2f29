# SPDX-License-Identifier: Apache-2.0
"""The bytes of frames and the shared memory, as a server makes and reads them."""

import mmap
import os
import struct

# The dtypes of the datatypes 1 to 12.
NUMPY = ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"]
BYTES, BF16 = 13, 14


def u8(value):
    return struct.pack("<B", value)


def u32(value):
    return struct.pack("<I", value)


def u64(value):
    return struct.pack("<Q", value)


def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return u32(len(value)) + value


def listed(items):
    items = list(items)
    return u32(len(items)) + b"".join(items)


def parameter(key, value):
    if isinstance(value, bool):
        return text(key) + struct.pack("<B?", 0, value)
    if isinstance(value, int):
        return text(key) + (struct.pack("<Bq", 1, value) if value < 2**63 else struct.pack("<BQ", 2, value))
    if isinstance(value, float):
        return text(key) + struct.pack("<Bd", 3, value)
    return text(key) + u8(4) + text(value)


class Reader:
    """Reads a frame's body."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, form):
        (value,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def blob(self):
        size = self.take("I")
        self.at += size
        return self.data[self.at - size : self.at]

    def text(self):
        return self.blob().decode()

    def list(self, item):
        return [item() for _ in range(self.take("I"))]

    def parameters(self):
        return dict(self.list(self.parameter))

    def parameter(self):
        key = self.text()
        kind = self.take("B")
        return key, self.text() if kind == 4 else self.take("?qQd"[kind])

    def tensor(self):
        name, number = self.text(), self.take("B")
        shape = tuple(self.list(lambda: self.take("q")))
        return {"name": name, "datatype": number, "shape": shape, "offset": self.take("Q"), "size": self.take("Q")}

    def end(self):
        assert self.at == len(self.data), f"{len(self.data) - self.at} bytes too many in a frame"


def encoded(elements):
    """The elements of a BYTES tensor as they lie in memory."""
    return b"".join(text(element) for element in elements)


class Memory:
    """A memfd. The server's own allocation is a pointer that only grows, and starts anew when nothing is in use."""

    def __init__(self, name, size):
        self.descriptor = os.memfd_create(name)
        self.size = size
        os.ftruncate(self.descriptor, size)
        self.map = mmap.mmap(self.descriptor, size)
        self.path = f"/proc/{os.getpid()}/fd/{self.descriptor}"
        self.used = {}
        self.end = 0

    def allocate(self, data):
        if not self.used:
            self.end = 0
        offset = self.end
        self.end += max(64, (len(data) + 63) // 64 * 64)
        assert self.end <= self.size, "the test's own request memory is full"
        self.map[offset : offset + len(data)] = data
        self.used[offset] = len(data)
        return offset

    def close(self):
        self.map.close()
        os.close(self.descriptor)
