# SPDX-License-Identifier: Apache-2.0
"""The tensors that models see, and their bytes in frames."""

import struct

import numpy as np

from . import bytes_elements, dlpack
from .datatypes import BF16, BYTES, DTYPES, UINT8, UINT16, number_of
from .device_memory import DeviceArray
from .errors import TritonModelException, text_of
from .frames import TWO_U64, U32, text

_new_tensor = object.__new__

# Names and shapes repeat from response to response. A table that grows beyond this begins anew.
_HEADS_LIMIT = 1024
_heads = {}


class Tensor:
    """
    A named tensor of one datatype and shape.

    It is made from a numpy array, which it does not copy, or from DLPack, or it shows an input of a request or an
    output of another model's response without a copy. All are in the processor's memory but those from DLPack that are
    on a GPU.
    """

    __slots__ = ("_name", "_number", "_shape", "_array", "_raw", "__weakref__")

    def __init__(self, name, numpy_array):
        name = text_of(name, "name")
        if not isinstance(numpy_array, np.ndarray):
            raise TypeError(f"a tensor is made from a numpy array, not from {type(numpy_array).__name__}")
        if not name:
            raise TritonModelException("Tensor name cannot be an empty string.")
        self._name = name
        self._number = number_of(numpy_array.dtype)
        self._shape = numpy_array.shape
        self._array = numpy_array
        # The bytes as they lie in shared memory, of BYTES and BF16, or on a GPU.
        self._raw = None

    def name(self):
        return self._name

    def triton_dtype(self):
        """The number of the datatype."""
        return self._number

    def shape(self):
        return list(self._shape)

    def is_cpu(self):
        return True

    def as_numpy(self):
        """The tensor's array, of bytes objects for BYTES. Of an input it is writable and shows the request's memory."""
        array = self._array
        if array is None:
            if self._number == BF16:
                raise TritonModelException(
                    "Tensor dtype is BF16 and cannot be converted to NumPy. Use to_dlpack() and from_dlpack() instead."
                )
            array = self._array = bytes_elements.decode_array(self._raw.data).reshape(self._shape)
        return array

    def to_dlpack(self):
        """A DLPack capsule that shows the tensor's memory."""
        number = self._number
        if number == BYTES:
            raise TritonModelException("DLPack does not have support for string tensors.")
        array = self._raw if number == BF16 else self._array
        if not array.flags.c_contiguous:
            array = self._array = np.ascontiguousarray(array)
        return dlpack.give(array, self._shape, number, self)

    def __dlpack__(self, stream=None):
        return self.to_dlpack()

    def __dlpack_device__(self):
        return (dlpack.CPU, 0)

    @staticmethod
    def from_dlpack(name, tensor):
        """The tensor that shows the memory of a DLPack capsule, or of an object that makes one."""
        name = text_of(name, "name")
        if not name:
            raise TritonModelException("Tensor name cannot be an empty string.")
        array, shape, number = dlpack.take(tensor)
        on_device = type(array) is DeviceArray
        made = _new_tensor(_DeviceTensor if on_device else Tensor)
        made._name = name
        made._number = number
        made._shape = shape
        made._array, made._raw = (None, array) if on_device or number == BF16 else (array, None)
        return made


class _DeviceTensor(Tensor):
    """A tensor on a GPU. The server gets a copy of it, as others that are handed the response do."""

    __slots__ = ()

    def is_cpu(self):
        return False

    def as_numpy(self):
        raise TritonModelException("Tensor is stored in GPU and cannot be converted to NumPy.")

    def to_dlpack(self):
        return dlpack.give(self._raw, self._shape, self._number, self)

    def __dlpack__(self, stream=None):
        # What computes it may be on a stream that the consumer does not know.
        self._raw.wait()
        return self.to_dlpack()

    def __dlpack_device__(self):
        return (dlpack.CUDA, self._raw.device)


class TensorReader:
    """
    Makes tensors from frames.

    What comes before the offset (name, datatype and shape) is mostly the same bytes as in the frame before, so the
    last one at each place of a list is kept and compared before anything is decoded.
    """

    def __init__(self, memory):
        self._memory = memory
        self._last = []

    def read(self, data, position, tensors):
        """Appends the tensors of a list at a position; the position after it."""
        (count,) = U32.unpack_from(data, position)
        position += 4
        last = self._last
        while len(last) < count:
            # A head that no frame begins with.
            last.append((b"\xff" * 16, "", 0, (), None))
        array_of = self._memory.array
        for place in range(count):
            head, name, number, shape, dtype = last[place]
            if not data.startswith(head, position):
                head, name, number, shape, dtype = last[place] = _read_head(data, position)
            position += len(head)
            offset, size = TWO_U64.unpack_from(data, position)
            position += 16
            tensor = _new_tensor(Tensor)
            tensor._name = name
            tensor._number = number
            tensor._shape = shape
            if dtype is not None:
                tensor._array = array_of(offset, size, dtype, shape)
                tensor._raw = None
            elif number == BF16:
                tensor._array = None
                tensor._raw = array_of(offset, size, UINT16, shape)
            else:
                tensor._array = None
                tensor._raw = array_of(offset, size, UINT8, (size,))
            tensors.append(tensor)
        return position


def _read_head(data, start):
    (length,) = U32.unpack_from(data, start)
    position = start + 4 + length
    name = data[start + 4 : position].decode("utf-8", "replace")
    number = data[position]
    (rank,) = U32.unpack_from(data, position + 1)
    position += 5
    shape = struct.unpack_from(f"<{rank}q", data, position)
    return data[start : position + 8 * rank], name, number, shape, DTYPES[number]


def _head(key):
    name, number, shape = key
    head = text(name) + bytes((number,)) + struct.pack(f"<I{len(shape)}q", len(shape), *shape)
    if len(_heads) >= _HEADS_LIMIT:
        _heads.clear()
    _heads[key] = head
    return head


def write_tensors(tensors, memory, parts, offsets):
    """
    Copies tensors into response memory and appends their list's bytes to parts and their blocks' offsets to offsets.

    The offsets are there also when this fails in the middle, for the caller to release.
    """
    parts.append(U32.pack(len(tensors)))
    for tensor in tensors:
        raw = tensor._raw
        array = tensor._array if raw is None else raw
        key = (tensor._name, tensor._number, tensor._shape)
        if raw is None and tensor._number == BYTES:
            elements = bytes_elements.elements_of(array)
            size = bytes_elements.size_of(elements)
            offset = memory.write_elements(elements, size)
        else:
            size = array.nbytes
            offset = memory.write(array) if type(array) is not DeviceArray else memory.write_from_device(array)
        offsets.append(offset)
        parts.append(_heads.get(key) or _head(key))
        parts.append(TWO_U64.pack(offset, size))
