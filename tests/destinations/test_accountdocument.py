"""A document with a part for each account: each account changes its own, and a damaged file is no truth."""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.destinations.accountdocument import AccountDocument
from audiencekit.errors import InputOutputFailed


@pytest.fixture
def document(tmp_path: Path) -> AccountDocument:
    return AccountDocument(tmp_path / "state", "some.json", "audiencekit-some/1")


def test_each_account_has_its_part(document: AccountDocument) -> None:
    document.replace("one", {"a": 1})
    document.replace("two", {"b": [2]})
    document.replace("one", {"c": 3})
    assert document.read() == {"one": {"c": 3}, "two": {"b": [2]}}


def test_a_file_in_another_format_is_neither_read_nor_written_over(document: AccountDocument, tmp_path: Path) -> None:
    AccountDocument(tmp_path / "state", "some.json", "audiencekit-some/2").replace("one", {"a": 1})
    content = (tmp_path / "state" / "some.json").read_bytes()
    for use in (document.read, lambda: document.replace("one", {"b": 2})):
        with pytest.raises(InputOutputFailed, match="reads audiencekit-some/1 only"):
            use()
    assert (tmp_path / "state" / "some.json").read_bytes() == content


def test_a_file_that_is_missing_or_was_changed_is_empty(document: AccountDocument, tmp_path: Path) -> None:
    document.replace("one", {"a": 1})
    path = tmp_path / "state" / "some.json"
    path.write_bytes(path.read_bytes().replace(b"one", b"two"))
    assert document.read() == {}
    path.unlink()
    assert document.read() == {}
