# SPDX-License-Identifier: Apache-2.0
"""Metrics of a model's own, which the server keeps and shows among its own."""

import enum

from . import calls, frames
from .errors import TritonModelException, text_of

_INCREMENT, _SET, _OBSERVE = 0, 1, 2


class MetricKind(enum.Enum):
    """Kinds; the numbers are those of the frames."""

    COUNTER = 0
    GAUGE = 1
    HISTOGRAM = 2


class MetricFamily:
    """
    Metrics with one name, description and kind, which differ by their labels.

    When the family's object dies, its metrics go with it.
    """

    COUNTER = MetricKind.COUNTER
    GAUGE = MetricKind.GAUGE
    HISTOGRAM = MetricKind.HISTOGRAM

    def __init__(self, name, description, kind):
        self._number = None
        self._metrics = []
        name = text_of(name, "name")
        description = text_of(description, "description")
        if not isinstance(kind, MetricKind):
            raise TypeError(f"kind must be COUNTER, GAUGE or HISTOGRAM of MetricFamily, not {kind!r}")
        self._kind = kind
        body = frames.text(name) + frames.text(description) + bytes((kind.value,))
        self._number = _create("MetricFamily", calls.FAMILY, body)

    def Metric(self, labels=None, buckets=None):
        """The metric with these labels; a histogram needs the upper bounds of its buckets, in ascending order."""
        if labels is not None and not isinstance(labels, dict):
            raise TritonModelException("Failed to create metric. Labels must be a dictionary.")
        buckets = self._checked_buckets(buckets)
        labels = labels or {}
        parts = [frames.U64.pack(self._number), frames.U32.pack(len(labels))]
        for label, value in labels.items():
            if not isinstance(value, str):
                raise TritonModelException(
                    f"Error when creating Metric: the value of label '{label}' must be a str, not "
                    f"{type(value).__name__}"
                )
            parts.append(frames.text(text_of(label, "a label")) + frames.text(value))
        parts.append(frames.U32.pack(len(buckets)))
        parts.extend(frames.F64.pack(bound) for bound in buckets)
        metric = Metric(_create("Metric", calls.METRIC, b"".join(parts)))
        # The family keeps the metric's state, so that the metric stays in the server until the family goes.
        self._metrics.append(metric._state)
        return metric

    def _checked_buckets(self, buckets):
        if buckets is None:
            if self._kind is MetricKind.HISTOGRAM:
                raise TritonModelException("Failed to create metric. Missing required buckets.")
            return ()
        if not isinstance(buckets, list):
            raise TritonModelException("Failed to create metric. Buckets must be a list.")
        if self._kind is not MetricKind.HISTOGRAM:
            raise TritonModelException("Failed to create metric. Unexpected buckets found.")
        return [float(bound) for bound in buckets]

    def __del__(self):
        # Also runs when __init__ failed, and inside the garbage collector: it takes no lock and waits for nothing.
        if self._number is None:
            return
        try:
            server = calls.server()
            for state in self._metrics:
                state.alive = False
                server.tell_later(calls.DROP_METRIC, frames.U64.pack(state.number))
            server.tell_later(calls.DROP_FAMILY, frames.U64.pack(self._number))
        except TritonModelException:
            pass


class _MetricState:
    __slots__ = ("number", "alive")

    def __init__(self, number):
        self.number = number
        self.alive = True


class Metric:
    """One metric of a family. It is of no use any more when the family's object is gone."""

    __slots__ = ("_state",)

    def __init__(self, number):
        self._state = _MetricState(number)

    def increment(self, value):
        """Adds to a counter (nothing below zero) or a gauge."""
        self._change("increment", _INCREMENT, value)

    def set(self, value):
        """Sets a gauge."""
        self._change("set", _SET, value)

    def observe(self, value):
        """Counts a value in a histogram."""
        self._change("observe", _OBSERVE, value)

    def value(self):
        """The value of a counter or a gauge."""
        return self._ask("get", calls.VALUE, b"")

    def _change(self, what, operation, value):
        self._ask(what, calls.CHANGE, bytes((operation,)) + frames.F64.pack(float(value)))

    def _ask(self, what, method, rest):
        if not self._state.alive:
            raise TritonModelException(
                f"Failed to {what} metric value: Invalid metric operation as the corresponding 'MetricFamily' has been "
                "deleted. The 'MetricFamily' object should be deleted AFTER its corresponding 'Metric' objects have "
                "been deleted."
            )
        try:
            return calls.server().ask(method, frames.U64.pack(self._state.number) + rest)
        except TritonModelException as error:
            raise TritonModelException(f"Failed to {what} metric value: {error}") from None


def _create(what, method, body):
    try:
        return int(calls.server().ask(method, body))
    except TritonModelException as error:
        raise TritonModelException(f"Error when creating {what}: {error}") from None
