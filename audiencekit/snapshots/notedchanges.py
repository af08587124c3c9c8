"""The changes that a run is about to make: noted beside the snapshot before its first byte leaves, so none is lost.

A sealed file (`machine.keptspool`). Chunk 0 says of which run the changes are and on which snapshot they build; every
other holds records of one wave and verb, after the number of the request that each is in:

    uint32              records
    uint32 each         number of the request
    and the records as a chunk of the spool; the rows of those that are taken out lie beyond the source
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import orjson
import pyarrow as pa

from audiencekit.destinations.requests.requestplan import PlannedRequest
from audiencekit.errors import InputOutputFailed
from audiencekit.machine.crashpoints import pass_point
from audiencekit.machine.keptspool import KeptSpool
from audiencekit.machine.keys import SubKey
from audiencekit.machine.privatefiles import explained, sync_directory
from audiencekit.machine.workers import cores, in_order
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.batches import ROW
from audiencekit.preparation.chunks import RecordChunk, from_chunk, to_chunk
from audiencekit.preparation.recordbits import Bools, Indices
from audiencekit.preparation.records import RECORD_SCHEMA
from audiencekit.selection.selection import SelectionLayout, Wave
from audiencekit.snapshots.members import DOUBTFUL, DROPPED, UNSURE, Days, as_members, chosen

# The records of one batch of a layout at these places, ascending, with all their keys; called from any thread.
RecordsOf: TypeAlias = Callable[[int, Indices], HashedRecords]

_HEAD: Final = struct.Struct("<I")
_ASIDE: Final = ".new-"
_TOGETHER: Final = 8_192  # records in one chunk, unless one batch has more


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The known outcomes of the requests of a run, by number; `refused` are rows that the service did not take."""

    confirmed: frozenset[int]
    touched: frozenset[int]  # may have been applied
    refused: frozenset[int] = frozenset()

    @property
    def reached(self) -> frozenset[int]:
        """Those that were applied or may have been."""
        return self.confirmed | self.touched


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesFacts:
    """Of which run the changes are. `serial` is that of the snapshot they build on, `day` when new entries expire.

    `waves` are the wave and the verb (whether it is a Delete) of each chunk, `requests` those of each request.
    """

    run_id: str
    serial: int
    day: int
    waves: list[Wave] = field(default_factory=list)
    requests: dict[str, Wave] = field(default_factory=dict)

    def verbs_of(self, requests: Iterable[int]) -> set[bool]:
        """Whether any of `requests` are Deletes, and whether any are Updates."""
        return {self.requests[str(number)][1] for number in requests}


class Changes:
    """An opened file of changes. Close it. Raises InputOutputFailed for a damaged one."""

    def __init__(self, spool: KeptSpool) -> None:
        self._spool = spool
        try:
            content = orjson.loads(spool.read(0))
            self.facts = ChangesFacts(**content)
        except (ValueError, TypeError, KeyError):
            raise InputOutputFailed("the changes of a run cannot be read") from None

    @classmethod
    def open(cls, path: Path, key: SubKey) -> Changes | None:
        """Those at `path`; None when there are none."""
        return cls(KeptSpool.open(path, key)) if os.path.lexists(path) else None

    def close(self) -> None:
        """Give up the file."""
        self._spool.close()

    def chunks(self) -> Iterator[tuple[Wave, Indices, HashedRecords]]:
        """Of each chunk its wave and verb, the number of each record's request, and the records."""
        for number, wave in enumerate(self.facts.waves, start=1):
            yield (wave[0], wave[1]), *_split(self._spool, number)

    def effects(self, outcomes: Outcomes) -> Iterator[HashedRecords]:
        """The changes of the run, MEMBER_SCHEMA: the day of those that it put in, DROPPED for those it took out.

        Whatever is in doubt is DOUBTFUL or UNSURE; what never left is not there.
        """
        is_struck = True in self.facts.verbs_of(outcomes.reached)
        for wave, requests, records in self.chunks():
            days, heeded = _days(wave, requests, outcomes, self.facts.day, is_struck=is_struck)
            if outcomes.refused:
                taken = ~np.isin(_rows(records), list(outcomes.refused))
                heeded &= taken | (wave[0] > 0 and not wave[1])
                days = np.where(taken, days, np.int16(DOUBTFUL))
            if heeded.any():
                yield chosen(as_members(records, days), np.flatnonzero(heeded))


def _days(wave: Wave, requests: Indices, outcomes: Outcomes, day: int, *, is_struck: bool) -> tuple[Days, Bools]:
    """The day of each change, and whether there is any.

    An Update of a later wave puts back members that a Delete may have struck: unconfirmed, that is in doubt.
    """
    number, deletes = wave
    confirmed, touched = (np.isin(requests, list(those)) for those in (outcomes.confirmed, outcomes.touched))
    if deletes:
        return np.where(confirmed, DROPPED, DOUBTFUL).astype(np.int16), confirmed | touched
    if number and is_struck:
        return np.where(confirmed, day, DOUBTFUL).astype(np.int16), np.ones(len(requests), dtype=bool)
    return np.where(confirmed, day, UNSURE).astype(np.int16), confirmed | touched


def write_changes(
    path: Path,
    key: SubKey,
    facts: ChangesFacts,
    *,
    layout: SelectionLayout,
    waves: Iterable[int],
    requests: list[PlannedRequest],
    records_of: RecordsOf,
) -> None:
    """Note all that the planned `requests` change, before any of them is sent; durable when it returns.

    Raises InputOutputFailed when the disk fails.
    """
    aside = path.with_name(f"{_ASIDE}{secrets.token_hex(8)}")
    pass_point("before changes")
    spool = KeptSpool.create(aside, key)
    try:
        groups = _grouped(_stretches(layout, waves, requests))
        work = functools.partial(_append, spool, records_of)
        written = list(in_order(work, enumerate(groups, start=1), workers=cores()))
        verbs = {str(request.number): (request.wave, bool(request.deletes)) for request in requests}
        spool.append(orjson.dumps(asdict(facts) | {"waves": written, "requests": verbs}), 0)
        spool.finish()
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise
    finally:
        spool.close()
    with explained("what is about to change cannot be noted", path):
        os.replace(aside, path)
        sync_directory(path.parent)
    pass_point("after changes")


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Records of one wave in one batch: their places, and the number of each one's request."""

    wave: Wave
    batch: int
    places: Indices = field(repr=False)
    requests: Indices = field(repr=False)


def _stretches(layout: SelectionLayout, waves: Iterable[int], requests: list[PlannedRequest]) -> Iterator[_Stretch]:
    """All that is sent, wave by wave, the Updates before the Deletes."""
    for number in waves:
        for deletes in (False, True):
            yield from _stretches_of((number, deletes), layout, requests)


def _grouped(stretches: Iterable[_Stretch]) -> Iterator[list[_Stretch]]:
    """Neighbours of one wave together, since of most batches few records are sent."""
    group: list[_Stretch] = []
    count = 0
    for stretch in stretches:
        if group and (stretch.wave != group[0].wave or count + len(stretch.places) > _TOGETHER):
            yield group
            group, count = [], 0
        group.append(stretch)
        count += len(stretch.places)
    if group:
        yield group


def _stretches_of(wave: Wave, layout: SelectionLayout, requests: list[PlannedRequest]) -> Iterator[_Stretch]:
    of_wave = [request for request in requests if request.wave == wave[0]]
    ends = np.cumsum([request.deletes if wave[1] else request.updates for request in of_wave])
    numbers = np.array([request.number for request in of_wave], dtype=np.int64)
    first = 0
    for batch, taken in layout.of_wave(wave):
        places = np.flatnonzero(taken)
        own = numbers[np.searchsorted(ends, np.arange(first, first + len(places)), side="right")]
        first += len(places)
        yield _Stretch(wave, batch, places, own)


@guarded
def _append(spool: KeptSpool, records_of: RecordsOf, numbered: tuple[int, list[_Stretch]]) -> Wave:
    number, group = numbered
    taken = [records_of(stretch.batch, stretch.places).unwrap() for stretch in group]
    columns = [pa.concat_arrays([batch.column(name) for batch in taken]) for name in RECORD_SCHEMA.names]
    batch = HashedRecords(pa.record_batch(columns, schema=RECORD_SCHEMA))
    requests = np.concatenate([stretch.requests for stretch in group])
    head = _HEAD.pack(len(requests)) + requests.astype("<u4").tobytes()
    spool.append(b"".join([head, to_chunk(batch).unwrap()]), number)
    return group[0].wave


@guarded
def _split(spool: KeptSpool, number: int) -> tuple[Indices, HashedRecords]:
    content = memoryview(spool.read(number))
    (count,) = _HEAD.unpack(content[: _HEAD.size])
    start = _HEAD.size + 4 * count
    requests = np.frombuffer(content[_HEAD.size : start], dtype="<u4").astype(np.int64)
    return requests, from_chunk(RecordChunk(bytes(content[start:])))


def _rows(records: HashedRecords) -> Indices:
    rows: Indices = records.unwrap().column(ROW).to_numpy()
    return rows
