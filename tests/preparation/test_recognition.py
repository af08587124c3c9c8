"""Many cells at once say the kinds that each says alone."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from audiencekit.identifiers.kind_table import likely_kind
from audiencekit.identifiers.kinds import Kind
from audiencekit.preparation.recognition import likely_kinds

CELLS = (
    ("ann@larchpost.example", Kind.EMAIL),
    (" Ann <ann@larchpost.example>", Kind.EMAIL),
    ("ann@b\u00fccher.example", Kind.EMAIL),
    ("ann@localhost", Kind.EMAIL),  # no other kind has that form
    ("n/a@n/a", None),
    ("+49 30 12345678", Kind.PHONE_NUMBER),
    ("+49 30 12", None),
    ("030 12345678", Kind.PHONE_NUMBER),
    ("6D92078A-8246-4BA4-AE5B-76104861E7DC", Kind.DEVICE_ID),
    ("973dfe463ec85785f5f95af5ba3906eedb2d931c24e69824a89ea65dba4e813b", None),
    ("", None),
    ("\udce9@larchpost.example", None),
)


def test_each_of_many_cells_says_its_kind() -> None:
    """In their order, those with bytes of another encoding in them, too."""
    assert likely_kinds([(text, "DE") for text, _ in CELLS]) == [kind for _, kind in CELLS]


@pytest.mark.parametrize("country", [None, "", "no such place"])
def test_national_numbers_need_a_country(country: str | None) -> None:
    """One that is known."""
    assert likely_kinds([("030 12345678", country), ("+49 30 12345678", country)]) == [None, Kind.PHONE_NUMBER]


@given(
    st.lists(st.tuples(st.sampled_from([text for text, _ in CELLS]) | st.text(), st.sampled_from([None, "US", "UK"])))
)
def test_many_are_judged_as_each_alone(cells: list[tuple[str, str | None]]) -> None:
    """Whatever stands in them."""
    assert likely_kinds(cells) == [likely_kind(text, country=country) for text, country in cells]
