"""Values that may be shared, each with its record and what stands beside it there; and those that are shared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.batches import ROW
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.preparation.recordbits import Bools
from audiencekit.selection.taggedrows import TaggedRows
from audiencekit.selection.tags import (
    TAG,
    Offsets,
    Places,
    TaggedKeys,
    Tagger,
    Tags,
    are_among,
    offsets_by_kind,
    starts_of,
)

MOST_BESIDE: Final = 7  # beside the value in a record: of more, not every part is compared

# A value, and the tag of it together with what stands beside it.
PERSON: Final = np.dtype([("high", "<u8"), ("low", "<u8"), ("pair_high", "<u8"), ("pair_low", "<u8")])
# A value of a batch that may be shared: its place among all of the batch, kind after kind; its record, and the row, the
# key set and the number of values of each kind of that.
CANDIDATE: Final = np.dtype(
    [
        *(("high", "<u8"), ("low", "<u8"), ("set_high", "<u8"), ("set_low", "<u8"), ("row", "<i8")),
        *(("place", "<u4"), ("record", "<u4"), ("kind", "u1"), ("values", "<u4", (len(Kind),))),
    ]
)
Candidates = npt.NDArray[np.void]
People = npt.NDArray[np.void]
NO_CHUNK: Final = -1  # in the place of the number of a chunk: a batch has no values, or none that may be shared
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)  # mixes a value with what stands beside it


@dataclass(frozen=True, slots=True)
class Pairs:
    """Values with all that stands beside each in a record (PERSON); and the tags of each with a part of that (TAG)."""

    people: People = field(repr=False)
    parts: Tags = field(repr=False)


NO_PAIRS: Final = Pairs(np.zeros(0, dtype=PERSON), np.zeros(0, dtype=TAG))
NO_CANDIDATES: Final = np.zeros(0, dtype=CANDIDATE), NO_PAIRS


@dataclass(frozen=True, slots=True)
class SharedValues:
    """The tags of shared values, ascending; `people` of the most shared one."""

    tags: Tags = field(repr=False)
    people: int = 0

    def __len__(self) -> int:
        return len(self.tags)

    def holds(self, asked: Tags) -> Bools:
        """Of each of `asked`, whether it is one of them."""
        return are_among(asked, self.tags)

    def among(self, candidates: Candidates) -> Candidates:
        """Those of `candidates` that are shared."""
        tags = np.empty(len(candidates), dtype=TAG)
        tags["high"], tags["low"] = candidates["high"], candidates["low"]
        return candidates.compress(are_among(tags, self.tags))

    def without(self, others: Tags) -> SharedValues:
        """Those that are none of `others`, which ascend."""
        return SharedValues(self.tags[~are_among(self.tags, others)], self.people)


@guarded
def candidates_in_records(records: HashedRecords, tagger: Tagger, places: Places) -> tuple[Candidates, Pairs]:
    """The values at `places` of a batch, as `candidates_at`; only the records that have one of them are tagged.

    Where these are many, all are: to take them out of the batch costs as much as their tags.
    """
    batch = records.unwrap()
    offsets = offsets_by_kind(batch)
    owners = _owners_of(places, list(offsets.values()))
    is_chosen = np.zeros(batch.num_rows, dtype=bool)
    is_chosen[owners] = True
    chosen = np.flatnonzero(is_chosen)
    if 2 * len(chosen) > batch.num_rows:
        return candidates_at(places, TaggedRows(batch.column(ROW).to_numpy(), tagger.tag(batch)))
    lines = (np.cumsum(is_chosen) - 1)[owners]
    part = batch.take(arrow_array(chosen))
    tagged = TaggedRows(part.column(ROW).to_numpy(), tagger.tag(part))
    found, pairs = candidates_at(_places_in_part(places, owners, lines, offsets, part), tagged)
    found["place"], found["record"] = places, owners
    return found, pairs


def _places_in_part(places: Places, owners: Places, lines: Places, offsets: dict[Kind, Offsets], part: Any) -> Places:
    """Where the values at `places` are among those of some records, `part`; `lines` say which of these have them."""
    in_part, own = offsets_by_kind(part), []
    starts, starts_in_part = starts_of(offsets.values()), dict(zip(in_part, starts_of(in_part.values()), strict=True))
    for (kind, begins), start in zip(offsets.items(), starts, strict=True):
        values = slice(*np.searchsorted(places, [start, start + begins[-1] - begins[0]]))
        if values.start < values.stop:
            within = places[values] - start - (begins[owners[values]] - begins[0])
            own.append(starts_in_part[kind] + in_part[kind][lines[values]] - in_part[kind][0] + within)
    return np.concatenate(own)


def candidates_at(places: Places, batch: TaggedRows) -> tuple[Candidates, Pairs]:
    """The values at `places` among all of a batch, kind after kind (CANDIDATE).

    With them the other values of their records, and the parts of these.
    """
    if not len(places):
        return NO_CANDIDATES
    tagged = batch.keys
    found = np.zeros(len(places), dtype=CANDIDATE)
    found["high"], found["low"] = tagged.tags["high"][places], tagged.tags["low"][places]
    found["place"] = places
    numbers = {kind: number for number, kind in enumerate(Kind)}
    kinds = [numbers[kind] for kind in tagged.offsets]
    found["kind"] = np.array(kinds)[np.searchsorted(tagged.starts(), places, side="right") - 1]
    found["record"] = records = _owners_of(places, list(tagged.offsets.values()))
    found["row"] = batch.rows[records]
    of_records = np.zeros(len(places), dtype=np.int64)
    for number, offsets in zip(kinds, tagged.offsets.values(), strict=True):
        found["values"][:, number] = counts = np.diff(offsets)[records]
        of_records += counts
    return found, _pairs_of_keys(tagged, found, of_records)


def _owners_of(places: Places, of_kinds: list[Offsets]) -> Places:
    """The record of each value; `of_kinds` are the offsets of a batch."""
    owners = np.empty(len(places), dtype=np.int64)
    for start, offsets in zip(starts_of(of_kinds), of_kinds, strict=True):
        own = slice(*np.searchsorted(places, [start, start + offsets[-1] - offsets[0]]))
        owners[own] = np.searchsorted(offsets, places[own] - start + offsets[0], side="right") - 1
    return owners


def _pairs_of_keys(tagged: TaggedKeys, found: Candidates, of_records: Places) -> Pairs:
    """Of each value in `found`, whose record has so many; fills in the key sets, too."""
    people, parts = [NO_PAIRS.people], [NO_PAIRS.parts]
    for size in np.flatnonzero(np.bincount(of_records)).tolist():
        chosen = np.flatnonzero(of_records == size)
        every = _places_of(tagged, found["record"][chosen], size)
        sums = _sum(tagged.tags[every], range(size))
        found["set_high"][chosen], found["set_low"][chosen] = sums["high"], sums["low"]
        if size == 1:  # a value that stands alone in a record says nothing of who that is: it is a part of everyone
            continue
        keys = found["place"][chosen]
        others = tagged.tags[every[every != keys[:, None]].reshape(len(keys), size - 1)]
        values = tagged.tags[keys]
        people.append(_people(values, _paired(values, _sum(others, range(size - 1)))))
        parts += [_paired(values, _sum(others, part)) for part in _parts(size - 1)]
    return Pairs(joined(people), joined(parts))


def _places_of(tagged: TaggedKeys, records: npt.NDArray[np.uint32], size: int) -> Places:
    """The places of all values of `records`, a line each, which have so many."""
    places, filled = np.empty((len(records), size), dtype=np.int64), np.zeros(len(records), dtype=np.int64)
    lines = np.arange(len(records))
    for start, offsets in zip(tagged.starts(), tagged.offsets.values(), strict=True):
        begins, counts = offsets[records] - offsets[0] + start, offsets[records + 1] - offsets[records]
        for further in range(int(counts.max(initial=0))):
            has = counts > further
            places[lines[has], filled[has]] = begins[has] + further
            filled += has
    return places


def _parts(size: int) -> Iterator[list[int]]:
    """The parts of so many that are neither none nor all of them; of many those of one, and those without one."""
    if size <= MOST_BESIDE:
        for bits in range(1, 2**size - 1):
            yield [place for place in range(size) if bits >> place & 1]
        return
    for place in range(size):
        yield [place]
        yield [other for other in range(size) if other != place]


def _sum(others: Tags, part: list[int] | range) -> Tags:
    sums = np.zeros(len(others), dtype=TAG)
    for place in part:
        sums["high"] += others["high"][:, place]
        sums["low"] += others["low"][:, place]
    return sums


def _paired(values: Tags, beside: Tags) -> Tags:
    """The tag of each value with what stands beside it."""
    pairs = np.empty(len(values), dtype=TAG)
    for half in ("high", "low"):
        pairs[half] = values[half] * _ODD + beside[half]
    return pairs


def _people(values: Tags, pairs: Tags) -> People:
    people = np.empty(len(values), dtype=PERSON)
    for half in ("high", "low"):
        people[half], people[f"pair_{half}"] = values[half], pairs[half]
    return people


def joined(pieces: Sequence[npt.NDArray[np.void]]) -> npt.NDArray[np.void]:
    """One behind the other. As bytes: for each piece of entries numpy would compare their types, name by name."""
    return np.concatenate([piece.view(np.uint8) for piece in pieces]).view(pieces[0].dtype)
