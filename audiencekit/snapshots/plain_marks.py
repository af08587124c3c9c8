"""The loops over marks where there are no kernels: arrays of numpy at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from audiencekit.records.columns.arrays import Bytes
from audiencekit.records.record_bits import Bools
from audiencekit.selection.tag_arrays import Entries, Places, Tags
from audiencekit.snapshots.mark_arrays import Begins, Comparison, DayLimits, Halves


class PlainMarks:
    """The same functions as `MarkKernels`, which says what they do, with the same results."""

    def find_marks(self, asked: Halves, ordered: Halves) -> tuple[Places, Bools]:
        places: Places = ordered.high.searchsorted(asked.high)
        if not len(ordered.high):
            return places, np.zeros(len(places), dtype=bool)
        while True:
            same, within = _same_high(asked, ordered, places)
            behind = same & (ordered.low[within] < asked.low)  # two may share their first half
            if not behind.any():
                return places, same & (ordered.low[within] == asked.low)
            places = places + behind

    def prepare(self, high: npt.NDArray[np.uint64]) -> Begins:
        return np.zeros(0, dtype=np.uint32)  # no index is needed

    def find_tags(self, tags: Tags, ordered: Halves, begins: Begins) -> Places:
        asked = Halves(np.ascontiguousarray(tags["high"]), np.ascontiguousarray(tags["low"]))
        places, known = self.find_marks(asked, ordered)
        return np.where(known, places, -1)

    def compare(
        self, pieces: Sequence[Entries], wanted: Bytes, marks: Halves, days: npt.NDArray[np.int16], by: DayLimits
    ) -> Comparison:
        entries = np.concatenate(pieces)
        entries = entries[_are_set(wanted, entries["record"])]
        low = np.ascontiguousarray(entries["low"]) >> np.uint64(48)
        asked = Halves(np.ascontiguousarray(entries["high"]), low.astype(np.uint16))
        places, known = self.find_marks(asked, marks)
        places[~known] = len(days)
        own_days = np.append(days, np.int16(by.dropped)).take(places)
        unknown = (own_days == by.doubtful) | (own_days < by.lapsed_before)
        is_sent = unknown | (own_days <= by.renewed_to) | by.all_members
        gone = np.append((days == by.doubtful) | (days >= by.lapsed_before), False)
        gone[places] = False
        sent = entries["record"].astype(np.int64)[is_sent]
        return Comparison(len(entries), int(unknown.sum()), sent, np.flatnonzero(gone))


def _same_high(asked: Halves, ordered: Halves, places: Places) -> tuple[Bools, Places]:
    """Whether the first half at each place is the one asked for, and the places with none beyond the end."""
    within = np.minimum(places, len(ordered.high) - 1)
    same: Bools = (ordered.high[within] == asked.high) & (places < len(ordered.high))
    return same, within


def _are_set(bits: Bytes, numbers: npt.NDArray[np.uint32]) -> Bools:
    """Return for each of `numbers` whether its bit is set."""
    are_set: Bools = bits[numbers >> 3] >> (numbers & 7).astype(np.uint8) & 1 != 0
    return are_set
