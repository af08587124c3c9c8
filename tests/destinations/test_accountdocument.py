"""A document with a part for each account: each account changes its own, and a damaged file is no truth."""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.destinations.accountdocument import AccountDocument


@pytest.fixture
def document(tmp_path: Path) -> AccountDocument:
    return AccountDocument(tmp_path / "state", "some.json")


def test_each_account_has_its_part(document: AccountDocument) -> None:
    document.replace("one", {"a": 1})
    document.replace("two", {"b": [2]})
    document.replace("one", {"c": 3})
    assert document.read() == {"one": {"c": 3}, "two": {"b": [2]}}


def test_a_file_that_is_missing_or_was_changed_is_empty(document: AccountDocument, tmp_path: Path) -> None:
    document.replace("one", {"a": 1})
    path = tmp_path / "state" / "some.json"
    path.write_bytes(path.read_bytes().replace(b"one", b"two"))
    assert document.read() == {}
    path.unlink()
    assert document.read() == {}
