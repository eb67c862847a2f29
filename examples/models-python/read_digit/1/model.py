"""A picture in, its digit out: what comes before and after the network `digits`, in Python."""

import numpy
import triton_python_backend_utils as pb_utils

from . import picture


class TritonPythonModel:
    def execute(self, requests):
        return [self._answer(request) for request in requests]

    def _answer(self, request):
        png = pb_utils.get_input_tensor_by_name(request, "PNG").as_numpy().item()
        try:
            image = picture.prepare(picture.decode(png))
        except ValueError as reason:
            error = pb_utils.TritonError(f"input 'PNG': {reason}", pb_utils.TritonError.INVALID_ARG)
            return pb_utils.InferenceResponse(error=error)
        call = pb_utils.InferenceRequest(
            model_name="digits",
            requested_output_names=["probabilities"],
            inputs=[pb_utils.Tensor("image", image.reshape(1, 1, *image.shape))],
        )
        answer = call.exec()
        if answer.has_error():
            return pb_utils.InferenceResponse(error=answer.error())
        probabilities = pb_utils.get_output_tensor_by_name(answer, "probabilities").as_numpy()[0]
        digit = int(probabilities.argmax())
        return pb_utils.InferenceResponse(
            [
                pb_utils.Tensor("CONFIDENCE", probabilities[digit : digit + 1]),
                pb_utils.Tensor("DIGIT", numpy.array([str(digit)], dtype=numpy.object_)),
            ]
        )
