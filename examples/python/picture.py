"""Turns any picture of one digit into what the network reads.

The training, the Python client and, in Java, the class `gatun.examples.DigitPicture` do the same
steps. Change them together: the network is only as good as their agreement. Needs numpy and Pillow
(Debian's python3-numpy and python3-pil).
"""

import numpy
from PIL import Image

#: Width and height of the network's input.
SIDE = 28

#: The longer side of the ink inside the input.
INK_SIDE = 20

#: Ink fainter than this part of the strongest ink is taken for paper.
PAPER = 0.15

#: A picture whose greys, 0 to 255, differ by less than this holds nothing to read.
CONTRAST = 8


class NoInk(ValueError):
    """The picture has one colour only."""


def read(path):
    """A picture file as `prepare` gives it; transparent parts count as white paper, or as black
    paper where nothing shows on white."""
    with Image.open(path) as picture:
        colours = picture.convert("RGBA")
    try:
        return prepare(_on_paper(colours, 255))
    except NoInk:
        if colours.getextrema()[3][0] == 255:
            raise
        return prepare(_on_paper(colours, 0))


def _on_paper(colours, grey):
    paper = Image.new("RGBA", colours.size, (grey, grey, grey, 255))
    return Image.alpha_composite(paper, colours).convert("L")


def prepare(grey, ink_side=INK_SIDE):
    """A grey picture (PIL, mode L) as float32 [28, 28]: ink 1, paper 0, centred.

    1. The paper is the median grey of the picture's border; ink is what differs from it, on the
       side (darker or lighter) where the greater sum of differences lies.
    2. The strongest ink becomes 1; what is fainter than PAPER becomes 0.
    3. The ink's bounding box is scaled until its longer side has `ink_side` pixels (triangle
       filter), and the strongest ink becomes 1 again.
    4. The ink's centre of mass is put into the middle of the 28 x 28 pixels, as far as the box
       stays inside.
    """
    values = numpy.asarray(grey, dtype=numpy.float32)
    border = numpy.concatenate([values[0], values[-1], values[1:-1, 0], values[1:-1, -1]])
    difference = values - numpy.sort(border)[len(border) // 2]
    lighter, darker = numpy.maximum(difference, 0), numpy.maximum(-difference, 0)
    ink = lighter if lighter.sum() >= darker.sum() else darker
    if ink.max() < CONTRAST:
        raise NoInk("the picture has one colour only")
    ink = ink / ink.max()
    ink[ink < PAPER] = 0

    rows, columns = numpy.flatnonzero(ink.any(axis=1)), numpy.flatnonzero(ink.any(axis=0))
    box = Image.fromarray(ink[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1], mode="F")
    scale = ink_side / max(box.size)
    width, height = (max(1, int(side * scale + 0.5)) for side in box.size)
    small = numpy.asarray(box.resize((width, height), Image.Resampling.BILINEAR))
    small = small / small.max()

    total = small.sum()
    mass_x = (small.sum(axis=0) * (numpy.arange(width) + 0.5)).sum() / total
    mass_y = (small.sum(axis=1) * (numpy.arange(height) + 0.5)).sum() / total
    left = min(max(int(numpy.floor(SIDE / 2 - mass_x + 0.5)), 0), SIDE - width)
    top = min(max(int(numpy.floor(SIDE / 2 - mass_y + 0.5)), 0), SIDE - height)
    image = numpy.zeros((SIDE, SIDE), dtype=numpy.float32)
    image[top:top + height, left:left + width] = small
    return image
