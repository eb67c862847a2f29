#!/usr/bin/env python3
"""Writes the real-sized models of `jmh/run models` into a folder: make_models.py FOLDER [--large].

Needs numpy and onnx (Debian's python3-numpy and python3-onnx). All weights come from a seed, so that the files are the
same everywhere; nothing is downloaded. Every model has a batch as its first dimension. FOLDER/NAME/1/model.onnx is a
model of a repository. What is there already stays.
"""

import pathlib
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


class Graph:
    """Nodes and weights on their way into a file."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.nodes = []
        self.weights = []
        self.count = 0

    def constant(self, values):
        self.count += 1
        name = f"weight{self.count}"
        self.weights.append(numpy_helper.from_array(numpy.ascontiguousarray(values), name))
        return name

    def normal(self, *shape):
        """Random weights scaled by the inputs of an output, so that values stay near 1 through many layers."""
        fan_in = int(numpy.prod(shape[1:])) if len(shape) == 4 else shape[0]
        return self.constant((self.random.standard_normal(shape) / numpy.sqrt(fan_in)).astype(numpy.float32))

    def zeros(self, *shape):
        return self.constant(numpy.zeros(shape, numpy.float32))

    def node(self, operator, inputs, output=None, **attributes):
        self.count += 1
        output = output or f"value{self.count}"
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def dense(self, value, rows, columns):
        return self.node("Add", [self.node("MatMul", [value, self.normal(rows, columns)]), self.zeros(columns)])

    def write(self, folder, name, inputs, outputs, domains=()):
        graph = helper.make_graph(
            self.nodes, name,
            [helper.make_tensor_value_info(*tensor) for tensor in inputs],
            [helper.make_tensor_value_info(*tensor) for tensor in outputs],
            self.weights)
        model = helper.make_model(
            graph, producer_name="gatun-benchmarks", ir_version=8,
            opset_imports=[helper.make_opsetid("", 17)] + [helper.make_opsetid(*domain) for domain in domains])
        onnx.checker.check_model(model)
        path = folder / name / "1" / "model.onnx"
        path.parent.mkdir(parents=True, exist_ok=True)
        onnx.save(model, str(path))
        print(f"wrote {path}: {path.stat().st_size} bytes")


def convolutions(folder):
    """Six convolutions over a picture of 3 x 112 x 112, each second one half as wide as the one before, and a classifier."""
    graph = Graph(1)
    value = "input"
    channels = 3
    for width, stride in [(16, 2), (32, 1), (48, 2), (64, 1), (96, 2), (128, 1)]:
        value = graph.node(
            "Conv", [value, graph.normal(width, channels, 3, 3), graph.zeros(width)],
            kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[stride, stride])
        value = graph.node("Relu", [value])
        channels = width
    value = graph.node("Flatten", [graph.node("GlobalAveragePool", [value])])
    graph.node("Gemm", [value, graph.normal(channels, 100), graph.zeros(100)], "output")
    graph.write(folder, "cnn", [("input", FLOAT, ["batch", 3, 112, 112])], [("output", FLOAT, ["batch", 100])])


def encoder(folder, name="encoder", layers=4, width=256):
    """A transformer's encoder with 4 heads, for token numbers below 1000; batch and length vary."""
    graph = Graph(2)
    heads, vocabulary = 4, 1000
    depth = width // heads
    value = graph.node("Gather", [graph.normal(vocabulary, width), "tokens"])
    split = graph.constant(numpy.array([0, 0, heads, depth], numpy.int64))
    merge = graph.constant(numpy.array([0, 0, width], numpy.int64))
    scale = graph.constant(numpy.array(depth ** -0.5, numpy.float32))

    def normalised(tensor):
        return graph.node(
            "LayerNormalization", [tensor, graph.constant(numpy.ones(width, numpy.float32)), graph.zeros(width)], axis=-1)

    for _ in range(layers):
        inner = normalised(value)
        query, key, content = [
            graph.node("Transpose", [graph.node("Reshape", [graph.dense(inner, width, width), split])], perm=order)
            for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])]
        scores = graph.node("Softmax", [graph.node("Mul", [graph.node("MatMul", [query, key]), scale])], axis=-1)
        mixed = graph.node("Transpose", [graph.node("MatMul", [scores, content])], perm=[0, 2, 1, 3])
        mixed = graph.dense(graph.node("Reshape", [mixed, merge]), width, width)
        value = graph.node("Add", [value, mixed])
        inner = graph.dense(normalised(value), width, 4 * width)
        half = graph.constant(numpy.array(0.5, numpy.float32))
        root = graph.constant(numpy.array(2 ** -0.5, numpy.float32))
        one = graph.constant(numpy.array(1, numpy.float32))
        share = graph.node("Add", [graph.node("Erf", [graph.node("Mul", [inner, root])]), one])
        inner = graph.node("Mul", [graph.node("Mul", [inner, half]), share])
        value = graph.node("Add", [value, graph.dense(inner, 4 * width, width)])
    graph.node("ReduceMean", [normalised(value)], "output", axes=[1], keepdims=0)
    graph.write(
        folder, name, [("tokens", TensorProto.INT64, ["batch", "length"])], [("output", FLOAT, ["batch", width])])


def large(folder):
    """100 MB: an encoder of 8 layers of width 512, for measuring how models are loaded."""
    encoder(folder, "large", 8, 512)


def network(folder):
    """784 - 2048 - 2048 - 10, fully connected."""
    graph = Graph(3)
    value = graph.node("Relu", [graph.node("Gemm", ["input", graph.normal(784, 2048), graph.zeros(2048)])])
    value = graph.node("Relu", [graph.node("Gemm", [value, graph.normal(2048, 2048), graph.zeros(2048)])])
    graph.node("Gemm", [value, graph.normal(2048, 10), graph.zeros(10)], "output")
    graph.write(folder, "mlp", [("input", FLOAT, ["batch", 784])], [("output", FLOAT, ["batch", 10])])


def forest(folder):
    """500 full trees of depth 6 over 50 numbers, summed."""
    graph = Graph(4)
    trees, depth, features = 500, 6, 50
    inner, nodes = 2 ** depth - 1, 2 ** (depth + 1) - 1
    tree = numpy.arange(nodes)
    is_inner = tree < inner
    attributes = {
        "nodes_treeids": numpy.repeat(numpy.arange(trees), nodes).tolist(),
        "nodes_nodeids": numpy.tile(tree, trees).tolist(),
        "nodes_featureids": graph.random.integers(0, features, trees * nodes).tolist(),
        "nodes_modes": numpy.tile(numpy.where(is_inner, "BRANCH_LEQ", "LEAF"), trees).tolist(),
        "nodes_values": graph.random.random(trees * nodes).tolist(),
        "nodes_truenodeids": numpy.tile(numpy.where(is_inner, 2 * tree + 1, 0), trees).tolist(),
        "nodes_falsenodeids": numpy.tile(numpy.where(is_inner, 2 * tree + 2, 0), trees).tolist(),
        "target_treeids": numpy.repeat(numpy.arange(trees), nodes - inner).tolist(),
        "target_nodeids": numpy.tile(tree[~is_inner], trees).tolist(),
        "target_ids": [0] * (trees * (nodes - inner)),
        "target_weights": (graph.random.standard_normal(trees * (nodes - inner)) / trees).tolist(),
    }
    graph.node("TreeEnsembleRegressor", ["input"], "output", domain="ai.onnx.ml", n_targets=1, **attributes)
    graph.write(
        folder, "forest", [("input", FLOAT, ["batch", features])], [("output", FLOAT, ["batch", 1])], [("ai.onnx.ml", 3)])


def recommender(folder):
    """26 categories, each a row of 16 numbers from a table of 10,000, beside 13 numbers, through three layers."""
    graph = Graph(5)
    tables, rows, width, numbers = 26, 10_000, 16, 13
    # One table for all: the number of a category's row counts on from the categories before.
    table = graph.constant((graph.random.standard_normal((tables * rows, width)) / 4).astype(numpy.float32))
    offsets = graph.constant((numpy.arange(tables) * rows).astype(numpy.int64))
    rows_of = graph.node("Gather", [table, graph.node("Add", ["categories", offsets])])
    flat = graph.node("Reshape", [rows_of, graph.constant(numpy.array([0, tables * width], numpy.int64))])
    value = graph.node("Concat", ["numbers", flat], axis=1)
    size = numbers + tables * width
    for next_size in [512, 256]:
        value = graph.node("Relu", [graph.dense(value, size, next_size)])
        size = next_size
    graph.node("Sigmoid", [graph.dense(value, size, 1)], "output")
    graph.write(
        folder, "recommender",
        [("numbers", FLOAT, ["batch", numbers]), ("categories", TensorProto.INT64, ["batch", tables])],
        [("output", FLOAT, ["batch", 1])])


def quantised(folder):
    """512 - 1024 - 1024 - 10 in whole numbers of 8 bits: dynamically quantised inputs, quantised weights."""
    graph = Graph(6)
    value, size = "input", 512
    sizes = [1024, 1024, 10]
    for layer, next_size in enumerate(sizes):
        weights = graph.random.standard_normal((size, next_size)) / numpy.sqrt(size)
        scale = numpy.abs(weights).max() / 127
        packed = graph.constant(numpy.rint(weights / scale).astype(numpy.int8))
        names = [f"quantised{layer}", f"scale{layer}", f"zero{layer}"]
        graph.nodes.append(helper.make_node("DynamicQuantizeLinear", [value], names))
        zero = graph.constant(numpy.array(0, numpy.int8))
        whole = graph.node("Cast", [graph.node("MatMulInteger", [names[0], packed, names[2], zero])], to=FLOAT)
        factor = graph.node("Mul", [names[1], graph.constant(numpy.array(scale, numpy.float32))])
        last = layer == len(sizes) - 1
        value = graph.node("Mul", [whole, factor], "output" if last else None)
        if not last:
            value = graph.node("Relu", [value])
        size = next_size
    graph.write(folder, "quantised", [("input", FLOAT, ["batch", 512])], [("output", FLOAT, ["batch", 10])])


def bare_picture(folder):
    """What a request costs beside the model: takes pictures as `cnn` does, and gives their first 100 numbers."""
    graph = Graph(7)
    first, last, axes = (graph.constant(numpy.array(values, numpy.int64)) for values in ([0, 0, 0], [1, 1, 100], [1, 2, 3]))
    graph.node("Slice", ["input", first, last, axes], "output")
    graph.write(
        folder, "bare_picture", [("input", FLOAT, ["batch", 3, 112, 112])], [("output", FLOAT, ["batch", 1, 1, 100])])


def bare_row(folder):
    """The same beside the other models: as large as their inputs."""
    graph = Graph(8)
    graph.node("Identity", ["input"], "output")
    graph.write(folder, "bare_row", [("input", FLOAT, ["batch", 256])], [("output", FLOAT, ["batch", 256])])


def main():
    folder = pathlib.Path(sys.argv[1])
    models = {"cnn": convolutions, "encoder": encoder, "mlp": network, "forest": forest, "recommender": recommender,
              "quantised": quantised, "bare_picture": bare_picture,
              "bare_row": bare_row}
    if "--large" in sys.argv:
        models["large"] = large
    for name, make in models.items():
        if not (folder / name / "1" / "model.onnx").exists():
            make(folder)


if __name__ == "__main__":
    main()
