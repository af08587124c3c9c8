"""The tags of a batch of records with their rows, as bytes and back: all that a plan needs where nothing is sent.

A chunk is, with all numbers little-endian,

    uint8               1: the rows ascend, and few have no record; 0: not so
    int64, uint32       in 1: the first row, and how many there are to the last
    1 bit each          in 1: whether the row has a record
    the rows            in 0: as in a chunk of records
    for each kind, in the order of Kind:
    uint8 and counts    how many values each record has, as in a chunk of records
    8 bytes each        the first halves of the tags, one kind after the other

The other halves are the slots of the values, which are put aside on their own (`SharedValueSearch`).
"""

from __future__ import annotations

import hashlib
import secrets
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from audiencekit.identifiers.kinds import Kind
from audiencekit.kernels.library import choose
from audiencekit.personal import HashedRecords, guarded
from audiencekit.records.chunks import NO_VALUES, ChunkReader, count_parts, joined_chunks, row_parts
from audiencekit.records.columns.arrays import hash_matrix, list_offsets, offsets_of
from audiencekit.records.columns.hashes import sha256_of
from audiencekit.selection.plain_tags import PlainTags
from audiencekit.selection.tag_arrays import TAG, Offsets, Places, Slots, Tags
from audiencekit.selection.tag_kernels import TagKernels
from audiencekit.state.keys import SubKey

_STRETCH: Final = struct.Struct("<qI")
_OTHERS, _ASCENDING = range(2)
_FEWER: Final = 8  # times as many rows as have a record take less as bits
_HALF_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class TaggedRows:
    """The tags of a batch, and the row of each of its records."""

    rows: Places = field(repr=False)
    keys: TaggedKeys = field(repr=False)


def to_chunk(batch: TaggedRows) -> memoryview:
    """The bytes of a batch, of whose tags only the first halves."""
    parts: list[bytes | memoryview] = [*_row_parts(batch.rows)]
    for kind in Kind:
        offsets = batch.keys.offsets.get(kind)
        parts += [bytes([NO_VALUES])] if offsets is None else count_parts(np.diff(offsets))
    return joined_chunks([*parts, batch.keys.tags["high"].copy().view(np.uint8).data])


def from_chunk(chunk: bytes | memoryview, slots: Slots) -> TaggedRows:
    """The batch that `to_chunk` had, whose values have these `slots`."""
    reading = ChunkReader(chunk)
    rows = _rows(reading)
    forms = ((kind, reading.take(1)[0]) for kind in Kind)
    offsets = {kind: offsets_of(reading.counts(len(rows), form)) for kind, form in forms if form != NO_VALUES}
    high = np.frombuffer(reading.buffer(_HALF_BYTES * len(slots)), dtype="<u8")
    return TaggedRows(rows, TaggedKeys(len(rows), offsets, tags_with(high, slots)))


def _row_parts(rows: Places) -> Iterator[bytes]:
    begin, end = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
    if end - begin > _FEWER * len(rows) or (rows[1:] <= rows[:-1]).any():
        yield from (bytes([_OTHERS]), *row_parts(rows))
        return
    bits = np.zeros(end - begin, dtype=bool)
    bits[rows - begin] = True
    yield from (bytes([_ASCENDING]), _STRETCH.pack(begin, len(bits)), np.packbits(bits).tobytes())


def _rows(reading: ChunkReader) -> Places:
    if reading.take(1)[0] == _OTHERS:
        return reading.rows()
    begin, count = _STRETCH.unpack(reading.take(_STRETCH.size))
    rows: Places = np.flatnonzero(reading.bits(count)) + begin
    return rows


TAG_BYTES: Final = 16
TAG_LOOPS: Final = choose(TagKernels, PlainTags)
_WORD: Final = np.dtype("<u4")
_WORDS: Final = TAG_BYTES // _WORD.itemsize
_LAST_WORD, _SLOT_WORD = 2, 3  # the lower and the upper half of the low one


@dataclass(frozen=True, slots=True)
class TaggedKeys:
    """The tags of all keys of a batch of so many `records`, one kind after the other.

    `offsets` say of each kind that there is where among its keys those of each record begin, and where the last end;
    the kinds stand in the order of Kind.
    """

    records: int
    offsets: dict[Kind, Offsets] = field(repr=False)
    tags: Tags = field(repr=False)

    def starts(self) -> list[int]:
        """Where the keys of each kind begin."""
        return starts_of(self.offsets.values())

    def by_kind(self) -> Iterator[tuple[Places, Tags]]:
        """For each kind the record of each key, and its tag."""
        start = 0
        for offsets in self.offsets.values():
            owners = np.repeat(np.arange(self.records), np.diff(offsets))
            yield owners, self.tags[start : start + len(owners)]
            start += len(owners)

    def owners(self) -> Places:
        """The record of each key."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *(owners for owners, _ in self.by_kind())])

    def of_sets(self) -> Tags:
        """The tag of each record's key set."""
        sums = np.empty(self.records, dtype=TAG)
        TAG_LOOPS.add_up(self.tags, list(self.offsets.values()), sums)
        return sums


def starts_of(offsets: Iterable[Offsets]) -> list[int]:
    """Where the keys of each kind begin, of which these are the offsets."""
    sizes = [int(each[-1] - each[0]) for each in offsets]
    return list(accumulate(sizes[:-1], initial=0)) if sizes else []


class Tagger:
    """Tags under `key`, or one that is drawn at random; it is never shown. Random ones have `slots_of`, and no more.

    What tells kinds apart depends on the key, too, unless the tags are to be brought under another one (`movable`).
    """

    def __init__(self, key: SubKey | None = None, *, movable: bool = False) -> None:
        # Single blocks of distinct plain texts: what ECB is good for.
        secret = secrets.token_bytes(32) if key is None else key.unwrap()
        self._is_for_one_run = key is None
        self._cipher = Cipher(algorithms.AES(secret), modes.ECB())  # noqa: S305
        self._of_kinds = {kind: _fixed_mask(kind) if movable else self._mask(kind) for kind in Kind}

    def __repr__(self) -> str:
        return "<Tagger>"

    def tag(self, records: Any) -> TaggedKeys:
        """The tags of all keys of `records` (RECORD_SCHEMA).

        Holds hashes: to be called from a guarded function only.
        """
        present = list(hashes_by_kind(records))
        tags = self._encrypt([(kind, hashes) for kind, _, hashes in present])
        offsets = {kind: _offsets(lists, len(hashes)) for kind, lists, hashes in present}
        return TaggedKeys(records.num_rows, offsets, tags)

    def tag_keys(self, records: Any) -> Iterator[tuple[Places, Tags]]:
        """For each kind that `records` (RECORD_SCHEMA) hold: the record of each key, and its tag.

        Holds hashes: to be called from a guarded function only.
        """
        return self.tag(records).by_kind()

    def tag_hashes(self, hashes: Any, kind: Kind) -> Tags:
        """The tag of each of `hashes` (HASH_TYPE), keys of one kind."""
        return self._encrypt([(kind, hashes)])

    def _mask(self, kind: Kind) -> npt.NDArray[np.uint8]:
        name = kind.value.encode().ljust(TAG_BYTES, b"\0")[:TAG_BYTES]
        return np.frombuffer(self._cipher.encryptor().update(name), dtype=np.uint8)

    def moved(self, tags: Tags, to: Tagger) -> Tags:
        """Convert movable `tags` of this tagger into the tags that `to` makes of the same keys, in the same order."""
        blocks = self._cipher.decryptor().update(tags.tobytes())
        return np.frombuffer(to._cipher.encryptor().update(blocks), dtype=TAG)

    def _encrypt(self, keys: list[tuple[Kind, Any]]) -> Tags:
        """The tags of hashes by kind, one kind after the other."""
        halves = np.empty((sum(len(hashes) for _, hashes in keys), TAG_BYTES), dtype=np.uint8)
        start = 0
        for kind, hashes in keys:
            TAG_LOOPS.halve(hash_matrix(hashes), self._of_kinds[kind], halves[start : start + len(hashes)])
            start += len(hashes)
        encrypted = np.empty(halves.size + TAG_BYTES - 1, dtype=np.uint8)  # as much as the cipher asks for
        self._cipher.encryptor().update_into(halves.reshape(-1).data, encrypted.data)
        tags: Tags = encrypted[: halves.size].view(TAG)
        if self._is_for_one_run:
            _words_of(tags)[:, _LAST_WORD] = 0
        return tags


def _fixed_mask(kind: Kind) -> npt.NDArray[np.uint8]:
    return np.frombuffer(hashlib.sha256(kind.value.encode()).digest()[:TAG_BYTES], dtype=np.uint8)


def slots_of(tags: Tags) -> Slots:
    """The numbers by which values are counted: the second half of a tag of one run."""
    return _words_of(tags)[:, _SLOT_WORD].copy()


def tags_with(high: npt.NDArray[np.uint64], slots: Slots) -> Tags:
    """The tags of one run with these first halves and slots."""
    tags = np.zeros(len(high), dtype=TAG)
    tags["high"] = high
    _words_of(tags)[:, _SLOT_WORD] = slots
    return tags


def _words_of(tags: Tags) -> npt.NDArray[np.uint32]:
    return tags.view(_WORD).reshape(-1, _WORDS)


def hashes_by_kind(records: Any) -> Iterator[tuple[Kind, Any, Any]]:
    """Each kind that `records` (RECORD_SCHEMA) hold, with their lists of it, and the hashes in these (HASH_TYPE).

    Holds hashes: to be called from a guarded function only.
    """
    for kind, lists, values in _values_by_kind(records):
        yield kind, lists, values if kind.is_hashed else sha256_of(values)


def offsets_by_kind(records: Any) -> dict[Kind, Offsets]:
    """For each kind of `records` (RECORD_SCHEMA): where the keys of each record begin."""
    return {kind: _offsets(lists, len(values)) for kind, lists, values in _values_by_kind(records)}


def _values_by_kind(records: Any) -> Iterator[tuple[Kind, Any, Any]]:
    for kind in Kind:
        lists = records.column(kind.value)
        if len(lists) > lists.null_count and len(values := _values(lists)):
            yield kind, lists, values


def _values(lists: Any) -> Any:
    """Return the values of all `lists`, copied only where a null may cover other values."""
    if lists.null_count:
        return lists.flatten()
    offsets = list_offsets(lists)
    begin, end = int(offsets[0]), int(offsets[-1])
    return lists.values.slice(begin, end - begin)


def _offsets(lists: Any, values: int) -> Offsets:
    """Where the values of each of `lists` begin, and where the last end, counted from the first number on."""
    offsets = list_offsets(lists)
    if offsets[-1] - offsets[0] == values and offsets.flags.aligned:
        return offsets
    # Arrow lets a null have values beneath it, which are none.
    counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


@guarded
def tags_of_sets(records: HashedRecords, tagger: Tagger) -> Tags:
    """The tag of the key set of each record of a batch that has a column for every kind."""
    return tagger.tag(records.unwrap()).of_sets()


def are_among(asked: Tags, tags: Tags) -> npt.NDArray[np.bool_]:
    """Return for each of `asked` whether it is one of `tags`, which ascend."""
    among = np.zeros(len(asked), dtype=bool)
    if not len(tags):
        return among
    at = np.minimum(np.searchsorted(tags["high"], asked["high"]), len(tags) - 1)
    near = np.flatnonzero(tags["high"][at] == asked["high"])
    among[near] = tags["low"][at[near]] == asked["low"][near]
    # Hardly ever two of `tags` have the same first half: then it may be the second one.
    following = np.minimum(at[near] + 1, len(tags) - 1)
    if ((following > at[near]) & (tags["high"][following] == asked["high"][near])).any():
        known = {one.tobytes() for one in tags[np.isin(tags["high"], asked["high"][near])]}
        among[near] = [one.tobytes() in known for one in asked[near]]
    return among
