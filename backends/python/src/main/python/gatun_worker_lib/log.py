# SPDX-License-Identifier: Apache-2.0
"""The log of the server, for models."""

import enum
import sys

from . import calls, frames
from .errors import text_of


class LogLevel(enum.Enum):
    """Levels; the numbers are those of the frames."""

    ERROR = 0
    WARNING = 1
    INFO = 2
    VERBOSE = 3


class Logger:
    """Writes to the server's log, with the file and line of the caller."""

    LogLevel = LogLevel
    ERROR = LogLevel.ERROR
    WARNING = LogLevel.WARNING
    INFO = LogLevel.INFO
    VERBOSE = LogLevel.VERBOSE

    @staticmethod
    def log(message, level=LogLevel.INFO):
        if not isinstance(level, LogLevel):
            raise TypeError(f"level must be one of Logger's levels, not {level!r}")
        _write(level, message)

    @staticmethod
    def log_info(message):
        _write(LogLevel.INFO, message)

    @staticmethod
    def log_warn(message):
        _write(LogLevel.WARNING, message)

    @staticmethod
    def log_error(message):
        _write(LogLevel.ERROR, message)

    @staticmethod
    def log_verbose(message):
        _write(LogLevel.VERBOSE, message)


def _write(level, message):
    message = text_of(message, "message")
    caller = sys._getframe(2)
    report(level, message, caller.f_code.co_filename, caller.f_lineno)


def report(level, message, file, line):
    """
    Sends a record to the server's log.

    A process that a model forked, or that only completes a configuration, writes it to its standard error.
    """
    connection = calls.connection()
    if connection is None or not connection.alive:
        sys.stderr.write(f"{level.name} {file}:{line} {message}\n")
        return
    body = bytes((level.value,)) + frames.words(message) + frames.text(file) + frames.U32.pack(line)
    connection.send(frames.frame(frames.LOG, body))
