"""Tags of any number of records, put aside in parts that can be looked at one after the other.

Equal tags come into the same part, since the first bits of the tag choose it. What is put aside is sealed by whoever
keeps the chunks: with the run's key gone, tags say nothing, but they are linked to row numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.preparation.tags import Places, Tags

# A tag and its record, counted from 0 over the whole run.
ENTRY: Final = np.dtype([("high", "<u8"), ("low", "<u8"), ("record", "<i8")])
Entries: TypeAlias = npt.NDArray[np.void]

PARTITION_BITS: Final = 8
BUFFER_BYTES: Final = 48 * 1024  # of one part in memory; what is more is put aside

_HIGH_BITS: Final = 64


class Chunks(Protocol):
    """A spool: bytes go in, and come back by number. Reading may happen in any thread."""

    def append(self, chunk: memoryview) -> int:
        """Keep `chunk`; its number."""

    def read(self, number: int) -> bytes:
        """The chunk of this number."""


@dataclass(frozen=True, slots=True)
class SortedEntries:
    """Entries of one batch, ordered by part and within a part by record; `ends` of each part."""

    entries: Entries = field(repr=False)
    ends: list[int] = field(repr=False)


class Partitions:
    """Entries in 2 ** `bits` parts, in chunks that are put aside as they fill."""

    def __init__(self, chunks: Chunks, *, bits: int = PARTITION_BITS) -> None:
        self._chunks, self._bits = chunks, bits
        # One block for all parts: hundreds of buffers that grow side by side would leave holes in the heap.
        self._buffers = np.empty((2**bits, max(BUFFER_BYTES // ENTRY.itemsize, 1) * ENTRY.itemsize), dtype=np.uint8)
        self._filled = [0] * 2**bits  # bytes of each buffer
        self._numbers: list[list[int]] = [[] for _ in range(2**bits)]

    def sort(self, tags: Tags, records: Places) -> SortedEntries:
        """The entries of one batch, `records` counted from its beginning and ascending. May be called in any thread."""
        parts = part_of(tags, self._bits)
        order = np.argsort(parts, kind="stable")
        entries = np.empty(len(tags), dtype=ENTRY)
        entries["high"], entries["low"] = tags["high"][order], tags["low"][order]
        entries["record"] = records[order]
        return SortedEntries(entries, np.cumsum(np.bincount(parts, minlength=2**self._bits)).tolist())

    def add(self, batch: SortedEntries, first: int) -> None:
        """Put the entries of the next batch aside, whose records are counted from `first`."""
        batch.entries["record"] += first
        content, start = batch.entries.view(np.uint8), 0
        for part, end in enumerate(batch.ends):
            if end > start:
                self._extend(part, content[start * ENTRY.itemsize : end * ENTRY.itemsize])
            start = end

    def _extend(self, part: int, content: npt.NDArray[np.uint8]) -> None:
        buffer, filled = self._buffers[part], self._filled[part]
        while filled + len(content) >= len(buffer):
            room = len(buffer) - filled
            buffer[filled:] = content[:room]
            self._numbers[part].append(self._chunks.append(buffer.data))
            content, filled = content[room:], 0
        buffer[filled : filled + len(content)] = content
        self._filled[part] = filled + len(content)

    def parts(self) -> Iterator[int]:
        """The numbers of the parts that hold anything."""
        return (part for part in range(2**self._bits) if self._numbers[part] or self._filled[part])

    def load(self, part: int) -> Entries:
        """The entries of one part, in the order of their records. May be called in any thread."""
        chunks = [self._chunks.read(number) for number in self._numbers[part]]
        return np.frombuffer(b"".join([*chunks, self._buffers[part, : self._filled[part]].data]), dtype=ENTRY)


def part_of(tags: Tags, bits: int = PARTITION_BITS) -> npt.NDArray[np.uint16]:
    """The part that each of `tags` comes into."""
    parts: npt.NDArray[np.uint16] = (tags["high"] >> np.uint64(_HIGH_BITS - bits)).astype(np.uint16)
    return parts


def repeated(entries: Entries) -> Entries:
    """Those whose tag may occur more than once, ordered by tag and then by record."""
    high = np.sort(entries["high"])
    twice = high[1:][high[1:] == high[:-1]]
    if not len(twice):
        return entries[:0]
    places = np.minimum(np.searchsorted(twice, entries["high"]), len(twice) - 1)
    found = entries[twice[places] == entries["high"]]
    ordered: Entries = found[np.lexsort((found["record"], found["low"], found["high"]))]
    return ordered


def last_of_tag(entries: Entries) -> npt.NDArray[np.bool_]:
    """Of entries ordered by tag, whether each is the last of its tag."""
    changes = (entries["high"][1:] != entries["high"][:-1]) | (entries["low"][1:] != entries["low"][:-1])
    return np.append(changes, True) if len(entries) else np.zeros(0, dtype=bool)
