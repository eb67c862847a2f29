# SPDX-License-Identifier: Apache-2.0
"""The interface that models import, as far as it works without a server."""

import importlib.util
import json
import sys
import unittest

import numpy as np
from harness import WORKER

sys.path.insert(0, str(WORKER.parent))

import triton_python_backend_utils as pb_utils  # noqa: E402

ERROR = pb_utils.TritonModelException


class TensorTest(unittest.TestCase):
    def test_takes_arrays_of_every_datatype(self):
        kinds = [np.bool_, np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64]
        kinds += [np.float16, np.float32, np.float64, np.object_]
        for number, kind in enumerate(kinds, 1):
            tensor = pb_utils.Tensor("T", np.zeros((2, 3), kind))
            self.assertEqual(number, tensor.triton_dtype())
            self.assertEqual(([2, 3], "T", True), (tensor.shape(), tensor.name(), tensor.is_cpu()))
            self.assertEqual(number, pb_utils.numpy_to_triton_type(kind))
            self.assertEqual(np.dtype(kind), np.dtype(pb_utils.triton_to_numpy_type(number)))
        self.assertEqual(13, pb_utils.Tensor("T", np.array([b"abc"])).triton_dtype())
        self.assertEqual(13, pb_utils.numpy_to_triton_type(np.bytes_))
        self.assertIsNone(pb_utils.triton_to_numpy_type(14))
        self.assertIsNone(pb_utils.numpy_to_triton_type(np.complex64))
        self.assertEqual(9, pb_utils.Tensor("T", np.zeros(1, np.longlong)).triton_dtype())

    def test_refuses_what_is_no_tensor(self):
        array = np.zeros(2)
        for name, value in ((None, array), ("T", None), ("T", [1, 2]), ("", None), (5, array), ("T", np.float32(1))):
            with self.assertRaises(TypeError):
                pb_utils.Tensor(name, value)
        with self.assertRaisesRegex(ERROR, "^Tensor name cannot be an empty string.$"):
            pb_utils.Tensor("", array)
        for kind in ("c8", "U3", "M8[s]", ">f4", "f16"):
            with self.assertRaisesRegex(ERROR, "^NumPy dtype is not supported.$"):
                pb_utils.Tensor("T", np.zeros(2, kind))

    def test_returns_the_array_that_it_was_made_of(self):
        array = np.arange(6).reshape(2, 3)
        self.assertIs(array, pb_utils.Tensor("T", array).as_numpy())
        np.testing.assert_array_equal(array.T, pb_utils.Tensor("T", array.T).as_numpy())

    def test_shares_memory_through_dlpack(self):
        for kind in ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "?"):
            for shape in ((3, 4), (5,), (0, 2), ()):
                array = np.ones(shape, kind)
                tensor = pb_utils.Tensor("A", array)
                self.assertEqual((1, 0), tensor.__dlpack_device__())
                for source in (tensor.to_dlpack(), tensor):
                    other = pb_utils.Tensor.from_dlpack("B", source)
                    self.assertEqual(("B", list(shape)), (other.name(), other.shape()))
                    self.assertEqual(tensor.triton_dtype(), other.triton_dtype())
                    np.testing.assert_array_equal(array, other.as_numpy())
                    if array.size:
                        self.assertTrue(np.shares_memory(array, other.as_numpy()))

    @unittest.skipUnless(hasattr(np, "from_dlpack"), "this numpy has no DLPack")
    def test_shares_memory_with_numpy_through_dlpack(self):
        array = np.arange(6, dtype="f4").reshape(2, 3)
        tensor = pb_utils.Tensor("A", array)
        self.assertTrue(np.shares_memory(array, np.from_dlpack(tensor)))
        other = pb_utils.Tensor.from_dlpack("B", array)
        self.assertTrue(np.shares_memory(array, other.as_numpy()))
        np.testing.assert_array_equal(array.T, np.from_dlpack(pb_utils.Tensor("T", array.T)))

    def test_owns_and_frees_capsules(self):
        array = np.arange(4)
        tensor = pb_utils.Tensor("A", array)
        before = sys.getrefcount(tensor)
        capsule = tensor.to_dlpack()
        self.assertEqual(before + 1, sys.getrefcount(tensor))
        del capsule
        self.assertEqual(before, sys.getrefcount(tensor))
        other = pb_utils.Tensor.from_dlpack("B", tensor.to_dlpack())
        view = other.as_numpy()[1:]
        del other
        self.assertEqual(before + 1, sys.getrefcount(tensor))
        self.assertEqual([1, 2, 3], view.tolist())
        del view
        self.assertEqual(before, sys.getrefcount(tensor))

    def test_refuses_capsules_that_it_cannot_show(self):
        capsule = pb_utils.Tensor("A", np.arange(4)).to_dlpack()
        pb_utils.Tensor.from_dlpack("B", capsule)
        with self.assertRaisesRegex(ERROR, "was used before"):
            pb_utils.Tensor.from_dlpack("B", capsule)
        for name, value in (("T", None), ("", None), ("T", 5)):
            with self.assertRaises(ERROR):
                pb_utils.Tensor.from_dlpack(name, value)
        with self.assertRaisesRegex(ERROR, "^DLPack does not have support for string tensors.$"):
            pb_utils.Tensor("S", np.array(["x"], object)).to_dlpack()

        class Device:
            def __init__(self, kind):
                self.kind = kind

            def __dlpack_device__(self):
                return (self.kind, 0)

            def __dlpack__(self, stream=None):
                raise AssertionError("not to be called")

        with self.assertRaisesRegex(ERROR, "GPU device, when GPU is not available"):
            pb_utils.Tensor.from_dlpack("T", Device(2))
        with self.assertRaisesRegex(ERROR, "^DLDevice type 9 is not support by Python backend.$"):
            pb_utils.Tensor.from_dlpack("T", Device(9))

    @unittest.skipUnless(hasattr(np.ndarray, "__dlpack__"), "this numpy has no DLPack")
    def test_refuses_strides(self):
        with self.assertRaisesRegex(
            ERROR,
            "^DLPack tensor is not contiguous. Only contiguous DLPack tensors that are stored in C-Order are "
            "supported.$",
        ):
            pb_utils.Tensor.from_dlpack("T", np.zeros((3, 4)).T)
        np.testing.assert_array_equal(np.ones((1, 4)), pb_utils.Tensor.from_dlpack("T", np.ones((4, 1)).T).as_numpy())

    def test_serializes_bytes(self):
        array = np.array([["a", b"\xff\x00"], ["ä", ""]], dtype=np.object_)
        encoded = pb_utils.serialize_byte_tensor(array)
        self.assertEqual(b"\1\0\0\0a\2\0\0\0\xff\0\2\0\0\0\xc3\xa4\0\0\0\0", encoded)
        self.assertEqual([b"a", b"\xff\x00", "ä".encode(), b""], pb_utils.deserialize_bytes_tensor(encoded).tolist())
        self.assertEqual(b"\2\0\0\0ab", pb_utils.serialize_byte_tensor(np.array([b"ab"])))
        self.assertEqual((), pb_utils.serialize_byte_tensor(np.array([], object)))
        self.assertIsNone(pb_utils.serialize_byte_tensor(np.array([1])))
        self.assertEqual((0,), pb_utils.deserialize_bytes_tensor(b"").shape)
        for broken in (b"\1\0\0", b"\2\0\0\0a"):
            with self.assertRaisesRegex(ERROR, "Invalid bytes tensor data"):
                pb_utils.deserialize_bytes_tensor(broken)


class ResponseTest(unittest.TestCase):
    def test_holds_outputs_and_errors(self):
        tensor = pb_utils.Tensor("A", np.zeros(1))
        response = pb_utils.InferenceResponse([tensor], parameters={"a": 1})
        self.assertEqual(([tensor], False, None), (response.output_tensors(), response.has_error(), response.error()))
        self.assertEqual({"a": 1}, json.loads(response.parameters()))
        self.assertIs(tensor, pb_utils.get_output_tensor_by_name(response, "A"))
        self.assertIsNone(pb_utils.get_output_tensor_by_name(response, "B"))
        error = pb_utils.TritonError(message="m", code=pb_utils.TritonError.NOT_FOUND)
        response = pb_utils.InferenceResponse(error=error, output_tensors=[])
        self.assertTrue(response.has_error())
        self.assertEqual(("m", pb_utils.TritonError.NOT_FOUND), (response.error().message(), response.error().code()))
        self.assertEqual("{}", response.parameters())
        self.assertEqual(pb_utils.TritonError.INTERNAL, pb_utils.TritonError("x").code())

    def test_refuses_wrong_arguments(self):
        with self.assertRaisesRegex(ERROR, "^Output tensor for inference response should not be empty.$"):
            pb_utils.InferenceResponse([None])
        for arguments in ((None,), ([5],), ([], "error"), ("text",)):
            with self.assertRaises(TypeError):
                pb_utils.InferenceResponse(*arguments)
        with self.assertRaises(TypeError):
            pb_utils.TritonError(None)
        with self.assertRaises(TypeError):
            pb_utils.TritonError("m", 3)
        for parameters, message in (
            ({1: "a"}, "Expect parameters keys to have type str, found type <class 'int'>"),
            ({"a": 1.5}, "Expect parameters values to have type bool/int/str, found type <class 'float'>"),
            ({"a": {}}, "Expect parameters values to have type bool/int/str, found type <class 'dict'>"),
            ([], "Expect dict, got <class 'list'>"),
        ):
            with self.assertRaises(ERROR) as raised:
                pb_utils.InferenceResponse(parameters=parameters)
            self.assertEqual(message, str(raised.exception))


class RequestTest(unittest.TestCase):
    def request(self, **arguments):
        given = {"model_name": "m", "inputs": [], "requested_output_names": ["A"], **arguments}
        return pb_utils.InferenceRequest(**{key: value for key, value in given.items() if value is not ...})

    def test_holds_what_it_is_given(self):
        tensor = pb_utils.Tensor("A", np.zeros(1))
        request = self.request(inputs=[tensor], correlation_id=5, request_id="r", timeout=3, parameters={"p": 1})
        self.assertEqual((5, "r", 3), (request.correlation_id(), request.request_id(), request.timeout()))
        self.assertEqual(0, request.flags())
        self.assertEqual('{"p": 1}', request.parameters())
        self.assertEqual({"A"}, request.requested_output_names())
        self.assertIs(tensor, pb_utils.get_input_tensor_by_name(request, "A"))
        self.assertIsNone(pb_utils.get_input_tensor_by_name(request, "B"))
        self.assertEqual("s", self.request(correlation_id="s").correlation_id())
        self.assertEqual(0, self.request().correlation_id())
        self.assertEqual("{}", self.request().parameters())
        self.assertIsNone(self.request().trace().get_context())
        request.set_flags(pb_utils.TRITONSERVER_REQUEST_FLAG_SEQUENCE_START)
        self.assertEqual(1, request.flags())
        self.request(preferred_memory=pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_GPU, 0))

    def test_refuses_wrong_arguments(self):
        for wrong in (
            {"inputs": None},
            {"inputs": [3]},
            {"inputs": ...},
            {"model_name": None},
            {"model_name": ...},
            {"requested_output_names": None},
            {"requested_output_names": [None]},
            {"requested_output_names": ...},
            {"correlation_id": None},
            {"correlation_id": -1},
            {"request_id": None},
            {"model_version": None},
            {"flags": None},
            {"flags": -1},
            {"timeout": 2**64},
            {"preferred_memory": 1},
            {"trace": "x"},
        ):
            with self.subTest(wrong), self.assertRaises(TypeError):
                self.request(**wrong)
        with self.assertRaisesRegex(ERROR, "^Correlation ID must be integer or string$"):
            self.request(correlation_id=1.5)
        with self.assertRaisesRegex(
            ERROR, "^Input tensor for request with id '' and model name 'm' should not be empty.$"
        ):
            self.request(inputs=[None])
        with self.assertRaisesRegex(
            ERROR, "^Requested output name for request with id '' and model name 'm' should not be empty.$"
        ):
            self.request(requested_output_names=[""])
        with self.assertRaisesRegex(ERROR, "Response sender has no reference to the decoupled state of the model."):
            self.request().get_response_sender().send(flags=1)


class OtherTest(unittest.TestCase):
    def test_refuses_wrong_arguments_of_the_log(self):
        logger = pb_utils.Logger
        for wrong in (
            lambda: logger.log("m", None),
            lambda: logger.log("m", 1),
            lambda: logger.log_info(None),
            lambda: logger.log_warn(None),
            lambda: logger.log_error(None),
            lambda: logger.log_verbose(None),
        ):
            with self.assertRaises(TypeError):
                wrong()

    def test_looks_configurations_up(self):
        tensors = [{"name": "A", "data_type": "TYPE_FP32"}]
        configuration = {"input": tensors, "output": [], "model_transaction_policy": {"decoupled": True}}
        self.assertIs(tensors[0], pb_utils.get_input_config_by_name(configuration, "A"))
        self.assertIsNone(pb_utils.get_output_config_by_name(configuration, "A"))
        self.assertIsNone(pb_utils.get_output_config_by_name({}, "A"))
        self.assertTrue(pb_utils.using_decoupled_model_transaction_policy(configuration))
        self.assertFalse(pb_utils.using_decoupled_model_transaction_policy({}))
        self.assertEqual(np.float16, pb_utils.triton_string_to_numpy("TYPE_FP16"))
        self.assertEqual(np.object_, pb_utils.triton_string_to_numpy("TYPE_STRING"))
        self.assertEqual(13, len(pb_utils.TRITON_STRING_TO_NUMPY))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_keeps_an_exception_that_ends_a_consumer(self):
        from torch.utils.dlpack import from_dlpack

        # The expression's tensor ends while the exception is on its way.
        with self.assertRaisesRegex(RuntimeError, "is invalid for input of size 6"):
            from_dlpack(pb_utils.Tensor("T", np.ones((2, 3), "f4")).to_dlpack()).reshape(7)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_shares_memory_with_torch(self):
        from torch.utils.dlpack import from_dlpack, to_dlpack

        for shape in ((2, 3), (0, 4), (), (1, 5)):
            for kind in ("f4", "f2", "i8", "u1", "i4"):
                array = np.zeros(shape, kind)
                seen = from_dlpack(pb_utils.Tensor("T", array).to_dlpack())
                self.assertEqual(shape, tuple(seen.shape))
                seen += 1
                np.testing.assert_array_equal(np.ones(shape), array)
                back = pb_utils.Tensor.from_dlpack("B", to_dlpack(seen))
                np.testing.assert_array_equal(array, back.as_numpy())
                self.assertEqual(array.dtype, back.as_numpy().dtype)

    def test_reads_bf16_of_any_producer(self):
        values = np.array([0x3F80, 0x4000, 0xC040], "u2")
        from gatun_worker_lib import dlpack

        capsule = dlpack.give(values, (3, 1), 14, values)
        tensor = pb_utils.Tensor.from_dlpack("B", capsule)
        self.assertEqual((14, [3, 1]), (tensor.triton_dtype(), tensor.shape()))
        with self.assertRaises(ERROR) as raised:
            tensor.as_numpy()
        self.assertEqual(
            "Tensor dtype is BF16 and cannot be converted to NumPy. Use to_dlpack() and from_dlpack() instead.",
            str(raised.exception),
        )
        again = pb_utils.Tensor.from_dlpack("C", tensor)
        self.assertEqual(14, again.triton_dtype())


if __name__ == "__main__":
    unittest.main()
