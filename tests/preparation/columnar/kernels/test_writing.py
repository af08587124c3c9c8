"""Bodies by the kernels: nothing is written that should not be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from audiencekit.errors import Bug
from audiencekit.preparation.columnar.kernels.library import Kernels


@pytest.mark.parametrize(
    ("places", "slot"),
    [([-1], (0, 0)), ([37], (0, 0)), ([0], (1, 0)), ([0], (0, 1)), ([0], (0, -1)), ([0], (0, 1 << 59))],
    ids=["before", "behind", "slot", "hash behind", "hash before", "hash far behind"],
)
def test_no_entry_is_written_outside(compiled: Kernels, places: list[int], slot: tuple[int, int]) -> None:
    """An entry beyond its body, a slot beyond its entry, a hash that is not there."""
    begin, chosen = slot
    slots = [(begin, np.zeros((1, 32), dtype=np.uint8), np.array([chosen]))]
    with pytest.raises(Bug, match="a place that is not there"):
        compiled.writing.write_entries(np.zeros(100, dtype=np.uint8), np.array(places), b"0" * 64, slots)


@pytest.mark.parametrize(
    ("body", "places", "chosen"),
    [
        (np.zeros(200, dtype=np.uint8)[::2], [0], [0]),
        (np.zeros(100, dtype=np.int64), [0], [0]),
        (np.frombuffer(bytes(100), dtype=np.uint8), [0], [0]),
        (np.zeros(100, dtype=np.uint8), np.array([0], dtype=np.int32), [0]),
        (np.zeros(100, dtype=np.uint8), [0], np.array([0], dtype=np.int32)),
    ],
    ids=["gaps", "another size", "bytes of others", "small places", "small choice"],
)
def test_entries_are_written_into_bytes_of_ones_own(compiled: Kernels, body: Any, places: Any, chosen: Any) -> None:
    """Arrays of other values are refused before anything is written."""
    slots = [(0, np.zeros((1, 32), dtype=np.uint8), np.asarray(chosen))]
    with pytest.raises(ValueError, match="a kernel"):
        compiled.writing.write_entries(body, np.asarray(places), b"0" * 64, slots)
    assert not body.any()
