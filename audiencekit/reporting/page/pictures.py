"""The process that draws the pictures of a page with matplotlib, as SVG in the colours of the page.

Each colour is drawn as a number with no other meaning, and written as a variable of the page: so one picture is right
in light and dark themes and on paper.
"""

from __future__ import annotations

import io
import json
import logging
import os
import re
import sys
from collections.abc import Sequence
from functools import singledispatch
from typing import Any, Final

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from audiencekit.reporting.page.page_parts import Bars, Columns, Overlap

INK, SOFT, GOOD, LOST, LINE = "#010101", "#020202", "#030303", "#040404", "#050505"
_VARIABLES: Final = {INK: "ink", SOFT: "soft", GOOD: "good", LOST: "lost", LINE: "line"}
_WIDE: Final = 7.6  # inches, of 72 units of the picture each
_BAR: Final = 0.42
_DOT: Final = 0.26
_MOST_NAMES: Final = 12  # below columns; of more every other is left out
_KINDS: Final = {kind.__name__: kind for kind in (Bars, Columns, Overlap)}
_STYLE: Final[Any] = {
    "svg.fonttype": "none",  # text stays text: it can be found, and takes the page's font
    "svg.hashsalt": "audiencekit",  # the same bytes each time
    "font.family": "sans-serif",
    "font.size": 11,
    "text.color": INK,
    "axes.labelcolor": SOFT,
    "axes.edgecolor": LINE,
    "xtick.color": SOFT,
    "ytick.color": INK,
}


def main() -> None:
    """Draw the pictures that are given on stdin, and print them."""
    os.umask(0o077)
    logging.disable()
    matplotlib.rcdefaults()  # whatever files of the user say
    matplotlib.rcParams.update(_STYLE)
    pictures = [_KINDS[kind](**content) for kind, content in json.load(sys.stdin)]
    sys.stdout.write(json.dumps([_svg(_draw(picture), picture.name) for picture in pictures]))


@singledispatch
def _draw(picture: Any) -> Figure:
    raise TypeError(type(picture))


@_draw.register
def _(picture: Bars) -> Figure:
    """Each bar has its name before it and its label behind it."""
    bars = picture.bars
    figure, axes = _figure(_BAR * len(bars) + 0.1)
    lengths = [length for _, length, _ in bars]
    drawn = axes.barh(range(len(bars)), lengths, height=0.68, color=LOST if picture.is_loss else GOOD)
    axes.bar_label(drawn, labels=[label for *_, label in bars], padding=5, color=INK)
    axes.set_yticks(range(len(bars)), [one for one, *_ in bars])
    axes.invert_yaxis()
    axes.set_xlim(0, max([*lengths, 1]) * 1.24)
    axes.xaxis.set_visible(False)
    _frame(axes, ("top", "right", "bottom"))
    return figure


@_draw.register
def _(picture: Columns) -> Figure:
    figure, axes = _figure(2.3)
    places, more = range(len(picture.values)), picture.more or [0] * len(picture.values)
    axes.bar(places, picture.values, width=0.86, color=GOOD)
    axes.bar(places, more, width=0.86, bottom=picture.values, color=LOST)
    tops = [value + extra for value, extra in zip(picture.values, more, strict=True)]
    over = max([*tops, 1]) * 0.06
    for place in (place for place, is_marked in enumerate(picture.marked) if is_marked):
        axes.plot(place, tops[place] + over, marker="v", color=LOST, markersize=5)
    axes.set_ylabel(picture.of)
    axes.set_xlabel(picture.step)
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{int(value):,}"))
    axes.tick_params(axis="y", colors=SOFT)
    axes.grid(axis="y", color=LINE, linewidth=0.6)
    axes.set_axisbelow(True)
    _name_columns(axes, picture.names)
    _frame(axes, ("top", "right", "left"))
    return figure


@_draw.register
def _(picture: Overlap) -> Figure:
    """Columns with their numbers; below each a dot in the line of every set that it is of, joined by a line."""
    figure = Figure(figsize=(_WIDE, 1.7 + _DOT * len(picture.sets)), layout="constrained")
    top, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.5, _DOT * len(picture.sets) + 0.1))
    places, numbers = range(len(picture.columns)), [number for _, number in picture.columns]
    drawn = top.bar(places, numbers, width=0.6, color=GOOD)
    top.bar_label(drawn, labels=[f"{number:,}" for number in numbers], padding=2, color=INK)
    top.set_ylim(0, max([*numbers, 1]) * 1.2)
    top.set_xlim(-0.6, max(len(picture.columns), 4) - 0.4)
    top.yaxis.set_visible(False)
    for place, (sets, _) in enumerate(picture.columns):
        below.plot([place] * len(picture.sets), range(len(picture.sets)), "o", color=LINE, markersize=7)
        below.plot([place] * len(sets), sets, "o-", color=INK, markersize=7, linewidth=1.6)
    below.set_yticks(range(len(picture.sets)), picture.sets)
    below.set_ylim(len(picture.sets) - 0.5, -0.5)
    for axes, hidden in ((top, ("top", "right", "left")), (below, ("top", "right", "left", "bottom"))):
        axes.xaxis.set_visible(False)
        _frame(axes, hidden)
    return figure


def _name_columns(axes: Any, names: Sequence[str]) -> None:
    if names:
        every = -(-len(names) // _MOST_NAMES)
        axes.set_xticks(range(0, len(names), every), names[::every])
        axes.tick_params(axis="x", labelrotation=0 if len(names[0]) * len(names[::every]) < 80 else 30)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))


def _figure(height: float) -> tuple[Figure, Any]:
    figure = Figure(figsize=(_WIDE, height), layout="constrained")
    return figure, figure.subplots()


def _frame(axes: Any, hidden: Sequence[str]) -> None:
    axes.tick_params(length=0)
    for side in hidden:
        axes.spines[side].set_visible(False)


def _svg(figure: Figure, name: str) -> str:
    """Return the picture without size or style. Screen readers are pointed to the table beside it."""
    written = io.StringIO()
    figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = written.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r' (?:width|height)="[0-9.]+pt"', "", svg, count=2)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, f"var(--{variable})")
    return svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
