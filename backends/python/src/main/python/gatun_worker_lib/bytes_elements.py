# SPDX-License-Identifier: Apache-2.0
"""Elements of BYTES tensors: each is its length and its bytes, one after the other."""

import numpy as np

from .errors import TritonModelException
from .frames import U32

# Up to this size one joined copy is faster than a call for each element.
_JOIN_BYTES = 1 << 16


def elements_of(array):
    """The elements of an array of objects or of fixed-size bytes, as a list of bytes in C order."""
    return [
        element if isinstance(element, bytes) else str(element).encode("utf-8") for element in array.ravel().tolist()
    ]


def size_of(elements):
    """How many bytes the encoded elements take."""
    return sum(map(len, elements)) + 4 * len(elements)


def encode(elements):
    """The elements' encoding as bytes."""
    parts = []
    for element in elements:
        parts.append(U32.pack(len(element)))
        parts.append(element)
    return b"".join(parts)


def encode_into(mapping, offset, elements, size):
    """Writes the elements, `size` bytes as they are encoded, at an offset of a mapping."""
    if size <= _JOIN_BYTES:
        mapping[offset : offset + size] = encode(elements)
        return
    for element in elements:
        start = offset + 4
        end = start + len(element)
        U32.pack_into(mapping, offset, len(element))
        mapping[start:end] = element
        offset = end


def decode(data):
    """A list with the elements of an encoding (bytes or a memoryview of bytes)."""
    elements = []
    position = 0
    size = len(data)
    while position < size:
        start = position + 4
        if start > size:
            raise TritonModelException("Invalid bytes tensor data: incomplete length field")
        position = start + U32.unpack_from(data, position)[0]
        if position > size:
            raise TritonModelException("Invalid bytes tensor data: string extends beyond buffer")
        elements.append(bytes(data[start:position]))
    return elements


def decode_array(data):
    """A one-dimensional array of objects with the elements of an encoding."""
    elements = decode(data)
    array = np.empty(len(elements), dtype=np.object_)
    array[:] = elements
    return array
