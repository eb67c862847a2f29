#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the models in this folder by AOTInductor, and writes what PyTorch's own Python answers.

    make_models.py FOLDER [MODEL...]

Needs PyTorch (2.13 made those that are committed), numpy, a C++ compiler and binutils, on Linux and x86-64. FOLDER gets `models`, a
repository, and `expected`: for each model a file with tensors that were sent and what the model gave for them in Python.
The code is made for any x86-64, and runs on the thread that calls it. What nothing at run time needs is left out of the libraries, and
the packages are compressed, so that they are small enough for a repository of source code.
"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import torch
from torch.export import Dim

CONFIGS = {
    "cpp.march": "x86-64",
    "cpp.simdlen": 1,
    "cpp.threads": 1,
    "aot_inductor.enable_line_tables": False,
}
NAMES = {
    torch.bool: "BOOL",
    torch.uint8: "UINT8",
    torch.int8: "INT8",
    torch.int16: "INT16",
    torch.int32: "INT32",
    torch.int64: "INT64",
    torch.float16: "FP16",
    torch.bfloat16: "BF16",
    torch.float32: "FP32",
    torch.float64: "FP64",
}


def exact(*shape):
    """Numbers whose products and sums are exact in FP32, in whatever order they are computed."""
    return torch.randint(-8, 9, shape).float() / 8


def set_exact(module):
    for parameter in module.parameters():
        parameter.data = exact(*parameter.shape)
    return module.eval()


class AddSub(torch.nn.Module):
    """Triton's simple model: sum and difference."""

    def forward(self, a, b):
        return a + b, a - b


class Sum(torch.nn.Module):
    def forward(self, a, b):
        return a + b


class Datatypes(torch.nn.Module):
    """One tensor of each datatype, and another of it back."""

    def forward(self, flag, u8, i8, i16, i32, i64, f16, bf16, f32, f64):
        return ~flag, u8 + 1, i8 + 1, i16 + 1, i32 + 1, i64 + 1, f16 * 2, bf16 * 2, f32 * 2, f64 * 2


class Nested(torch.nn.Module):
    """Triton's example of inputs and outputs that are dictionaries and tuples."""

    def forward(self, hdata, vdata, options, *, extra):
        return {"AAA": hdata + vdata, "ZZZ": hdata - vdata, "BBB": (hdata, vdata), "CCC": options, "DDD": [extra]}


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = torch.nn.Linear(16, 32)
        self.out = torch.nn.Linear(32, 5)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


class Softmax(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


class Convolution(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.out = torch.nn.Linear(4 * 8 * 8, 5)

    def forward(self, image):
        x = torch.nn.functional.max_pool2d(torch.relu(self.convolution(image)), 2)
        return self.out(x.flatten(1))


class Tokens(torch.nn.Module):
    """Two inputs whose second dimensions must agree, and are variable as the batch is."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(50, 8)

    def forward(self, tokens, mask):
        x = self.embedding(tokens) * mask.unsqueeze(-1)
        return x.sum(1), mask * 2


class Fixed(torch.nn.Module):
    """Fixed shapes, and an output that does not lie in memory in the order of its elements."""

    def forward(self, x):
        return x.transpose(0, 1), x[1]


class InPlace(torch.nn.Module):
    """Writes to its input."""

    def forward(self, x):
        x.add_(1)
        return x * 2


class RunningSum(torch.nn.Module):
    """As Triton's models of sequences: the state is given up when a sequence starts."""

    def forward(self, x, start, ready, state):
        sums = x + state * (1 - start)
        return sums * ready, sums


def models():
    batch = Dim("batch", max=64)
    length = Dim("length", max=128)
    rows = {0: batch}
    yield "add_sub", AddSub(), (exact(4, 16), exact(4, 16)), {}, (rows, rows), {}
    for name, datatype in (("int8", torch.int8), ("int64", torch.int64), ("float16", torch.float16)):
        example = tuple((exact(4, 16) * 8).to(datatype) for _ in range(2))
        yield f"torch_aoti_{name}_{name}", Sum(), example, {}, (rows, rows), {}
    example = tuple((exact(3, 4) * 8).abs().to(datatype) for datatype in NAMES)
    yield "datatypes", Datatypes(), example, {}, tuple({0: batch} for _ in NAMES), {}
    numbers = [(exact(1, 16) * 8).to(torch.int8) for _ in range(5)]
    args = (numbers[0], numbers[1], {"option1": numbers[2], "option2": numbers[3]})
    yield "nested", Nested(), args, {"extra": numbers[4]}, None, {}
    yield "classifier", set_exact(Classifier()), (exact(4, 16),), {}, (rows,), {}
    separately = {"aot_inductor.package_constants_in_so": False}
    yield "weights_apart", set_exact(Classifier()), (exact(4, 16),), {}, (rows,), dict(
        separately, **{"aot_inductor.package_constants_on_disk_format": "binary_blob"}
    )
    yield "weights_beside", set_exact(Classifier()), (exact(4, 16),), {}, (rows,), separately
    yield "softmax", Softmax(), (torch.randn(4, 10),), {}, (rows,), {}
    yield "convolution", set_exact(Convolution()), (exact(2, 3, 16, 16),), {}, (rows,), {}
    both = {0: batch, 1: length}
    example = (torch.randint(0, 50, (4, 6)), exact(4, 6))
    yield "tokens", set_exact(Tokens()), example, {}, (both, both), {}
    yield "fixed", Fixed(), (exact(3, 4),), {}, None, {}
    yield "in_place", InPlace(), (exact(4, 3),), {}, (rows,), {}
    example = tuple(exact(2, 1) for _ in range(4))
    yield "running_sum", RunningSum(), example, {}, (rows,) * 4, {}


def flat(tensors):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(tensors)]


def tensor(value):
    elements = value.contiguous().flatten().to(torch.float64 if value.is_floating_point() else torch.int64)
    return {"datatype": NAMES[value.dtype], "shape": list(value.shape), "data": elements.tolist()}


def pack(source, target):
    """Writes the package again, smaller."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename.endswith(".kernel.cpp"):
                continue
            if entry.filename.endswith(".so"):
                with tempfile.NamedTemporaryFile(suffix=".so") as library:
                    library.write(content)
                    library.flush()
                    subprocess.run(["strip", "--strip-unneeded", library.name], check=True)
                    content = pathlib.Path(library.name).read_bytes()
            if entry.filename.endswith(".wrapper.cpp"):
                # The commands at its end name folders of the machine where it was made.
                content = content[: content.index(b"// Compile cmd")]
            new.writestr(zipfile.ZipInfo(entry.filename), content, zipfile.ZIP_DEFLATED, 9)


def safetensors(module, file):
    """The weights in the format of safetensors, which is a length, a description in JSON, and the numbers."""
    header, numbers = {}, b""
    for name, value in module.state_dict().items():
        content = value.contiguous().numpy().tobytes()
        span = [len(numbers), len(numbers) + len(content)]
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": span}
        numbers += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file.write_bytes(len(text).to_bytes(8, "little") + text + numbers)


def main(folder, chosen):
    torch.manual_seed(25)
    for name, module, args, kwargs, shapes, configs in models():
        if chosen and name not in chosen:
            continue
        version = folder / "models" / name / "1"
        version.mkdir(parents=True, exist_ok=True)
        inputs = [tensor(value) for value in flat((args, kwargs))]
        program = torch.export.export(module, args, kwargs, dynamic_shapes=shapes)
        with tempfile.TemporaryDirectory() as scratch:
            package = torch._inductor.aoti_compile_and_package(
                program, package_path=scratch + "/model.pt2", inductor_configs=dict(CONFIGS, **configs)
            )
            pack(package, version / "model.pt2")
        # As PyTorch's own Python answers, with the file that is served; weights from elsewhere are no matter of the file.
        served = module if name == "weights_beside" else torch._inductor.aoti_load_package(version / "model.pt2")
        outputs = served(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        if name == "weights_beside":
            safetensors(module, version / "model.safetensors")
        expected = folder / "expected" / (name + ".json")
        expected.parent.mkdir(parents=True, exist_ok=True)
        expected.write_text(
            json.dumps(
                {
                    "inputs": inputs,
                    "outputs": [tensor(value) for value in flat(outputs)],
                }
            )
            + "\n"
        )
        print(name, (version / "model.pt2").stat().st_size, flush=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), set(sys.argv[2:]))
