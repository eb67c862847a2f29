# SPDX-License-Identifier: Apache-2.0
"""A client of Gatun's lanes: inference in memory that it shares with a server on the same machine, without a socket.

The server runs as the same user with --allow-client-shm and --http-unix-socket=PATH. Needs Linux and Python 3.8, and
numpy for the tensors; ctypes only for one system call.

    with Lane("/run/gatun.sock", data_bytes=1 << 20) as lane:
        simple = lane.prepare("simple", inputs={"INPUT0": "INT32", "INPUT1": "INT32"}, outputs=["OUTPUT0", "OUTPUT1"])
        left, right = lane.array((1, 16), "INT32"), lane.array((1, 16), "INT32")
        total, difference = lane.array((1, 16), "INT32"), lane.array((1, 16), "INT32")
        left[:], right[:] = 1, 2
        simple.infer([left, right], [total, difference])
        print(total)

One thread uses a Lane at a time. Arrays are views of the shared memory: the server reads and writes them in place, and
they are valid until the lane is closed.
"""

import ctypes
import fcntl
import json
import mmap
import os
import select
import socket
import struct
import threading
import time

import numpy

_PAGE = 4096
_SLOTS = 4
_TENSORS = 16
_SLOT_TENSORS = 1280
_TENSOR_BYTES = 128
_CALLER_CORE = 96
_SERVER_BELL, _SERVER_ASLEEP, _PRODUCER = 1024, 1152, 1280
_FREE, _FILLED, _DONE, _MORE = 0, 1, 2, 3
_INFER, _CONTINUE = 1, 2
_SYS_FUTEX = {"x86_64": 202, "aarch64": 98}.get(os.uname().machine)
_FUTEX_WAIT, _FUTEX_WAKE = 0, 1
_SEAL_SHRINK = 2
_F_ADD_SEALS = 1033
_TYPES = ["", "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "BF16", "FP32",
          "FP64", "BYTES", "COMPLEX64", "COMPLEX128", "QINT8", "QUINT8", "QINT16", "QUINT16", "QINT32", "INT4", "UINT4",
          "FP8_E5M2", "FP8_E4M3FN"]
_NUMPY = {"BOOL": "?", "UINT8": "u1", "UINT16": "<u2", "UINT32": "<u4", "UINT64": "<u8", "INT8": "i1", "INT16": "<i2",
          "INT32": "<i4", "INT64": "<i8", "FP16": "<f2", "BF16": "<u2", "FP32": "<f4", "FP64": "<f8", "BYTES": "u1",
          "COMPLEX64": "<c8", "COMPLEX128": "<c16", "QINT8": "i1", "QUINT8": "u1", "QINT16": "<i2", "QUINT16": "<u2",
          "QINT32": "<i4", "INT4": "i1", "UINT4": "u1", "FP8_E5M2": "u1", "FP8_E4M3FN": "u1"}

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_getcpu = ctypes.PyDLL(None).sched_getcpu


class LaneError(Exception):
    """An error that the server answered; `code` is gRPC's number for it, or HTTP's status."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Lane:
    """A lane to the server at a Unix socket. Close it, or use it in a with statement."""

    def __init__(self, path, data_bytes=1 << 20, token=None):
        self._slots_at = -(-(_PAGE + 16 * _SLOTS) // 64) * 64
        self._slot_bytes = _SLOT_TENSORS + _TENSORS * _TENSOR_BYTES
        self._data_at = -(-(self._slots_at + _SLOTS * self._slot_bytes) // _PAGE) * _PAGE
        self._data_bytes = data_bytes
        self._used = 0
        self._position = 0
        self._turn = 0
        # Whether waits hand the core over, and what was learned of that.
        self._hands_over, self._waits, self._rest, self._mean_nanos, self._mean_of_sleeps = False, 0, 16, 0, 0
        self._headers = "" if token is None else "Authorization: Bearer %s\r\n" % token
        file = os.memfd_create("gatun-lane", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(file, self._data_at + data_bytes)
            fcntl.fcntl(file, _F_ADD_SEALS, _SEAL_SHRINK)
            self._memory = mmap.mmap(file, self._data_at + data_bytes)
            self._address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.connect(path)
            key = "/proc/%d/fd/%d" % (os.getpid(), file)
            self.name = self._post("/v2/lanes", {"key": key, "slots": _SLOTS, "tensors": _TENSORS,
                                                 "data_byte_size": data_bytes})["lane"]
        finally:
            os.close(file)

    def prepare(self, model, inputs, outputs, version="", parameters=None):
        """Tells the server once what requests to a model are like: datatypes of inputs by name, names of outputs."""
        path = "/v2/lanes/%s/models/%s%s/prepare" % (self.name, model, "/versions/" + version if version else "")
        body = {"inputs": [{"name": name, "datatype": datatype} for name, datatype in inputs.items()],
                "outputs": [{"name": name} for name in outputs], "parameters": parameters or {}}
        return Prepared(self, self._post(path, body)["prepared"], list(inputs.values()), list(outputs))

    def array(self, shape, datatype):
        """An array in the lane's memory, which begins at a multiple of 64 bytes; of BYTES, so many bytes of room."""
        array_type = numpy.dtype(_NUMPY[datatype])
        size = int(numpy.prod(shape, dtype=numpy.int64)) * array_type.itemsize
        offset = -(-self._used // 64) * 64
        if offset + size > self._data_bytes:
            raise MemoryError("the lane has room for %d bytes of tensors" % self._data_bytes)
        self._used = offset + size
        return numpy.frombuffer(self._memory, array_type, size // array_type.itemsize,
                                self._data_at + offset).reshape(shape)

    def close(self):
        """Ends the lane. The memory goes with the last array that is a view of it."""
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.close()

    def offset_of(self, array):
        """Where an array lies in the lane's data."""
        offset = array.__array_interface__["data"][0] - self._address - self._data_at
        if not 0 <= offset <= self._data_bytes - array.nbytes:
            raise ValueError("the array does not lie in the lane: make it by array()")
        return offset

    def slot_offset(self, slot):
        return self._slots_at + slot * self._slot_bytes

    def put(self, layout, offset, *values):
        struct.pack_into(layout, self._memory, offset, *values)

    def get(self, layout, offset):
        return struct.unpack_from(layout, self._memory, offset)

    def word(self, offset):
        return ctypes.c_uint32.from_address(self._address + offset)

    def submit(self, slot, command):
        """Gives a slot to the server."""
        if command == _INFER:
            self._turn += 1
        _fence()
        self.word(self.slot_offset(slot)).value = _FILLED
        _fence()
        entry = self._position % (4 * _SLOTS)
        self._position += 1
        self.word(_PAGE + 4 * entry).value = (self._turn & 0xFFFFF) << 12 | command << 10 | slot
        _fence()
        asleep = self.word(_SERVER_ASLEEP)
        if asleep.value != 0:
            asleep.value = 0
            self.word(_SERVER_BELL).value += 1
            self._futex(_SERVER_BELL, _FUTEX_WAKE, 0x7FFFFFFF, None)

    def caller_core(self):
        """The core to hand over while the next request waits, from 1; 0 for none."""
        return _getcpu() + 1 if self._hands_over else 0

    def _learn(self, nanos):
        """Learns whether handing the core over takes less than a sleep: each is measured for a while, and tried again
        later."""
        self._waits += 1
        if self._hands_over and self._waits <= 4:
            return  # the server has to learn of the core
        mean = self._mean_nanos
        self._mean_nanos = nanos if mean == 0 else mean + (min(nanos, 8 * mean) - mean) / 16
        if self._waits < (12 if self._hands_over else self._rest):
            return
        if not self._hands_over:
            self._mean_of_sleeps = self._mean_nanos
            self._rest = min(2 * self._rest, 4096)
        elif self._waits >= 4096:
            self._rest = 16
        elif self._mean_nanos <= self._mean_of_sleeps:
            return
        self._hands_over, self._waits, self._mean_nanos = not self._hands_over, 0, 0

    def wait(self, slot, timeout):
        """Waits until a slot is answered. Looks at the connection too, which ends with the server."""
        at = self.slot_offset(slot)
        state, asleep = self.word(at), self.word(at + 4)
        begun = time.monotonic_ns()
        if self.word(at + _CALLER_CORE).value:
            # Where both are on one core, the server needs nobody to be woken.
            for _ in range(3):
                if state.value == _FILLED:
                    os.sched_yield()
        end = None if timeout is None else time.monotonic() + timeout
        while state.value == _FILLED:
            asleep.value = 1
            _fence()
            if state.value == _FILLED:
                self._futex(at, _FUTEX_WAIT, _FILLED, 0.05)
            if state.value == _FILLED:
                if select.select([self._socket], [], [], 0)[0]:
                    raise ConnectionError("the server has ended the lane")
                if end is not None and time.monotonic() > end:
                    raise TimeoutError("no answer within %s s" % timeout)
        answered = state.value
        _fence()
        self._learn(time.monotonic_ns() - begun)
        return answered

    def _futex(self, offset, operation, value, seconds):
        timeout = None if seconds is None else struct.pack("qq", int(seconds), int(seconds % 1 * 1e9))
        _libc.syscall(ctypes.c_long(_SYS_FUTEX), ctypes.c_void_p(self._address + offset), ctypes.c_long(operation),
                      ctypes.c_long(value), timeout, None, ctypes.c_long(0))

    def _post(self, path, body):
        text = json.dumps(body).encode()
        head = "POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n" % (path, self._headers, len(text))
        self._socket.sendall(head.encode() + text)
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._receive()
        head, content = received.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        lengths = [int(line.split(":", 1)[1]) for line in lines if line.lower().startswith("content-length:")]
        while len(content) < lengths[0]:
            content += self._receive()
        status = int(lines[0].split()[1])
        answer = json.loads(content) if content else {}
        if status != 200:
            raise LaneError(status, answer.get("error", lines[0]))
        return answer

    def _receive(self):
        piece = self._socket.recv(65536)
        if not piece:
            raise ConnectionError("the server has ended the connection")
        return piece


class Prepared:
    """Requests to one model, which the server has checked."""

    def __init__(self, lane, number, datatypes, outputs):
        self._lane, self._number, self._datatypes, self._outputs = lane, number, datatypes, outputs

    def infer(self, inputs, outputs, shapes=None, sequence=0, start=False, end=False, timeout=None):
        """Makes one inference with arrays of the lane, and returns the outputs: views of those arrays, of the shapes that
        the model gave them. Give `shapes` of inputs where they are not the arrays' own, as those of BYTES never are."""
        return next(self.stream(inputs, outputs, shapes, sequence, start, end, timeout))

    def stream(self, inputs, outputs, shapes=None, sequence=0, start=False, end=False, timeout=None):
        """As infer(), for models that answer any number of times: gives the outputs of one answer after the other. They
        lie in the same arrays each time."""
        lane, slot = self._lane, 0
        at = lane.slot_offset(slot)
        deadline = 0 if timeout is None else time.monotonic_ns() + int(timeout * 1e9)
        lane.put("<IIQQIII", at + 64, self._number, (1 if start else 0) | (2 if end else 0), sequence, deadline, 0, 0,
                 lane.caller_core())
        for i, array in enumerate(list(inputs) + list(outputs)):
            shape = (shapes[i] if shapes else array.shape) if i < len(inputs) else ()
            tensor = at + _SLOT_TENSORS + i * _TENSOR_BYTES
            lane.put("<IIQQ", tensor, 0, len(shape), lane.offset_of(array), array.nbytes)
            lane.put("<%dq" % len(shape), tensor + 24, *shape)
        lane.put("<I", at + 4, 0)
        lane.submit(slot, _INFER)
        while True:
            state = lane.wait(slot, timeout)
            code, count = lane.get("<II", at + 128)
            if code != 0:
                size = lane.get("<I", at + 160)[0]
                raise LaneError(code, bytes(lane.get("<%ds" % size, at + 448)[0]).decode())
            if count or state == _MORE:
                yield [self._output(at, len(inputs) + i, array) for i, array in enumerate(outputs)]
            if state == _DONE:
                return
            lane.submit(slot, _CONTINUE)

    def _output(self, at, index, room):
        tensor = at + _SLOT_TENSORS + index * _TENSOR_BYTES
        rank = self._lane.get("<i", tensor + 4)[0]
        if rank < 0:
            return None
        shape = self._lane.get("<%dq" % rank, tensor + 24)
        written, datatype = self._lane.get("<QI", tensor + 88)
        content = room.reshape(-1).view("u1")[:written]
        return content if _TYPES[datatype] == "BYTES" else content.view(_NUMPY[_TYPES[datatype]]).reshape(shape)


def _fence():
    """Keeps apart, for other processors too, what was read and written before and what comes after: nothing moves down
    past the end of the first turn of the lock, nor up past the beginning of the second."""
    with _TURN:
        pass
    with _TURN:
        pass


_TURN = threading.Lock()
