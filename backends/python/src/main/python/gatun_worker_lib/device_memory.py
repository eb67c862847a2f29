# SPDX-License-Identifier: Apache-2.0
"""Memory of GPUs that models hand over, read by CUDA's driver."""

import ctypes
import functools

from .errors import TritonModelException


class DeviceArray:
    """
    The bytes of a tensor on a GPU, one after the other.

    They belong to whoever made them, and go back when nothing refers to this object any more.
    """

    __slots__ = ("address", "nbytes", "device", "__weakref__")

    def __init__(self, address, nbytes, device):
        self.address = address
        self.nbytes = nbytes
        self.device = device

    def wait(self):
        """Waits for all work of this process on the GPU: what computes the tensor may be on any stream."""
        driver().run(self.device, lambda call: call("cuCtxSynchronize"))

    def copy_into(self, mapping, offset):
        """Copies the bytes into a writable buffer of the processor, when they are computed."""
        if self.nbytes == 0:
            return
        target = (ctypes.c_uint8 * self.nbytes).from_buffer(mapping, offset)

        def copy(call):
            call("cuCtxSynchronize")
            call("cuMemcpyDtoH_v2", target, ctypes.c_uint64(self.address), ctypes.c_size_t(self.nbytes))

        driver().run(self.device, copy)


class Driver:
    """CUDA's driver, in the contexts that the libraries of models use: those which are a GPU's primary ones."""

    def __init__(self, library):
        self._library = library
        self._contexts = {}
        self._call("cuInit", ctypes.c_uint(0))
        count = ctypes.c_int()
        self._call("cuDeviceGetCount", ctypes.byref(count))
        if count.value == 0:
            raise TritonModelException("CUDA's driver finds no GPU")

    def run(self, device, work):
        """`work(call)`, where `call` calls a function of the driver in the context of a GPU."""
        self._call("cuCtxPushCurrent_v2", self._context(device))
        try:
            work(self._call)
        finally:
            self._call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def _context(self, device):
        context = self._contexts.get(device)
        if context is None:
            handle = ctypes.c_int()
            self._call("cuDeviceGet", ctypes.byref(handle), ctypes.c_int(device))
            context = ctypes.c_void_p()
            self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
            # Kept as long as the process: a GPU's primary context is one.
            self._contexts[device] = context
        return context

    def _call(self, function, *arguments):
        result = getattr(self._library, function)(*arguments)
        if result != 0:
            name = ctypes.c_char_p()
            self._library.cuGetErrorName(ctypes.c_int(result), ctypes.byref(name))
            raise TritonModelException(f"{function}: {(name.value or b'an unknown error').decode()} ({result})")


@functools.lru_cache(maxsize=1)
def driver():
    """The driver of this process; fails where the machine has none, or no GPU."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise TritonModelException(f"CUDA's driver cannot be opened: {error}") from None
    return Driver(library)
