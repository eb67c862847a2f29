# SPDX-License-Identifier: Apache-2.0
"""Errors that models make and meet."""

import enum


class TritonModelException(Exception):
    """An error that a model raises, or that a call to the server ends with."""


class Fault(Exception):
    """What the worker itself finds wrong with a model; its text is the whole message."""


class ErrorCode(enum.IntEnum):
    """Which kind of error a response tells its client; the numbers are those of the frames."""

    UNKNOWN = 0
    INTERNAL = 1
    NOT_FOUND = 2
    INVALID_ARG = 3
    UNAVAILABLE = 4
    UNSUPPORTED = 5
    ALREADY_EXISTS = 6
    CANCELLED = 7


class TritonError:
    """The error of a response: its message and its code (INTERNAL where none is given)."""

    __slots__ = ("_message", "_code")

    UNKNOWN = ErrorCode.UNKNOWN
    INTERNAL = ErrorCode.INTERNAL
    NOT_FOUND = ErrorCode.NOT_FOUND
    INVALID_ARG = ErrorCode.INVALID_ARG
    UNAVAILABLE = ErrorCode.UNAVAILABLE
    UNSUPPORTED = ErrorCode.UNSUPPORTED
    ALREADY_EXISTS = ErrorCode.ALREADY_EXISTS
    CANCELLED = ErrorCode.CANCELLED

    def __init__(self, message, code=ErrorCode.INTERNAL):
        if not isinstance(code, ErrorCode):
            raise TypeError(f"the code of a TritonError is one of TritonError's codes, not {code!r}")
        self._message = text_of(message, "message")
        self._code = code

    def code(self):
        return self._code

    def message(self):
        return self._message


def error_of(code, message):
    """The error with a number from a frame; a number that nobody knows becomes UNKNOWN."""
    return TritonError(message, ErrorCode(code) if 0 <= code <= 7 else ErrorCode.UNKNOWN)


def text_of(value, what):
    """The text of a str or of UTF-8 bytes; anything else is a TypeError that names the argument."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8")
    raise TypeError(f"{what} must be a str, not {type(value).__name__}")


def integer_of(value, what, lowest, highest):
    """An argument that is an integer from lowest to highest; anything else is a TypeError that names it."""
    try:
        number = value.__index__()
    except AttributeError:
        raise TypeError(f"{what} must be an int, not {type(value).__name__}") from None
    if not lowest <= number <= highest:
        raise TypeError(f"{what} must be from {lowest} to {highest}, not {number}")
    return number
