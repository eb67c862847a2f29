# SPDX-License-Identifier: Apache-2.0
"""
DLPack capsules, made with numpy and read with ctypes.

numpy's own cannot show BF16, refuses read-only arrays, and does not know BOOL in its older versions.
"""

import ctypes
import weakref

import numpy as np

from .datatypes import BF16, DTYPES, UINT16
from .device_memory import DeviceArray, driver
from .errors import TritonModelException

CPU, CUDA, _CUDA_HOST = 1, 2, 3

_INT, _UINT, _FLOAT, _BFLOAT, _BOOL = 0, 1, 2, 4, 6
_TYPES = {
    1: (_BOOL, 8),
    2: (_UINT, 8),
    3: (_UINT, 16),
    4: (_UINT, 32),
    5: (_UINT, 64),
    6: (_INT, 8),
    7: (_INT, 16),
    8: (_INT, 32),
    9: (_INT, 64),
    10: (_FLOAT, 16),
    11: (_FLOAT, 32),
    12: (_FLOAT, 64),
    BF16: (_BFLOAT, 16),
}
_NUMBERS = {kind: number for number, kind in _TYPES.items()}

_NAME = b"dltensor"
_USED_NAME = b"used_dltensor"

# Where empty tensors lie.
_NOTHING = ctypes.c_uint8()


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("rank", ctypes.c_int32),
        ("type", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]


_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", ctypes.pythonapi))


def is_capsule(value):
    return type(value).__name__ == "PyCapsule"


def give(array, shape, number, owner):
    """
    A capsule for a tensor whose bytes a C-contiguous array, or an array on a GPU, shows.

    The owner lives as long as the capsule's consumer wants.
    """
    on_device = type(array) is DeviceArray
    address = array.address if on_device else array.__array_interface__["data"][0]
    code, bits = _TYPES[number]
    # numpy makes the capsule, of an array of as many bits that can be written. Its deleter, unlike one in Python, may
    # run while an exception is on its way.
    memory = (ctypes.c_uint8 * max(array.nbytes, 1)).from_address(address or ctypes.addressof(_NOTHING))
    memory.owner = owner, array
    shown = np.ndarray(shape, f"u{bits // 8}", memory)
    if not hasattr(shown, "__dlpack__"):
        raise TritonModelException(f"tensors go to DLPack by numpy 1.22 or newer; this is numpy {np.__version__}")
    capsule = shown.__dlpack__()
    tensor = _Managed.from_address(_pointer(capsule, _NAME)).tensor
    tensor.type.code = code
    if on_device:
        tensor.device.type = CUDA
        tensor.device.id = array.device
    return capsule


def take(value):
    """
    The array, shape and datatype's number of a DLPack capsule or of an object that makes one.

    The array shows the producer's memory (BF16 as UINT16), which goes back when no array shows it any more. Of a tensor
    on a GPU it is a DeviceArray.
    """
    if is_capsule(value):
        return _take_capsule(value)
    if not hasattr(value, "__dlpack__") or not hasattr(value, "__dlpack_device__"):
        raise TritonModelException(
            "Provided tensor is not supported. Tensor must be a DLPack capsule or have `__dlpack__` and "
            "`__dlpack_device__` attributes"
        )
    _check_device(int(value.__dlpack_device__()[0]))
    return _take_capsule(value.__dlpack__(stream=None))


def _check_device(device):
    if device == CUDA:
        try:
            driver()
        except TritonModelException as error:
            raise TritonModelException(
                f"DLPack capsule passed pointer to memory allocated on GPU device, when GPU is not available: {error}"
            ) from None
        return
    if device not in (CPU, _CUDA_HOST):
        raise TritonModelException(f"DLDevice type {device} is not support by Python backend.")


def _take_capsule(capsule):
    if not _is_valid(capsule, _NAME):
        raise TritonModelException("the DLPack capsule was used before, or is of a version other than 0")
    address = _pointer(capsule, _NAME)
    managed = _Managed.from_address(address)
    tensor = managed.tensor
    _check_device(tensor.device.type)
    shape = tuple(tensor.shape[axis] for axis in range(tensor.rank))
    _check_contiguous(tensor, shape)
    kind = tensor.type
    if kind.code == _BFLOAT and kind.bits != 16:
        raise TritonModelException(f"Expected BF16 tensor to have 16 bits, but had: {kind.bits}")
    number = _NUMBERS.get((kind.code, kind.bits)) if kind.lanes == 1 else None
    if number is None:
        raise TritonModelException("Dtype is invalid.")
    dtype = UINT16 if number == BF16 else DTYPES[number]
    size = dtype.itemsize
    for length in shape:
        size *= length
    if tensor.device.type == CUDA:
        array = DeviceArray((tensor.data or 0) + tensor.byte_offset, size, tensor.device.id)
    elif size:
        memory = (ctypes.c_uint8 * size).from_address(tensor.data + tensor.byte_offset)
        array = np.ndarray(shape, dtype, memory)
    else:
        array = np.empty(shape, dtype)
    _set_name(capsule, _USED_NAME)
    if managed.deleter:
        weakref.finalize(array, managed.deleter, address).atexit = False
    return array, shape, number


def _check_contiguous(tensor, shape):
    if not tensor.strides or 0 in shape:
        return
    expected = 1
    for axis in reversed(range(len(shape))):
        if shape[axis] != 1:
            if tensor.strides[axis] != expected:
                raise TritonModelException(
                    "DLPack tensor is not contiguous. Only contiguous DLPack tensors that are stored in C-Order are "
                    "supported."
                )
            expected *= shape[axis]
