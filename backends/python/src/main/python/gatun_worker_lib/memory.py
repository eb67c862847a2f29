# SPDX-License-Identifier: Apache-2.0
"""The two files of memory that a worker shares with the server."""

import collections
import mmap
import os
import threading
import time
import weakref

import numpy as np

from .bytes_elements import encode_into
from .errors import TritonModelException

_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
_REMOVE = getattr(mmap, "MADV_REMOVE", 9)
_PAGE = mmap.PAGESIZE

_SMALL = 4096
_LINE = 64
_LARGE = 1 << 20
# As much as this many bytes of free large blocks keep their pages; what is freed beyond gives them back.
_WARM_BYTES = 64 << 20
# How long a response waits for the server to give memory back.
_WAIT_SECONDS = 10.0
# Above this, a copy is worth the slower call that lets other threads of Python run meanwhile.
_COPY_WITHOUT_GIL = 1 << 16

# Frees wait for the next frame unless there are as many blocks or bytes of them as this.
_WAITING_BLOCKS = 64
_WAITING_BYTES = 4 << 20


def _map(path, size):
    # A number is that of a descriptor that this process was started with.
    descriptor = int(path) if path.isdigit() else os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        return mmap.mmap(descriptor, size, mmap.MAP_SHARED | _NO_RESERVE, mmap.PROT_READ | mmap.PROT_WRITE)
    finally:
        os.close(descriptor)


class _Watched(weakref.ref):
    """A reference to the array that shows a block; remembers which block that is."""

    __slots__ = ("offset", "size")


class RequestMemory:
    """
    Memory that the server gives and the worker gives back.

    Every array that shows a block is made here. Arrays derived from it, and whatever reads it through the buffer
    protocol or DLPack, keep it alive; when it dies, the block's offset waits in `freed` for the next frame. The array
    may die anywhere, also inside the garbage collector in the middle of a send, so nothing here takes a lock.
    """

    def __init__(self, path, size):
        self.mapping = _map(path, size)
        self.size = size
        self.freed = collections.deque()
        # Called with no arguments when many frees wait; must not block.
        self.on_many = None
        self._freed_bytes = 0
        self._watched = {}
        # Bound once: each block's reference needs it.
        self._callback = self._forget

    def array(self, offset, size, dtype, shape):
        """The writable array at a block of `size` bytes; the block goes back when the array is dead."""
        if size:
            array = np.ndarray(shape, dtype, self.mapping, offset)
        else:
            array = np.empty(shape, dtype)
        watched = _Watched(array, self._callback)
        watched.offset = offset
        watched.size = size
        self._watched[id(watched)] = watched
        return array

    def _forget(self, watched):
        del self._watched[id(watched)]
        freed = self.freed
        freed.append(watched.offset)
        # Not exact when threads race here, which moves only the moment at which frees are sent early.
        self._freed_bytes += watched.size
        if (self._freed_bytes > _WAITING_BYTES or len(freed) > _WAITING_BLOCKS) and self.on_many is not None:
            self.on_many()

    def held(self):
        """Whether some array still shows a block."""
        return bool(self._watched)

    def take_freed(self):
        """The offsets that wait; they are the caller's to send. Only for one thread at a time."""
        self._freed_bytes = 0
        freed = self.freed
        taken = []
        while freed:
            taken.append(freed.popleft())
        return taken

    def abandon(self):
        """In a forked child: blocks are the parent's to give back."""
        self._callback = _ignore
        self._watched = {}
        self.freed = collections.deque()
        self.on_many = None


def _ignore(_):
    pass


class ResponseMemory:
    """Memory that the worker allocates and the server gives back, block by block."""

    def __init__(self, path, size, receive):
        """`receive()` sees to it that frames are read from now on, so that releases can arrive."""
        self.mapping = _map(path, size)
        self.size = size
        self._receive = receive
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._free = collections.defaultdict(list)
        # Free blocks whose pages the system has back.
        self._cold = collections.defaultdict(list)
        self._used = {}
        # Where no block was cut off yet, as starts and ends.
        self._room = [(0, size)]
        self._warm_bytes = 0
        self._waiting = 0

    def allocate(self, size):
        """The offset of a block of at least `size` bytes. Waits for releases, and fails, when there is no room."""
        block = (size + 63 & -64 or 64) if size <= _SMALL else 1 << (size - 1).bit_length()
        with self._lock:
            free = self._free.get(block)
            if free and block < _LARGE:
                # What small models need for every response, without a call.
                offset = free.pop()
                self._used[offset] = block
                return offset
            offset = self._take(block, size)
            if offset is not None:
                return offset
            if size > self.size:
                raise self._full(size)
        return self._await(block, size)

    def _await(self, block, size):
        self._receive()
        deadline = time.monotonic() + _WAIT_SECONDS
        with self._lock:
            self._waiting += 1
            try:
                while True:
                    offset = self._take(block, size)
                    if offset is not None:
                        return offset
                    remaining = deadline - time.monotonic()
                    if remaining <= 0:
                        raise self._full(size)
                    self._changed.wait(remaining)
            finally:
                self._waiting -= 1

    def _full(self, size):
        return TritonModelException(
            f"the model's response memory of {self.size} bytes is full: no room for {size} bytes more within "
            f"{_WAIT_SECONDS:.0f} s; send smaller or fewer responses at a time, or give the model more memory"
        )

    def _take(self, block, size):
        free = self._free.get(block)
        if free:
            offset = free.pop()
            if block >= _LARGE:
                self._warm_bytes -= block
        elif self._cold.get(block):
            offset = self._cold[block].pop()
        else:
            offset = self._extend(block)
            if offset is None:
                self._join()
                offset = self._extend(block)
            if offset is None and size > _SMALL:
                # What is left may do for the bytes themselves.
                block = -(-size // _PAGE) * _PAGE
                offset = self._extend(block)
            if offset is None:
                return None
        self._used[offset] = block
        return offset

    def _extend(self, block):
        """Cuts a new block off the room that no block was cut off yet; None when it is too small."""
        alignment = _PAGE if block > _SMALL else _LINE
        for index, (start, end) in enumerate(self._room):
            offset = -(-start // alignment) * alignment
            if offset + block <= end:
                self._room[index] = (offset + block, end)
                return offset
        return None

    def _join(self):
        """Makes room of all that is not in use, so that free blocks need not keep their sizes."""
        self._free.clear()
        self._cold.clear()
        self._warm_bytes = 0
        self._room = []
        start = 0
        for offset in sorted(self._used):
            if start < offset:
                self._room.append((start, offset))
            start = offset + self._used[offset]
        if start < self.size:
            self._room.append((start, self.size))

    def release(self, offsets):
        """Takes blocks back from the server, or from a response that was not sent."""
        used = self._used
        with self._lock:
            for offset in offsets:
                block = used.pop(offset, 0)
                if 0 < block < _LARGE:
                    self._free[block].append(offset)
                elif block:
                    self._release_large(offset, block)
            if self._waiting:
                self._changed.notify_all()

    def _release_large(self, offset, block):
        if self._warm_bytes + block <= _WARM_BYTES:
            self._warm_bytes += block
            self._free[block].append(offset)
        else:
            self._cool(offset, block)

    def _cool(self, offset, block):
        try:
            self.mapping.madvise(_REMOVE, offset, block)
        except OSError:
            # A file system that cannot punch holes keeps the pages, which costs memory and nothing else.
            pass
        self._cold[block].append(offset)

    def write(self, array):
        """Copies an array of plain numbers into a block of its own; its offset."""
        size = array.nbytes
        offset = self.allocate(size)
        if size == 0:
            return offset
        if size <= _COPY_WITHOUT_GIL:
            try:
                self.mapping[offset : offset + size] = array
                return offset
            except ValueError:
                # The array's elements do not lie one after the other.
                pass
        np.copyto(np.ndarray(array.shape, array.dtype, self.mapping, offset), array)
        return offset

    def write_from_device(self, array):
        """Copies an array on a GPU into a block of its own; its offset."""
        offset = self.allocate(array.nbytes)
        try:
            array.copy_into(self.mapping, offset)
        except BaseException:
            self.release([offset])
            raise
        return offset

    def write_elements(self, elements, size):
        """Writes elements of BYTES, `size` bytes with their lengths, into a block of its own; its offset."""
        offset = self.allocate(size)
        encode_into(self.mapping, offset, elements, size)
        return offset
