# SPDX-License-Identifier: Apache-2.0
"""Line charts in a grid, as SVG that browsers show in light or dark colours, as their user wants them."""

import html
import math

WIDTH, HEIGHT = 290, 180  # of a chart with its title and ticks
LEFT, TOP, RIGHT, BOTTOM = 66, 30, 10, 26
LEGEND = 30

STYLE = """
text { font: 12px sans-serif; fill: #1f2328 } .page { fill: #ffffff } .axis { stroke: #8c959f; fill: none }
.grid { stroke: #8c959f; opacity: 0.3 }
.s0 { stroke: #57606a; stroke-dasharray: 5 3 } .s1 { stroke: #0969da } .s2 { stroke: #bc4c00 } polyline { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .page { fill: #0d1117 } .s0 { stroke: #9ea7b3 } .s1 { stroke: #58a6ff } .s2 { stroke: #f0883e }
}
circle { stroke-width: 3 } .title { font-weight: bold } .end { text-anchor: end } .middle { text-anchor: middle }
"""


def text(x, y, content, kind=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{kind}">{html.escape(content)}</text>'


def steps(least, most):
    """1, 2 and 5 times powers of ten, from the last below a range to the first above it; without those between for a wide range."""
    every = [digit * 10.0 ** power for power in range(-3, 10) for digit in (1, 2, 5)]
    first = max(index for index, step in enumerate(every) if step <= max(least, every[0]))
    last = min(index for index, step in enumerate(every) if step >= most and index > first)
    inside = every[first:last + 1]
    return inside if len(inside) <= 5 else [inside[0], *(step for step in inside[1:-1] if f"{step:e}"[0] == "1"), inside[-1]]


def chart(title, ticks, lines):
    """One chart: a line of values for each series over the ticks. Both axes are logarithmic."""
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    values = [value for line in lines.values() for value in line]
    labels = steps(min(values), max(values))
    wide, high = math.log(ticks[-1] / ticks[0]) or 1, math.log(labels[-1] / labels[0])
    across = [LEFT + 16 + (width - 32) * math.log(tick / ticks[0]) / wide for tick in ticks]
    above = lambda value: TOP + height * (1 - math.log(max(value, labels[0]) / labels[0]) / high)
    out = [text(LEFT, 18, title, "title"), f'<path class="axis" d="M{LEFT} {TOP} v{height} h{width}"/>']
    for label in labels:
        said = f"{label:,.0f}" if label >= 1 else f"{label:g}"
        out += [f'<path class="grid" d="M{LEFT} {above(label):.1f} h{width}"/>', text(LEFT - 6, above(label) + 4, said, "end")]
    out += [text(x, TOP + height + 16, str(tick), "middle") for x, tick in zip(across, ticks)]
    for index, line in enumerate(lines.values()):
        points = [(x, above(value)) for x, value in zip(across, line)]
        out.append(f'<polyline class="s{index}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>')
        out += [f'<circle class="s{index}" cx="{x:.1f}" cy="{y:.1f}" r="1.5"/>' for x, y in points]
    return out


def draw(file, ticks, charts, columns):
    """Writes a picture of charts, pairs of a title and of values by series, so many beside each other; all with the same series."""
    rows = -(-len(charts) // columns)
    width, height = columns * WIDTH, rows * HEIGHT + LEGEND
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
           f"<style>{STYLE}</style>", '<rect class="page" width="100%" height="100%"/>']
    for index, (title, lines) in enumerate(charts):
        out += [f'<g transform="translate({index % columns * WIDTH} {index // columns * HEIGHT})">', *chart(title, ticks, lines), "</g>"]
    for index, series in enumerate(charts[0][1]):
        x, y = LEFT + 170 * index, height - LEGEND // 2
        out += [f'<polyline class="s{index}" points="{x},{y} {x + 28},{y}"/>', text(x + 34, y + 4, series)]
    file.write_text("\n".join(out) + "\n</svg>\n")
