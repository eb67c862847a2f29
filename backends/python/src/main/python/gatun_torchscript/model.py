# SPDX-License-Identifier: Apache-2.0
"""Serves a TorchScript file: every model of backend pytorch has this program."""

import json
import os
import re

import numpy as np
import torch
import triton_python_backend_utils as pb_utils

# Inputs and outputs may be named after their places, as in INPUT__0.
_PLACE = re.compile(r".*__([0-9]+)$")
_TRUE = ("1", "true", "yes", "on")
_ENABLED = ("disabled", "enabled")


class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        file = config.get("default_model_filename") or "model.pt"
        self._name = config["name"]
        self._device = _device(args)
        path = os.path.join(args["model_repository"], args["model_version"], file)
        self._module = torch.jit.load(path, map_location=self._device)
        self._module.eval()
        parameters = config.get("parameters", {})
        inference = _is_on(parameters, "INFERENCE_MODE", True)
        self._no_gradients = torch.inference_mode if inference else torch.no_grad
        optimized = not _is_on(parameters, "DISABLE_OPTIMIZED_EXECUTION", False)
        if not optimized:
            torch._C._set_graph_executor_optimize(False)
        instance = args["model_instance_name"]
        pb_utils.Logger.log_verbose(f"Optimized execution is {_ENABLED[optimized]} for model instance '{instance}'")
        pb_utils.Logger.log_verbose(f"Inference Mode is {_ENABLED[inference]} for model instance '{instance}'")
        self._batching = config.get("max_batch_size", 0) > 0
        self._inputs = _in_order(_input_names(config), _arguments(self._module))
        self._outputs = _places(_output_names(config))

    def execute(self, requests):
        arguments = [self._arguments_of(request) for request in requests]
        groups = self._groups(arguments)
        responses = [None] * len(requests)
        for group in groups:
            try:
                for index, tensors in zip(group, self._run([arguments[i] for i in group])):
                    responses[index] = pb_utils.InferenceResponse(output_tensors=tensors)
            except Exception as error:
                failure = pb_utils.TritonError(f"PyTorch execute failure: {error}")
                for index in group:
                    responses[index] = pb_utils.InferenceResponse(error=failure)
        return responses

    def _arguments_of(self, request):
        given = {tensor.name(): tensor.as_numpy() for tensor in request.inputs()}
        return [given[name] for name in self._inputs if name in given]

    def _groups(self, arguments):
        """Requests that the module runs together: those whose tensors differ in the batch dimension only."""
        if not self._batching or len(arguments) == 1:
            return [[i] for i in range(len(arguments))]
        groups = {}
        for index, tensors in enumerate(arguments):
            kind = tuple((tensor.dtype.str, tensor.shape[1:]) for tensor in tensors)
            groups.setdefault(kind, []).append(index)
        return list(groups.values())

    def _run(self, group):
        """The outputs of each request of a group."""
        rows = [tensors[0].shape[0] if self._batching and tensors else 1 for tensors in group]
        inputs = [_to_torch(part, self._device) for part in map(self._joined, zip(*group))]
        with self._no_gradients():
            results = _listed(self._module(*inputs))
        outputs = [(name, _to_numpy(self._result(results, name, place))) for name, place in self._outputs]
        if len(group) == 1:
            return [[pb_utils.Tensor(name, value) for name, value in outputs]]
        ends = np.cumsum(rows)
        return [
            [pb_utils.Tensor(name, value[end - count : end]) for name, value in outputs]
            for count, end in zip(rows, ends)
        ]

    @staticmethod
    def _joined(parts):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _result(self, results, name, place):
        if isinstance(results, dict):
            if name not in results:
                raise ValueError(f"model '{self._name}' gave no output '{name}'; it has {', '.join(results)}")
            return results[name]
        if place >= len(results):
            raise ValueError(f"model '{self._name}' gave {len(results)} outputs, and '{name}' is number {place}")
        return results[place]


def _device(args):
    if args["model_instance_kind"] == "GPU" and torch.cuda.is_available():
        return torch.device("cuda", int(args["model_instance_device_id"]))
    return torch.device("cpu")


def _is_on(parameters, name, otherwise):
    if name not in parameters:
        return otherwise
    return parameters[name]["string_value"].lower() in _TRUE


def _input_names(config):
    """What forward takes: inputs, those that tell of a batch, and a sequence's controls and states."""
    sequence = config.get("sequence_batching", {})
    names = [tensor["name"] for tensor in config.get("input", [])]
    names += [name for batch in config.get("batch_input", []) for name in batch["target_name"]]
    names += [control["name"] for control in sequence.get("control_input", [])]
    return names + [state["input_name"] for state in sequence.get("state", [])]


def _output_names(config):
    names = [tensor["name"] for tensor in config.get("output", [])]
    states = [state["output_name"] for state in config.get("sequence_batching", {}).get("state", [])]
    # A state that clients may ask for is among the outputs, too.
    return names + [name for name in states if name not in names]


def _arguments(module):
    """The names of what forward takes, but for the module itself."""
    try:
        return [argument.name for argument in module.forward.schema.arguments][1:]
    except (AttributeError, RuntimeError):
        return []


def _in_order(names, arguments):
    """The inputs in the order in which forward takes them: by its names, by numbers in theirs, or as configured."""
    if all(name in arguments for name in names):
        return sorted(names, key=arguments.index)
    return [name for name, _ in sorted(_places(names), key=lambda named: named[1])]


def _places(names):
    """Each name with its place: the number that it ends with, where all do, or that in the configuration."""
    numbered = [_PLACE.match(name) for name in names]
    if all(numbered):
        return [(name, int(match.group(1))) for name, match in zip(names, numbered)]
    return [(name, place) for place, name in enumerate(names)]


def _listed(results):
    if isinstance(results, (tuple, dict)):
        return results
    # A list of texts is one output.
    if isinstance(results, list) and not all(isinstance(result, str) for result in results):
        return results
    return [results]


def _to_torch(array, device):
    if array.dtype.hasobject:
        return [text.decode("utf-8") if isinstance(text, bytes) else text for text in array.reshape(-1)]
    try:
        return torch.from_numpy(array).to(device)
    except TypeError as error:
        raise ValueError(f"PyTorch has no tensors of {array.dtype}") from error


def _to_numpy(value):
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    if isinstance(value, list):
        return np.array([text.encode("utf-8") for text in value], dtype=np.object_)
    return np.array(value)
