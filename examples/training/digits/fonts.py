"""Draws clean digits with the fonts of Debian packages.

A font file is used when it holds ten different drawings for the ten digits, none of which is the
font's "missing character" box. Files that pass that test and still do not draw digits (symbols,
roman numerals, decorated initials) are listed in `NOT_DIGITS`, by file name.
"""

import fnmatch
import subprocess

import numpy
from PIL import Image, ImageDraw, ImageFont

#: Height in pixels at which glyphs are drawn before they are warped.
GLYPH_SIZE = 64

_OUTLINES = (".ttf", ".otf", ".ttc", ".pfb", ".t1")

#: A code point that no font assigns: drawing it gives the "missing character" box.
_UNASSIGNED = "\U000effff"

NOT_DIGITS = (
    "D050000L*",  # dingbats
    "DSEG7SEGG*",  # faces
    "DSEGWeather*",  # clouds
    "LinBiolinum_K*",  # keys of a keyboard
    "LinLibertine_I.*",  # shaded initials
    "OCRB[EX].*",  # cut out of filled boxes
)


def font_files(package):
    """The outline fonts that an installed Debian package holds, in a stable order."""
    listing = subprocess.run(
        ["dpkg-query", "--listfiles", package], capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        raise SystemExit(
            f"package {package} is not installed; see README.md for the packages to install")
    return sorted(
        path for path in listing.stdout.split("\n")
        if path.lower().endswith(_OUTLINES)
        and not any(fnmatch.fnmatch(path.rsplit("/", 1)[1], pattern) for pattern in NOT_DIGITS))


def draw(font, text):
    """White `text` on black, cut to its ink; None when nothing was drawn."""
    left, top, right, bottom = font.getbbox(text)
    if not (0 < right - left <= 8 * GLYPH_SIZE and 0 < bottom - top <= 8 * GLYPH_SIZE):
        return None
    picture = Image.new("L", (right - left + 8, bottom - top + 8))
    ImageDraw.Draw(picture).text((4 - left, 4 - top), text, fill=255, font=font)
    ink = picture.getbbox()
    return None if ink is None else picture.crop(ink)


def digits(path):
    """Ten pictures, one for each digit, or None when the font does not hold ten digits."""
    try:
        font = ImageFont.truetype(path, GLYPH_SIZE, layout_engine=ImageFont.Layout.BASIC)
        pictures = [draw(font, str(digit)) for digit in range(10)]
        missing = draw(font, _UNASSIGNED)
    except OSError:
        return None
    if any(picture is None for picture in pictures):
        return None
    drawings = {picture.tobytes() + bytes(str(picture.size), "ascii") for picture in pictures}
    if missing is not None:
        drawings.discard(missing.tobytes() + bytes(str(missing.size), "ascii"))
    return pictures if len(drawings) == 10 else None


def load(packages):
    """Every usable font of the packages, as (file name, ten pictures); identical fonts once."""
    seen, fonts = set(), []
    for package in packages:
        for path in font_files(package):
            pictures = digits(path)
            if pictures is None:
                continue
            drawing = b"".join(numpy.asarray(p).tobytes() for p in pictures)
            if drawing not in seen:
                seen.add(drawing)
                fonts.append((f"{package}/{path.rsplit('/', 1)[1]}", pictures))
    return fonts
