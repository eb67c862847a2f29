# SPDX-License-Identifier: Apache-2.0
"""Runs a model's execute, and turns what it returns into a RAN frame."""

import asyncio
import inspect
import threading

from . import frames
from .errors import Fault, TritonModelException
from .loading import message_of, traceback_of
from .log import LogLevel, report
from .requests import RELEASE_RESCHEDULE
from .responses import FINAL, InferenceResponse, keep_requested, write_response

_FAILED, _RESPONSES = 0, 1
_RESPONSE, _NONE, _AGAIN = b"\0", b"\1", b"\2"


async def _outcome(coroutine):
    """What a coroutine returned, and what it raised: sys.exit in it would end the loop of all coroutines."""
    try:
        return await coroutine, None
    except BaseException as error:
        return None, error


class Execution:
    """Runs requests on the model's object."""

    def __init__(self, worker, model):
        self._worker = worker
        self._model = model
        self._loop = None
        self._stopped = False
        self._background = set()

    def run(self, number, requests):
        """The RAN frame of a run. Whatever the model raises is in it."""
        offsets = []
        try:
            returned = self._execute(requests)
            parts = self._responses(number, requests, returned, offsets)
            return frames.frame(frames.RAN, b"".join(parts))
        except BaseException as error:
            self._worker.response_memory.release(offsets)
            for request in requests:
                request.get_response_sender()._close()
            parts = self._failed(number, error)
        return frames.frame(frames.RAN, b"".join(parts))

    def _execute(self, requests):
        execute = getattr(self._model, "execute", None)
        if execute is None:
            raise Fault(f"Python model {self._worker.model_file} does not implement `execute` method.")
        returned = execute(requests)
        if returned is not None and inspect.iscoroutine(returned):
            return self._run_coroutine(returned)
        return returned

    def _run_coroutine(self, coroutine):
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._run_loop, name="gatun-asyncio", daemon=True).start()
        future = asyncio.run_coroutine_threadsafe(_outcome(coroutine), self._loop)
        if not self._worker.decoupled:
            returned, error = future.result()
            if error is None:
                return returned
            try:
                raise error
            finally:
                # Otherwise the error holds this frame, which holds the error, and both the requests' memory.
                del error, future
        # A decoupled model answers by senders, so the next run need not wait for this one.
        self._background.add(future)
        future.add_done_callback(self._ended)
        return None

    def _run_loop(self):
        asyncio.set_event_loop(self._loop)
        while not self._stopped:
            try:
                self._loop.run_forever()
            except (SystemExit, KeyboardInterrupt):
                # Raised by a task; what waits for the task gets it too.
                pass

    def _ended(self, future):
        self._background.discard(future)
        error = future.result()[1]
        if error is not None:
            report(LogLevel.ERROR, traceback_of(error), self._worker.model_file, 0)

    def stop(self):
        """Ends the loop of coroutines; what still runs there stops at its next wait."""
        self._stopped = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)

    def _failed(self, number, error):
        text = message_of(error)
        message = f"Failed to process the request(s) for model '{self._worker.instance_name}', message: {text}"
        return [frames.U64.pack(number), bytes((_FAILED,)), frames.words(message), frames.words(traceback_of(error))]

    def _responses(self, number, requests, returned, offsets):
        count = len(requests)
        parts = [frames.U64.pack(number), bytes((_RESPONSES,)), frames.U32.pack(count)]
        if returned is None:
            parts.extend([self._unanswered(request) for request in requests])
            return parts
        self._check(requests, returned)
        memory = self._worker.response_memory
        for request, response in zip(requests, returned):
            if response is None:
                parts.append(self._unanswered(request))
                continue
            keep_requested(response, request._requested)
            parts.append(_RESPONSE)
            write_response(response, memory, parts, offsets)
        return parts

    def _unanswered(self, request):
        sender = request.get_response_sender()
        if request._release_flags == RELEASE_RESCHEDULE:
            # The next run of the request has a sender of its own.
            sender._close()
            return _AGAIN
        self._worker.connection.flush_early()
        return _NONE

    def _check(self, requests, returned):
        if self._worker.decoupled:
            raise Fault(
                f"Python model '{self._worker.instance_name}' is using the decoupled mode and the execute function "
                "must return None."
            )
        if not isinstance(returned, list):
            raise Fault(f"Expected a list in the execute return, found type '{type(returned)}'.")
        if len(returned) != len(requests):
            raise Fault(
                "Number of InferenceResponse objects do not match the number of InferenceRequest objects. "
                f"InferenceRequest(s) size is:{len(requests)}, and InferenceResponse(s) size is:{len(returned)}\n"
            )
        for request, response in zip(requests, returned):
            if response is None:
                continue
            if request._release_flags == RELEASE_RESCHEDULE:
                raise Fault(
                    "Expected a None object in the execute function return list for reschduled request, found type "
                    f"'{type(response)}'."
                )
            if not isinstance(response, InferenceResponse):
                raise Fault(
                    "Expected an 'InferenceResponse' object in the execute function return list, found type "
                    f"'{type(response)}'."
                )
            if request._sender is not None:
                try:
                    request._sender._count(response, FINAL)
                except TritonModelException as error:
                    raise Fault(str(error)) from None
