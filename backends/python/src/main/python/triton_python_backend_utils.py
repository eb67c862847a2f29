# SPDX-License-Identifier: Apache-2.0
"""What models import: the interface of Triton's python backend, made by Gatun."""

from gatun_worker_lib.bytes_elements import decode_array as _decode_array
from gatun_worker_lib.bytes_elements import elements_of as _elements_of
from gatun_worker_lib.bytes_elements import encode as _encode
from gatun_worker_lib.calls import is_model_ready, load_model, unload_model
from gatun_worker_lib.configuration import (
    ModelConfig,
    get_input_config_by_name,
    get_output_config_by_name,
    using_decoupled_model_transaction_policy,
)
from gatun_worker_lib.datatypes import BYTES as _BYTES
from gatun_worker_lib.datatypes import (
    TRITON_STRING_TO_NUMPY,
    numpy_to_triton_type,
    triton_string_to_numpy,
    triton_to_numpy_type,
)
from gatun_worker_lib.errors import TritonError, TritonModelException
from gatun_worker_lib.loading import get_model_dir
from gatun_worker_lib.log import Logger
from gatun_worker_lib.memory_preference import MemoryType, PreferredMemory
from gatun_worker_lib.metrics import Metric, MetricFamily, MetricKind
from gatun_worker_lib.requests import InferenceRequest, InferenceTrace
from gatun_worker_lib.responses import InferenceResponse, InferenceResponseSender, ResponseIterator
from gatun_worker_lib.tensors import Tensor

TRITONSERVER_REQUEST_FLAG_SEQUENCE_START = 1
TRITONSERVER_REQUEST_FLAG_SEQUENCE_END = 2
TRITONSERVER_RESPONSE_COMPLETE_FINAL = 1
TRITONSERVER_REQUEST_RELEASE_ALL = 1
TRITONSERVER_REQUEST_RELEASE_RESCHEDULE = 2
TRITONSERVER_MEMORY_GPU = MemoryType.TRITONSERVER_MEMORY_GPU
TRITONSERVER_MEMORY_CPU = MemoryType.TRITONSERVER_MEMORY_CPU

__all__ = [
    "InferenceRequest",
    "InferenceResponse",
    "InferenceResponseSender",
    "InferenceTrace",
    "Logger",
    "MemoryType",
    "Metric",
    "MetricFamily",
    "MetricKind",
    "ModelConfig",
    "PreferredMemory",
    "ResponseIterator",
    "TRITON_STRING_TO_NUMPY",
    "TRITONSERVER_MEMORY_CPU",
    "TRITONSERVER_MEMORY_GPU",
    "TRITONSERVER_REQUEST_FLAG_SEQUENCE_END",
    "TRITONSERVER_REQUEST_FLAG_SEQUENCE_START",
    "TRITONSERVER_REQUEST_RELEASE_ALL",
    "TRITONSERVER_REQUEST_RELEASE_RESCHEDULE",
    "TRITONSERVER_RESPONSE_COMPLETE_FINAL",
    "Tensor",
    "TritonError",
    "TritonModelException",
    "deserialize_bytes_tensor",
    "get_input_config_by_name",
    "get_input_tensor_by_name",
    "get_model_dir",
    "get_output_config_by_name",
    "get_output_tensor_by_name",
    "is_model_ready",
    "load_model",
    "numpy_to_triton_type",
    "serialize_byte_tensor",
    "triton_string_to_numpy",
    "triton_to_numpy_type",
    "unload_model",
    "using_decoupled_model_transaction_policy",
]

# What models see is what they import, also in the texts of errors.
for _name in __all__:
    if isinstance(globals().get(_name), type):
        globals()[_name].__module__ = __name__


def get_input_tensor_by_name(inference_request, name):
    """The request's input of that name; None where there is none."""
    for tensor in inference_request.inputs():
        if tensor.name() == name:
            return tensor
    return None


def get_output_tensor_by_name(inference_response, name):
    """The response's output of that name; None where there is none."""
    for tensor in inference_response.output_tensors():
        if tensor.name() == name:
            return tensor
    return None


def serialize_byte_tensor(input_tensor):
    """An array of objects or bytes as bytes: each element's length in 4 bytes, then the element. Else None."""
    if input_tensor.size == 0:
        return ()
    if numpy_to_triton_type(input_tensor.dtype) != _BYTES:
        return None
    return _encode(_elements_of(input_tensor))


def deserialize_bytes_tensor(encoded_tensor):
    """The one-dimensional array of bytes objects that serialize_byte_tensor made these bytes of."""
    return _decode_array(memoryview(encoded_tensor).cast("B"))
