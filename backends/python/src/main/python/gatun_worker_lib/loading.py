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
    sys.path.append(folder)
    if version == start.model_version:
        _model_dir = folder
        sys.path.append(parent)
        module = f"{version}.{module}"
    else:
        # The file belongs to a backend made of Python, not to the model's own folder.
        _model_dir = os.path.join(start.repository, start.model_version)
    importlib.invalidate_caches()
    return importlib.import_module(module)


def message_of(error):
    """What happened, in a line: the kind of error and its text; of errors of syntax also where."""
    if isinstance(error, Fault):
        return str(error)
    if isinstance(error, SyntaxError) and error.filename:
        place = f"{error.filename}, line {error.lineno}, column {error.offset}"
        return f"{type(error).__name__}: {error.msg} ({place})"
    if isinstance(error, SystemExit):
        return f"SystemExit: the model called sys.exit({'' if error.code is None else repr(error.code)})"
    text = str(error)
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def traceback_of(error):
    """The whole traceback; what is no error of the model's code has only its message."""
    if isinstance(error, Fault):
        return str(error)
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))
