# SPDX-License-Identifier: Apache-2.0
"""Tensors on a GPU that models make: on the stand-in for CUDA's driver, or on a GPU where there is one."""

import os
import unittest

import numpy as np
from harness import ModelTest

# Makes a tensor on GPU 0 from an array, as a library with its own memory there would.
ON_DEVICE = """
import ctypes, gc
import numpy as np
import triton_python_backend_utils as pb_utils
from gatun_worker_lib import dlpack
from gatun_worker_lib.device_memory import DeviceArray, driver

cuda = ctypes.CDLL("libcuda.so.1")
freed = []

def call(function, *arguments):
    result = getattr(cuda, function)(*arguments)
    assert result == 0, (function, result)

def on_device(array, number):
    array = np.ascontiguousarray(array)
    address = ctypes.c_uint64()
    def fill(_):
        call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(array.nbytes, 1)))
        if array.nbytes:
            source = ctypes.c_void_p(array.ctypes.data)
            call("cuMemcpyHtoD_v2", address, source, ctypes.c_size_t(array.nbytes))
    driver().run(0, fill)
    class Owner:
        def __del__(self):
            driver().run(0, lambda _: call("cuMemFree_v2", address))
            freed.append(address.value)
    return dlpack.give(DeviceArray(address.value, array.nbytes, 0), array.shape, number, Owner())

class TritonPythonModel:
    def execute(self, requests):
        tensor = pb_utils.get_input_tensor_by_name(requests[0], "IN")
        mode = requests[0].request_id()
        value = tensor.as_numpy()
        output = pb_utils.Tensor.from_dlpack("OUT", on_device(value, tensor.triton_dtype()))
        if mode == "seen":
            try:
                output.as_numpy()
            except pb_utils.TritonModelException as error:
                text = str(error)
            seen = [output.is_cpu(), output.__dlpack_device__(), output.shape(), output.triton_dtype(), text]
            return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([repr(seen)], dtype=object))])]
        if mode == "again":
            output = pb_utils.Tensor.from_dlpack("OUT", output)
        if mode == "freed":
            return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([len(freed)]))])]
        if mode == "gone":
            output._raw.address += 1 << 40
        return [pb_utils.InferenceResponse([output])]
"""

REFUSED = """
import triton_python_backend_utils as pb_utils

class OnDevice:
    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, stream=None):
        raise AssertionError("not to be called")

class TritonPythonModel:
    def execute(self, requests):
        pb_utils.Tensor.from_dlpack("OUT", OnDevice())
"""

DRIVER = os.environ.get("GATUN_TEST_CUDA", "")


@unittest.skipUnless(DRIVER, "no driver of CUDA, and none that stands in: GATUN_TEST_CUDA names its folder")
class DeviceMemoryTest(ModelTest):
    def on_device(self):
        return self.serve(ON_DEVICE, environment={"LD_LIBRARY_PATH": DRIVER})

    def test_copies_outputs_to_the_server(self):
        server = self.on_device()
        for kind in ("u1", "i2", "i4", "u8", "f2", "f4", "f8"):
            for shape in ((3, 4), (1 << 18,), (0, 2), ()):
                value = (np.arange(int(np.prod(shape))) % 100).astype(kind).reshape(shape)
                response = server.infer({"IN": value})
                self.assertIsNone(response["error"])
                np.testing.assert_array_equal(value, response["outputs"]["OUT"])
                self.assertEqual(value.dtype, response["outputs"]["OUT"].dtype)

    def test_says_where_it_is(self):
        response = self.on_device().infer({"IN": np.ones((2, 3), "f4")}, id="seen")
        text = "Tensor is stored in GPU and cannot be converted to NumPy."
        self.assertEqual(repr([False, (2, 0), [2, 3], 11, text]), response["outputs"]["OUT"][0].decode())

    def test_is_handed_on_without_a_copy(self):
        response = self.on_device().infer({"IN": np.arange(5, dtype="i8")}, id="again")
        np.testing.assert_array_equal(np.arange(5), response["outputs"]["OUT"])

    def test_gives_memory_back_to_its_owner(self):
        server = self.on_device()
        for _ in range(3):
            server.infer({"IN": np.ones(1000, "f4")})
        self.assertEqual(3, server.infer({"IN": np.ones(1, "f4")}, id="freed")["outputs"]["OUT"][0])

    def test_says_what_the_driver_refuses(self):
        server = self.on_device()
        server.execute({"inputs": {"IN": np.ones(4, "f4")}, "id": "gone"})
        ran = server.ran()
        said = ran["message"] if "message" in ran else ran["responses"][0]["error"][1]
        self.assertIn("cuMemcpyDtoH_v2: CUDA_ERROR_INVALID_VALUE (1)", said)
        np.testing.assert_array_equal(np.ones(4), server.infer({"IN": np.ones(4, "f4")})["outputs"]["OUT"])

    def test_refuses_where_no_gpu_is(self):
        environment = {"LD_LIBRARY_PATH": DRIVER, "GATUN_STANDIN_DEVICES": "0", "CUDA_VISIBLE_DEVICES": ""}
        said = self.serve(REFUSED, environment=environment).failed()
        self.assertRegex(said, "memory allocated on GPU device, when GPU is not available: cuInit: CUDA_ERROR_NO_DEVICE")


if __name__ == "__main__":
    unittest.main()
