# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""The figures as SVG: a panel for each operation, link and number of ranks, time over size."""

import math
from xml.sax.saxutils import escape

from cells import name_of_size

WIDTH, HEIGHT = 300, 190  # of a panel
LEFT, TOP, RIGHT, BOTTOM = 46, 26, 10, 30  # its margins
HEAD = 50  # above all panels: title and legend
COLOURS = ("#0050b5", "#d1495b", "#2e933c", "#8f5bb5")
PEER, LIMIT = "#222222", "#999999"


def lines_of(comparisons):
    """(name, colour, dashed, points) for each setting of ours, the best peer, and the limit."""
    ours = [f.setting.name for f in comparisons[0].figures if f.setting.ours]
    lines = []
    for name, colour in zip(ours, COLOURS):
        figures = [(c.cell.size, c.figure(name)) for c in comparisons]
        points = [(size, f.seconds) for size, f in figures if f and f.counts]
        lines.append((name, colour, False, points))
    best = [(c.cell.size, c.best_peer.seconds) for c in comparisons if c.best_peer]
    limit = [(c.cell.size, c.limit) for c in comparisons if c.limit]
    return lines + [("best peer", PEER, False, best), ("limit", LIMIT, True, limit)]


def text(x, y, words, anchor="start", size=11):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">'
            f'{escape(words)}</text>')


def name_of_time(exponent):
    """Of 10 to that power of seconds."""
    unit, base = (("s", 0) if exponent >= 0 else ("ms", -3) if exponent >= -3 else
                  ("µs", -6) if exponent >= -6 else ("ns", -9))
    return f"{10 ** (exponent - base)} {unit}"


class Panel:
    """Both axes are logarithmic."""

    def __init__(self, x, y, comparisons):
        self._x, self._y = x, y
        self._comparisons = comparisons
        self._lines = lines_of(comparisons)
        sizes = [size for *_, points in self._lines for size, _ in points] or [1]
        times = [seconds for *_, points in self._lines for _, seconds in points] or [1e-6]
        first, last = math.log10(min(sizes)), math.log10(max(sizes))
        self._sizes = first, max(last, first + 1)
        self._times = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)) + 1e-9)

    def _place(self, size, seconds):
        first, last = self._sizes
        low, high = self._times
        across = (math.log10(size) - first) / (last - first)
        up = (math.log10(seconds) - low) / (high - low)
        return (self._x + LEFT + across * (WIDTH - LEFT - RIGHT),
                self._y + HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM))

    def _grid(self):
        low, high = self._times
        first = 10 ** self._sizes[0]
        for exponent in range(low, high + 1):
            x, y = self._place(first, 10.0 ** exponent)
            yield (f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{self._x + WIDTH - RIGHT}" y2="{y:.1f}" '
                   'stroke="#e4e4e4"/>')
            yield text(x - 4, y + 4, name_of_time(exponent), "end", 9)
        for comparison in self._comparisons:
            x, _ = self._place(comparison.cell.size, 10.0 ** low)
            label = name_of_size(comparison.cell.size).replace("iB", "").replace(" ", "")
            yield text(x, self._y + HEIGHT - BOTTOM + 14, label, "middle", 9)

    def draw(self):
        cell = self._comparisons[0].cell
        link = " over TCP" if self._comparisons[0].link == "tcp" else ""
        yield text(self._x + LEFT, self._y + TOP - 8, f"{cell.title}, {cell.ranks} ranks{link}")
        yield from self._grid()
        for _, colour, dashed, points in self._lines:
            places = " ".join("{:.1f},{:.1f}".format(*self._place(*point)) for point in points)
            dashes = ' stroke-dasharray="4 3"' if dashed else ""
            yield (f'<polyline points="{places}" fill="none" stroke="{colour}" '
                   f'stroke-width="1.6"{dashes}/>')


def legend(groups):
    names = {}
    for comparisons in groups:
        for name, colour, _, _ in lines_of(comparisons):
            names.setdefault(name, colour)
    x = 10
    for name, colour in names.items():
        yield f'<line x1="{x}" y1="38" x2="{x + 18}" y2="38" stroke="{colour}" stroke-width="3"/>'
        yield text(x + 22, 42, name)
        x += 40 + 7 * len(name)


def to_svg(groups):
    """`groups` are lists of Comparisons that differ in size alone; those of an operation and a link
    stand in one line."""
    lines = {}
    for comparisons in groups:
        first = comparisons[0]
        lines.setdefault((first.link, first.cell.title), []).append(comparisons)
    columns = max((len(line) for line in lines.values()), default=1)
    width, height = max(columns * WIDTH, 700), HEAD + len(lines) * HEIGHT
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             'font-family="sans-serif">', '<rect width="100%" height="100%" fill="white"/>',
             text(10, 20, "Time of one call over size: commrig, the best peer, the limit", size=14)]
    parts += legend(groups)
    for row, line in enumerate(lines.values()):
        for column, comparisons in enumerate(line):
            parts += Panel(column * WIDTH, HEAD + row * HEIGHT, comparisons).draw()
    return "\n".join(parts + ["</svg>"]) + "\n"
