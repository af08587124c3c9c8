"""Cells of a country column."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from audiencekit.identifiers.countries import find_country
from audiencekit.preparation import countries
from audiencekit.preparation.countries import resolve_countries


@given(
    st.lists(st.sampled_from(["DE", "de", "Germany", "DEU", "", " ", "nowhere", "France", None]) | st.text(max_size=9))
)
def test_countries_are_the_same_without_kernels(texts: list[str | None]) -> None:
    """Codes by row, null where a cell names no country or is not there."""
    column = pa.array(texts, pa.string())
    resolved = resolve_countries(column)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(countries, "kernels", lambda _: None)
        assert resolved.equals(resolve_countries(column))
    assert resolved.to_pylist() == [find_country(text) if text else None for text in texts]
