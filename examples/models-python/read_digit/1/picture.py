"""Reads PNG files and makes of them what the network `digits` reads, with numpy alone.

The steps are those of examples/python/picture.py, where they are explained.
"""

import struct
import zlib

import numpy

SIDE = 28
INK_SIDE = 20
PAPER = 0.15
CONTRAST = 8

#: The most pixels that a picture may have: a small file can stand for a large one.
MOST_PIXELS = 1_000_000

_SIGNATURE = b"\x89PNG\r\n\x1a\n"

#: The channels of a colour type; palettes are not read.
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}


def decode(png):
    """The greys of a PNG, 0 to 255, as float32 [height, width]; transparent parts are white paper.

    Raises ValueError for what is no PNG of 8 bits without a palette and interlacing.
    """
    if not png.startswith(_SIGNATURE):
        raise ValueError("expected a PNG file")
    width = height = colour = 0
    packed = b""
    at = len(_SIGNATURE)
    while at + 12 <= len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        body = png[at + 8 : at + 8 + length]
        if kind == b"IHDR" and len(body) == 13:
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            if depth != 8 or colour not in _CHANNELS or interlaced:
                raise ValueError("expected a PNG of 8 bits for each channel, without a palette and interlacing")
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    if not 0 < width * height <= MOST_PIXELS:
        raise ValueError(f"the picture has {width} x {height} pixels, expected 1 to {MOST_PIXELS}")
    channels = _CHANNELS[colour]
    size = height * (1 + width * channels)
    try:
        rows = zlib.decompressobj().decompress(packed, size)
    except zlib.error as reason:
        raise ValueError(f"the picture cannot be unpacked: {reason}") from None
    if len(rows) != size:
        raise ValueError("the picture is cut off")
    pixels = _unfiltered(rows, height, width * channels, channels).reshape(height, width, channels)
    weights = numpy.array([0.299, 0.587, 0.114] if channels > 2 else [1], numpy.float32)
    grey = pixels[:, :, : len(weights)].astype(numpy.float32) @ weights
    if channels in (2, 4):
        opaque = pixels[:, :, -1] / numpy.float32(255)
        grey = grey * opaque + 255 * (1 - opaque)
    return grey


def _unfiltered(rows, height, row_bytes, channels):
    """Takes back what the format does to each row so that it packs better."""
    filtered = numpy.frombuffer(rows, numpy.uint8).reshape(height, 1 + row_bytes)
    above = [0] * row_bytes
    result = numpy.empty((height, row_bytes), numpy.uint8)
    for y in range(height):
        kind = filtered[y, 0]
        row = filtered[y, 1:].tolist()
        for x in range(row_bytes):
            left = row[x - channels] if x >= channels else 0
            corner = above[x - channels] if x >= channels else 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = above[x]
            elif kind == 3:
                guess = (left + above[x]) // 2
            elif kind == 4:
                guess = _nearest(left, above[x], corner)
            else:
                break
            row[x] = (row[x] + guess) & 255
        result[y] = row
        above = row
    return result


def _nearest(left, above, corner):
    estimate = left + above - corner
    return min((left, above, corner), key=lambda value: abs(estimate - value))


def prepare(grey):
    """The greys as float32 [28, 28]: ink 1, paper 0, centred. Raises ValueError for one colour only."""
    border = numpy.concatenate([grey[0], grey[-1], grey[1:-1, 0], grey[1:-1, -1]])
    difference = grey - numpy.sort(border)[len(border) // 2]
    lighter, darker = numpy.maximum(difference, 0), numpy.maximum(-difference, 0)
    ink = lighter if lighter.sum() >= darker.sum() else darker
    if ink.max() < CONTRAST:
        raise ValueError("the picture has one colour only")
    ink = ink / ink.max()
    ink[ink < PAPER] = 0
    rows, columns = numpy.flatnonzero(ink.any(axis=1)), numpy.flatnonzero(ink.any(axis=0))
    box = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    scale = INK_SIDE / max(box.shape)
    height, width = (max(1, int(side * scale + 0.5)) for side in box.shape)
    small = _weights(box.shape[0], height) @ box @ _weights(box.shape[1], width).T
    small = small / small.max()
    total = small.sum()
    mass_x = (small.sum(axis=0) * (numpy.arange(width) + 0.5)).sum() / total
    mass_y = (small.sum(axis=1) * (numpy.arange(height) + 0.5)).sum() / total
    left = min(max(int(numpy.floor(SIDE / 2 - mass_x + 0.5)), 0), SIDE - width)
    top = min(max(int(numpy.floor(SIDE / 2 - mass_y + 0.5)), 0), SIDE - height)
    image = numpy.zeros((SIDE, SIDE), numpy.float32)
    image[top : top + height, left : left + width] = small
    return image


def _weights(before, after):
    """A triangle filter as a matrix [after, before]."""
    step = before / after
    reach = max(step, 1)
    centres = (numpy.arange(after) + 0.5) * step
    distances = numpy.abs(numpy.arange(before) + 0.5 - centres[:, numpy.newaxis]) / reach
    weights = numpy.maximum(0, 1 - distances)
    return weights / weights.sum(axis=1, keepdims=True)
