"""How a measured figure is written for people: its unit, and the digits that mean something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Measure:
    """The figures of one name: `unit` heads a column, `scale` is one unit in the unit measured."""

    unit: str
    form: str = "{:,.0f}"
    scale: float = 1

    def write(self, figure: float) -> str:
        """The number alone."""
        return self.form.format(figure / self.scale)


MEASURES: Final = {
    "rows": Measure("rows"),
    "seconds": Measure("s", "{:,.2f}"),
    "rows_per_second": Measure("rows/s"),
    "megabytes_per_second": Measure("MB/s of bodies", "{:,.1f}"),
    "packing_megabytes_per_second": Measure("MB/s while packing"),
    "sending_megabytes_per_second": Measure("MB/s in pass two"),
    "sending_requests_per_second": Measure("requests/s in pass two", "{:,.1f}"),
    "requests": Measure("requests"),
    "fill_ratio": Measure("fill ratio", "{:.4f}"),
    "decided_in_bulk": Measure("of values decided in bulk", "{:.4f}"),
    "process_seconds": Measure("s of the whole process", "{:,.2f}"),
    "cpu_seconds": Measure("s of processor time", "{:,.2f}"),
    "peak_bytes": Measure("MB of memory at the peak", scale=1e6),
}


def known_measures(names: Iterable[str]) -> Iterator[tuple[str, Measure]]:
    """Those of `names` that people are shown, in the order of MEASURES."""
    told = set(names)
    return ((name, measure) for name, measure in MEASURES.items() if name in told)
