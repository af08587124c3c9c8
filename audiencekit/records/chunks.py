"""Records as bytes and back: what the spool seals, and what says whether a source still holds the same records.

Equal records give equal bytes, whatever Arrow's release. All numbers are little-endian. A chunk is

    uint32              records
    int64               row of the first record
    uint32 each         row of each record, counted from the first
    1 bit each          whether it is a Delete; the last byte is filled up with zeros
    and for each kind of FIRST_KINDS, in that order:
    uint8               0: no record has one, 1: none has several, 2: some have several, 3: so, and none more than 255
    1 bit / uint32 / uint8 each
                        how many values the record has, in 1 / 2 / 3
    32 bytes each       the hashes; of a kind that is not hashed uint32 lengths, then the UTF-8 texts
and for each other kind that some record has:
    uint8               bytes of its name
    name                ASCII
    the same            as above

So another kind leaves the bytes of all records without it as they were, and a kind that this version does not know is
refused.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.errors import InputOutputFailed
from audiencekit.identifiers.kinds import FIRST_KINDS, Kind
from audiencekit.kernels.library import choose
from audiencekit.limits import SHA256_BYTES
from audiencekit.personal import HashedRecords, Personal, guarded
from audiencekit.records.batches import IS_DELETE, OPERATION, ROW
from audiencekit.records.columns.arrays import (
    arrow_array,
    hash_matrix,
    hashes_in,
    list_offsets,
    lists_between,
    offsets_of,
)
from audiencekit.records.columns.hashes import hex_texts
from audiencekit.records.columns.hex_kernels import HexKernels
from audiencekit.records.columns.plain_hex import PlainHex
from audiencekit.records.record_bits import Indices, bools_of
from audiencekit.records.records import DELETE, RECORD_SCHEMA, UPDATE

HEX_LOOPS: Final = choose(HexKernels, PlainHex)
_HEAD: Final = struct.Struct("<Iq")
NO_VALUES, _ONE, _MANY, _SEVERAL = range(4)
_NEWER: Final = "a newer version has written them: go on with that one"
_MOST_OF_SEVERAL: Final = 255
_OF_MANY: Final = 8  # where one of so many is asked for, or fewer, not every bit is looked at
_ONES: Final = np.unpackbits(np.arange(256, dtype=np.uint8)).reshape(-1, 8).sum(axis=1, dtype=np.uint8)  # in a byte

Counts = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]


class RecordChunk(Personal[bytes | memoryview]):
    """One batch of records in this form. Hashes are personal data."""


@guarded
def to_chunk(records: HashedRecords) -> RecordChunk:
    """The bytes of a batch of RECORD_SCHEMA."""
    batch = records.unwrap()
    rows = batch.column(ROW).to_numpy()
    deletes = np.packbits(bools_of(batch.column(IS_DELETE))).tobytes()
    return RecordChunk(joined_chunks([*row_parts(rows), deletes, *identifier_parts(batch)]))


def row_parts(rows: Rows) -> list[bytes]:
    """The bytes of how many records there are, and of the row of each."""
    first = int(rows[0]) if len(rows) else 0
    return [_HEAD.pack(len(rows), first), (rows - first).astype("<u4").tobytes()]


def count_parts(counts: npt.NDArray[Any]) -> list[bytes]:
    """The bytes of how many values of a kind each record has: nothing but the form where none has any."""
    most = int(counts.max(initial=0))
    form = most if most <= _ONE else _SEVERAL if most <= _MOST_OF_SEVERAL else _MANY
    if form == NO_VALUES:
        return [bytes([NO_VALUES])]
    written = np.packbits(counts > 0) if form == _ONE else counts.astype("<u1" if form == _SEVERAL else "<u4")
    return [bytes([form]), written.tobytes()]


def identifier_parts(batch: Any) -> Iterator[bytes | memoryview]:
    """The bytes of the columns of identifiers of `batch`, which has one of each kind.

    Holds hashes: to be called from a guarded function only, as `identifier_columns`.
    """
    for kind in FIRST_KINDS:
        yield from _kind_parts(batch.column(kind.value), kind)
    for kind in Kind:
        if kind not in FIRST_KINDS and (lists := batch.column(kind.value)).null_count < len(lists):
            yield from (bytes([len(kind.value)]), kind.value.encode("ascii"), *_kind_parts(lists, kind))


def identifier_columns(reading: ChunkReader, records: int, places: Counts | None = None) -> list[Any]:
    """The columns that `identifier_parts` had of so many records, kind by kind; or of those at `places` alone.

    Reads to the end. Raises InputOutputFailed for a kind that this version does not know.
    """
    found = {kind: _list_of(reading, records, kind, places) for kind in FIRST_KINDS}
    while not reading.is_at_end:
        kind = _named(bytes(reading.take(reading.take(1)[0])))
        found[kind] = _list_of(reading, records, kind, places)
    wanted = records if places is None else len(places)
    return [found[kind] if kind in found else _no_values(kind, wanted) for kind in Kind]


@guarded
def from_chunk(chunk: RecordChunk) -> HashedRecords:
    """The batch of RECORD_SCHEMA that `to_chunk` had; its hashes are not copied."""
    reading = ChunkReader(chunk.unwrap())
    rows = reading.rows()
    deletes = reading.bits(len(rows))
    columns = [arrow_array(rows), arrow_array(deletes), *identifier_columns(reading, len(rows))]
    return HashedRecords(pa.record_batch(columns, schema=RECORD_SCHEMA))


def value_counts(lists: Any) -> Counts:
    """How many values each of `lists` has; 0 for null."""
    counts: Counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return counts


def joined_chunks(parts: Sequence[bytes | memoryview]) -> memoryview:
    """Join all `parts`. Bytes would join them with the lock of the interpreter held."""
    octets = [np.frombuffer(part, dtype=np.uint8) for part in parts if len(part)]
    return np.concatenate(octets).data.toreadonly()


def _kind_parts(lists: Any, kind: Kind) -> list[bytes | memoryview]:
    if lists.null_count == len(lists):  # most kinds of most lists
        return [bytes([NO_VALUES])]
    counts = np.diff(offsets := list_offsets(lists))
    written = count_parts(counts)
    if len(written) == 1:
        return [*written]
    values = lists.values.slice(offsets[0], offsets[-1] - offsets[0])
    write: Callable[[Any], list[bytes | memoryview]] = _hash_parts if kind.is_hashed else _text_parts
    return [*written, *write(values)]


def _hash_parts(hashes: Any) -> list[bytes | memoryview]:
    return [hash_matrix(hashes).data]


def _text_parts(texts: Any) -> list[bytes | memoryview]:
    lengths = pc.binary_length(texts).to_numpy(zero_copy_only=False).astype("<u4")
    return [lengths.tobytes(), b"".join(text.encode() for text in texts.to_pylist())]


def _list_of(reading: ChunkReader, records: int, kind: Kind, places: Counts | None) -> Any:
    form = reading.take(1)[0]
    if form == NO_VALUES:
        return _no_values(kind, records if places is None else len(places))
    if places is None:
        offsets = offsets_of(reading.counts(records, form))
        return lists_between(offsets, _values_of(reading, int(offsets[-1]), kind))
    begins, counts, total = _find_lists(reading, records, form, places)
    offsets = offsets_of(counts)
    chosen = arrow_array(np.repeat(begins - offsets[:-1], counts) + np.arange(offsets[-1]))
    return lists_between(offsets, _values_of(reading, total, kind).take(chosen))


def _no_values(kind: Kind, records: int) -> Any:
    return pa.nulls(records, RECORD_SCHEMA.field(kind.value).type)


def _named(name: bytes) -> Kind:
    for kind in Kind:
        if kind.value.encode("ascii") == name:
            return kind
    raise InputOutputFailed("records hold a kind of identifier that this version does not know", hint=_NEWER)


def _values_of(reading: ChunkReader, count: int, kind: Kind) -> Any:
    return hashes_in(reading.buffer(count * SHA256_BYTES), count) if kind.is_hashed else _texts(reading, count)


def _find_lists(
    reading: ChunkReader, records: int, form: int, places: Counts
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], int]:
    """Where the values of the records at `places` begin, how many each has, and how many all records have."""
    if form != _ONE or len(places) * _OF_MANY > records:
        offsets = offsets_of(counts := reading.counts(records, form))
        return offsets[places], counts[places], int(offsets[-1])
    # The bits of a byte are counted at once.
    packed = reading.packed(records)
    before, last = offsets_of(_ONES[packed]), places & 7
    octets = packed[octet := places >> 3].astype(np.int64)
    return before[octet] + _ONES[octets >> 8 - last], octets >> 7 - last & 1, int(before[-1])


def _texts(reading: ChunkReader, count: int) -> Any:
    offsets = offsets_of(reading.numbers(count))
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), reading.buffer(int(offsets[-1])))


class ChunkReader:
    """A chunk from its beginning to its end."""

    def __init__(self, content: bytes | memoryview) -> None:
        self._content, self._at = pa.py_buffer(content), 0

    def buffer(self, size: int) -> Any:
        """The next `size` bytes, without a copy."""
        self._at += size
        return self._content.slice(self._at - size, size)

    def take(self, size: int) -> bytes:
        return bytes(self.buffer(size))

    @property
    def is_at_end(self) -> bool:
        """Whether all of it was taken."""
        return self._at >= int(self._content.size)

    def rows(self) -> Rows:
        """The rows that `row_parts` had."""
        records, first = _HEAD.unpack(self.take(_HEAD.size))
        rows: Rows = np.add(self.numbers(records), first, dtype=np.int64)
        return rows

    def counts(self, records: int, form: int) -> npt.NDArray[Any]:
        """How many values each of so many records has, in this form, any but NO_VALUES."""
        if form == _ONE:
            return self.bits(records)
        return np.frombuffer(self.buffer(records), dtype=np.uint8) if form == _SEVERAL else self.numbers(records)

    def numbers(self, count: int) -> npt.NDArray[np.uint32]:
        return np.frombuffer(self.buffer(4 * count), dtype="<u4")

    def bits(self, count: int) -> npt.NDArray[np.bool_]:
        return np.unpackbits(self.packed(count), count=count).view(np.bool_)

    def packed(self, count: int) -> npt.NDArray[np.uint8]:
        return np.frombuffer(self.buffer(-(-count // 8)), dtype=np.uint8)


# The value of `format` in a file's metadata. Other engines cannot write it: their files are known by their columns.
PREPARED_FORMAT: Final = "audiencekit-prepared/1"

_LISTS: Final = pa.list_(pa.string())

# One line a record. Hashes are lower-case hex; `partner_user_id` is plain. Null where a kind has no value.
PREPARED_SCHEMA: Final = pa.schema(
    [
        pa.field(ROW, pa.int64(), nullable=False),
        pa.field(OPERATION, pa.string(), nullable=False),
        *(pa.field(kind.value, _LISTS) for kind in Kind),
    ]
)


@guarded
def to_prepared(records: HashedRecords, places: Indices) -> HashedRecords:
    """The records at `places` of a batch (RECORD_SCHEMA) in PREPARED_SCHEMA."""
    batch = records.unwrap()
    verbs = pc.if_else(arrow_array(batch.column(IS_DELETE).to_numpy(zero_copy_only=False)[places]), DELETE, UPDATE)
    lists = [_record_texts(batch.column(kind.value), places, is_hashed=kind.is_hashed) for kind in Kind]
    rows = arrow_array(batch.column(ROW).to_numpy()[places])
    return HashedRecords(pa.record_batch([rows, verbs, *lists], schema=PREPARED_SCHEMA))


def _record_texts(lists: Any, places: Indices, *, is_hashed: bool) -> Any:
    if lists.null_count == len(lists):  # most kinds of most lists
        return pa.nulls(len(places), _LISTS)
    if not is_hashed:
        return lists.take(arrow_array(places))
    hashes = hash_matrix(lists.values)
    digits = np.empty(2 * hashes.size, dtype=np.uint8)
    ends = HEX_LOOPS.write_lists(list_offsets(lists), hashes, places, digits)
    return lists_between(ends, hex_texts(digits, int(ends[-1])))
