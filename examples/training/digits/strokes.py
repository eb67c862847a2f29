"""Digits as a hand draws them: pen strokes through a few control points, never twice the same.

A stroke is a list of (x, y) in a box that is 1 wide and 1 high, y downwards. The pen moves on a
smooth curve through the points; a point given twice is a corner. A style is a list of strokes.
"""

import math

from PIL import Image, ImageDraw

#: Side in pixels of the square on which strokes are drawn.
CANVAS = 96


def arc(x, y, radius_x, radius_y, start, end):
    """Points on an ellipse from angle `start` to `end`, in degrees, clockwise from the right."""
    count = max(4, int(abs(end - start) / 40) + 1)
    angles = (math.radians(start + (end - start) * i / (count - 1)) for i in range(count))
    return [(x + radius_x * math.cos(a), y + radius_y * math.sin(a)) for a in angles]


def corner(x, y):
    """A point where the pen changes direction sharply."""
    return [(x, y), (x, y)]


#: The styles that the network learns, for each digit.
LEARNT = (
    (  # 0
        [arc(0.5, 0.5, 0.36, 0.5, -90, 270)],
        [arc(0.5, 0.5, 0.26, 0.5, -110, 275)],
        [arc(0.5, 0.5, 0.45, 0.48, -60, 310)],
        [arc(0.5, 0.5, 0.36, 0.5, -100, 262), [(0.82, 0.1), (0.18, 0.9)]],
    ),
    (  # 1
        [[(0.5, 0.0), (0.5, 1.0)]],
        [[(0.62, 0.0), (0.42, 1.0)]],
        [[(0.22, 0.28)] + corner(0.55, 0.0) + [(0.55, 1.0)]],
        [[(0.25, 0.3)] + corner(0.52, 0.0) + [(0.52, 1.0)], [(0.22, 1.0), (0.84, 1.0)]],
        [[(0.1, 0.45), (0.3, 0.3)] + corner(0.6, 0.0) + [(0.5, 1.0)]],
    ),
    (  # 2
        [arc(0.48, 0.28, 0.36, 0.28, -170, 20) + [(0.7, 0.6)] + corner(0.08, 1.0) + [(0.92, 1.0)]],
        [arc(0.45, 0.27, 0.36, 0.27, -150, 30) + [(0.5, 0.75), (0.22, 0.95), (0.12, 0.85),
            (0.25, 0.76), (0.5, 0.92), (0.75, 1.0), (0.95, 0.9)]],
        [[(0.12, 0.1), (0.45, 0.02), (0.8, 0.06), (0.72, 0.4)] + corner(0.1, 0.98)
            + [(0.5, 0.93), (0.95, 0.98)]],
        [arc(0.5, 0.3, 0.38, 0.3, -180, 40) + [(0.55, 0.74), (0.25, 0.9)] + corner(0.08, 1.0)
            + [(0.5, 0.94), (0.9, 1.0)]],
    ),
    (  # 3
        [arc(0.42, 0.26, 0.36, 0.26, -160, 80) + corner(0.4, 0.5)
            + arc(0.42, 0.74, 0.42, 0.26, -85, 150)],
        [[(0.12, 0.02)] + corner(0.82, 0.02) + corner(0.42, 0.42)
            + arc(0.44, 0.7, 0.4, 0.3, -80, 150)],
        [arc(0.4, 0.27, 0.38, 0.27, -140, 70) + arc(0.4, 0.73, 0.44, 0.27, -70, 140)],
        [arc(0.45, 0.24, 0.32, 0.24, -170, 90) + [(0.36, 0.48), (0.5, 0.48)]
            + arc(0.45, 0.74, 0.38, 0.26, -70, 170)],
    ),
    (  # 4
        [[(0.3, 0.0)] + corner(0.1, 0.6) + [(0.92, 0.6)], [(0.68, 0.1), (0.68, 1.0)]],
        [[(0.7, 1.0)] + corner(0.7, 0.0) + corner(0.05, 0.66) + [(0.95, 0.66)]],
        [[(0.15, 0.0), (0.12, 0.3)] + corner(0.14, 0.52) + [(0.8, 0.52)],
            [(0.78, 0.0), (0.72, 1.0)]],
        [[(0.62, 0.0)] + corner(0.05, 0.7) + [(0.95, 0.68)], [(0.66, 0.36), (0.62, 1.0)]],
        [[(0.2, 0.0), (0.1, 0.35), (0.3, 0.52), (0.6, 0.48)] + corner(0.82, 0.3)
            + corner(0.85, 0.0) + [(0.78, 1.0)]],
    ),
    (  # 5
        [[(0.85, 0.0)] + corner(0.25, 0.0) + corner(0.18, 0.45)
            + arc(0.45, 0.68, 0.4, 0.31, -120, 140)],
        [corner(0.22, 0.02) + corner(0.18, 0.44) + arc(0.44, 0.68, 0.4, 0.31, -115, 145),
            [(0.22, 0.03), (0.9, 0.0)]],
        [[(0.88, 0.02), (0.45, 0.04), (0.22, 0.2), (0.35, 0.42), (0.7, 0.56), (0.8, 0.78),
            (0.5, 1.0), (0.1, 0.92)]],
        [[(0.8, 0.0)] + corner(0.3, 0.04) + [(0.22, 0.4), (0.55, 0.4), (0.84, 0.64), (0.6, 0.95),
            (0.12, 0.98)]],
    ),
    (  # 6
        [[(0.72, 0.0), (0.4, 0.2), (0.16, 0.55)] + arc(0.5, 0.72, 0.35, 0.28, 170, -190)],
        [[(0.6, 0.0), (0.3, 0.3)] + arc(0.48, 0.7, 0.34, 0.3, 190, -140)],
        [[(0.86, 0.1), (0.6, 0.0), (0.3, 0.18), (0.14, 0.6), (0.3, 0.95), (0.65, 0.98),
            (0.85, 0.75), (0.65, 0.5), (0.35, 0.52), (0.15, 0.72)]],
        [[(0.3, 0.0), (0.16, 0.4), (0.14, 0.75), (0.4, 1.0), (0.78, 0.9), (0.8, 0.65),
            (0.5, 0.52), (0.18, 0.75)]],
    ),
    (  # 7
        [[(0.08, 0.02)] + corner(0.9, 0.02) + [(0.35, 1.0)]],
        [[(0.08, 0.02)] + corner(0.9, 0.02) + [(0.4, 1.0)], [(0.3, 0.52), (0.84, 0.48)]],
        [corner(0.1, 0.18) + corner(0.12, 0.0) + corner(0.88, 0.02) + [(0.6, 0.4), (0.42, 1.0)]],
        [[(0.06, 0.08), (0.4, 0.02)] + corner(0.88, 0.06) + [(0.58, 0.45), (0.5, 1.0)]],
        [[(0.1, 0.06)] + corner(0.8, 0.0) + [(0.6, 0.5), (0.3, 1.0)], [(0.22, 0.5), (0.86, 0.5)]],
    ),
    (  # 8
        [[(0.78, 0.1), (0.5, 0.0), (0.2, 0.16), (0.34, 0.4), (0.66, 0.56), (0.82, 0.8),
            (0.5, 1.0), (0.16, 0.82), (0.34, 0.56), (0.68, 0.38), (0.8, 0.14)]],
        [arc(0.5, 0.24, 0.3, 0.24, 90, 450), arc(0.5, 0.74, 0.38, 0.26, -90, 270)],
        [[(0.5, 0.46), (0.2, 0.25), (0.45, 0.0), (0.8, 0.2), (0.5, 0.46), (0.14, 0.76),
            (0.45, 1.0), (0.86, 0.76), (0.5, 0.46)]],
        [arc(0.5, 0.26, 0.34, 0.26, 80, 440), arc(0.5, 0.75, 0.34, 0.25, -80, 280)],
    ),
    (  # 9
        [arc(0.46, 0.28, 0.34, 0.28, -10, -350) + corner(0.82, 0.2) + [(0.78, 1.0)]],
        [arc(0.48, 0.28, 0.34, 0.28, 0, -350) + [(0.8, 0.5), (0.68, 0.85), (0.3, 1.0)]],
        [[(0.8, 0.1), (0.5, 0.0), (0.18, 0.2), (0.3, 0.5), (0.65, 0.45)] + corner(0.82, 0.08)
            + [(0.78, 0.6), (0.62, 0.98)]],
        [arc(0.45, 0.3, 0.33, 0.28, -30, -360) + [(0.8, 0.7), (0.6, 0.98), (0.2, 0.92)]],
    ),
)

#: One more style for each digit, kept for the test.
HELD_OUT = (
    ([[(0.6, 0.02), (0.2, 0.15), (0.08, 0.6), (0.35, 1.0), (0.8, 0.85), (0.92, 0.4),
        (0.7, 0.04), (0.4, 0.06)]],),
    ([[(0.3, 0.2), (0.45, 0.12)] + corner(0.58, 0.02) + [(0.56, 0.5), (0.6, 1.0)],
        [(0.35, 0.98), (0.8, 1.0)]],),
    ([[(0.2, 0.3), (0.25, 0.06), (0.6, 0.0), (0.78, 0.25), (0.5, 0.6)] + corner(0.15, 0.92)
        + [(0.4, 0.88), (0.65, 0.98), (0.9, 0.9)]],),
    ([[(0.18, 0.08), (0.55, 0.0), (0.72, 0.2)] + corner(0.35, 0.44)
        + [(0.7, 0.5), (0.85, 0.75), (0.55, 0.98), (0.1, 0.9)]],),
    ([[(0.42, 0.0), (0.25, 0.35)] + corner(0.08, 0.58) + [(0.5, 0.6), (0.9, 0.56)],
        [(0.6, 0.3), (0.58, 1.0)]],),
    ([[(0.75, 0.05), (0.5, 0.0)] + corner(0.28, 0.06) + corner(0.25, 0.42)
        + [(0.55, 0.36), (0.82, 0.55), (0.75, 0.85), (0.4, 1.0), (0.12, 0.85)]],),
    ([[(0.55, 0.02), (0.3, 0.25), (0.2, 0.65), (0.35, 0.97), (0.62, 0.95), (0.72, 0.72),
        (0.5, 0.58), (0.24, 0.7)]],),
    ([[(0.12, 0.12), (0.2, 0.04), (0.5, 0.08)] + corner(0.82, 0.02)
        + [(0.7, 0.3), (0.5, 0.6), (0.45, 1.0)]],),
    ([[(0.6, 0.04), (0.3, 0.06), (0.28, 0.3), (0.6, 0.5), (0.78, 0.75), (0.55, 1.0),
        (0.25, 0.85), (0.4, 0.55), (0.7, 0.3), (0.62, 0.04)]],),
    ([[(0.7, 0.15), (0.45, 0.04), (0.22, 0.2), (0.3, 0.42), (0.6, 0.4), (0.74, 0.15),
        (0.72, 0.5), (0.66, 0.75), (0.7, 1.0)]],),
)


def _smooth(points):
    """A Catmull-Rom curve through the points, as a polyline; straight between two corners."""
    if len(points) < 3:
        return points
    line = []
    for i in range(len(points) - 1):
        before, a = points[max(i - 1, 0)], points[i]
        b, after = points[i + 1], points[min(i + 2, len(points) - 1)]
        for step in range(6):
            t = step / 6
            line.append(tuple(
                0.5 * (2 * a[k] + (b[k] - before[k]) * t
                       + (2 * before[k] - 5 * a[k] + 4 * b[k] - after[k]) * t * t
                       + (3 * a[k] - before[k] - 3 * b[k] + after[k]) * t ** 3)
                for k in (0, 1)))
    return line + [points[-1]]


def _path(stroke):
    """The pen's whole way: the smooth pieces between corners, joined."""
    pieces, piece = [], []
    for point in stroke:
        if piece and piece[-1] == point:
            pieces.append(piece)
            piece = [point]
        else:
            piece.append(point)
    pieces.append(piece)
    return [point for piece in pieces for point in _smooth(piece)]


def draw(style, random, wobble=0.035):
    """One drawing of a style: white on black, pen and hand chosen by `random`."""
    pen = random.uniform(4.0, 15.0)
    width, height = random.uniform(34, 62), random.uniform(56, 72)
    left, top = (CANVAS - width) / 2, (CANVAS - height) / 2
    picture = Image.new("L", (CANVAS, CANVAS))
    ink = ImageDraw.Draw(picture)
    for stroke in style:
        drift_x, drift_y = random.gauss(0, wobble / 2), random.gauss(0, wobble / 2)
        moved = {point: (point[0] + drift_x + random.gauss(0, wobble),
                         point[1] + drift_y + random.gauss(0, wobble))
                 for point in stroke}
        path = [(left + x * width, top + y * height)
                for x, y in _path([moved[point] for point in stroke])]
        ink.line(path, fill=255, width=round(pen), joint="curve")
        for x, y in (path[0], path[-1]):
            ink.ellipse([x - pen / 2, y - pen / 2, x + pen / 2, y + pen / 2], fill=255)
    return picture
