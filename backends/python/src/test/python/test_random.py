# SPDX-License-Identifier: Apache-2.0
"""Random requests of every datatype and many shapes, against numpy."""

import unittest

import numpy as np
from harness import ModelTest
from wire import BF16, NUMPY

# For each input that begins with I there are three outputs: the input itself, twice its values, and its axes reversed.
MODEL = """
import numpy as np
import triton_python_backend_utils as pb_utils

def bits(tensor):
    # BF16 as the bits that DLPack shows.
    import ctypes
    from gatun_worker_lib import dlpack
    array, shape, number = dlpack.take(tensor.to_dlpack())
    assert number == 14
    return array

class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            outputs = []
            for tensor in request.inputs():
                name = tensor.name()
                outputs.append(tensor)
                if tensor.triton_dtype() == 14:
                    outputs.append(pb_utils.Tensor(name + "-bits", bits(tensor)))
                    outputs.append(pb_utils.Tensor.from_dlpack(name + "-copy", tensor))
                    continue
                array = tensor.as_numpy()
                assert list(array.shape) == tensor.shape(), (array.shape, tensor.shape())
                assert array.flags.writeable
                outputs.append(pb_utils.Tensor(name + "-twice", np.asarray(array + array, array.dtype)))
                outputs.append(pb_utils.Tensor(name + "-reversed", array.T))
            responses.append(pb_utils.InferenceResponse(outputs))
        return responses
"""


class RandomTest(ModelTest):
    REQUESTS = 10_000

    def array(self):
        random = self.random
        rank = int(random.integers(0, 5))
        limit = 40 if rank < 4 and random.random() < 0.02 else 4
        shape = tuple(int(size) for size in random.integers(0 if random.random() < 0.2 else 1, limit, rank))
        kind = int(random.integers(0, 14))
        count = int(np.prod(shape))
        if kind < 12:
            raw = random.integers(0, 256, count * np.dtype(NUMPY[kind]).itemsize, dtype=np.uint8)
            if kind == 0:
                raw %= 2
            return np.frombuffer(raw.tobytes(), NUMPY[kind]).reshape(shape)
        if kind == 12:
            array = np.empty(count, object)
            for index in range(count):
                array[index] = random.bytes(int(random.integers(0, 9)))
            return array.reshape(shape)
        return np.frombuffer(random.bytes(2 * count), "u2").reshape(shape), BF16

    def same(self, expected, actual):
        self.assertEqual(expected.shape, actual.shape)
        if expected.dtype == object:
            self.assertEqual(expected.ravel().tolist(), actual.ravel().tolist())
        else:
            self.assertEqual(expected.tobytes(), actual.tobytes())

    def test_answers_random_requests(self):
        self.random = np.random.default_rng(20)
        server = self.serve(MODEL, request_bytes=1 << 28, response_bytes=1 << 28)
        done = 0
        while done < self.REQUESTS:
            count = int(self.random.integers(1, 40))
            requests = []
            for _ in range(count):
                arrays = [self.array() for _ in range(int(self.random.integers(1, 4)))]
                requests.append({"inputs": {f"I{index}": array for index, array in enumerate(arrays)}})
            server.execute(*requests)
            ran = server.ran()
            self.assertIn("responses", ran, ran)
            with np.errstate(all="ignore"):
                for request, response in zip(requests, ran["responses"]):
                    self.check(request["inputs"], response["outputs"])
            done += count
        self.assertEqual({}, server.requests.used)

    def check(self, inputs, outputs):
        self.assertEqual(3 * len(inputs), len(outputs))
        for name, value in inputs.items():
            if isinstance(value, tuple):
                for output in (name, name + "-bits", name + "-copy"):
                    self.same(value[0], outputs[output])
                continue
            self.same(value, outputs[name])
            self.same(np.asarray(value + value, value.dtype), outputs[name + "-twice"])
            self.same(value.T.copy(), outputs[name + "-reversed"])

    def test_moves_large_tensors(self):
        server = self.serve(MODEL, request_bytes=1 << 28, response_bytes=1 << 30)
        large = np.arange(3 << 20, dtype="f8")
        texts = np.array([b"x" * (index % 3000) for index in range(3000)], object)
        for _ in range(3):
            outputs = server.infer({"I": large, "S": texts})["outputs"]
            self.check({"I": large, "S": texts}, outputs)


if __name__ == "__main__":
    unittest.main()
