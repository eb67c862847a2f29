# SPDX-License-Identifier: Apache-2.0
"""The two pipes between the worker and the server, and who reads them."""

import collections
import os
import queue
import select
import threading
import traceback

from . import frames
from .errors import TritonModelException

_CHUNK = 1 << 16

# Who reads the frames: nobody while the main thread runs the model, then the main thread, or the reader for good.
_NOBODY, _MAIN, _READER = 0, 1, 2


class Connection:
    """
    Sends and receives frames.

    Any thread may send. The main thread takes EXECUTE and FINISH with `next_event` and reads by itself, until some
    thread needs a result while the main thread is in the model: from then on a thread of its own reads.
    """

    def __init__(self, input_descriptor, output_descriptor):
        self._input = input_descriptor
        self._output = output_descriptor
        self._write_lock = threading.RLock()
        self._writing = False
        self._role_lock = threading.Lock()
        self._role = _NOBODY
        self._wants_reader = False
        self._events = queue.SimpleQueue()
        self._buffer = b""
        self._position = 0
        self._handlers = {}
        self._memory = None
        self._nudges = None
        # Frames that finalizers leave for the next sender, because they may not take the lock.
        self._deferred = collections.deque()
        # Whether this is the process that the server started, and not one that the model forked.
        self.alive = True
        os.register_at_fork(after_in_child=self._abandon)

    def handle(self, kind, handler):
        """Sets what is done with frames of a kind: handler(frame) on the thread that reads."""
        self._handlers[kind] = handler

    def attach(self, memory):
        """Makes every frame that is sent take the blocks along that this request memory has free."""
        self._memory = memory

    def watch_server(self):
        """Ends the process when the server is gone, whatever the main thread is doing."""
        threading.Thread(target=self._watch, name="gatun-server-watch", daemon=True).start()

    def _watch(self):
        poll = select.poll()
        # No events asked for: only the end of the last writer wakes this thread, which needs no GIL until then.
        poll.register(self._input, 0)
        while not poll.poll():
            pass
        os._exit(1)

    def _abandon(self):
        """In a forked child: the pipes are the parent's."""
        self.alive = False
        for descriptor in (self._input, self._output):
            try:
                os.close(descriptor)
            except OSError:
                pass
        self._write_lock = threading.RLock()
        self._writing = False
        self._role_lock = threading.Lock()
        self._deferred = collections.deque()
        self._nudges = None
        if self._memory is not None:
            self._memory.abandon()
            self._memory = None

    def check_process(self):
        """Raises in a process that the model forked, which shares neither the pipes nor the blocks of memory."""
        if not self.alive:
            raise TritonModelException(
                "a process that the model forked cannot call the server or send responses: use the model's own process"
            )

    # Sending.

    def send(self, frame):
        """Writes a frame behind what waits to be sent: blocks to give back, and frames of finalizers."""
        if not self.alive:
            return
        with self._write_lock:
            if self._writing:
                # This thread is sending already, and a finalizer of the model's came in between.
                self._deferred.append(frame)
                return
            self._writing = True
            try:
                if self._deferred or (self._memory is not None and self._memory.freed):
                    frame = self._waiting() + frame
                self._write(frame)
            finally:
                self._writing = False

    def flush(self):
        """Writes what waits to be sent."""
        if self._deferred or (self._memory is not None and self._memory.freed):
            self.send(b"")

    def _waiting(self):
        parts = []
        memory = self._memory
        if memory is not None and memory.freed:
            freed = memory.take_freed()
            if freed:
                parts.append(frames.frame(frames.FREE, frames.offsets(freed)))
        deferred = self._deferred
        while deferred:
            parts.append(deferred.popleft())
        return b"".join(parts)

    def _write(self, frame):
        try:
            written = os.write(self._output, frame)
            if written < len(frame):
                rest = memoryview(frame)[written:]
                while rest:
                    rest = rest[os.write(self._output, rest) :]
        except BrokenPipeError:
            os._exit(1)

    def send_later(self, frame):
        """Leaves a frame to the next sender, and wakes a thread that is one. For finalizers."""
        if self.alive:
            self._deferred.append(frame)
            self._nudge()

    def _nudge(self):
        # A SimpleQueue may be put to inside of a finalizer.
        if self._nudges is not None:
            self._nudges.put(None)

    def flush_early(self):
        """From now on what finalizers leave is sent soon, and many blocks go back, without a frame to go with."""
        if self._nudges is None:
            self._nudges = queue.SimpleQueue()
            threading.Thread(target=self._flush_when_nudged, name="gatun-frees", daemon=True).start()
            self._memory.on_many = self._nudge

    def _flush_when_nudged(self):
        while True:
            self._nudges.get()
            self.flush()

    # Receiving.

    def next_event(self):
        """The next frame of a kind that has no handler. For the main thread."""
        with self._role_lock:
            if self._role != _READER:
                self._role = _MAIN
        if self._role == _READER:
            return self._events.get()
        while True:
            frame = self._read()
            handler = self._handlers.get(frame[0])
            if handler is not None:
                handler(frame)
                continue
            with self._role_lock:
                self._role = _NOBODY
                if self._wants_reader:
                    self._start_reader()
            return frame

    def receive(self):
        """Sees to it that frames are read, whatever the main thread does. For a thread that waits for one."""
        if self._role == _READER:
            return
        with self._role_lock:
            self._wants_reader = True
            if self._role == _NOBODY:
                self._start_reader()

    def _start_reader(self):
        self._role = _READER
        threading.Thread(target=self._read_all, name="gatun-reader", daemon=True).start()

    def _read_all(self):
        try:
            while True:
                frame = self._read()
                handler = self._handlers.get(frame[0])
                if handler is not None:
                    handler(frame)
                else:
                    self._events.put(frame)
        except BaseException:
            # Without this thread every call would wait for ever.
            traceback.print_exc()
            os._exit(3)

    def _read(self):
        """The next frame: its kind and its body. Only for the thread whose role it is to read."""
        buffer = self._buffer
        position = self._position
        available = len(buffer) - position
        if available >= 4:
            start = position + 4
            end = start + frames.U32.unpack_from(buffer, position)[0]
            if end <= len(buffer):
                self._position = end
                return buffer[start:end]
        if not available:
            buffer = self._chunk()
            position = 0
        else:
            buffer = buffer[position:]
            position = 0
        if len(buffer) < 4:
            buffer = self._gather(buffer, 4)
        length = frames.U32.unpack_from(buffer)[0]
        if length == 0:
            raise ValueError("a frame of the server has no kind")
        end = 4 + length
        if len(buffer) < end:
            buffer = self._gather(buffer, end)
        self._buffer = buffer
        self._position = end
        return buffer[4:end]

    def _gather(self, buffer, size):
        parts = [buffer]
        have = len(buffer)
        while have < size:
            chunk = self._chunk()
            parts.append(chunk)
            have += len(chunk)
        return b"".join(parts)

    def _chunk(self):
        chunk = os.read(self._input, _CHUNK)
        if not chunk:
            os._exit(1)
        return chunk
