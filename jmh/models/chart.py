# SPDX-License-Identifier: Apache-2.0
"""Line charts in a grid, as SVG that browsers show in light or dark colours, as their user wants them."""

import html

WIDTH, HEIGHT = 280, 170  # of a chart with its title and ticks
LEFT, TOP, RIGHT, BOTTOM = 52, 28, 12, 24
LEGEND = 30

STYLE = """
text { font: 12px sans-serif; fill: #1f2328 } .page { fill: #ffffff } .axis { stroke: #8c959f; fill: none }
.s0 { stroke: #57606a; stroke-dasharray: 5 3 } .s1 { stroke: #0969da } .s2 { stroke: #bc4c00 } polyline { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .page { fill: #0d1117 } .s0 { stroke: #9ea7b3 } .s1 { stroke: #58a6ff } .s2 { stroke: #f0883e }
}
circle { stroke-width: 3 } .title { font-weight: bold } .end { text-anchor: end } .middle { text-anchor: middle }
"""


def text(x, y, content, kind=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{kind}">{html.escape(content)}</text>'


def number(value):
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def chart(title, ticks, lines):
    """One chart: a line of values for each series, above ticks that are equally far from each other."""
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    most = max(max(values) for values in lines.values()) * 1.05 or 1
    across = [LEFT + width * (index + 0.5) / len(ticks) for index in range(len(ticks))]
    out = [text(LEFT, 18, title, "title"), f'<path class="axis" d="M{LEFT} {TOP} v{height} h{width}"/>',
           text(LEFT - 6, TOP + 10, number(most), "end"), text(LEFT - 6, TOP + height, "0", "end")]
    out += [text(x, TOP + height + 16, str(tick), "middle") for x, tick in zip(across, ticks)]
    for index, values in enumerate(lines.values()):
        points = [(x, TOP + height * (1 - value / most)) for x, value in zip(across, values)]
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
