# SPDX-License-Identifier: Apache-2.0
"""Imports a model's module, and puts what it raises into words."""

import importlib
import os
import sys
import traceback

from .errors import Fault

_model_dir = ""


def get_model_dir():
    """The folder of the model's version."""
    return _model_dir


def import_model(start):
    """The module of the model that a START frame describes."""
    global _model_dir
    file = start.model_file
    folder, name = os.path.split(file)
    if not name.endswith(".py"):
        raise Fault(f"Model name must end with '.py'. Model name is \"{name}\".")
    if not os.path.isfile(file):
        raise Fault(f"Python model file not found in '{file}'")
    module = name[: -len(".py")]
    parent, version = os.path.split(folder)
    own = folder
    sys.path.append(folder)
    if version == start.model_version:
        _model_dir = folder
        own = parent
        sys.path.append(parent)
        module = f"{version}.{module}"
    else:
        # The file belongs to a backend made of Python, not to the model's own folder.
        _model_dir = os.path.join(start.repository, start.model_version)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(module)
    except Exception as error:
        raise Fault(f"{message_of(error)}{_place_of(error, own)}") from error


def _place_of(error, folder):
    """Where in the folder of a model its import failed: the innermost line of a file there."""
    prefix = os.path.join(folder, "")
    if isinstance(error, SyntaxError) and (error.filename or "").startswith(prefix):
        return ""  # The message has it.
    places = [
        f" ({frame.filename}, line {frame.lineno})"
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(prefix)
    ]
    return places[-1] if places else ""


def message_of(error):
    """What happened, in a line: the kind of error and its text; of errors of syntax also where."""
    if isinstance(error, Fault):
        return str(error)
    if isinstance(error, SyntaxError) and error.filename:
        column = f", column {error.offset}" if error.offset is not None else ""
        return f"{type(error).__name__}: {error.msg} ({error.filename}, line {error.lineno}{column})"
    if isinstance(error, SystemExit):
        return f"SystemExit: the model called sys.exit({'' if error.code is None else repr(error.code)})"
    text = str(error)
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def traceback_of(error):
    """The whole traceback; what is no error of the model's code has only its message."""
    if isinstance(error, Fault):
        if error.__cause__ is None:
            return str(error)
        error = error.__cause__
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))
