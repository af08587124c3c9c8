"""Bodies by the kernels: nothing is written that should not be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from audiencekit.destinations.requests.entry_kernels import BatchPart, EntryKernels, Field
from audiencekit.errors import Bug
from tests.cases import each_case
from tests.kernels.installed import installed

HASHES = np.zeros((3, 32), dtype=np.uint8)
LISTS = np.array([0, 1, 3], dtype=np.int32)
FIELD = Field(b'"h":[', LISTS, HASHES)
WRITTEN = Field(b'"t":[', LISTS, np.frombuffer(b"123", dtype=np.uint8), np.array([0, 1, 2, 3], dtype=np.int32))
ENTRY_BYTES = len('{"h":[]},') + 66


@pytest.fixture
def compiled() -> EntryKernels:
    """Those of this installation."""
    return installed(EntryKernels)


def _write(compiled: EntryKernels, field: Field, *, places: Any = (0,), room: int = 300, operations: int = 1) -> bytes:
    body = np.full(room, ord("."), dtype=np.uint8)
    parts = [BatchPart(np.asarray(places), [field])]
    written = compiled.write_parts(body, b"<", b">", operations, parts)
    return body[:written].tobytes()


def test_as_much_room_as_is_needed(compiled: EntryKernels) -> None:
    """A body may be full to its last byte."""
    written = _write(compiled, FIELD, room=ENTRY_BYTES + 2)
    assert written == b'<{"h":["' + b"0" * 64 + b'"]}>,'
    assert _write(compiled, WRITTEN, places=[1, 0]) == b'<{"t":[2,3]},{"t":[1]}>,'


WRONG_LISTS = {
    "behind its end": np.array([0, 4, 4], dtype=np.int32),
    "before": np.array([-1, 1, 3], dtype=np.int32),
    "descending": np.array([3, 1, 3], dtype=np.int32),
    "far behind": np.array([0, 2**31 - 1, 3], dtype=np.int32),
    "none": np.zeros(0, dtype=np.int32),
}


@pytest.mark.parametrize("field", [FIELD, WRITTEN], ids=["hashes", "texts"])
@pytest.mark.parametrize("wrong", WRONG_LISTS)
def test_lists_of_values_that_are_not_there(compiled: EntryKernels, field: Field, wrong: str) -> None:
    """Whatever the values are."""
    with pytest.raises(Bug, match="index out of range"):
        _write(compiled, replace(field, lists=WRONG_LISTS[wrong]))


@each_case("wrong", sorted({*WRONG_LISTS} - {"none"}))
def test_texts_that_are_not_there(compiled: EntryKernels, wrong: str) -> None:
    """Where their ends point beside their bytes."""
    with pytest.raises(Bug, match="index out of range"):
        _write(compiled, replace(WRITTEN, ends=WRONG_LISTS[wrong]))


@each_case(
    "wrong",
    [
        {"places": [-1]},
        {"places": [2]},
        {"places": [1 << 62]},
        {"room": ENTRY_BYTES + 1},
        {"room": 0},
        {"operations": 0},
        {"operations": 2},
        {"operations": 2**63},
    ],
)
def test_nothing_is_written_outside(compiled: EntryKernels, wrong: dict[str, Any]) -> None:
    """Records that are not there, a body that is too short, operations that cannot be filled."""
    with pytest.raises(Bug, match="index out of range"):
        _write(compiled, FIELD, **wrong)


def test_more_records_than_there_are(compiled: EntryKernels) -> None:
    """Their sizes are not made up."""
    assert compiled.measure_fields([FIELD, WRITTEN], 2).tolist() == [82, 151]
    with pytest.raises(Bug, match="index out of range"):
        compiled.measure_fields([FIELD], 3)


GAPS = np.zeros(600, dtype=np.uint8)[::2]


@each_case("body", [GAPS, np.zeros(300, dtype=np.int64), np.frombuffer(bytes(300), dtype=np.uint8)])
def test_only_bytes_of_ones_own_are_written_into(compiled: EntryKernels, body: Any) -> None:
    """Gaps, values of another size, and bytes of others are refused before anything is written."""
    with pytest.raises(ValueError, match="a kernel"):
        compiled.write_parts(body, b"", b"", 1, [BatchPart(np.array([0]), [FIELD])])
    assert not body.any()


@each_case(
    "part",
    [
        BatchPart(np.array([0], dtype=np.int32), [FIELD]),
        BatchPart(np.array([0, 0])[::2][:0:-1], [replace(FIELD, lists=LISTS.astype(np.int64))]),
        BatchPart(np.array([0]), [replace(FIELD, values=HASHES.astype(np.int16))]),
        BatchPart(np.array([0]), [replace(FIELD, values=HASHES[::2])]),
        BatchPart(np.array([0]), [replace(WRITTEN, ends=LISTS.astype(np.int64))]),
    ],
)
def test_other_layouts_are_refused(compiled: EntryKernels, part: BatchPart) -> None:
    """They would be read as something else."""
    with pytest.raises(ValueError, match="a kernel"):
        compiled.write_parts(np.zeros(300, dtype=np.uint8), b"", b"", 1, [part])
