# SPDX-License-Identifier: Apache-2.0
"""The bytes of frames: kinds, packing, and a cursor for frames that are not read on every request."""

import struct

# From the server.
START, EXECUTE, RELEASE, RESULT, FINISH, EXECUTE_BOUND = 1, 2, 3, 4, 5, 6
# To the server.
STARTED, RAN, SEND, CALL, LOG, FREE, FINISHED = 1, 2, 3, 4, 5, 6, 7

U32 = struct.Struct("<I")
U64 = struct.Struct("<Q")
I64 = struct.Struct("<q")
F64 = struct.Struct("<d")
TWO_U64 = struct.Struct("<QQ")
HEAD = struct.Struct("<IB")
EMPTY_LIST = U32.pack(0)
# Lists of offsets of the usual lengths.
_OFFSETS = [struct.Struct(f"<I{count}Q") for count in range(17)]

_BOOLEAN, _SIGNED, _UNSIGNED, _DOUBLE, _TEXT = 0, 1, 2, 3, 4
_I64_HIGHEST = 2**63 - 1


#: The server takes no longer frames. Tensors do not lie in them.
LONGEST = 16 << 20

#: The most characters of a text for people.
_LONGEST_WORDS = 1 << 16


def frame(kind, body):
    """A whole frame, ready to be written."""
    if len(body) >= LONGEST:
        raise ValueError(
            f"what the model says to the server has {len(body)} bytes beside its tensors, expected less than {LONGEST}:"
            " shorten parameters, or put large files into the repository"
        )
    return HEAD.pack(len(body) + 1, kind) + body


def text(value):
    """A str as its length and UTF-8. A lone surrogate, which UTF-8 has no bytes for, becomes a question mark."""
    encoded = value.encode("utf-8", "replace")
    return U32.pack(len(encoded)) + encoded


def words(value):
    """A text for people, which is cut where it is long: models put what clients send into their messages."""
    return text(value if len(value) <= _LONGEST_WORDS else value[:_LONGEST_WORDS] + "...")


def blob(value):
    """Bytes with their length in front."""
    return U32.pack(len(value)) + value


def texts(values):
    return U32.pack(len(values)) + b"".join([text(value) for value in values])


def offsets(values):
    count = len(values)
    form = _OFFSETS[count] if count < len(_OFFSETS) else struct.Struct(f"<I{count}Q")
    return form.pack(count, *values)


def parameters(values):
    """A dict of str to bool, int, float or str as a list of parameters."""
    if not values:
        return EMPTY_LIST
    parts = [U32.pack(len(values))]
    for key, value in values.items():
        parts.append(text(key))
        if isinstance(value, bool):
            parts.append(bytes((_BOOLEAN, value)))
        elif isinstance(value, int):
            signed = value <= _I64_HIGHEST
            parts.append(bytes((_SIGNED if signed else _UNSIGNED,)) + (I64 if signed else U64).pack(value))
        elif isinstance(value, float):
            parts.append(bytes((_DOUBLE,)) + F64.pack(value))
        else:
            parts.append(bytes((_TEXT,)) + text(value))
    return b"".join(parts)


def read_offsets(data, position):
    """The offsets of a list of them at a position."""
    (count,) = U32.unpack_from(data, position)
    form = _OFFSETS[count] if count < len(_OFFSETS) else struct.Struct(f"<I{count}Q")
    return form.unpack_from(data, position)[1:]


class Cursor:
    """Reads the items of a frame one after the other."""

    __slots__ = ("data", "position")

    def __init__(self, data, position=0):
        self.data = data
        self.position = position

    def u8(self):
        value = self.data[self.position]
        self.position += 1
        return value

    def _number(self, form):
        value = form.unpack_from(self.data, self.position)[0]
        self.position += form.size
        return value

    def u32(self):
        return self._number(U32)

    def u64(self):
        return self._number(U64)

    def i64(self):
        return self._number(I64)

    def f64(self):
        return self._number(F64)

    def blob(self):
        size = self.u32()
        start = self.position
        self.position = start + size
        return self.data[start : self.position]

    def text(self):
        return self.blob().decode("utf-8", "replace")

    def texts(self):
        return [self.text() for _ in range(self.u32())]

    def parameters(self):
        """A list of parameters as a dict."""
        values = {}
        for _ in range(self.u32()):
            key = self.text()
            kind = self.u8()
            if kind == _BOOLEAN:
                values[key] = self.u8() != 0
            elif kind == _SIGNED:
                values[key] = self.i64()
            elif kind == _UNSIGNED:
                values[key] = self.u64()
            elif kind == _DOUBLE:
                values[key] = self.f64()
            else:
                values[key] = self.text()
        return values
