"""The evidence of cells for the kind of their column."""

from __future__ import annotations

import pytest

from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.columns.evidence import look_at, plausible_share
from audiencekit.sources.sampling import Sample

HASH = "973dfe463ec85785f5f95af5ba3906eedb2d931c24e69824a89ea65dba4e813b"  # of test@example.com


def sample(cells: list[str]) -> Sample:
    """A sample of one column."""
    return Sample(None, (tuple(cells),))


@pytest.mark.parametrize(
    ("cell", "country", "kind"),
    [
        ("ann@example.com", None, Kind.EMAIL),
        ("+49 30 12345678", None, Kind.PHONE_NUMBER),
        ("+493012345678", None, Kind.PHONE_NUMBER),
        ("030 12345678", "DE", Kind.PHONE_NUMBER),
        ("(030) 1234-5678", "DE", Kind.PHONE_NUMBER),
        ("212-736-5000", "US", Kind.PHONE_NUMBER),
        ("030 12345678", None, None),
        ("6D92078A-8246-4BA4-AE5B-76104861E7DC", None, Kind.DEVICE_ID),
        (HASH, None, None),
        # digits and punctuation that are no phone numbers, in a country where they would be valid
        ("2127365000", "US", None),
        ("2024-05-17", "US", None),
        ("2024-05-17 10:11:12", "US", None),
        ("17.05.2024", "DE", None),
        ("05/17/2024", "US", None),
        ("212.73.65.0", "US", None),
        ("21273-6500", "US", None),
        ("212736.5000", "US", None),
        ("2,127,365,000", "US", None),
        ("-2127365000", "US", None),
        ("Anneliese", "US", None),
        ("212 736 500", "PL", Kind.PHONE_NUMBER),
        ("22.05.2024", "NO", None),
    ],
    ids=range(22),
)
def test_single_cells_say_their_kind(cell: str, country: str | None, kind: Kind | None) -> None:
    """Only strong evidence counts; a plain integer is no phone number."""
    assert look_at(sample([cell]), 0, [country]).kind == kind


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["a@example.com"] * 4 + ["x"], Kind.EMAIL),
        (["a@example.com"] * 3 + ["x"], None),
        (["a@example.com"] + ["", "n/a", "NULL", " - "] * 9, Kind.EMAIL),
        (["", "none"], None),
        ([], None),
    ],
    ids=range(5),
)
def test_four_of_five_filled_cells_make_a_kind(cells: list[str], kind: Kind | None) -> None:
    """Cells that say nothing do not count."""
    assert look_at(sample(cells), 0, [None] * len(cells)).kind == kind


def test_wide_samples_are_looked_at_here_and_there() -> None:
    """A file of many columns opens in seconds: each column is asked less often, from its first row to its last."""
    people, others = ["a@example.com"] * 900, ["x"] * 100
    wide = Sample(None, tuple(tuple(others + people) for _ in range(1_000)))
    assert look_at(wide, 0, [None] * 1_000).kind is Kind.EMAIL


def test_hashes_are_seen() -> None:
    """Half of the filled cells are enough: the column is not in the clear."""
    assert look_at(sample([HASH, HASH.upper(), "x", ""]), 0, [None] * 4).looks_hashed
    assert not look_at(sample([HASH, "x", "y", ""]), 0, [None] * 4).looks_hashed


@pytest.mark.parametrize(
    ("kind", "cells", "share"),
    [
        (Kind.EMAIL, ["a@b", "x"], 0.5),
        (Kind.EMAIL, [HASH], 1.0),
        (Kind.PHONE_NUMBER, ["030 123456", "ext. 12345", "12", "a1@b23456"], 0.5),
        (Kind.PLATFORM_ID, ["12345", "1.2E+5", "abc", "a@example.com"], 0.5),
        (Kind.HANDLE, ["@ann", "two words"], 0.5),
        (Kind.DEVICE_ID, ["00000000-0000-0000-0000-000000000000", "x"], 0.5),
        (Kind.PARTNER_USER_ID, ["anything"], 1.0),
        (Kind.EMAIL, [], 0.0),
    ],
    ids=range(8),
)
def test_plausible_cells_need_not_be_valid(kind: Kind, cells: list[str], share: float) -> None:
    """A broken number is still a number; an address is none."""
    assert plausible_share(kind, cells) == share
