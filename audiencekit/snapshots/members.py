"""Members of an audience as a snapshot knows them: the identifiers of each, and the day that it expires.

Where members meet what changed, the day may also be DROPPED or UNSURE. As bytes, little-endian, a batch is

    uint32              members
    int16 each          days
    and their identifiers, if there are members, as in the chunks of the spool (`preparation.chunks`)

In a snapshot their identifiers stand alone, behind the number of members, and the days elsewhere.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import MAX_EXPIRY_DAY
from audiencekit.personal import HashedRecords, Personal, guarded
from audiencekit.records.chunks import ChunkReader, Counts, identifier_columns, identifier_parts, value_counts
from audiencekit.records.columns.arrays import arrow_array
from audiencekit.records.record_bits import Bools, Indices
from audiencekit.records.records import RECORD_SCHEMA

DAY: Final = "day"
MEMBER_SCHEMA: Final = pa.schema(
    [pa.field(DAY, pa.int16(), nullable=False), *(RECORD_SCHEMA.field(kind.value) for kind in Kind)]
)

Days = npt.NDArray[np.int16]

DOUBTFUL: Final = 0  # may be in the audience or not: put in again when wanted, deleted when not
DROPPED: Final = -1  # of a change: not a member any more
UNSURE: Final = -2  # of a change: as it was before, and in doubt when it was not there

NO_MEMBERS: Final = HashedRecords(pa.RecordBatch.from_pylist([], schema=MEMBER_SCHEMA))

_HEAD: Final = struct.Struct("<I")
_EPOCH: Final = date(1970, 1, 1)


class MemberChunk(Personal[bytes | memoryview]):
    """The bytes of one batch of members. Hashes are personal data."""


def day_of(moment: datetime) -> int:
    """Return the day of `moment` in UTC, counted from 1970; at most MAX_EXPIRY_DAY."""
    return min((moment.astimezone(UTC).date() - _EPOCH).days, MAX_EXPIRY_DAY)


def date_of(day: int) -> date:
    """Return the date of that day."""
    return _EPOCH + timedelta(days=day)


@guarded
def to_bytes(members: HashedRecords) -> MemberChunk:
    """Return the bytes of a batch of MEMBER_SCHEMA."""
    batch = members.unwrap()
    if not batch.num_rows:
        return MemberChunk(_HEAD.pack(0))
    days = batch.column(DAY).to_numpy().astype("<i2").tobytes()
    return MemberChunk(b"".join([_HEAD.pack(batch.num_rows), days, *identifier_parts(batch)]))


@guarded
def from_bytes(chunk: MemberChunk) -> HashedRecords:
    """Return the batch that `to_bytes` wrote."""
    reading = ChunkReader(chunk.unwrap())
    (count,) = _HEAD.unpack(reading.take(_HEAD.size))
    if not count:
        return NO_MEMBERS
    days = np.frombuffer(reading.buffer(2 * count), dtype="<i2").astype(np.int16, copy=False)
    return HashedRecords(
        pa.record_batch([arrow_array(days), *identifier_columns(reading, count)], schema=MEMBER_SCHEMA)
    )


@guarded
def to_identifier_bytes(members: HashedRecords) -> MemberChunk:
    """Return the bytes of a batch of MEMBER_SCHEMA without its days."""
    batch = members.unwrap()
    if not batch.num_rows:
        return MemberChunk(_HEAD.pack(0))
    return MemberChunk(b"".join([_HEAD.pack(batch.num_rows), *identifier_parts(batch)]))


@guarded
def from_identifier_bytes(chunk: MemberChunk, places: Indices | None = None) -> HashedRecords:
    """Return the batch that `to_identifier_bytes` wrote, or its members at `places`, in that order; all in doubt."""
    reading = ChunkReader(chunk.unwrap())
    (count,) = _HEAD.unpack(reading.take(_HEAD.size))
    wanted = count if places is None else len(places)
    if not wanted:
        return NO_MEMBERS
    days = arrow_array(np.full(wanted, DOUBTFUL, dtype=np.int16))
    return HashedRecords(pa.record_batch([days, *identifier_columns(reading, count, places)], schema=MEMBER_SCHEMA))


@guarded
def as_members(records: HashedRecords, days: Days) -> HashedRecords:
    """Return a batch of RECORD_SCHEMA as MEMBER_SCHEMA, with the day of each."""
    batch = records.unwrap()
    columns = [batch.column(kind.value) for kind in Kind]
    return HashedRecords(pa.record_batch([arrow_array(days), *columns], schema=MEMBER_SCHEMA))


@guarded
def count_kinds(members: HashedRecords) -> dict[Kind, int]:
    """Return how many of the members have an identifier of each kind."""
    batch = members.unwrap()
    lengths = {kind: pc.list_value_length(batch.column(kind.value)) for kind in Kind}
    return {kind: pc.sum(pc.greater(length, 0)).as_py() or 0 for kind, length in lengths.items()}


def days_of(members: HashedRecords) -> Days:
    """Return the day of each member."""
    days: Days = members.unwrap().column(DAY).to_numpy()
    return days


@guarded
def chosen(members: HashedRecords, places: Indices, *, bare: Bools | None = None) -> HashedRecords:
    """Return the members at `places`, in that order; the `bare` ones without identifiers and without a day."""
    if not len(places):
        return NO_MEMBERS
    return HashedRecords(members.unwrap().take(pa.array(places, mask=bare)))


@guarded
def between(members: HashedRecords, begin: int, end: int) -> HashedRecords:
    """Return the members from the place `begin` to `end`, without a copy."""
    return HashedRecords(members.unwrap().slice(begin, end - begin))


@guarded
def joined_members(parts: Sequence[HashedRecords]) -> HashedRecords:
    """Return all of them, in order."""
    parts = [part for part in parts if count_members(part)]
    if len(parts) <= 1:
        return parts[0] if parts else NO_MEMBERS
    batches = [part.unwrap() for part in parts]
    columns = [pa.concat_arrays([batch.column(name) for batch in batches]) for name in MEMBER_SCHEMA.names]
    return HashedRecords(pa.record_batch(columns, schema=MEMBER_SCHEMA))


def count_members(members: HashedRecords) -> int:
    """Return how many there are."""
    return int(members.unwrap().num_rows)


def identifiers_of(members: HashedRecords) -> Counts:
    """Return how many identifiers each member has."""
    batch = members.unwrap()
    found = np.zeros(batch.num_rows, dtype=np.int64)
    for kind in Kind:
        lists = batch.column(kind.value)
        if lists.null_count < len(lists):
            found += value_counts(lists)
    return found


@guarded
def with_days(members: HashedRecords, days: Days) -> HashedRecords:
    """Return `members` with these days."""
    if not len(days):
        return NO_MEMBERS
    batch: Any = members.unwrap()
    return HashedRecords(batch.set_column(0, MEMBER_SCHEMA.field(DAY), arrow_array(days)))
