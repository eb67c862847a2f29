# SPDX-License-Identifier: Apache-2.0
"""Responses, the sender of a request's responses, and the responses of another model."""

import json
import queue
import threading

from . import calls, frames
from .errors import TritonError, TritonModelException
from .tensors import Tensor, write_tensors

FINAL = 1

_NO_ERROR = b"\0"
_NO_ERROR_NO_PARAMETERS = _NO_ERROR + frames.EMPTY_LIST

_new_response = object.__new__

# A response with nothing but an error.
_LOST = (
    bytes((1, 1, TritonError.INTERNAL))
    + frames.text("the model dropped the request without a response")
    + 2 * frames.EMPTY_LIST
)


def checked_parameters(values):
    """Parameters that a model gives: a dict of str to bool, int or str, or None for none."""
    if values is None:
        return None
    if not isinstance(values, dict):
        raise TritonModelException(f"Expect dict, got {type(values)}")
    for key, value in values.items():
        if not isinstance(key, str):
            raise TritonModelException(f"Expect parameters keys to have type str, found type {type(key)}")
        if not isinstance(value, (bool, int, str)):
            raise TritonModelException(f"Expect parameters values to have type bool/int/str, found type {type(value)}")
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise TritonModelException(f"Expect parameters values to fit 64 bits, found {value} for '{key}'")
    return dict(values)


class InferenceResponse:
    """A response: output tensors or an error, and parameters."""

    __slots__ = ("_tensors", "_error", "_parameters")

    def __init__(self, output_tensors=(), error=None, parameters=None):
        if type(output_tensors) is not list:
            output_tensors = _list_of(output_tensors)
        for tensor in output_tensors:
            if not isinstance(tensor, Tensor):
                if tensor is None:
                    raise TritonModelException("Output tensor for inference response should not be empty.")
                raise TypeError(f"output_tensors must be a list of Tensor, not of {type(tensor).__name__}")
        if error is not None and not isinstance(error, TritonError):
            raise TypeError(f"error must be a TritonError, not {type(error).__name__}")
        self._tensors = list(output_tensors)
        self._error = error
        self._parameters = None if parameters is None else checked_parameters(parameters)

    def output_tensors(self):
        return self._tensors

    def has_error(self):
        return self._error is not None

    def error(self):
        return self._error

    def parameters(self):
        """The parameters as the text of a JSON object."""
        return json.dumps(self._parameters or {})


def _list_of(values):
    if isinstance(values, (str, bytes)) or not hasattr(values, "__getitem__"):
        raise TypeError(f"output_tensors must be a list of Tensor, not {type(values).__name__}")
    return list(values)


def response_of(result):
    """The response that a result of a call brings; without anything in it when the result only ends the call."""
    response = _new_response(InferenceResponse)
    response._tensors = []
    response._error = None
    response._parameters = None
    if result.outcome == calls.RESPONSE_RESULT:
        response._parameters, response._tensors = result.content
    elif result.outcome == calls.ERROR_RESULT:
        response._error = result.content
    return response


def keep_requested(response, requested):
    """Takes the outputs out of a response that its request did not ask for; all are kept where it named none."""
    if requested:
        for tensor in response._tensors:
            if tensor._name not in requested:
                response._tensors = [kept for kept in response._tensors if kept._name in requested]
                return


def write_response(response, memory, parts, offsets):
    """Appends a response's body to parts, and the blocks that its tensors are copied to to offsets."""
    error = response._error
    if error is not None:
        parts.append(bytes((1, error._code)) + frames.words(error._message))
        parts.append(frames.parameters(response._parameters))
        parts.append(frames.EMPTY_LIST)
        return
    if response._parameters:
        parts.append(_NO_ERROR)
        parts.append(frames.parameters(response._parameters))
    else:
        parts.append(_NO_ERROR_NO_PARAMETERS)
    write_tensors(response._tensors, memory, parts, offsets)


class InferenceResponseSender:
    """
    Sends the responses of one request, from any thread, also after execute returned.

    The request ends with the flag TRITONSERVER_RESPONSE_COMPLETE_FINAL; a model that is not decoupled sends one
    response.
    """

    __slots__ = ("_worker", "_request", "_requested", "_lock", "_closed", "_sent", "_cancelled", "__weakref__")

    def __init__(self, worker, request, requested):
        self._worker = worker
        self._request = request
        self._requested = requested
        self._lock = threading.Lock()
        self._closed = False
        self._sent = 0
        self._cancelled = False

    def send(self, response=None, flags=0):
        """Sends a response, or only the end of the request."""
        if response is not None and not isinstance(response, InferenceResponse):
            raise TypeError(f"response must be an InferenceResponse, not {type(response).__name__}")
        if flags not in (0, FINAL):
            raise TritonModelException("Unable to send response. Unsupported flag provided.")
        if flags == 0 and response is None:
            raise TritonModelException(
                "Inference Response object must be provided when the response flags is set to zero."
            )
        if self._worker is not None:
            self._worker.connection.check_process()
        self._count(response, flags)
        parts = [frames.U64.pack(self._request), frames.U32.pack(flags), b"\0" if response is None else b"\1"]
        memory = self._worker.response_memory
        offsets = []
        try:
            if response is not None:
                keep_requested(response, self._requested)
                write_response(response, memory, parts, offsets)
        except BaseException:
            memory.release(offsets)
            self._uncount(flags)
            raise
        self._worker.connection.send(frames.frame(frames.SEND, b"".join(parts)))

    def is_cancelled(self):
        """Whether the client wants the responses no more. Once true it stays so, without asking the server."""
        if not self._cancelled and self._worker is not None:
            asked = calls.server().ask(calls.CANCELLED, frames.U64.pack(self._request))
            self._cancelled = bool(asked)
        return self._cancelled

    def _count(self, response, flags):
        if self._worker is None:
            raise TritonModelException(
                "Unable to send response. Response sender has no reference to the decoupled state of the model."
            )
        with self._lock:
            if not self._worker.decoupled:
                if response is not None and self._sent > 0:
                    raise TritonModelException(
                        "Unable to send response. Non-decoupled model cannot send more than one response."
                    )
                if response is None and flags == FINAL and self._sent == 0:
                    raise TritonModelException(
                        "Unable to send response. Non-decoupled model cannot send complete final before sending a "
                        "response."
                    )
            if self._closed:
                raise TritonModelException("Unable to send response. Response sender has been closed.")
            if flags == FINAL:
                self._closed = True
            self._sent += 1

    def _uncount(self, flags):
        """Takes a response back that was not sent, so that the model can send another."""
        with self._lock:
            self._sent -= 1
            if flags == FINAL:
                self._closed = False

    def _close(self):
        with self._lock:
            self._closed = True

    def __del__(self):
        # Nobody can end the request any more, and its client would wait for ever. This may run inside the garbage
        # collector, so the frame is left to another thread.
        if self._worker is None or self._closed:
            return
        lost = self._sent == 0 and not self._worker.decoupled
        body = frames.U64.pack(self._request) + frames.U32.pack(FINAL)
        self._worker.connection.send_later(frames.frame(frames.SEND, body + (_LOST if lost else b"\0")))


class ResponseIterator:
    """
    The responses of a call to a decoupled model, as they arrive.

    Iterating once more after the end goes over the same responses again.
    """

    def __init__(self, number, results):
        self._number = number
        self._results = results
        self._lock = threading.Lock()
        self._responses = []
        self._next = 0
        self._finished = False
        self._cancelled = False

    @classmethod
    def of(cls, result):
        """The iterator over one result that is there already, and the last."""
        results = queue.SimpleQueue()
        results.put(result)
        return cls(0, results)

    def await_first(self):
        """Waits for the first response, which the first step of the iteration then gives."""
        with self._lock:
            self._fetch()

    def _fetch(self):
        result = self._results.get()
        self._finished = result.last
        self._responses.append(response_of(result))

    def __iter__(self):
        with self._lock:
            if self._finished and self._next >= len(self._responses):
                self._next = 0
        return self

    def __next__(self):
        with self._lock:
            if self._next >= len(self._responses):
                if self._finished:
                    raise StopIteration("Iteration is done for the responses.")
                self._fetch()
            response = self._responses[self._next]
            self._next += 1
            return response

    def __del__(self):
        if not self._finished:
            calls.server().forget(self._number)

    def cancel(self):
        """Tells the server that the responses still to come are not wanted."""
        if not self._finished and not self._cancelled:
            self._cancelled = True
            calls.server().tell(calls.CANCEL, frames.U64.pack(self._number))
