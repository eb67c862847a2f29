#!/usr/bin/python3
"""Writes the weights of the small network of these examples, once for each engine that runs it.

mlp_weights.h is for the kernels of mlp.cu, ../models-gpu/mlp_onnx/1/model.onnx for ONNX Runtime. Both hold the very same
numbers. They are drawn, not learnt: the network is there to compare two engines.

Needs Debian's python3-onnx. Writing them again changes nothing: the files are the same bytes on the same version of onnx.
"""

import pathlib
import random
import struct

import onnx
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).resolve().parent
MODEL = HERE.parent / "models-gpu" / "mlp_onnx" / "1" / "model.onnx"
INPUTS, HIDDEN, OUTPUTS = 4, 16, 3

HEADER = """\
/*
 * The weights of the small network: INPUTS-HIDDEN-HIDDEN-OUTPUTS, a row of weights for each neuron. Written by
 * make_mlp.py, with the ONNX model that has the same. For CUDA C, which defines GATUN_CONSTANT, and for plain C.
 */
#ifndef GATUN_MLP_WEIGHTS_H
#define GATUN_MLP_WEIGHTS_H

#ifndef GATUN_CONSTANT
#define GATUN_CONSTANT static const
#endif

"""


def draw(source, rows, columns):
    """So many FP32 numbers as keep the sizes of what goes in: rows of weights, and a bias for each row."""
    limit = (6 / (rows + columns)) ** 0.5

    def number():
        return struct.unpack("<f", struct.pack("<f", source.uniform(-limit, limit)))[0]

    return [number() for _ in range(rows * columns)], [number() for _ in range(rows)]


def array(name, length, numbers):
    lines = [f"GATUN_CONSTANT float {name}[{length}] = {{"]
    for start in range(0, len(numbers), 8):
        lines.append("    " + " ".join(f"{n:.9e}f," for n in numbers[start:start + 8]))
    return "\n".join(lines + ["};", ""])


def main():
    source = random.Random(4)
    sizes = [INPUTS, HIDDEN, HIDDEN, OUTPUTS]
    names = ["MLP_INPUTS", "MLP_HIDDEN", "MLP_HIDDEN", "MLP_OUTPUTS"]
    text = HEADER + f"enum {{ MLP_INPUTS = {INPUTS}, MLP_HIDDEN = {HIDDEN}, MLP_OUTPUTS = {OUTPUTS} }};\n"
    nodes, constants = [], []
    tensor = "x"
    for layer in (1, 2, 3):
        rows, columns = sizes[layer], sizes[layer - 1]
        weights, bias = draw(source, rows, columns)
        text += "\n" + array(f"mlp_weights{layer}", f"{names[layer]} * {names[layer - 1]}", weights)
        text += "\n" + array(f"mlp_bias{layer}", names[layer], bias)
        constants.append(helper.make_tensor(f"weights{layer}", TensorProto.FLOAT, [rows, columns], weights))
        constants.append(helper.make_tensor(f"bias{layer}", TensorProto.FLOAT, [rows], bias))
        result = "y" if layer == 3 else f"sum{layer}"
        nodes.append(helper.make_node("Gemm", [tensor, f"weights{layer}", f"bias{layer}"], [result], transB=1))
        if layer < 3:
            nodes.append(helper.make_node("Relu", [result], [f"h{layer}"]))
            tensor = f"h{layer}"
    (HERE / "mlp_weights.h").write_text(text + "\n#endif\n")

    graph = helper.make_graph(
        nodes, "mlp",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", INPUTS])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", OUTPUTS])],
        constants)
    model = helper.make_model(
        graph, producer_name="gatun-examples", ir_version=7, opset_imports=[helper.make_opsetid("", 13)])
    onnx.checker.check_model(model)
    MODEL.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(MODEL))


if __name__ == "__main__":
    main()
