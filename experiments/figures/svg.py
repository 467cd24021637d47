"""Small charts as SVG text, readable on light and on dark ground."""
import math
from xml.sax.saxutils import escape

LIGHT = ["#1f6fb4", "#c4540a", "#16845a", "#8644b8", "#a3203f", "#5e6670", "#8a6d00", "#00788a", "#b0398f", "#3d4bb8", "#6b4a2b", "#4f7a1f"]
DARK = ["#6db3f2", "#ff9a52", "#4fd09a", "#c79af2", "#ff7d97", "#a9b3bf", "#e3c04a", "#45c9dc", "#f08fd2", "#9aa5ff", "#d0a27a", "#a5cf6b"]
DASHES = ["", "7 3", "2 3", "9 3 2 3", "4 4", "", "7 3", "2 3", "9 3 2 3", "4 4", "", "7 3"]

STYLE = """
svg { background: #ffffff; font: 13px system-ui, sans-serif; }
text { fill: #24292f; } .title { font-size: 15px; font-weight: 600; } .head { font-weight: 600; } .small { font-size: 11px; }
.muted { fill: #57606a; } .axis { stroke: #8c959f; } .grid { stroke: #e4e7ea; } .cell { stroke: #ffffff; stroke-width: 1; }
.heat { fill: #1f6fb4; } .on { fill: #ffffff; } .guide { stroke: #8c959f; stroke-dasharray: 4 3; } .tag { font-size: 11px; paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
"""
DARK_STYLE = """
svg { background: #0d1117; } text { fill: #e6edf3; } .muted { fill: #9aa4af; } .axis { stroke: #6e7681; } .grid { stroke: #262c34; }
.cell { stroke: #0d1117; } .heat { fill: #58a6ff; } .on { fill: #0d1117; } .guide { stroke: #6e7681; } .tag { stroke: #0d1117; }
"""


def nice_ticks(low, high, count=5):
    step = 10 ** math.floor(math.log10((high - low) / count))
    step = next(step * m for m in (1, 2, 5, 10) if (high - low) / (step * m) <= count)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 10) for i in range(first, int(math.floor(high / step + 1e-9)) + 1)]


def label(value, digits=2):
    """Up to four digits after the point, and at least so many unless it is a whole number."""
    whole, _, rest = f"{value:.4f}".partition(".")
    rest = rest.rstrip("0")
    text = f"{whole}.{rest.ljust(digits, '0')}" if rest else whole
    text = text.replace("-", "\u2212")
    return text.replace("0.", ".", 1) if text.lstrip("\u2212").startswith("0.") else text


def digits_of(ticks):
    return max(len(label(tick).partition(".")[2]) for tick in ticks)


class Chart:
    def __init__(self, width, height, title):
        self.width, self.height, self.title, self.parts = width, height, title, []
        self.text(16, 26, title, "title")

    def text(self, x, y, words, kind="", anchor="start", turn=0):
        spin = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}"{spin}>{escape(words)}</text>')

    def segment(self, x1, y1, x2, y2, kind):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')

    def dot(self, x, y, index, radius=3.0):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="f{index}"/>')

    def path(self, points, index, width=1.8):
        dash = f' stroke-dasharray="{DASHES[index]}"' if DASHES[index] else ""
        where = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{where}" fill="none" stroke-width="{width}" class="s{index}"{dash}/>')

    def cell(self, x, y, width, height, strength):
        """A box of a heat map, strength from 0 to 1; True if text on it wants the colour of the ground."""
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" class="heat cell" '
                          f'fill-opacity="{0.06 + 0.9 * strength:.3f}"/>')
        return strength > 0.7

    def legend(self, names, x, y, lines=True):
        for index, name in enumerate(names):
            if lines:
                self.path([(x, y), (x + 28, y)], index)
            self.dot(x + 14, y, index)
            self.text(x + 34, y + 4, name)
            x += 54 + 7.6 * len(name)

    def panel(self, *arguments, **named):
        return Panel(self, *arguments, **named)

    def write(self, path):
        colours = "".join(f".s{i} {{ stroke: {c}; }} .f{i} {{ fill: {c}; }} " for i, c in enumerate(LIGHT))
        dark = "".join(f".s{i} {{ stroke: {c}; }} .f{i} {{ fill: {c}; }} " for i, c in enumerate(DARK))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img" aria-label="{escape(self.title)}">\n<style>{STYLE}{colours}\n'
            f'@media (prefers-color-scheme: dark) {{{DARK_STYLE}{dark}}}\n</style>\n' + "\n".join(self.parts) + "\n</svg>\n")


class Panel:
    """Axes inside a chart; values outside the range of y are not drawn."""

    def __init__(self, chart, x, y, width, height, xrange, yrange, title, xlabel, ylabel, xticks=None, yticks=None):
        self.chart, self.x, self.y, self.width, self.height = chart, x, y, width, height
        margin = 0.04 * (yrange[1] - yrange[0])
        self.xrange, self.yrange = xrange, (yrange[0] - margin, yrange[1] + margin)
        chart.text(x + width / 2, y - 8, title, "head", "middle")
        yticks = yticks or nice_ticks(*self.yrange)
        for tick in yticks:
            chart.segment(x, self.py(tick), x + width, self.py(tick), "grid")
            chart.text(x - 6, self.py(tick) + 4, label(tick, digits_of(yticks)), "small muted", "end")
        xticks = xticks or nice_ticks(*xrange)
        for tick in xticks:
            chart.segment(self.px(tick), y + height, self.px(tick), y + height + 4, "axis")
            words = str(tick) if isinstance(tick, int) else label(tick, digits_of(xticks))
            chart.text(self.px(tick), y + height + 17, words, "small muted", "middle")
        chart.segment(x, y, x, y + height, "axis")
        chart.segment(x, y + height, x + width, y + height, "axis")
        chart.text(x + width / 2, y + height + 36, xlabel, "", "middle")
        if ylabel:
            chart.text(x - 44, y + height / 2, ylabel, "", "middle", -90)

    def px(self, value):
        return self.x + self.width * (value - self.xrange[0]) / (self.xrange[1] - self.xrange[0])

    def py(self, value):
        return self.y + self.height * (self.yrange[1] - value) / (self.yrange[1] - self.yrange[0])

    def line(self, points, index, dots=True):
        self.chart.path([(self.px(x), self.py(y)) for x, y in points], index)
        if dots:
            for x, y in points:
                self.chart.dot(self.px(x), self.py(y), index, 2.6)

    def bar(self, x, low, high, index):
        self.chart.segment(self.px(x), self.py(low), self.px(x), self.py(high), f"s{index}\" stroke-opacity=\"0.45")

    def scatter(self, points, index):
        where = "".join(f"M{self.px(x):.1f} {self.py(y):.1f}h0" for x, y in points)
        self.chart.parts.append(f'<path d="{where}" class="s{index}" stroke-width="5" stroke-linecap="round" stroke-opacity="0.55"/>')

    def diagonal(self):
        low, high = max(self.xrange[0], self.yrange[0]), min(self.xrange[1], self.yrange[1])
        self.chart.segment(self.px(low), self.py(low), self.px(high), self.py(high), "guide")
