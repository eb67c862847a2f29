# SPDX-License-Identifier: Apache-2.0
"""The life of a worker: it starts a model, runs it, and ends with it."""

import atexit
import gc
import json
import os
import signal
import sys
import threading

from . import calls, configuration, frames
from .connection import Connection
from .errors import Fault
from .execution import Execution
from .loading import import_model, message_of, traceback_of
from .memory import RequestMemory, ResponseMemory
from .requests import RequestReader
from .tensors import TensorReader

_SERVE, _COMPLETE = 0, 1
_FAILED, _SERVING, _COMPLETED = 0, 1, 2

# Linux takes numbers of cores up to this.
_MOST_CORES = 8192


class Start:
    """What the server says of the model in its first frame."""

    def __init__(self, frame):
        cursor = frames.Cursor(frame, 1)
        self.purpose = cursor.u8()
        self.model_name = cursor.text()
        self.model_version = cursor.text()
        self.repository = cursor.text()
        self.model_file = cursor.text()
        self.instance_name = cursor.text()
        self.instance_kind = cursor.text()
        self.device_id = cursor.text()
        self.configuration = cursor.text()
        self.request_memory = (cursor.text(), cursor.u64())
        self.response_memory = (cursor.text(), cursor.u64())


class Worker:
    """Serves one instance of a model."""

    def __init__(self, connection, start):
        self.connection = connection
        self.model_name = start.model_name
        self.model_version = int(start.model_version) if start.model_version.lstrip("-").isdigit() else -1
        self.model_file = start.model_file
        self.instance_name = start.instance_name
        self.decoupled = configuration.using_decoupled_model_transaction_policy(json.loads(start.configuration))
        self.request_memory = RequestMemory(*start.request_memory)
        self.response_memory = ResponseMemory(*start.response_memory, connection.receive)
        connection.attach(self.request_memory)
        connection.handle(frames.RELEASE, self._release)
        tensors = TensorReader(self.request_memory)
        self._requests = RequestReader(self, tensors)
        self.calls = calls.Calls(connection, tensors, self.response_memory)
        calls.use(self.calls)
        self._start = start
        self._model = None
        self._cores = set()

    def _release(self, frame):
        self.response_memory.release(frames.read_offsets(frame, 1))

    def initialize(self):
        """Makes the model's object and calls its initialize."""
        start = self._start
        self._model = model_class(start)()
        if hasattr(self._model, "initialize"):
            self._model.initialize(
                {
                    "model_config": start.configuration,
                    "model_instance_kind": start.instance_kind,
                    "model_instance_name": start.instance_name,
                    "model_instance_device_id": start.device_id,
                    "model_repository": start.repository,
                    "model_version": start.model_version,
                    "model_name": start.model_name,
                }
            )
        self._cores = os.sched_getaffinity(0)

    def serve(self):
        """Runs requests until the server wants the model to finish."""
        connection = self.connection
        execution = Execution(self, self._model)
        self.calls.executing = True
        next_event = connection.next_event
        read = self._requests.read
        held = self.request_memory.held
        early = False
        while True:
            frame = next_event()
            kind = frame[0]
            if kind == frames.EXECUTE_BOUND:
                # Threads that the model starts would inherit the core.
                self._unbind()
            elif kind != frames.EXECUTE:
                break
            number, requests = read(frame)
            answer = execution.run(number, requests)
            # Inputs that the model did not keep go back in front of the answer.
            requests = None
            connection.send(answer)
            if not early and held():
                early = True
                connection.flush_early()
        self.calls.executing = False
        execution.stop()

    def _unbind(self):
        """Lets the main thread run where it could at the start, after the server had it wake up on its own core."""
        try:
            os.sched_setaffinity(0, self._cores)
        except OSError:
            # Those cores were taken from the process meanwhile; the kernel leaves out what it may not have.
            os.sched_setaffinity(0, range(_MOST_CORES))

    def finish(self):
        """Calls the model's finalize and tells the server that it is done."""
        message = ""
        try:
            if hasattr(self._model, "finalize"):
                self._model.finalize()
        except BaseException as error:
            message = message_of(error)
            sys.stderr.write(traceback_of(error))
        self._model = None
        gc.collect()
        self.connection.send(frames.frame(frames.FINISHED, frames.words(message)))


def model_class(start):
    """The class of the model that a START frame describes."""
    module = import_model(start)
    model = getattr(module, "TritonPythonModel", None)
    if model is None:
        raise Fault(f"'{start.model_file}' has no class TritonPythonModel")
    return model


def complete(start):
    """The configuration as the model's auto_complete_config completes it."""
    given = configuration.ModelConfig(start.configuration)
    model = model_class(start)
    if hasattr(model, "auto_complete_config"):
        given = model.auto_complete_config(given)
    if not isinstance(given, configuration.ModelConfig):
        raise Fault(
            f"auto_complete_config function in model '{start.instance_name}' must return a valid pb.ModelConfig object."
        )
    return json.dumps(given._model_config)


_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_unforked_mask = threading.local()


def _ignore_signals():
    # The server decides when its workers end; signals to the whole group of processes must not take them from it
    # while it drains. A handler, unlike SIG_IGN, is not passed on to programs that the model starts.
    for number in _ENDING_SIGNALS:
        signal.signal(number, lambda *_: None)
    os.register_at_fork(before=_hold_signals, after_in_parent=_let_signals, after_in_child=_restore_signals)


def _hold_signals():
    # A signal that reached a forked child before it restored its handlers would be lost, and a pool that ends its
    # processes would wait for that one for ever.
    _unforked_mask.signals = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING_SIGNALS)


def _let_signals():
    signal.pthread_sigmask(signal.SIG_SETMASK, _unforked_mask.signals)


def _restore_signals():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _let_signals()


def _started(outcome, *contents):
    return frames.frame(frames.STARTED, bytes((outcome,)) + b"".join(contents))


def main(input_descriptor, output_descriptor):
    """Serves the server at the other ends of two pipes; does not return."""
    connection = Connection(input_descriptor, output_descriptor)
    _ignore_signals()
    start = Start(connection.next_event())
    connection.watch_server()
    worker = None
    try:
        if start.purpose == _COMPLETE:
            connection.send(_started(_COMPLETED, frames.text(complete(start))))
            _exit(0)
        worker = Worker(connection, start)
        worker.initialize()
    except BaseException as error:
        connection.send(_started(_FAILED, frames.words(message_of(error)), frames.words(traceback_of(error))))
        _exit(0)
    connection.send(_started(_SERVING, b"\0"))
    worker.serve()
    worker.finish()
    _exit(0)


def _exit(status):
    # What the model registered with atexit runs, but threads that it left running do not keep the process.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    os._exit(status)
