"""How figures are written."""

from __future__ import annotations

import pytest

from benchmarks.measures import MEASURES


@pytest.mark.parametrize(
    ("name", "figure", "written"),
    [
        ("rows_per_second", 1_234_567.8, "1,234,568"),
        ("peak_bytes", 299_400_000, "299"),
        ("fill_ratio", 0.99876, "0.9988"),
        ("megabytes_per_second", 145.04, "145.0"),
    ],
)
def test_a_figure_has_the_digits_that_mean_something(name: str, figure: float, written: str) -> None:
    """In the unit of its column."""
    assert MEASURES[name].write(figure) == written
