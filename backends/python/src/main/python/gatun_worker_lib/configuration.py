# SPDX-License-Identifier: Apache-2.0
"""A model's configuration: completing it, and looking things up in it."""

import json

_FUNCTION = "auto-complete-config function for model"


class ModelConfig:
    """
    The configuration that a model's auto_complete_config completes.

    Every change is checked against what the configuration says already; a contradiction is a ValueError.
    """

    def __init__(self, model_config):
        self._model_config = json.loads(model_config)

    def as_dict(self):
        """The configuration, to be read only."""
        return self._model_config

    def _name(self):
        return self._model_config["name"]

    def set_max_batch_size(self, max_batch_size):
        """Sets the largest batch; not below the one that is set already."""
        present = self._model_config.get("max_batch_size", 0)
        if present > max_batch_size:
            raise ValueError(
                f"configuration specified max_batch_size {present}, but in {_FUNCTION} '{self._name()}' specified "
                f"max_batch_size {max_batch_size}"
            )
        self._model_config["max_batch_size"] = max_batch_size

    def set_dynamic_batching(self):
        """Chooses dynamic batching, unless it is chosen; not beside another scheduler."""
        for scheduler in ("sequence_batching", "ensemble_scheduling"):
            if scheduler in self._model_config:
                raise ValueError(
                    f"Configuration specified scheduling_choice as '{scheduler}', but {_FUNCTION} '{self._name()}' "
                    "tries to set scheduling_choice as 'dynamic_batching'"
                )
        self._model_config.setdefault("dynamic_batching", {})

    def add_input(self, input):
        """Adds an input, a dict of name, data_type, dims and perhaps optional; or completes the one of that name."""
        allowed = ("name", "data_type", "dims", "optional")
        self._add("input", input, allowed, "'name', 'data_type', 'dims' and 'optional'")

    def add_output(self, output):
        """Adds an output, a dict of name, data_type and dims; or completes the one of that name."""
        self._add("output", output, ("name", "data_type", "dims"), "'name', 'data_type' and 'dims'")

    def _add(self, kind, tensor, allowed, allowed_text):
        for key in tensor:
            if key not in allowed:
                raise ValueError(
                    f"{kind} '{tensor['name']}' in {_FUNCTION} '{self._name()}' contains property other than "
                    f"{allowed_text}."
                )
        for key in ("name", "data_type", "dims"):
            if key not in tensor:
                named = "" if key == "name" else f" '{tensor['name']}'"
                raise ValueError(f"{kind}{named} in {_FUNCTION} '{self._name()}' is missing '{key}' property.")
        tensors = self._model_config.setdefault(kind, [])
        for present in tensors:
            if present["name"] == tensor["name"]:
                self._check_same(kind, present, tensor)
                present.update(tensor)
                return
        tensors.append(tensor)

    def _check_same(self, kind, present, tensor):
        name = tensor["name"]
        if present["data_type"] not in ("TYPE_INVALID", tensor["data_type"]):
            raise ValueError(
                f"unable to load model '{self._name()}', configuration expects datatype {present['data_type']} for "
                f"{kind} '{name}', model provides {tensor['data_type']}"
            )
        for key in ("dims", "optional"):
            stated = present.get(key) if key == "dims" else present.get(key, tensor.get(key))
            if key in tensor and (stated or key == "optional") and stated != tensor[key]:
                raise ValueError(
                    f"model '{self._name()}', tensor '{name}': the model expects {key} {tensor[key]} but the model "
                    f"configuration specifies {key} {stated}"
                )

    def set_model_transaction_policy(self, transaction_policy_dict):
        """Sets whether the model is decoupled: a dict of decoupled alone; not against what is set already."""
        for key in transaction_policy_dict:
            if key != "decoupled":
                raise ValueError(
                    f"model transaction property in {_FUNCTION} '{self._name()}' contains property other than "
                    "'decoupled'."
                )
        policy = self._model_config.setdefault("model_transaction_policy", {})
        if "decoupled" in transaction_policy_dict:
            wanted = transaction_policy_dict["decoupled"]
            if policy.get("decoupled", wanted) != wanted:
                raise ValueError(
                    f"trying to change decoupled property in auto-complete-config for model '{self._name()}', which "
                    f"is already set to '{policy['decoupled']}'."
                )
            policy["decoupled"] = wanted


def get_input_config_by_name(model_config, name):
    """The input of that name in a model's configuration (a dict); None where there is none."""
    return _by_name(model_config.get("input", ()), name)


def get_output_config_by_name(model_config, name):
    """The output of that name in a model's configuration (a dict); None where there is none."""
    return _by_name(model_config.get("output", ()), name)


def _by_name(tensors, name):
    for tensor in tensors:
        if tensor["name"] == name:
            return tensor
    return None


def using_decoupled_model_transaction_policy(model_config):
    """Whether a model's configuration (a dict) lets a request have any number of responses."""
    return model_config.get("model_transaction_policy", {}).get("decoupled", False)
