#!/usr/bin/python3
"""Trains the network of examples/models/digits and writes its model.onnx.

README.md in this folder says what must be installed, how long it takes, and what accuracy to
expect. Every random choice comes from one seed, so two runs on the same versions of the same
packages give the same network.
"""

import argparse
import math
import pathlib
import random
import sys
import time

import numpy
import onnx
import torch
from PIL import Image, ImageFilter
from torch import nn
from torch.nn import functional

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent
sys.path.append(str(EXAMPLES / "python"))

import fonts  # noqa: E402
import strokes  # noqa: E402
from picture import SIDE, NoInk, prepare  # noqa: E402

MODEL = EXAMPLES / "models" / "digits" / "1" / "model.onnx"

#: Names under which clients see the network's tensors.
INPUT, OUTPUT = "image", "probabilities"


class DigitNetwork(nn.Module):
    """Three convolutions and two dense layers, 70,000 weights; [n, 1, 28, 28] to [n, 10]."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 5, padding=2), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2))
        self.scores = nn.Sequential(
            nn.Flatten(), nn.Dropout(0.3), nn.Linear(64 * 3 * 3, 80), nn.ReLU(),
            nn.Dropout(0.3), nn.Linear(80, 10))

    def forward(self, image):
        return self.scores(self.features(image))


class Probabilities(nn.Module):
    """The trained network as it is served: probabilities instead of scores."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, image):
        return functional.softmax(self.network(image), dim=1)


def warp(glyph, chance):
    """A glyph or drawing, turned, sheared, stretched, made thicker or thinner, or coarser."""
    margin = max(glyph.size) // 3 + 4
    width, height = glyph.width + 2 * margin, glyph.height + 2 * margin
    canvas = Image.new("L", (width, height))
    canvas.paste(glyph, (margin, margin))

    pen = chance.random()
    if pen < 0.15:
        canvas = canvas.filter(ImageFilter.MaxFilter(chance.choice((3, 5))))
    elif pen < 0.27:
        thinner = canvas.filter(ImageFilter.MinFilter(3))
        if numpy.asarray(thinner).sum() > 0.5 * numpy.asarray(canvas).sum():
            canvas = thinner

    angle = math.radians(chance.gauss(0, 7))
    shear, stretch = chance.gauss(0, 0.12), math.exp(chance.gauss(0, 0.15))
    a, b = math.cos(angle) * stretch, math.sin(angle) + shear
    d, e = -math.sin(angle), math.cos(angle)
    x, y = width / 2, height / 2
    canvas = canvas.transform(
        canvas.size, Image.Transform.AFFINE,
        (a, b, x - a * x - b * y, d, e, y - d * x - e * y), Image.Resampling.BILINEAR)

    if chance.random() < 0.2:
        ratio = chance.uniform(14, 30) / max(canvas.size)
        canvas = canvas.resize(
            (max(4, int(width * ratio)), max(4, int(height * ratio))), Image.Resampling.BILINEAR)
    if chance.random() < 0.2:
        canvas = canvas.filter(ImageFilter.GaussianBlur(chance.uniform(0.5, 1.5)))
    return canvas


def examples(learnt_fonts, count, chance):
    """`count` prepared pictures and their digits; three fifths fonts, the others pen strokes.

    A package with many faces of one design would outweigh the others, so a package is drawn by
    the square root of its number of faces.
    """
    packages = {}
    for name, pictures in learnt_fonts:
        packages.setdefault(name.split("/")[0], []).append(pictures)
    families = list(packages.values())
    weights = [math.sqrt(len(family)) for family in families]

    images = numpy.empty((count, 1, SIDE, SIDE), dtype=numpy.float32)
    digits = numpy.empty(count, dtype=numpy.int64)
    for i in range(count):
        digit = chance.randrange(10)
        if chance.random() < 0.6:
            family = chance.choices(families, weights)[0]
            glyph = chance.choice(family)[digit]
        else:
            glyph = strokes.draw(chance.choice(strokes.LEARNT[digit]), chance)
        try:
            images[i, 0] = prepare(warp(glyph, chance))
        except NoInk:  # thinned or coarsened away: the plain drawing instead
            images[i, 0] = prepare(frame(glyph))
        digits[i] = digit
    return torch.from_numpy(images), torch.from_numpy(digits)


def frame(glyph):
    """The glyph with a margin, so that the border shows paper."""
    canvas = Image.new("L", (glyph.width + 8, glyph.height + 8))
    canvas.paste(glyph, (4, 4))
    return canvas


def disturb(images):
    """Shifts, zooms and turns prepared pictures a little, and adds noise and uneven contrast."""
    count = len(images)
    angle = torch.randn(count) * 0.05
    zoom = torch.exp(torch.randn(count) * 0.07)
    turn = torch.zeros(count, 2, 3)
    turn[:, 0, 0], turn[:, 0, 1] = torch.cos(angle) * zoom, -torch.sin(angle) * zoom
    turn[:, 1, 0], turn[:, 1, 1] = torch.sin(angle) * zoom, torch.cos(angle) * zoom
    turn[:, :, 2] = torch.randn(count, 2) * 0.07  # in half widths: about one pixel
    grid = functional.affine_grid(turn, images.shape, align_corners=False)
    images = functional.grid_sample(images, grid, align_corners=False)
    images = images.clamp(0, 1) ** torch.exp(torch.randn(count, 1, 1, 1) * 0.3)
    noise = torch.rand(count, 1, 1, 1) * 0.15 * (torch.rand(count, 1, 1, 1) < 0.4)
    return (images + torch.randn_like(images) * noise).clamp(0, 1)


def train(images, digits, epochs, batch):
    """Adam with one cycle of the learning rate and softened labels."""
    network = DigitNetwork()
    steps = epochs * (len(images) // batch)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=steps)
    for epoch in range(epochs):
        network.train()
        order, total, started = torch.randperm(len(images)), 0.0, time.monotonic()
        for first in range(0, len(images) - batch + 1, batch):
            chosen = order[first:first + batch]
            scores = network(disturb(images[chosen]))
            loss = functional.cross_entropy(scores, digits[chosen], label_smoothing=0.01)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1:2}: loss {total / (len(images) // batch):.4f},"
              f" {time.monotonic() - started:.0f} s", flush=True)
    return network.eval()


def right(network, images, digits):
    """For each picture, whether the network reads it right."""
    with torch.no_grad():
        return torch.cat([network(part) for part in images.split(500)]).argmax(dim=1) == digits


def report(network, unseen_fonts, chance):
    """Prints the accuracy on fonts and pen strokes that took no part in the training."""
    digits = torch.arange(10).repeat(len(unseen_fonts))
    glyphs = [glyph for _, pictures in unseen_fonts for glyph in pictures]
    plain = torch.from_numpy(numpy.stack([prepare(frame(g)) for g in glyphs])[:, None])
    hits = right(network, plain, digits)
    print(f"unseen fonts, as they are:   {100 * hits.float().mean():.2f} %"
          f" of {len(hits)} ({len(unseen_fonts)} faces)")
    for (name, _), row in zip(unseen_fonts, hits.view(-1, 10)):
        if not row.all():
            print(f"  {name}: wrong on {' '.join(str(d) for d in range(10) if not row[d])}")

    warped = torch.from_numpy(
        numpy.stack([prepare(warp(g, chance)) for g in glyphs * 5])[:, None])
    hits = right(network, disturb(warped), digits.repeat(5))
    print(f"unseen fonts, disturbed:     {100 * hits.float().mean():.2f} % of {len(hits)}")

    drawn = [strokes.draw(strokes.HELD_OUT[d][0], chance) for d in range(10) for _ in range(500)]
    digits = torch.arange(10).repeat_interleave(500)
    plain = torch.from_numpy(numpy.stack([prepare(g) for g in drawn])[:, None])
    hits = right(network, plain, digits)
    print(f"unseen pen strokes:          {100 * hits.float().mean():.2f} % of {len(hits)}")
    print("  of each digit: " + " ".join(
        f"{d}:{100 * row.float().mean():.1f}" for d, row in enumerate(hits.view(10, -1))))


def export(network, path):
    """Writes ONNX with a variable batch dimension."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        Probabilities(network).eval(), torch.zeros(1, 1, SIDE, SIDE), str(path),
        input_names=[INPUT], output_names=[OUTPUT], opset_version=13,
        dynamic_axes={INPUT: {0: "batch"}, OUTPUT: {0: "batch"}})
    model = onnx.load(str(path))
    onnx.checker.check_model(model)
    model.doc_string = "Reads the digit in a 28 x 28 picture. See examples/training/digits."
    onnx.save(model, str(path))
    print(f"wrote {path.name}: {path.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=pathlib.Path, default=MODEL, help="where to write")
    parser.add_argument("--samples", type=int, default=120_000, help="pictures to draw")
    parser.add_argument("--epochs", type=int, default=10, help="times to go through them")
    parser.add_argument("--seed", type=int, default=2026, help="of every random choice")
    arguments = parser.parse_args()

    torch.set_num_threads(1)  # more threads add in another order, hence other last digits
    torch.manual_seed(arguments.seed)
    chance = random.Random(arguments.seed)

    learnt = fonts.load((HERE / "fonts-train.txt").read_text().split())
    unseen = fonts.load((HERE / "fonts-heldout.txt").read_text().split())
    print(f"{len(learnt)} faces to learn, {len(unseen)} kept for the test", flush=True)
    started = time.monotonic()
    images, digits = examples(learnt, arguments.samples, chance)
    print(f"drew {len(images)} pictures, {time.monotonic() - started:.0f} s", flush=True)

    network = train(images, digits, arguments.epochs, batch=128)
    report(network, unseen, random.Random(arguments.seed + 1))
    export(network, arguments.output)


if __name__ == "__main__":
    sys.exit(main())
