"""What Spark takes: the section with the figures."""

from __future__ import annotations

from benchmarks.sdk_faults import OUT
from benchmarks.series import Spread
from benchmarks.spark import BEGIN, BOUNDS, END, SECONDS, describe


def test_the_section_has_every_figure_with_its_bound() -> None:
    """Between marks that the results have."""
    found = {name: Spread.of([1.0, 1.5, 2.5]) for name in (*BOUNDS, *SECONDS)}
    text = describe(found, 2_000, 3, "Spark 4 on Java 17")
    assert "| seconds of the core |  | 1.50 | 1.00 – 2.50 |" in text
    assert "the core's on one machine | 1.25 | 1.50 | 1.00 – 2.50 |" in text
    assert "2,000 rows" in text
    kept = OUT.read_text("utf-8")
    assert kept.count(BEGIN) == kept.count(END) == 1
