# SPDX-License-Identifier: Apache-2.0
"""Calls to the server: numbered, and answered by results that may arrive on another thread."""

import itertools
import queue

from . import frames
from .errors import TritonModelException, error_of, text_of

INFER, CANCEL, CANCELLED, LOAD, UNLOAD, READY = 1, 2, 3, 4, 5, 6
FAMILY, METRIC, CHANGE, VALUE, DROP_METRIC, DROP_FAMILY = 7, 8, 9, 10, 11, 12

NOTHING, VALUE_RESULT, RESPONSE_RESULT, ERROR_RESULT = 0, 1, 2, 3


class Result:
    """One result: its outcome, whether it is the call's last, and a value, a (parameters, tensors) or a TritonError."""

    __slots__ = ("outcome", "last", "content")

    def __init__(self, outcome, last, content):
        self.outcome = outcome
        self.last = last
        self.content = content


class Calls:
    """The calls that wait for results."""

    def __init__(self, connection, tensor_reader, response_memory):
        self.connection = connection
        self.response_memory = response_memory
        # Other models may be called while the model runs requests, not while it starts or ends.
        self.executing = False
        self._tensors = tensor_reader
        self._numbers = itertools.count(1)
        self._waiting = {}
        connection.handle(frames.RESULT, self._dispatch)

    def begin(self, method, body):
        """Sends a call; its number and the queue that its results come to."""
        self.connection.check_process()
        number = next(self._numbers)
        results = queue.SimpleQueue()
        self._waiting[number] = results
        self.connection.receive()
        self.connection.send(_call(number, method, body))
        return number, results

    def forget(self, number):
        """Lets go of the results that a call still brings. May be called by finalizers."""
        self._waiting.pop(number, None)

    def ask(self, method, body):
        """Sends a call that has one result and waits for it: a value or None. An error is raised."""
        result = self.begin(method, body)[1].get()
        if result.outcome == ERROR_RESULT:
            raise TritonModelException(result.content.message())
        return result.content

    def tell(self, method, body):
        """Sends a call whose results nobody waits for."""
        self.connection.send(_call(next(self._numbers), method, body))

    def tell_later(self, method, body):
        """Leaves a call whose results nobody waits for to the next sender. For finalizers."""
        self.connection.send_later(_call(next(self._numbers), method, body))

    def _dispatch(self, frame):
        cursor = frames.Cursor(frame, 1)
        number = cursor.u64()
        last = cursor.u8() != 0
        outcome = cursor.u8()
        content = None
        if outcome == VALUE_RESULT:
            content = cursor.f64()
        elif outcome == RESPONSE_RESULT:
            parameters = cursor.parameters()
            tensors = []
            self._tensors.read(frame, cursor.position, tensors)
            content = (parameters, tensors)
        elif outcome == ERROR_RESULT:
            content = error_of(cursor.u8(), cursor.text())
        results = self._waiting.pop(number, None) if last else self._waiting.get(number)
        if results is not None:
            results.put(Result(outcome, last, content))


def _call(number, method, body):
    return frames.frame(frames.CALL, frames.U64.pack(number) + bytes((method,)) + body)


_calls = None


def use(calls):
    """Sets the calls of this process."""
    global _calls
    _calls = calls


def server():
    """The calls of this process."""
    if _calls is None:
        raise TritonModelException("this works in a model that a server runs only")
    return _calls


def connection():
    """The connection of this process; None while it serves no model."""
    return None if _calls is None else _calls.connection


def load_model(model_name, config="", files=None):
    """Loads or reloads a model of the server, with another configuration and other files where they are given."""
    name = text_of(model_name, "model_name")
    config = text_of(config, "config")
    parts = []
    if files is not None:
        if not isinstance(files, dict):
            raise TritonModelException(
                f"failed to load model '{name}', files should be a dictionary of file paths and file contents"
            )
        for path, content in files.items():
            if not isinstance(content, (bytes, bytearray)):
                raise TypeError(f"the content of {path!r} must be bytes, not {type(content).__name__}")
            parts.append(frames.text(text_of(path, "the path of a file")) + frames.blob(bytes(content)))
    body = frames.text(name) + frames.text(config) + frames.U32.pack(len(parts)) + b"".join(parts)
    _ask("Failed to load model: ", LOAD, body)


def unload_model(model_name, unload_dependents=False):
    """Unloads a model of the server, with the models that it alone uses where that is wanted."""
    body = frames.text(text_of(model_name, "model_name")) + bytes((bool(unload_dependents),))
    _ask("Failed to unload model: ", UNLOAD, body)


def is_model_ready(model_name, model_version=""):
    """Whether a model of the server, in one version or in any, can run requests now."""
    body = frames.text(text_of(model_name, "model_name")) + frames.text(text_of(model_version, "model_version"))
    return bool(_ask("Failed to check model readiness: ", READY, body))


def _ask(failure, method, body):
    try:
        return server().ask(method, body)
    except TritonModelException as error:
        raise TritonModelException(failure + str(error)) from None
