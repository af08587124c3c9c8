"""A plot of throughput against rows, as SVG: both axes in powers of ten, one line a contestant."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

Points = Sequence[tuple[float, float]]

WIDTH: Final = 760
HEIGHT: Final = 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 210, 30, 50  # pixels around the field; on the right, names of the lines
_COLOURS: Final = ("#0b6e4f", "#6bbf59", "#c1121f", "#f4a259", "#5b5f97", "#6c757d", "#2b2d42")
_LABEL_PIXELS: Final = 16  # the least between two names
_PREFIXES: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True, slots=True)
class _Axis:
    """Whole powers of ten from `first` to `last`, laid out from pixel `begin` to pixel `end`."""

    first: int
    last: int
    begin: float
    end: float

    @classmethod
    def around(cls, figures: Sequence[float], begin: float, end: float) -> _Axis:
        first = math.floor(math.log10(min(figures)))
        return cls(first, max(math.ceil(math.log10(max(figures))), first + 1), begin, end)

    def pixel(self, figure: float) -> float:
        share = (math.log10(figure) - self.first) / (self.last - self.first)
        return round(self.begin + share * (self.end - self.begin), 1)

    def marks(self) -> Iterator[tuple[float, str]]:
        return ((self.pixel(10.0**power), _short(10.0**power)) for power in range(self.first, self.last + 1))


def draw_throughput(lines: Mapping[str, Points]) -> str:
    """The SVG of `lines` {name: (rows, rows per second), by rows}, all above 0. Raises ValueError for no line."""
    points = [point for line in lines.values() for point in line]
    across = _Axis.around([rows for rows, _ in points], _LEFT, WIDTH - _RIGHT)
    up = _Axis.around([speed for _, speed in points], HEIGHT - _BOTTOM, _TOP)
    label = '<text x="{}" y="{}" text-anchor="middle">{}</text>'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-size="12">',
            "<style>text {font-family: sans-serif}</style>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            *_grid(across, up),
            label.format((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 12, "rows of the list"),
            label.format(_LEFT - 30, _TOP - 8, "rows/s"),
            *_curves(lines, across, up),
            "</svg>\n",
        ]
    )


def _grid(across: _Axis, up: _Axis) -> Iterator[str]:
    line = '<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="#ddd"/>'
    for x, text in across.marks():
        yield line.format(x, _TOP, x, HEIGHT - _BOTTOM)
        yield f'<text x="{x}" y="{HEIGHT - _BOTTOM + 16}" text-anchor="middle">{text}</text>'
    for y, text in up.marks():
        yield line.format(_LEFT, y, WIDTH - _RIGHT, y)
        yield f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{text}</text>'


def _curves(lines: Mapping[str, Points], across: _Axis, up: _Axis) -> Iterator[str]:
    labels = _spread_out({name: up.pixel(line[-1][1]) for name, line in lines.items()})
    for number, (name, line) in enumerate(lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [(across.pixel(rows), up.pixel(speed)) for rows, speed in line]
        path = " ".join(f"{x},{y}" for x, y in places)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        yield from (f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in places)
        yield f'<text x="{places[-1][0] + 8}" y="{labels[name] + 4}" fill="{colour}">{escape(name)}</text>'


def _spread_out(heights: Mapping[str, float]) -> dict[str, float]:
    """The heights of the names, from the top down, none over another."""
    placed: dict[str, float] = {}
    lowest = -math.inf
    for name, height in sorted(heights.items(), key=lambda one: one[1]):
        lowest = placed[name] = max(height, lowest + _LABEL_PIXELS)
    return placed


def _short(figure: float) -> str:
    for size, letter in _PREFIXES:
        if figure >= size:
            return f"{figure / size:g} {letter}"
    return f"{figure:g}"
