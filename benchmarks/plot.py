"""A plot of throughput against rows, as SVG: both axes in powers of ten, one line a contestant."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, Final

Points = Sequence[tuple[float, float]]

_SIZE: Final = (7.6, 4.2)  # inches
_STYLE: Final[Any] = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "audiencekit",  # the same bytes each time
    "text.parse_math": False,
    "font.family": "sans-serif",
}


def draw_throughput(lines: Mapping[str, Points]) -> str:
    """The SVG of `lines` {name: (rows, rows per second), by rows}, all above 0. Raises ValueError for no line."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    if not lines:
        raise ValueError("there is nothing to draw")
    with rc_context(_STYLE):
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.subplots()
        for name, points in lines.items():
            axes.loglog(*zip(*points, strict=True), marker="o", label=name)
        axes.set_xlabel("rows of the list")
        axes.set_ylabel("rows/s")
        axes.xaxis.set_major_formatter(EngFormatter())
        axes.yaxis.set_major_formatter(EngFormatter())
        axes.grid(color="#dddddd")
        figure.legend(loc="outside right upper", frameon=False)
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    svg = written.getvalue()
    return "\n".join(line.rstrip() for line in svg[svg.index("<svg") :].splitlines()) + "\n"
