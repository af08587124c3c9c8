"""Tags of any number of records, stored in parts that are read one after the other.

Equal tags come into the same part, since the first bits of the tag choose it. What is put aside is sealed by the
store of the chunks: with the run's key gone, tags say nothing, but they are linked to row numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from audiencekit.errors import PlanRefused
from audiencekit.process.memory import zeros_by_page
from audiencekit.selection.tag_arrays import ENTRY, Entries, OrderedTags, Places, Tags
from audiencekit.selection.tags import TAG_LOOPS, are_among

NO_RECORD: Final = 2**32 - 1  # in the place of a record; the records of a run end before it

PARTITION_BITS: Final = 8
BUFFER_BYTES: Final = 96 * 1024  # of one part in memory; what is more is put aside
TOGETHER: Final = 65_536  # entries of several parts that may be looked at in one go

_KEPT: Final = 8  # full buffers that are put aside in one go
_HIGH_BITS: Final = 64


class Chunks(Protocol):
    """A spool: stores bytes, and returns them by number. Any thread may read."""

    def append_all(self, chunks: Sequence[memoryview]) -> list[int]:
        """Keep each of `chunks`; their numbers."""

    def read_all(self, numbers: Sequence[int]) -> bytes | memoryview:
        """Return the chunks with these numbers, joined."""


class Partitions:
    """Entries in 2 ** `bits` parts, in chunks that are stored when they are full."""

    def __init__(self, chunks: Chunks, *, bits: int = PARTITION_BITS, buffer_bytes: int | None = None) -> None:
        self._chunks, self._bits = chunks, bits
        entries = max((buffer_bytes or BUFFER_BYTES) // ENTRY.itemsize, 1)
        # One block for all parts: hundreds of buffers that grow side by side would leave holes in the heap.
        block = zeros_by_page(2**bits * entries * ENTRY.itemsize)
        self._buffers = np.frombuffer(block, dtype=ENTRY).reshape(2**bits, entries)
        self._filled = np.zeros(2**bits, dtype=np.int64)  # entries in each buffer
        self._numbers: list[list[int]] = [[] for _ in range(2**bits)]
        self._dropped: Tags | None = None

    def sort(self, tags: Tags, records: Places | None = None) -> OrderedTags:
        """The tags of one batch by part, and their `records`, counted from its beginning; without these each tag has
        one of its own. May be called in any thread."""
        order, ends = np.empty(len(tags), dtype=np.uint32), np.empty(2**self._bits, dtype=np.int64)
        TAG_LOOPS.sort(tags, order, ends)
        return OrderedTags(tags, records, order, ends)

    def add(self, batch: OrderedTags, first: int) -> None:
        """Store the entries of the next batch, whose records are counted from `first`.

        Raises PlanRefused when there are too many.
        """
        if batch.records is None and first + len(batch.tags) > NO_RECORD:
            raise PlanRefused(f"more than {NO_RECORD:,} records in one run", hint="divide the source")
        starts = np.concatenate([[0], batch.ends[:-1]])  # of what is not put aside yet
        while TAG_LOOPS.spread(batch, starts, first=first, buffers=self._buffers, filled=self._filled):
            full = np.flatnonzero(self._filled == self._buffers.shape[1]).tolist()
            for parts in (full[place : place + _KEPT] for place in range(0, len(full), _KEPT)):
                kept = self._chunks.append_all([self._buffers[part].view(np.uint8).data for part in parts])
                for part, number in zip(parts, kept, strict=True):
                    self._numbers[part].append(number)
                self._filled[parts] = 0

    def drop(self, tags: Tags) -> None:
        """Leave out the entries of `tags`, which ascend, from now on."""
        self._dropped = tags

    def parts(self) -> Iterator[int]:
        """The numbers of the parts that hold anything."""
        return (part for part in range(2**self._bits) if self._numbers[part] or self._filled[part])

    def runs(self) -> Iterator[range]:
        """The numbers of all parts, a run at a time: one part, or several that hold TOGETHER at most."""
        first, held = 0, 0
        for part in range(2**self._bits):
            own = len(self._numbers[part]) * self._buffers.shape[1] + int(self._filled[part])
            if held and held + own > TOGETHER:
                yield range(first, part)
                first, held = part, 0
            held += own
        if held:
            yield range(first, 2**self._bits)

    def holds(self, tags: Tags) -> npt.NDArray[np.bool_]:
        """Return for each of `tags` whether an entry has it."""
        held, parts = np.zeros(len(tags), dtype=bool), part_of(tags, self._bits)
        for part in np.unique(parts).tolist():
            asked = np.flatnonzero(parts == part)
            known = np.unique(tags[asked])
            for entries in self.pieces([part]):
                found = np.zeros(len(entries), dtype=known.dtype)
                found["high"], found["low"] = entries["high"], entries["low"]
                met = np.unique(found[are_among(found, known)])
                held[asked] |= are_among(tags[asked], met)
        return held

    def pieces(self, parts: Iterable[int]) -> list[Entries]:
        """Yield the stored entries of some parts, before more are stored. May be called in any thread."""
        found = []
        for part in parts:
            if self._numbers[part]:
                found.append(np.frombuffer(self._chunks.read_all(self._numbers[part]), dtype=ENTRY))
            found.append(self._buffers[part, : self._filled[part]])
        if self._dropped is None:
            return found
        return [entries.compress(~are_among(entries, self._dropped)) for entries in found]


def part_of(tags: Tags, bits: int = PARTITION_BITS) -> npt.NDArray[np.uint16]:
    """The part that each of `tags` comes into."""
    parts: npt.NDArray[np.uint16] = (tags["high"] >> np.uint64(_HIGH_BITS - bits)).astype(np.uint16)
    return parts


def repeated(*pieces: Entries) -> Entries:
    """Return the entries of these parts whose tag may occur more than once, ordered by tag and then by record."""
    return TAG_LOOPS.find_repeated(pieces)


def are_in(asked: Entries, entries: Entries) -> npt.NDArray[np.bool_]:
    """Return for each of `asked` whether it is one of `entries`, which have one for each record at most."""
    if not len(entries):
        return np.zeros(len(asked), dtype=bool)
    ordered = entries[np.argsort(entries["record"])]
    found = ordered[np.minimum(np.searchsorted(ordered["record"], asked["record"]), len(ordered) - 1)]
    same: npt.NDArray[np.bool_] = (found["record"] == asked["record"]) & (found["high"] == asked["high"])
    same &= found["low"] == asked["low"]
    return same


def records_of(entries: Entries) -> Places:
    """The record of each of `entries`."""
    return entries["record"].astype(np.int64)


def last_of_tag(entries: Entries) -> npt.NDArray[np.bool_]:
    """Whether each entry is the last of its tag; `entries` are ordered by tag."""
    changes = (entries["high"][1:] != entries["high"][:-1]) | (entries["low"][1:] != entries["low"][:-1])
    return np.append(changes, True) if len(entries) else np.zeros(0, dtype=bool)
