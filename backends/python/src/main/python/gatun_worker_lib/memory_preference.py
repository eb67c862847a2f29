# SPDX-License-Identifier: Apache-2.0
"""Where a model would like the outputs of its calls. Accepted and without effect: they are in the CPU's memory."""

import enum

from .errors import integer_of


class MemoryType(enum.Enum):
    TRITONSERVER_MEMORY_GPU = 0
    TRITONSERVER_MEMORY_CPU = 1


class PreferredMemory:
    """A kind of memory and the number of its device."""

    __slots__ = ("_memory_type", "_device_id")

    def __init__(self, preferred_memory_type, preferred_device_id=0):
        if not isinstance(preferred_memory_type, MemoryType):
            raise TypeError(f"preferred_memory_type must be a MemoryType, not {type(preferred_memory_type).__name__}")
        self._memory_type = preferred_memory_type
        self._device_id = integer_of(preferred_device_id, "preferred_device_id", -(2**63), 2**63 - 1)
