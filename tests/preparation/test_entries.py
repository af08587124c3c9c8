"""Entries are put where their records have their places, whatever stands around."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from audiencekit.preparation import entries
from audiencekit.preparation.entries import DIGITS, Lines, Shape, Slot

HASHES = np.arange(5 * 32, dtype=np.uint8).reshape(5, 32)


@pytest.mark.parametrize("by", ["kernel", "columns"])
def test_hashes_stand_in_their_slots(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each entry is the template with its own hashes; nothing else is touched. With kernels and without."""
    if by == "columns":
        monkeypatch.setattr(entries, "kernels", lambda: None)
    template = f"<{DIGITS}|{DIGITS}>".encode()
    slots = [Slot(1, HASHES, np.array([4, 0, 2])), Slot(66, HASHES, np.array([1, 1, 3]))]
    shape = Shape(np.array([0, 2, 3]), template, slots)
    body = np.full(700, ord("."), dtype=np.uint8)
    shape.write(body, np.array([300, 9, 5, 500]))
    expected = bytearray(b"." * 700)
    for start, first, second in ((300, 4, 1), (5, 0, 1), (500, 2, 3)):
        entry = f"<{HASHES[first].tobytes().hex()}|{HASHES[second].tobytes().hex()}>".encode()
        expected[start : start + len(entry)] = entry
    assert body.tobytes() == expected
    assert shape.entry_bytes == len(template)


def test_written_entries_are_sorted_by_length() -> None:
    """Each comes to its own record."""
    listed = pa.array([b"xx", b"a,", b"bbb,", b"c,", b"ddd,"], pa.binary()).slice(1)
    found = Lines.of(listed)
    body = np.full(20, ord("."), dtype=np.uint8)
    for lines in found:
        lines.write(body, np.array([10, 0, 13, 16]))
    assert body.tobytes() == b"bbb,......a,.c,.ddd,"
    assert sorted(lines.entry_bytes for lines in found) == [2, 4]


def test_no_entries() -> None:
    """Nothing is written of nothing."""
    assert Lines.of(pa.array([], pa.binary())) == []


def test_entries_behind_others() -> None:
    """The records of another part are counted on."""
    shape = Shape(np.array([0, 2]), b"x,").behind(3)
    (lines,) = Lines.of(pa.array([b"a,"], pa.binary()))
    assert shape.owners.tolist() == [3, 5]
    assert lines.behind(3).owners.tolist() == [3]
