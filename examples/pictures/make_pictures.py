#!/usr/bin/python3
"""Draws the pictures of this folder: digits as people have them, in many sizes and colours.

Fonts and pen strokes are among those that the network has never seen: the fonts come from packages
of ../training/digits/fonts-heldout.txt, the strokes from the styles held out there. Writes the same
files again. Needs python3-numpy, python3-pil, and the packages named in FONTS.
"""

import pathlib
import random
import subprocess
import sys

import numpy
from PIL import Image, ImageDraw, ImageFilter, ImageFont

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "training" / "digits"), str(HERE.parent / "python")]

import picture  # noqa: E402
import strokes  # noqa: E402

#: Font file and the Debian package that holds it.
FONTS = {
    "Caladea-Regular.ttf": "fonts-crosextra-caladea",
    "DancingScript-Bold.otf": "fonts-dancingscript",
    "JetBrainsMono-Regular.ttf": "fonts-jetbrains-mono",
    "OpenSans-Bold.ttf": "fonts-open-sans",
    "OpenSans-Light.ttf": "fonts-open-sans",
    "SteveHand.ttf": "fonts-sjfonts",
    "Vollkorn-BlackItalic.ttf": "fonts-vollkorn",
}

#: Prepared pictures with which the Java test compares its own.
PREPARED = HERE.parent / "src" / "test" / "resources" / "gatun" / "examples"


def typed(digit, font, side, size, ink, paper):
    """A digit of a font, `side` pixels high, on paper of the given size."""
    files = subprocess.run(["dpkg-query", "--listfiles", FONTS[font]],
                           capture_output=True, text=True, check=True).stdout.split("\n")
    path = next(file for file in files if file.endswith("/" + font))
    face = ImageFont.truetype(path, side, layout_engine=ImageFont.Layout.BASIC)
    canvas = Image.new("RGB", size, paper)
    ImageDraw.Draw(canvas).text(
        (size[0] / 2, size[1] / 2), str(digit), fill=ink, font=face, anchor="mm")
    return canvas


def written(digit, style, seed, side, ink, paper):
    """A digit of a pen, on square paper."""
    mask = strokes.draw(style[digit][seed % len(style[digit])], random.Random(seed))
    mask = mask.resize((side, side), Image.Resampling.BICUBIC)
    return Image.composite(Image.new("RGB", mask.size, ink), Image.new("RGB", mask.size, paper),
                           mask)


def grain(canvas, seed, amount):
    """Uneven paper: soft noise over everything."""
    noise = numpy.random.default_rng(seed).normal(0, amount, (canvas.height, canvas.width, 1))
    values = numpy.asarray(canvas, dtype=numpy.float64) + noise
    return Image.fromarray(values.clip(0, 255).astype(numpy.uint8))


def transparent(canvas):
    """Black ink on nothing: darkness becomes opacity."""
    darkness = Image.eval(canvas.convert("L"), lambda value: 255 - value)
    result = Image.new("RGBA", canvas.size, (0, 0, 0, 0))
    result.putalpha(darkness)
    return result


def pictures():
    """File name without its ending, and picture."""
    black, white = (0, 0, 0), (255, 255, 255)
    board = written(8, strokes.HELD_OUT, 5, 220, (226, 232, 214), (38, 66, 52))
    slip = typed(2, "OpenSans-Light.ttf", 120, (420, 180), (70, 70, 70), (214, 208, 196))
    yield "zero-mono", typed(0, "JetBrainsMono-Regular.ttf", 60, (64, 80), white, black)
    yield "one-hand", written(1, strokes.HELD_OUT, 21, 160, (20, 40, 140), white)
    yield "two-faint", slip
    yield "three-script", typed(3, "DancingScript-Bold.otf", 150, (140, 180), (250, 240, 200),
                                (60, 20, 70))
    yield "four-marker", written(4, strokes.HELD_OUT, 8, 300, (200, 30, 30), (250, 230, 90))
    yield "five-sans", typed(5, "OpenSans-Bold.ttf", 40, (48, 48), black, white)
    yield "six-pencil", grain(written(6, strokes.HELD_OUT, 3, 256, (90, 90, 95), (240, 238, 230)),
                              7, 4)
    yield "seven-serif", typed(7, "Caladea-Regular.ttf", 200, (200, 300), black, white)
    yield "seven-hand", written(7, strokes.HELD_OUT, 11, 128, black, white)
    yield "eight-chalk", grain(board.filter(ImageFilter.GaussianBlur(1)), 11, 5)
    yield "nine-handwriting", typed(9, "SteveHand.ttf", 180, (260, 260), (30, 30, 30), white)
    yield "nine-tiny", typed(9, "OpenSans-Bold.ttf", 14, (12, 16), white, (0, 90, 160))
    yield "four-transparent", transparent(
        typed(4, "Vollkorn-BlackItalic.ttf", 120, (160, 160), black, white))


if __name__ == "__main__":
    for name, canvas in pictures():
        canvas.save(HERE / f"{name}.png", optimize=True)
        prepared = picture.read(HERE / f"{name}.png")
        PREPARED.mkdir(parents=True, exist_ok=True)
        Image.fromarray(numpy.rint(prepared * 255).astype(numpy.uint8)).save(
            PREPARED / f"{name}.prepared.png", optimize=True)
        print(f"{name}.png {canvas.width} x {canvas.height}")
