#!/usr/bin/python3
"""Writes the model files of examples/models and examples/models-bench that are built and not trained.

Needs Debian's python3-onnx. Writing them again changes nothing: the files are the same bytes on
the same version of onnx. The network of `digits` is trained by digits/train.py.
"""

import pathlib

import onnx
from onnx import TensorProto, helper

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent


def write(model_name, nodes, inputs, outputs, repository="models"):
    """Writes version 1 of a model; inputs and outputs are (name, element type, shape)."""
    graph = helper.make_graph(
        nodes, model_name,
        [helper.make_tensor_value_info(*tensor) for tensor in inputs],
        [helper.make_tensor_value_info(*tensor) for tensor in outputs])
    model = helper.make_model(
        graph, producer_name="gatun-examples", ir_version=7,
        opset_imports=[helper.make_opsetid("", 13)])
    onnx.checker.check_model(model)
    path = EXAMPLES / repository / model_name / "1" / "model.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))
    print(f"wrote {model_name}: {path.stat().st_size} bytes")


def simple():
    """Sum and difference of 16 integers."""
    shape = ["batch", 16]
    write("simple",
          [helper.make_node("Add", ["INPUT0", "INPUT1"], ["OUTPUT0"]),
           helper.make_node("Sub", ["INPUT0", "INPUT1"], ["OUTPUT1"])],
          [("INPUT0", TensorProto.INT32, shape), ("INPUT1", TensorProto.INT32, shape)],
          [("OUTPUT0", TensorProto.INT32, shape), ("OUTPUT1", TensorProto.INT32, shape)])


def simple_string():
    """Sum and difference of 16 integers that come and go as decimal text."""
    shape = ["batch", 16]
    write("simple_string",
          [helper.make_node("Cast", ["INPUT0"], ["number0"], to=TensorProto.INT32),
           helper.make_node("Cast", ["INPUT1"], ["number1"], to=TensorProto.INT32),
           helper.make_node("Add", ["number0", "number1"], ["sum"]),
           helper.make_node("Sub", ["number0", "number1"], ["difference"]),
           helper.make_node("Cast", ["sum"], ["OUTPUT0"], to=TensorProto.STRING),
           helper.make_node("Cast", ["difference"], ["OUTPUT1"], to=TensorProto.STRING)],
          [("INPUT0", TensorProto.STRING, shape), ("INPUT1", TensorProto.STRING, shape)],
          [("OUTPUT0", TensorProto.STRING, shape), ("OUTPUT1", TensorProto.STRING, shape)])


def softmax():
    """Scores to probabilities, any number of rows and of classes; served without a config.pbtxt."""
    shape = ["batch", "classes"]
    write("softmax",
          [helper.make_node("Softmax", ["scores"], ["probabilities"], axis=-1)],
          [("scores", TensorProto.FLOAT, shape)],
          [("probabilities", TensorProto.FLOAT, shape)])


def simple_sequence():
    """The input, and 1 more where a sequence starts: what the sequence examples of Triton's clients expect."""
    shape = ["batch", 1]
    write("simple_sequence",
          [helper.make_node("Add", ["INPUT", "START"], ["OUTPUT"])],
          [("INPUT", TensorProto.INT32, shape), ("START", TensorProto.INT32, shape)],
          [("OUTPUT", TensorProto.INT32, shape)])


def running_sum():
    """The sum of a sequence so far, which is a state: START forgets it, READY tells rows from gaps."""
    shape = ["batch", 1]
    write("running_sum",
          [helper.make_node("Constant", [], ["one"], value_int=1),
           helper.make_node("Cast", ["one"], ["one32"], to=TensorProto.INT32),
           helper.make_node("Sub", ["one32", "START"], ["goes_on"]),
           helper.make_node("Mul", ["INPUT_STATE", "goes_on"], ["before"]),
           helper.make_node("Mul", ["INPUT", "READY"], ["new"]),
           helper.make_node("Add", ["before", "new"], ["OUTPUT_STATE"]),
           helper.make_node("Identity", ["OUTPUT_STATE"], ["OUTPUT"])],
          [("INPUT", TensorProto.INT32, shape), ("START", TensorProto.INT32, shape),
           ("READY", TensorProto.INT32, shape), ("INPUT_STATE", TensorProto.INT32, shape)],
          [("OUTPUT", TensorProto.INT32, shape), ("OUTPUT_STATE", TensorProto.INT32, shape)])


def tensor_shape():
    """The shape of a tensor of any size, whose data is not looked at: what moving a tensor costs, and nothing else."""
    write("tensor_shape",
          [helper.make_node("Shape", ["DATA"], ["SHAPE"])],
          [("DATA", TensorProto.FLOAT, ["elements"])],
          [("SHAPE", TensorProto.INT64, [1])],
          repository="models-bench")


if __name__ == "__main__":
    simple()
    simple_string()
    simple_sequence()
    running_sum()
    softmax()
    tensor_shape()
