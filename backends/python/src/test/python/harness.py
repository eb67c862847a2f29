# SPDX-License-Identifier: Apache-2.0
"""
Plays the server for a worker process, over pipes and memfds.

The bytes of frames are made and read here from their description, without the worker's own code.
"""

import json
import os
import pathlib
import queue
import shutil
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest

import numpy as np
from wire import BF16, BYTES, NUMPY, Memory, Reader, encoded, listed, parameter, text, u8, u32, u64

WORKER = pathlib.Path(__file__).resolve().parents[2] / "main" / "python" / "gatun_worker.py"
PYTHON = os.environ.get("GATUN_TEST_PYTHON", sys.executable)
SECONDS = 30


class Died(Exception):
    pass


class Server:
    """One worker process with the memory that it shares."""

    def __init__(self, repository, start, request_bytes=1 << 24, response_bytes=1 << 24, python=None, environment=None):
        self.requests = Memory("requests", request_bytes)
        self.responses = Memory("responses", response_bytes)
        self.freed = []
        self.logs = []
        self.given = {}
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.answer = None
        self.automatic_release = True
        self.events = queue.SimpleQueue()
        self.run_number = 0
        self.request_number = 100
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [python or PYTHON, "-u", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.output,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})},
        )
        self.to = self.process.stdin
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()
        self._start(repository, start)

    def _start(self, repository, start):
        purpose = start.get("purpose", 0)
        memories = []
        for memory in (self.requests, self.responses):
            memories.append(text("" if purpose else memory.path) + u64(0 if purpose else memory.size))
        version = start.get("version", "1")
        self.send(
            1,
            u8(purpose)
            + text(start["name"])
            + text(version)
            + text(str(repository))
            + text(start.get("file", f"{repository}/{version}/model.py"))
            + text(start.get("instance", start["name"] + "_0_0"))
            + text("CPU")
            + text("0")
            + text(json.dumps(start["configuration"]))
            + memories[0]
            + memories[1],
        )

    def send(self, kind, body):
        with self.lock:
            self.to.write(u32(len(body) + 1) + u8(kind) + body)
            self.to.flush()

    def _read(self):
        pipe = self.process.stdout
        while True:
            head = pipe.read(4)
            if len(head) < 4:
                self.events.put(None)
                with self.changed:
                    self.changed.notify_all()
                return
            frame = pipe.read(struct.unpack("<I", head)[0])
            try:
                self._dispatch(frame[0], Reader(frame[1:]))
            except BrokenPipeError:
                pass  # a process that ends waits for no answer, and what it said after is still to be read

    def _dispatch(self, kind, body):
        if kind == 6:
            offsets = body.list(lambda: body.take("Q"))
            body.end()
            with self.changed:
                for offset in offsets:
                    # A block given back twice is a KeyError here, which ends the reader and so the test.
                    del self.requests.used[offset]
                self.freed.extend(offsets)
                self.changed.notify_all()
        elif kind == 5:
            record = (body.take("B"), body.text(), body.text(), body.take("I"))
            body.end()
            with self.changed:
                self.logs.append(record)
                self.changed.notify_all()
        elif kind == 4:
            self._call(body)
        else:
            self.events.put((kind, body))

    def _call(self, body):
        number, method = body.take("Q"), body.take("B")
        call = {"call": number, "method": method}
        if method == 1:
            call.update(model=body.text(), version=body.take("q"), id=body.text(), correlation=self._correlation(body))
            call.update(flags=body.take("I"), timeout=body.take("Q"), priority=body.take("Q"))
            call.update(decoupled=body.take("?"), trace=body.take("Q"), parameters=body.parameters())
            call.update(outputs=body.list(body.text), tensors=self.taken(body.list(body.tensor)))
        elif method in (2, 3, 10, 11, 12):
            call.update(number=body.take("Q"))
        elif method == 4:
            call.update(model=body.text(), configuration=body.text())
            call.update(files=dict(body.list(lambda: (body.text(), body.blob()))))
        elif method == 5:
            call.update(model=body.text(), dependents=body.take("?"))
        elif method == 6:
            call.update(model=body.text(), version=body.text())
        elif method == 7:
            call.update(name=body.text(), description=body.text(), kind=body.take("B"))
        elif method == 8:
            call.update(family=body.take("Q"), labels=dict(body.list(lambda: (body.text(), body.text()))))
            call.update(buckets=body.list(lambda: body.take("d")))
        elif method == 9:
            call.update(metric=body.take("Q"), operation=body.take("B"), value=body.take("d"))
        body.end()
        if self.answer is None:
            self.events.put((4, call))
        else:
            self.answer(self, call)

    @staticmethod
    def _correlation(body):
        kind = body.take("B")
        return None if kind == 0 else body.take("Q") if kind == 1 else body.text()

    # Tensors.

    def tensor(self, name, value):
        """The bytes of a tensor in request memory: of an array, of a list of bytes, or of an array and a datatype."""
        datatype = None
        if isinstance(value, tuple):
            value, datatype = value
        if isinstance(value, list):
            number, shape, data = BYTES, (len(value),), encoded(value)
        elif value.dtype == object:
            number, shape, data = BYTES, value.shape, encoded(value.ravel().tolist())
        else:
            number = datatype or NUMPY.index(value.dtype.str[1:].replace("b1", "?")) + 1
            shape, data = value.shape, value.tobytes()
        with self.lock:
            offset = self.requests.allocate(data)
        dims = b"".join(struct.pack("<q", size) for size in shape)
        return text(name) + u8(number) + u32(len(shape)) + dims + u64(offset) + u64(len(data))

    def taken(self, tensors):
        """Tensors that the worker named: their arrays, with their blocks released."""
        values = {}
        offsets = []
        for tensor in tensors:
            data = self.responses.map[tensor["offset"] : tensor["offset"] + tensor["size"]]
            offsets.append(tensor["offset"])
            if tensor["datatype"] == BYTES:
                reader, elements = Reader(data), []
                while reader.at < len(data):
                    elements.append(reader.blob())
                value = np.empty(len(elements), object)
                value[:] = elements
                value = value.reshape(tensor["shape"])
            elif tensor["datatype"] == BF16:
                value = np.frombuffer(data, "u2").reshape(tensor["shape"])
            else:
                value = np.frombuffer(data, NUMPY[tensor["datatype"] - 1]).reshape(tensor["shape"])
            values[tensor["name"]] = value
        if offsets and self.automatic_release:
            self.release(offsets)
        self.given.update((tensor["offset"], tensor) for tensor in tensors)
        return values

    def release(self, offsets):
        self.send(3, listed(u64(offset) for offset in offsets))

    # What a server does.

    def execute(self, *requests):
        """Sends a run of requests, each a dict of what an EXECUTE frame says of it; the numbers of the requests."""
        numbers = []
        parts = []
        for request in requests:
            self.request_number += 1
            numbers.append(self.request_number)
            correlation = request.get("correlation")
            if correlation is None:
                correlation = u8(0)
            elif isinstance(correlation, int):
                correlation = u8(1) + u64(correlation)
            else:
                correlation = u8(2) + text(correlation)
            parts.append(
                u64(self.request_number)
                + text(request.get("id", ""))
                + correlation
                + u32(request.get("flags", 0))
                + u64(request.get("timeout", 0))
                + u64(request.get("priority", 0))
                + text(request.get("trace", ""))
                + listed(parameter(*pair) for pair in request.get("parameters", {}).items())
                + listed(text(name) for name in request.get("outputs", ()))
                + listed(self.tensor(name, value) for name, value in request["inputs"].items())
            )
        self.run_number += 1
        self.send(2, u64(self.run_number) + listed(parts))
        return numbers

    def next(self, kind=None):
        event = self.events.get(timeout=SECONDS)
        if event is None:
            self.process.wait(SECONDS)
            raise Died(f"the worker ended with {self.process.returncode}: {self.printed()}")
        if kind is not None:
            assert event[0] == kind, f"frame {event[0]} came, not {kind}"
        return event[1]

    def response(self, body):
        error = (body.take("B"), body.text()) if body.take("?") else None
        parameters = body.parameters()
        return {"error": error, "parameters": parameters, "outputs": self.taken(body.list(body.tensor))}

    def started(self):
        body = self.next(1)
        outcome = body.take("B")
        if outcome == 0:
            answer = {"message": body.text(), "traceback": body.text()}
        elif outcome == 1:
            answer = {"flags": body.take("B")}
        else:
            answer = {"configuration": json.loads(body.text())}
        body.end()
        return answer

    def ran(self):
        """A RAN frame: its responses, with None and "again" among them; or its message and traceback."""
        body = self.next(2)
        assert body.take("Q") == self.run_number
        if body.take("B") == 0:
            answer = {"message": body.text(), "traceback": body.text()}
        else:
            kinds = body.list(lambda: [self.response, lambda _: None, lambda _: "again"][body.take("B")](body))
            answer = {"responses": kinds}
        body.end()
        return answer

    def infer(self, inputs, **request):
        """The response to one request."""
        self.execute({"inputs": inputs, **request})
        ran = self.ran()
        assert "responses" in ran, ran
        return ran["responses"][0]

    def failed(self, *requests):
        """The message of a run that failed."""
        self.execute(*(requests or ({"inputs": {}},)))
        ran = self.ran()
        assert "message" in ran, ran
        return ran["message"]

    def sent(self):
        """A SEND frame."""
        body = self.next(3)
        answer = {"request": body.take("Q"), "flags": body.take("I")}
        answer["response"] = self.response(body) if body.take("?") else None
        body.end()
        return answer

    def call(self):
        return self.next(4)

    def result(self, call, outcome=0, last=True, value=None, parameters=None, tensors=(), error=None):
        body = u64(call["call"]) + u8(last)
        if value is not None:
            body += u8(1) + struct.pack("<d", value)
        elif error is not None:
            body += u8(3) + u8(error[0]) + text(error[1])
        elif outcome == 2:
            body += u8(2) + listed(parameter(*pair) for pair in (parameters or {}).items())
            body += listed(self.tensor(name, array) for name, array in tensors)
        else:
            body += u8(0)
        self.send(4, body)

    def wait(self, condition):
        with self.changed:
            assert self.changed.wait_for(condition, SECONDS), "nothing more came"

    def finish(self):
        self.send(5, b"")
        while True:
            kind, body = self.events.get(timeout=SECONDS) or (None, None)
            if kind is None:
                raise Died(self.printed())
            if kind == 7:
                return body.text()

    def printed(self):
        self.output.seek(0)
        return self.output.read().decode(errors="replace")

    def close(self):
        try:
            self.to.close()
        except BrokenPipeError:
            pass  # it has ended by itself
        try:
            self.process.wait(SECONDS)
        finally:
            self.process.kill()
            self.process.wait()
            self.thread.join(SECONDS)
            self.process.stdout.close()
            self.output.close()
            self.requests.close()
            self.responses.close()


class Repository:
    """A folder with a model in it."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="gatun-python-"))

    def add(self, name, code, files=None, version="1"):
        folder = self.root / name / version
        folder.mkdir(parents=True)
        (folder / "model.py").write_text(textwrap.dedent(code))
        for path, content in (files or {}).items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(textwrap.dedent(content))
        return self.root / name

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)


def tensor_configuration(name, data_type="TYPE_FP32", dims=(-1,)):
    return {"name": name, "data_type": data_type, "dims": list(dims)}


def model_configuration(name, inputs=(), outputs=(), **more):
    return {"name": name, "max_batch_size": 0, "input": list(inputs), "output": list(outputs), **more}


class ModelTest(unittest.TestCase):
    """A test that serves models; what it starts ends with it."""

    def setUp(self):
        self.repository = Repository()
        self.addCleanup(self.repository.remove)

    def start(self, code, name="model", files=None, configuration=None, **options):
        """A worker that has been sent START."""
        start = {key: options.pop(key) for key in ("purpose", "version", "file", "instance") if key in options}
        folder = self.repository.add(name, code, files, start.get("version", "1"))
        start.update(name=name, configuration=configuration or model_configuration(name))
        server = Server(folder, start, **options)
        self.addCleanup(server.close)
        return server

    def serve(self, code, name="model", decoupled=False, **options):
        """A worker that serves a model."""
        if decoupled:
            policy = {"decoupled": True}
            options["configuration"] = model_configuration(name, model_transaction_policy=policy)
        server = self.start(code, name, **options)
        started = server.started()
        self.assertEqual({"flags": 0}, started)
        return server
