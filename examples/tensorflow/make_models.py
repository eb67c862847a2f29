#!/usr/bin/env python3
"""Writes the SavedModels in models/, and those of the backend's tests, without TensorFlow: a graph is a protobuf message, and these have a
few nodes each.

Run it in this folder with any Python 3; the files come out the same, byte for byte.
"""

import os
import struct

FLOAT, INT64, STRING, COMPLEX, RESOURCE = 1, 9, 7, 8, 20
REFERENCE = 100

# All types of elements that protocols can carry.
TYPES = {"float": 1, "double": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "int64": 9, "bool": 10, "bfloat16": 14,
         "uint16": 17, "half": 19, "uint32": 22, "uint64": 23, "complex64": 8, "complex128": 18, "qint8": 11, "quint8": 12, "qint16": 15,
         "quint16": 16, "qint32": 13, "int4": 29, "uint4": 30, "fp8_e5m2": 24, "fp8_e4m3fn": 25}


# The wire format of protocol buffers: each field is a pair (number, value).

def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def message(*fields):
    out = b""
    for number, value in fields:
        if isinstance(value, str):
            value = value.encode()
        if isinstance(value, bytes):
            out += varint(number << 3 | 2) + varint(len(value)) + value
        elif isinstance(value, float):
            out += varint(number << 3 | 5) + struct.pack("<f", value)
        else:
            out += varint(number << 3) + varint(value)
    return out


def entry(number, key, value):
    return number, message((1, key), (2, value))


# TensorFlow's messages.

def shape(dims):
    """A TensorShapeProto; None for any rank."""
    if dims is None:
        return message((3, 1))
    return b"".join(message((2, message((1, size)))) for size in dims)


def tensor(dtype, dims, values):
    content = {FLOAT: "f", 3: "i", INT64: "q"}.get(dtype)
    if content:
        value = (4, struct.pack("<%d%s" % (len(values), content), *values))
        return message((1, dtype), (2, shape(dims)), value)
    return message((1, dtype), (2, shape(dims)), *[(8, text) for text in values])


def a_type(dtype):
    return message((6, dtype))


def a_shape(dims):
    return message((7, shape(dims)))


def a_text(text):
    return message((2, text))


def a_number(number):
    return message((3, number))


def a_tensor(dtype, dims, values):
    return message((8, tensor(dtype, dims, values)))


def a_list(number, values):
    return message((1, message(*[(number, value) for value in values])))


def node(name, operation, inputs=(), **attributes):
    fields = [(1, name), (2, operation)] + [(3, source) for source in inputs]
    return message(*fields, *[entry(5, key, attributes[key]) for key in sorted(attributes)])


def placeholder(name, dtype, dims):
    return node(name, "Placeholder", dtype=a_type(dtype), shape=a_shape(dims))


def constant(name, dtype, dims, values):
    return node(name, "Const", dtype=a_type(dtype), value=a_tensor(dtype, dims, values))


def info(name, dtype, dims):
    return message((1, name), (2, dtype), (3, shape(dims)))


def sparse(values, indices, dense_shape, dtype):
    return message((4, message((1, values), (2, indices), (3, dense_shape))), (2, dtype))


def signature(method, inputs, outputs, defaults=None):
    return message(
        *[entry(1, key, inputs[key] if isinstance(inputs[key], bytes) else info(*inputs[key])) for key in sorted(inputs)],
        *[entry(2, key, info(*outputs[key])) for key in sorted(outputs)],
        (3, "tensorflow/serving/" + method),
        *[entry(4, key, defaults[key]) for key in sorted(defaults or {})])


def meta_graph(nodes, signatures, initialiser=None, assets=None, tags=("serve",), saver=None, collections=None):
    all_signatures = dict(signatures)
    if initialiser:
        key = "__saved_model_init_op"
        all_signatures[key] = message(entry(2, key, message((1, initialiser), (3, shape(None)))))
    graph = message(*[(1, one) for one in nodes], (4, message((1, 1087))))
    meta = message(*[(4, tag) for tag in tags], (5, "2.16.0"))
    named = [entry(5, key, all_signatures[key]) for key in sorted(all_signatures)]
    savers = [(3, saver)] if saver else []
    # Lists of nodes.
    lists = [entry(4, key, message((1, message((1, collections[key]))))) for key in sorted(collections or {})]
    # Which file's path each of these tensors gets when the model is loaded.
    files = [(6, message((1, message((1, name))), (2, assets[name]))) for name in sorted(assets or {})]
    return message((1, meta), (2, graph), *savers, *lists, *named, *files)


def saved_model(*meta_graphs):
    return message((1, 1), *[(2, one) for one in meta_graphs])


def write(folder, content, name="saved_model.pb", repository="models"):
    folder = os.path.join(repository, folder)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(content)


# The models.

def half_plus(summand, tags=("serve",)):
    """y = x / 2 + summand, for plain tensors and for examples with the features x and x2, with summand + 1 for y2 and y3."""
    vector = [-1, 1]
    nodes = [
        placeholder("x", FLOAT, vector),
        placeholder("tf_example", STRING, None),
        constant("a", FLOAT, [], [0.5]),
        constant("b", FLOAT, [], [float(summand)]),
        constant("c", FLOAT, [], [float(summand + 1)]),
        constant("names", STRING, [0], []),
        constant("ragged", STRING, [0], []),
        constant("sparse", STRING, [0], []),
        constant("keys", STRING, [2], ["x", "x2"]),
        constant("default", FLOAT, [1], [0.0]),
        node("parse", "ParseExampleV2", ["tf_example", "names", "sparse", "keys", "ragged", "default", "default"],
             Tdense=a_list(6, [FLOAT, FLOAT]), dense_shapes=a_list(7, [shape([1])] * 2), num_sparse=a_number(0),
             sparse_types=a_list(6, []), ragged_value_types=a_list(6, []), ragged_split_types=a_list(6, [])),
    ]

    def computed(name, source, second):
        return [node(name + "/half", "Mul", ["a", source], T=a_type(FLOAT)),
                node(name, "AddV2", [name + "/half", second], T=a_type(FLOAT))]

    nodes += computed("y", "x", "b") + computed("from_x/y", "parse", "b")
    nodes += computed("from_x/y2", "parse", "c") + computed("from_x2/y3", "parse:1", "c")
    examples = {"inputs": ("tf_example:0", STRING, None)}

    def regress(output):
        return signature("regress", examples, {"outputs": (output + ":0", FLOAT, vector)})

    def classify(output):
        return signature("classify", examples, {"scores": (output + ":0", FLOAT, vector)})

    return meta_graph(nodes, {
        "serving_default": signature("predict", {"x": ("x:0", FLOAT, vector)}, {"y": ("y:0", FLOAT, vector)}),
        "regress_x_to_y": regress("from_x/y"),
        "regress_x_to_y2": regress("from_x/y2"),
        "regress_x2_to_y3": regress("from_x2/y3"),
        "classify_x_to_y": classify("from_x/y"),
        "classify_x2_to_y3": classify("from_x2/y3"),
    }, tags=tags)


def strings():
    """Joins two tensors of strings, and tells how long the result is. With a signature that gives back what it got."""
    nodes = [
        placeholder("left", STRING, [-1]),
        placeholder("right", STRING, [-1]),
        node("joined", "StringJoin", ["left", "right"], N=a_number(2), separator=a_text(" ")),
        node("length", "StringLength", ["joined"], unit=a_text("BYTE")),
        node("same", "Identity", ["left"], T=a_type(STRING)),
    ]
    return meta_graph(nodes, {
        "serving_default": signature(
            "predict",
            {"left": ("left:0", STRING, [-1]), "right": ("right:0", STRING, [-1])},
            {"joined": ("joined:0", STRING, [-1]), "length": ("length:0", 3, [-1])}),
        "echo": signature("predict", {"text": ("left:0", STRING, [-1])}, {"text": ("same:0", STRING, [-1])}),
    })


def counter():
    """A variable that begins at 0: adds to it, reads it, and replaces it by what is given."""
    nodes = [
        node("count", "VarHandleOp", dtype=a_type(FLOAT), shape=a_shape([-1]), shared_name=a_text("count")),
        constant("zero", FLOAT, [1], [0.0]),
        node("start", "AssignVariableOp", ["count", "zero"], dtype=a_type(FLOAT)),
        node("init", "NoOp", ["^start"]),
        placeholder("by", FLOAT, [1]),
        node("add", "AssignAddVariableOp", ["count", "by"], dtype=a_type(FLOAT)),
        node("added", "ReadVariableOp", ["count", "^add"], dtype=a_type(FLOAT)),
        node("value", "ReadVariableOp", ["count"], dtype=a_type(FLOAT)),
        placeholder("next", FLOAT, [-1]),
        node("set", "AssignVariableOp", ["count", "next"], dtype=a_type(FLOAT)),
        node("new", "ReadVariableOp", ["count", "^set"], dtype=a_type(FLOAT)),
    ]
    return meta_graph(nodes, {
        "serving_default": signature(
            "predict", {"by": ("by:0", FLOAT, [1])}, {"count": ("added:0", FLOAT, [1])}),
        "read": signature("predict", {}, {"count": ("value:0", FLOAT, [-1])}),
        "replace": signature("predict", {"next": ("next:0", FLOAT, [-1])}, {"count": ("new:0", FLOAT, [-1])}),
    }, initialiser="init")


def notes():
    """A variable of strings: replaces it by what is given, and reads it."""
    nodes = [
        node("notes", "VarHandleOp", dtype=a_type(STRING), shape=a_shape([-1]), shared_name=a_text("notes")),
        constant("none", STRING, [1], [""]),
        node("start", "AssignVariableOp", ["notes", "none"], dtype=a_type(STRING)),
        node("init", "NoOp", ["^start"]),
        placeholder("next", STRING, [-1]),
        node("set", "AssignVariableOp", ["notes", "next"], dtype=a_type(STRING)),
        node("new", "ReadVariableOp", ["notes", "^set"], dtype=a_type(STRING)),
        node("value", "ReadVariableOp", ["notes"], dtype=a_type(STRING)),
    ]
    return meta_graph(nodes, {
        "serving_default": signature("predict", {"next": ("next:0", STRING, [-1])}, {"notes": ("new:0", STRING, [-1])}),
        "read": signature("predict", {}, {"notes": ("value:0", STRING, [-1])}),
    }, initialiser="init")


def vocabulary():
    """Numbers words by a file that comes with the model; -1 for others."""
    nodes = [
        constant("file", STRING, [], ["set when the model is loaded"]),
        node("table", "HashTableV2", key_dtype=a_type(STRING), value_dtype=a_type(INT64),
             shared_name=a_text("vocabulary")),
        node("fill", "InitializeTableFromTextFileV2", ["table", "file"], key_index=a_number(-2),
             value_index=a_number(-1), vocab_size=a_number(-1), delimiter=a_text("\t")),
        node("init", "NoOp", ["^fill"]),
        placeholder("words", STRING, [-1]),
        constant("none", INT64, [], [-1]),
        node("numbers", "LookupTableFindV2", ["table", "words", "none"], Tin=a_type(STRING), Tout=a_type(INT64)),
    ]
    return meta_graph(nodes, {
        "serving_default": signature(
            "predict", {"words": ("words:0", STRING, [-1])}, {"numbers": ("numbers:0", INT64, [-1])}),
    }, initialiser="init", assets={"file:0": "words.txt"})


def types():
    """Gives back what it got, by a signature for each type of elements; and one that no protocol can ask."""
    nodes, signatures = [], {}
    for name, dtype in {**TYPES, "resource": RESOURCE}.items():
        nodes += [placeholder(name, dtype, [-1]), node(name + "/same", "Identity", [name], T=a_type(dtype))]
        signatures["serving_default" if name == "float" else name] = signature(
            "predict", {"x": (name + ":0", dtype, [-1])}, {"y": (name + "/same:0", dtype, [-1])})
    return meta_graph(nodes, signatures)


def scalars():
    """Multiplies a vector by a number, and tells the sum."""
    nodes = [
        placeholder("x", FLOAT, [-1]),
        placeholder("by", FLOAT, []),
        node("y", "Mul", ["x", "by"], T=a_type(FLOAT)),
        constant("axis", 3, [1], [0]),
        node("sum", "Sum", ["y", "axis"], T=a_type(FLOAT), Tidx=a_type(3)),
    ]
    return meta_graph(nodes, {"serving_default": signature(
        "predict", {"x": ("x:0", FLOAT, [-1]), "by": ("by:0", FLOAT, [])},
        {"y": ("y:0", FLOAT, [-1]), "sum": ("sum:0", FLOAT, [])})})


def defaults():
    """Multiplies a vector by a number, or by 2, and gives back a text, or "none"."""
    nodes = [
        placeholder("x", FLOAT, [-1]),
        placeholder("by", FLOAT, []),
        placeholder("note", STRING, [-1]),
        node("y", "Mul", ["x", "by"], T=a_type(FLOAT)),
        node("same", "Identity", ["note"], T=a_type(STRING)),
    ]
    return meta_graph(nodes, {"serving_default": signature(
        "predict", {"x": ("x:0", FLOAT, [-1]), "by": ("by:0", FLOAT, []), "note": ("note:0", STRING, [-1])},
        {"y": ("y:0", FLOAT, [-1]), "note": ("same:0", STRING, [-1])},
        {"by": tensor(FLOAT, [], [2.0]), "note": tensor(STRING, [1], ["none"])})})


def loop():
    """Counts to a number, one by one."""
    nodes = [
        placeholder("to", INT64, []),
        constant("zero", INT64, [], [0]),
        node("begin", "Enter", ["zero"], T=a_type(INT64), frame_name=a_text("loop")),
        node("limit", "Enter", ["to"], T=a_type(INT64), frame_name=a_text("loop"), is_constant=message((5, 1))),
        node("count", "Merge", ["begin", "next"], T=a_type(INT64), N=a_number(2)),
        node("less", "Less", ["count", "limit"], T=a_type(INT64)),
        node("again", "LoopCond", ["less"]),
        node("turn", "Switch", ["count", "again"], T=a_type(INT64)),
        node("inside", "Identity", ["turn:1"], T=a_type(INT64)),
        node("one", "Const", ["^inside"], dtype=a_type(INT64), value=a_tensor(INT64, [], [1])),
        node("sum", "AddV2", ["inside", "one"], T=a_type(INT64)),
        node("next", "NextIteration", ["sum"], T=a_type(INT64)),
        node("counted", "Exit", ["turn:0"], T=a_type(INT64)),
    ]
    return meta_graph(nodes, {"serving_default": signature(
        "predict", {"to": ("to:0", INT64, [])}, {"counted": ("counted:0", INT64, [])})})


# Requests that a model answers before it serves.

def checksum(content):
    """CRC-32C, turned and raised as TensorFlow's record files have it."""
    crc = 0xffffffff
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    crc ^= 0xffffffff
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff)


def records(*contents):
    lengths = [struct.pack("<Q", len(content)) for content in contents]
    return b"".join(length + checksum(length) + content + checksum(content)
                    for length, content in zip(lengths, contents))


def warm_up_half_plus():
    """A PredictionLog with a PredictRequest, and one with a RegressionRequest."""
    predict = message((1, message((1, "half_plus_two"))), entry(2, "x", tensor(FLOAT, [1, 1], [2.0])))
    floats = message((2, message((1, struct.pack("<f", 2.0)))))
    example = message((1, message(entry(1, "x", floats))))
    spec = message((1, "half_plus_two"), (3, "regress_x_to_y"))
    regress = message((1, spec), (2, message((1, message((1, example))))))
    return records(message((6, message((1, predict)))), message((3, message((1, regress)))))


# Models that cannot be served, or not by all signatures.

def unknown_operation():
    nodes = [placeholder("x", FLOAT, [-1]), node("y", "NoSuchOperation", ["x"], T=a_type(FLOAT))]
    return meta_graph(nodes, {
        "serving_default": signature("predict", {"x": ("x:0", FLOAT, [-1])}, {"y": ("y:0", FLOAT, [-1])})})


def sparse_input(other_signatures):
    """The sum of the values of a sparse tensor; with other signatures for a dense one."""
    nodes = [
        placeholder("values", FLOAT, [-1]),
        placeholder("indices", INT64, [-1, 1]),
        placeholder("shape", INT64, [1]),
        constant("axis", 3, [1], [0]),
        node("sum", "Sum", ["values", "axis"], T=a_type(FLOAT), Tidx=a_type(3)),
    ]
    total = {"sum": ("sum:0", FLOAT, [])}
    signatures = {"sparse": signature("predict", {"x": sparse("values:0", "indices:0", "shape:0", FLOAT)}, total)}
    if other_signatures:
        signatures["serving_default"] = signature("predict", {"x": ("values:0", FLOAT, [-1])}, total)
    return meta_graph(nodes, signatures)


def untrue():
    """Its signature says that the output is of floats, and the graph makes a handle of a variable."""
    nodes = [placeholder("x", FLOAT, [-1]),
             node("y", "VarHandleOp", dtype=a_type(FLOAT), shape=a_shape([1]), shared_name=a_text("y"))]
    return meta_graph(nodes, {
        "serving_default": signature("predict", {"x": ("x:0", FLOAT, [-1])}, {"y": ("y:0", FLOAT, [-1])})})


def reference(collection):
    """A variable as old graphs have them, whose output is a reference; an operation in a collection gives it its value."""
    nodes = [
        node("v", "VariableV2", dtype=a_type(FLOAT), shape=a_shape([2])),
        constant("start", FLOAT, [2], [3.0, 4.0]),
        node("assign", "Assign", ["v", "start"], T=a_type(FLOAT)),
        node("init", "NoOp", ["^assign"]),
    ]
    return meta_graph(
        nodes, {"serving_default": signature("predict", {}, {"value": ("v:0", FLOAT + REFERENCE, [2])})},
        collections={collection: "init"})


def conjugate():
    """The conjugates of complex numbers."""
    nodes = [placeholder("x", COMPLEX, [-1]), node("y", "Conj", ["x"], T=a_type(COMPLEX))]
    return meta_graph(nodes, {
        "serving_default": signature("predict", {"x": ("x:0", COMPLEX, [-1])}, {"y": ("y:0", COMPLEX, [-1])})})


def wrong_default():
    """The default of a number is a text."""
    nodes = [placeholder("x", FLOAT, []), node("y", "Identity", ["x"], T=a_type(FLOAT))]
    return meta_graph(nodes, {"serving_default": signature(
        "predict", {"x": ("x:0", FLOAT, [])}, {"y": ("y:0", FLOAT, [])}, {"x": tensor(STRING, [], ["one"])})})


def custom_operation():
    """Adds 1 by an operation that a library has."""
    nodes = [placeholder("x", FLOAT, [-1]), node("y", "PlusOne", ["x"])]
    return meta_graph(nodes, {
        "serving_default": signature("predict", {"x": ("x:0", FLOAT, [-1])}, {"y": ("y:0", FLOAT, [-1])})})


def lost_variables():
    """A variable whose values should be in a folder beside the graph."""
    nodes = [
        node("v", "VarHandleOp", dtype=a_type(FLOAT), shape=a_shape([1]), shared_name=a_text("v")),
        node("value", "ReadVariableOp", ["v"], dtype=a_type(FLOAT)),
        constant("prefix", STRING, [], ["set when the model is loaded"]),
        constant("names", STRING, [1], ["v"]),
        constant("slices", STRING, [1], [""]),
        node("restored", "RestoreV2", ["prefix", "names", "slices"], dtypes=a_list(6, [FLOAT])),
        node("assign", "AssignVariableOp", ["v", "restored"], dtype=a_type(FLOAT)),
        node("restore", "NoOp", ["^assign"]),
    ]
    return meta_graph(
        nodes, {"serving_default": signature("predict", {}, {"value": ("value:0", FLOAT, [1])})},
        saver=message((1, "prefix:0"), (3, "restore"), (7, 2)))


if __name__ == "__main__":
    # A model of two versions, the newer of which is another one, as a client can tell.
    write("half_plus_two/1", saved_model(half_plus(2)))
    write("half_plus_two/1/assets.extra", warm_up_half_plus(), "tf_serving_warmup_requests")
    write("half_plus_three/1", saved_model(half_plus(3)))
    write("two_versions/1", saved_model(half_plus(2)))
    write("two_versions/2", saved_model(half_plus(3)))
    write("strings/1", saved_model(strings()))
    write("counter/1", saved_model(counter()))
    write("notes/1", saved_model(notes()))
    write("vocabulary/1", saved_model(vocabulary()))
    write("vocabulary/1/assets", b"zero\none\ntwo\n", "words.txt")
    # As Triton wants it.
    write("triton_half_plus_two/1/model.savedmodel", saved_model(half_plus(2)))
    # The first graph has the usual tag too, and another: the second one is meant.
    write("two_tags/1", saved_model(
        half_plus(3, ("serve", "gpu")), half_plus(2), half_plus(4, ("train",))))
    write("scalars/1", saved_model(scalars()))
    write("types/1", saved_model(types()))
    write("loop/1", saved_model(loop()))
    write("defaults/1", saved_model(defaults()))
    # For the backend's tests.
    tests = "../../backends/tensorflow/src/test/models"
    write("unknown_operation/1", saved_model(unknown_operation()), repository=tests)
    write("sparse/1", saved_model(sparse_input(False)), repository=tests)
    write("sparse_too/1", saved_model(sparse_input(True)), repository=tests)
    write("main_op/1", saved_model(reference("saved_model_main_op")), repository=tests)
    write("legacy_init_op/1", saved_model(reference("legacy_init_op")), repository=tests)
    write("conjugate/1", saved_model(conjugate()), repository=tests)
    write("wrong_default/1", saved_model(wrong_default()), repository=tests)
    write("untrue/1", saved_model(untrue()), repository=tests)
    write("plus_one/1", saved_model(custom_operation()), repository="../../backends/tensorflow/src/test/models-with-operations")
    write("lost_variables/1", saved_model(lost_variables()), repository=tests)
