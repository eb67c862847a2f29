# SPDX-License-Identifier: Apache-2.0
"""Datatypes: their numbers in frames and their dtypes in numpy."""

import numpy as np

from .errors import TritonModelException

BYTES = 13
BF16 = 14

_NUMPY_TYPES = (
    np.bool_,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.float16,
    np.float32,
    np.float64,
)

# The dtype of each datatype's number; None for BYTES and BF16, whose memory numpy cannot show as what it is.
DTYPES = (None,) + tuple(np.dtype(numpy_type) for numpy_type in _NUMPY_TYPES) + (None, None)
_NUMBERS = {dtype: number for number, dtype in enumerate(DTYPES) if dtype is not None}
_NUMBERS[np.dtype(np.object_)] = BYTES

UINT8 = np.dtype(np.uint8)
UINT16 = np.dtype(np.uint16)

TRITON_STRING_TO_NUMPY = {
    "TYPE_BOOL": bool,
    "TYPE_UINT8": np.uint8,
    "TYPE_UINT16": np.uint16,
    "TYPE_UINT32": np.uint32,
    "TYPE_UINT64": np.uint64,
    "TYPE_INT8": np.int8,
    "TYPE_INT16": np.int16,
    "TYPE_INT32": np.int32,
    "TYPE_INT64": np.int64,
    "TYPE_FP16": np.float16,
    "TYPE_FP32": np.float32,
    "TYPE_FP64": np.float64,
    "TYPE_STRING": np.object_,
}


def number_of(dtype):
    """The number of the datatype that arrays of a dtype have in frames."""
    number = _NUMBERS.get(dtype)
    if number is not None:
        return number
    if dtype.type is np.bytes_:
        return BYTES
    raise TritonModelException("NumPy dtype is not supported.")


def triton_to_numpy_type(data_type):
    """The numpy type of a datatype's number; None where numpy has none."""
    if data_type == BYTES:
        return np.object_
    if 1 <= data_type < BYTES:
        return _NUMPY_TYPES[data_type - 1]
    return None


def numpy_to_triton_type(data_type):
    """The number of the datatype that a numpy type or dtype stands for; None where there is none."""
    try:
        dtype = np.dtype(data_type)
    except TypeError:
        return None
    return BYTES if dtype.type is np.bytes_ else _NUMBERS.get(dtype)


def triton_string_to_numpy(triton_type_string):
    """The numpy type of a data_type in a model's configuration, such as TYPE_FP32."""
    return TRITON_STRING_TO_NUMPY[triton_type_string]
