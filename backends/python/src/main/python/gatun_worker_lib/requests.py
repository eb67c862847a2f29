# SPDX-License-Identifier: Apache-2.0
"""Requests: those that the server sends, and those that a model makes for other models."""

import asyncio
import json

from . import calls, frames
from .errors import TritonModelException, integer_of, text_of
from .memory_preference import PreferredMemory
from .responses import InferenceResponseSender, ResponseIterator, checked_parameters, response_of
from .tensors import Tensor, write_tensors

RELEASE_ALL = 1
RELEASE_RESCHEDULE = 2

_new_request = object.__new__


class InferenceTrace:
    """The trace that a request belongs to, if it belongs to one."""

    __slots__ = ("_context", "_request")

    def __init__(self, context="", request=0):
        self._context = context
        # One more than the number of the request whose trace it is; 0 for none.
        self._request = request

    def get_context(self):
        """The span of the request's run, as a JSON text of headers; None where the server makes no spans."""
        return self._context or None


class InferenceRequest:
    """A request of the server to this model, or one that this model makes and runs on another model."""

    __slots__ = (
        "_worker",
        "_number",
        "_id",
        "_correlation",
        "_inputs",
        "_requested",
        "_model_name",
        "_model_version",
        "_flags",
        "_timeout",
        "_priority",
        "_trace_context",
        "_traced_request",
        "_parameters",
        "_release_flags",
        "_sender",
        "__weakref__",
    )

    def __init__(
        self,
        request_id="",
        correlation_id=0,
        inputs=...,
        requested_output_names=...,
        model_name=...,
        model_version=-1,
        flags=0,
        timeout=0,
        preferred_memory=None,
        trace=None,
        parameters=None,
    ):
        for value, what in (
            (inputs, "inputs"),
            (requested_output_names, "requested_output_names"),
            (model_name, "model_name"),
        ):
            if value is ...:
                raise TypeError(f"an InferenceRequest needs {what}")
        self._worker = None
        self._number = 0
        self._id = text_of(request_id, "request_id")
        self._model_name = text_of(model_name, "model_name")
        self._model_version = integer_of(model_version, "model_version", -(2**63), 2**63 - 1)
        self._flags = integer_of(flags, "flags", 0, 2**32 - 1)
        self._timeout = integer_of(timeout, "timeout", 0, 2**64 - 1)
        self._priority = 0
        self._correlation = _correlation_of(correlation_id)
        self._inputs = self._checked_inputs(_listed(inputs, "inputs"))
        self._requested = self._checked_names(_listed(requested_output_names, "requested_output_names"))
        if preferred_memory is not None and not isinstance(preferred_memory, PreferredMemory):
            raise TypeError(f"preferred_memory must be a PreferredMemory, not {type(preferred_memory).__name__}")
        if trace is not None and not isinstance(trace, InferenceTrace):
            raise TypeError(f"trace must be an InferenceTrace, not {type(trace).__name__}")
        self._trace_context = "" if trace is None else trace._context
        self._traced_request = 0 if trace is None else trace._request
        self._parameters = checked_parameters(parameters)
        self._release_flags = RELEASE_ALL
        self._sender = None

    def _checked_inputs(self, inputs):
        for tensor in inputs:
            if tensor is None:
                raise TritonModelException(
                    f"Input tensor for request with id '{self._id}' and model name '{self._model_name}' should not be "
                    "empty."
                )
            if not isinstance(tensor, Tensor):
                raise TypeError(f"inputs must be a list of Tensor, not of {type(tensor).__name__}")
        return inputs

    def _checked_names(self, names):
        names = [text_of(name, "an item of requested_output_names") for name in names]
        if "" in names:
            raise TritonModelException(
                f"Requested output name for request with id '{self._id}' and model name '{self._model_name}' should "
                "not be empty."
            )
        return frozenset(names)

    def inputs(self):
        return self._inputs

    def request_id(self):
        return self._id

    def correlation_id(self):
        return self._correlation

    def flags(self):
        return self._flags

    def set_flags(self, flags):
        self._flags = integer_of(flags, "flags", 0, 2**32 - 1)

    def timeout(self):
        """The request's timeout in microseconds; 0 where it has none."""
        return self._timeout

    def parameters(self):
        """The parameters as the text of a JSON object."""
        return json.dumps(self._parameters or {})

    def trace(self):
        return InferenceTrace(self._trace_context, self._traced_request if self._worker is None else self._number + 1)

    def requested_output_names(self):
        return set(self._requested)

    def set_release_flags(self, flags):
        """Whether the server runs this request once more after execute (TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)."""
        self._release_flags = integer_of(flags, "flags", 0, 2**32 - 1)

    def get_response_sender(self):
        if self._sender is None:
            self._sender = InferenceResponseSender(self._worker, self._number, self._requested)
        return self._sender

    def is_cancelled(self):
        return self.get_response_sender().is_cancelled()

    def exec(self, decoupled=False):
        """
        Runs the request on its model and waits.

        The result is the response; for a decoupled model it is an iterator over the responses. What goes wrong is in
        the response, also when the request could not be sent.
        """
        server = calls.server()
        if not server.executing:
            raise TritonModelException("BLS is only supported during the 'execute' function.")
        try:
            number, results = self._begin(server, bool(decoupled))
        except TritonModelException as error:
            return _failed(error, decoupled)
        if decoupled:
            responses = ResponseIterator(number, results)
            responses.await_first()
            return responses
        return response_of(results.get())

    def async_exec(self, decoupled=False):
        """Runs the request as `exec` does, on a thread of the running loop's executor; the future of its result."""
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(None, self.exec, decoupled)

    def _begin(self, server, decoupled):
        server.connection.check_process()
        correlation = self._correlation
        if isinstance(correlation, str):
            correlation = b"\2" + frames.text(correlation)
        else:
            correlation = b"\1" + frames.U64.pack(correlation) if correlation else b"\0"
        parts = [
            frames.text(self._model_name),
            frames.I64.pack(self._model_version),
            frames.text(self._id),
            correlation,
            frames.U32.pack(self._flags),
            frames.TWO_U64.pack(self._timeout, self._priority),
            bytes((decoupled,)),
            frames.U64.pack(self._traced_request),
            frames.parameters(self._parameters),
            frames.texts(sorted(self._requested)),
        ]
        memory = server.response_memory
        offsets = []
        try:
            write_tensors(self._inputs, memory, parts, offsets)
            return server.begin(calls.INFER, b"".join(parts))
        except BaseException:
            memory.release(offsets)
            raise


def _failed(error, decoupled):
    result = calls.Result(calls.ERROR_RESULT, True, calls.error_of(1, str(error)))
    if not decoupled:
        return response_of(result)
    return ResponseIterator.of(result)


def _correlation_of(value):
    if value is None:
        raise TypeError("correlation_id must be an int or a str, not None")
    if isinstance(value, str):
        return value
    try:
        return integer_of(value, "correlation_id", 0, 2**64 - 1)
    except TypeError:
        if hasattr(value, "__index__"):
            raise
        raise TritonModelException("Correlation ID must be integer or string") from None


def _listed(values, what):
    if values is None or isinstance(values, (str, bytes)):
        raise TypeError(f"{what} must be a list, not {type(values).__name__}")
    return list(values)


class RequestReader:
    """
    Makes requests from EXECUTE frames.

    What lies between a request's id and its tensors is mostly the same from request to request: the last one's bytes
    are kept and compared before anything is decoded.
    """

    def __init__(self, worker, tensor_reader):
        self._worker = worker
        self._tensors = tensor_reader
        self._last = (b"\xff", None)

    def read(self, data):
        """The run's number and its requests."""
        (run,) = frames.U64.unpack_from(data, 1)
        (count,) = frames.U32.unpack_from(data, 9)
        position = 13
        requests = []
        worker = self._worker
        for _ in range(count):
            request = _new_request(InferenceRequest)
            request._worker = worker
            (request._number,) = frames.U64.unpack_from(data, position)
            (length,) = frames.U32.unpack_from(data, position + 8)
            start = position + 12
            position = start + length
            request._id = data[start:position].decode("utf-8", "replace") if length else ""
            middle, values = self._last
            if not data.startswith(middle, position):
                middle, values = self._last = _read_middle(data, position)
            position += len(middle)
            (
                request._correlation,
                request._flags,
                request._timeout,
                request._priority,
                request._trace_context,
                request._parameters,
                request._requested,
            ) = values
            request._model_name = worker.model_name
            request._model_version = worker.model_version
            request._release_flags = RELEASE_ALL
            request._sender = None
            request._inputs = inputs = []
            position = self._tensors.read(data, position, inputs)
            requests.append(request)
        return run, requests


def _read_middle(data, start):
    cursor = frames.Cursor(data, start)
    kind = cursor.u8()
    correlation = cursor.u64() if kind == 1 else cursor.text() if kind == 2 else 0
    values = (
        correlation,
        cursor.u32(),
        cursor.u64(),
        cursor.u64(),
        cursor.text(),
        cursor.parameters(),
        frozenset(cursor.texts()),
    )
    return data[start : cursor.position], values
