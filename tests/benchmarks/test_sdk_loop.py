"""The loop around an SDK does what its users do, and no more."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from benchmarks.contacts import write_contacts

pytest.importorskip("facebook_business")
sdk_loop = pytest.importorskip("benchmarks.sdk_loop")


@pytest.mark.parametrize(
    ("field", "text", "normal"),
    [
        ("em", " Ada@Larch.Example ", "ada@larch.example"),
        ("em", "no at sign", None),
        ("em", "", None),
        ("ph", "+44 7400 123456", "447400123456"),
        ("ph", "call the office", None),
    ],
)
def test_a_field_is_hashed_as_the_sdk_normalises_it(field: str, text: str, normal: str | None) -> None:
    """Its phone numbers have no plus; what it refuses is None."""
    assert sdk_loop.hash_field(field, text) == (normal and hashlib.sha256(normal.encode()).hexdigest())


def test_the_whole_list_becomes_bodies(tmp_path: Path) -> None:
    """2,500 users each; a clean list has an identifier in nearly every row."""
    path = tmp_path / "contacts.csv"
    write_contacts(path, rows=3_000)
    figures = sdk_loop.run_loop(path)
    assert (figures["rows"], figures["requests"]) == (3_000, 2)
    assert figures["records"] > 2_800
