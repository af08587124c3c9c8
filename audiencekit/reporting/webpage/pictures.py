"""The pictures of a page: drawn by matplotlib, as SVG that stands in the page and takes its colours.

Each colour is drawn as a number that means nothing else, and written as a variable of the page: so one picture is right
by day, by night and on paper.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any, Final

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

INK, SOFT, GOOD, LOST, LINE = "#010101", "#020202", "#030303", "#040404", "#050505"
_VARIABLES: Final = {INK: "ink", SOFT: "soft", GOOD: "good", LOST: "lost", LINE: "line"}
_WIDE: Final = 7.6  # inches, of 72 units of the picture each
_BAR: Final = 0.42
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


def draw_bars(name: str, bars: Sequence[tuple[str, int, str]], *, colour: str = GOOD) -> str:
    """Bars from the left, each with its name before it and its label behind it: (name, length, label).

    `name` is that of the picture, another one for each of a page.
    """
    figure, axes = _figure(_BAR * len(bars) + 0.1)
    names = [one for one, *_ in bars]
    drawn = axes.barh(range(len(bars)), [length for _, length, _ in bars], height=0.68, color=colour)
    axes.bar_label(drawn, labels=[label for *_, label in bars], padding=5, color=INK)
    axes.set_yticks(range(len(bars)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, max([length for _, length, _ in bars] + [1]) * 1.24)
    axes.xaxis.set_visible(False)
    _frame(axes, ("top", "right", "bottom"))
    return _svg(figure, name)


def draw_steps(
    name: str, values: Sequence[int], *, step: str, of: str, marked: Sequence[bool] = (), names: Sequence[str] = ()
) -> str:
    """One column a step; those that are `marked` in the colour of loss. `step` and `of` name the two axes."""
    figure, axes = _figure(2.3)
    colours = [LOST if is_marked else GOOD for is_marked in marked] or GOOD
    axes.bar(range(len(values)), values, width=0.86, color=colours)
    axes.set_ylabel(of)
    axes.set_xlabel(step)
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{int(value):,}"))
    axes.tick_params(axis="y", colors=SOFT)
    axes.grid(axis="y", color=LINE, linewidth=0.6)
    axes.set_axisbelow(True)
    if names:
        every = max(1, len(names) // 12)
        axes.set_xticks(range(0, len(names), every), names[::every])
    else:
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    _frame(axes, ("top", "right", "left"))
    return _svg(figure, name)


def _figure(height: float) -> tuple[Figure, Any]:
    with rc_context(_STYLE):
        figure = Figure(figsize=(_WIDE, height), layout="constrained")
        return figure, figure.subplots()


def _frame(axes: Any, hidden: Sequence[str]) -> None:
    axes.tick_params(length=0)
    for side in hidden:
        axes.spines[side].set_visible(False)


def _svg(figure: Figure, name: str) -> str:
    """The picture, without a size or style of its own; a reader is told its numbers by the table beside it."""
    written = io.StringIO()
    with rc_context(_STYLE):
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
