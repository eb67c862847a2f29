# SPDX-License-Identifier: Apache-2.0
"""The Python model of `jmh/run models`: 784 - 512 - 10, fully connected, in numpy; all requests of a batch in one product."""

import numpy
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        random = numpy.random.default_rng(9)
        self.hidden, self.last = (
            (random.standard_normal(shape) / numpy.sqrt(shape[0])).astype(numpy.float32) for shape in ((784, 512), (512, 10)))

    def execute(self, requests):
        rows = [request.inputs()[0].as_numpy() for request in requests]
        outputs = numpy.maximum(numpy.concatenate(rows) @ self.hidden, 0) @ self.last
        ends = numpy.cumsum([len(part) for part in rows])[:-1]
        return [pb_utils.InferenceResponse([pb_utils.Tensor("output", part)]) for part in numpy.split(outputs, ends)]
