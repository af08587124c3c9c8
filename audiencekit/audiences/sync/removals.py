"""Removals: each person is removed by keys that only they have, as far as possible."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import RETURN_SHARE
from audiencekit.personal import HashedRecords, guarded
from audiencekit.process.workers import cores, in_order
from audiencekit.records.columns.arrays import (
    Matrix,
    Places,
    arrow_array,
    hash_array,
    hash_matrix,
    list_array,
    list_offsets,
)
from audiencekit.records.record_bits import Bits, Bools, Indices
from audiencekit.records.records import RECORD_SCHEMA
from audiencekit.selection.tag_arrays import TAG, Tags
from audiencekit.selection.tags import TAG_LOOPS, Tagger, hashes_by_kind
from audiencekit.snapshots.mark_arrays import Halves
from audiencekit.snapshots.marks import MARK_LOOPS
from audiencekit.snapshots.members import count_members

# --- Removals: a Delete strikes all members who hold any of its keys (specification part 2, section 4.4) ---
#
# A member goes by those of its keys that no one who stays holds. One without such a key goes by the key that the fewest
# others hold; these are put back in the wave after. So that never more than a small share of an audience is out, such
# Deletes come in rounds: wave 1 takes out, wave 2 puts back, wave 3 takes out, and so on.

_NO_PLACES: Final = np.zeros(0, dtype=np.int64)
_NO_TAGS: Final = np.zeros(0, dtype=TAG)


@dataclass(frozen=True, slots=True)
class RemainingRecords:
    """The records that stay: those `wanted` of all batches. `firsts` has the number of the first record of each batch.

    `on_batch` is called for each batch with its number, its records, and the places of those that hold a key which may
    be deleted.
    """

    wanted: Bits
    firsts: list[int]
    unsealed: Callable[[int], HashedRecords]
    tagger: Tagger
    on_batch: Callable[[int, HashedRecords, Indices], None]

    def holders(self, table: KeyTable, known: KeyFilter, rarest: RarestKeys) -> Iterator[tuple[Indices, Indices]]:
        """Yield, batch by batch, the records that hold `known` keys of `table`, and the numbers of those keys."""
        return in_order(lambda batch: self._look(batch, table, known, rarest), range(len(self.firsts)), workers=cores())

    def _look(self, batch: int, table: KeyTable, known: KeyFilter, rarest: RarestKeys) -> tuple[Indices, Indices]:
        records = self.unsealed(batch)
        owners, tags = _tag_likely(records, self.tagger, known)
        places, numbers = table.find(tags)
        owners = owners[places] + self.firsts[batch]
        selected = self.wanted.at(owners)
        owners, numbers = owners[selected], numbers[selected]
        self.on_batch(batch, records, owners[rarest.likely[numbers]] - self.firsts[batch])
        return owners, numbers


@dataclass(frozen=True, slots=True)
class RemovalKeys:
    """The keys of the members to remove, and how many records that stay hold each of them.

    `held` are those records, with the number of the key, batch by batch.
    """

    table: KeyTable
    holders: npt.NDArray[np.int64] = field(repr=False)
    held: list[tuple[Indices, Indices]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reduced:
    """Members to remove, as records that hold only the keys by which they are removed.

    `places` are those of members removed by a key that others hold, too, `keys` the number of that key. `lost` counts
    the members none of whose keys is held by a member who stays: they have gone, while the others may only have got or
    lost a key.
    """

    records: HashedRecords
    lost: int
    places: Indices = field(repr=False)
    keys: Indices = field(repr=False)


def count_holders(leaving: Iterable[HashedRecords], staying: RemainingRecords) -> RemovalKeys:
    """Return the keys of all leaving members, and how many of the remaining ones hold each."""
    table, known, rarest = _gather_keys(leaving, staying.tagger)
    held = []
    for records, numbers in staying.holders(table, known, rarest):
        rarest.count(numbers)
        if len(numbers):
            held.append((records, numbers))
    return RemovalKeys(table, rarest.holders, held)


@guarded
def reduce_members(members: HashedRecords, keys: RemovalKeys, tagger: Tagger, *, first_row: int) -> Reduced:
    """Return `members` as Deletes with the keys by which they are removed. Rows count from `first_row`."""
    batch = members.unwrap()
    of_kinds = dict(_keys_by_kind(members, keys, tagger))
    own, held = _count_keys(of_kinds, keys, batch.num_rows)
    shared = np.flatnonzero(own == 0)
    least = _least_held(of_kinds, keys, batch.num_rows)
    columns = []
    for kind in Kind:
        lists = batch.column(kind.value)
        if kind not in of_kinds:
            columns.append(pa.nulls(batch.num_rows, lists.type))
            continue
        owners, numbers = of_kinds[kind]
        stays = np.where(own[owners] > 0, keys.holders[numbers] == 0, numbers == least[owners])
        counts = np.bincount(owners[stays], minlength=batch.num_rows)
        columns.append(list_array(counts, lists.flatten().filter(arrow_array(stays))))
    lost = int((held == 0).sum())
    return Reduced(_records(columns, batch.num_rows, first_row, True), lost, shared, least[shared])


@guarded
def as_records(members: HashedRecords, *, first_row: int, deletes: bool) -> HashedRecords:
    """Return `members` as Deletes or Updates with all their keys. Rows count from `first_row` (RECORD_SCHEMA)."""
    batch = members.unwrap()
    return _records([batch.column(kind.value) for kind in Kind], batch.num_rows, first_row, deletes)


def _records(columns: list[Any], count: int, first_row: int, deletes: bool) -> HashedRecords:
    rows = np.arange(first_row, first_row + count, dtype=np.int64)
    verbs = arrow_array(np.full(count, deletes))
    return HashedRecords(pa.record_batch([arrow_array(rows), verbs, *columns], schema=RECORD_SCHEMA))


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds of removals.

    `of_key` is the round in which each shared key is deleted; `returned` are the records to be put back, by round.
    """

    of_key: npt.NDArray[np.int64] = field(repr=False)
    returned: list[Indices] = field(repr=False)


def plan_rounds(struck: Indices, keys: RemovalKeys, members: int) -> Rounds:
    """Return in which round each of the `struck` keys is deleted, and who is put back, after the last such round.

    `members` are all who stay.
    """
    of_key = np.full(len(keys.table), -1, dtype=np.int64)
    numbers = np.unique(struck)
    count = rounds_for(int(keys.holders[numbers].sum()), members)
    of_key[numbers] = np.arange(len(numbers)) * count // max(len(numbers), 1)
    found = [(records[hit], of_key[own[hit]]) for records, own in keys.held for hit in [of_key[own] >= 0]]
    records = np.concatenate([np.zeros(0, dtype=np.int64), *(each for each, _ in found)])
    rounds = np.concatenate([np.zeros(0, dtype=np.int64), *(each for _, each in found)])
    order = np.lexsort((rounds, records))
    last = np.append(np.diff(records[order]) != 0, True)[: len(order)]
    records, rounds = records[order][last], rounds[order][last]
    return Rounds(of_key, [records[rounds == each] for each in range(count)])


def rounds_for(returned: int, members: int) -> int:
    """Return in how many rounds, at least 1, so many of `members` are removed and put back."""
    return max(1, math.ceil(returned / max(members * RETURN_SHARE, 1)))


def _gather_keys(leaving: Iterable[HashedRecords], tagger: Tagger) -> tuple[KeyTable, KeyFilter, RarestKeys]:
    """Return the keys of all leaving members.

    These may be all members: little more than a tag is stored for each key.
    """
    known, found, owners, count = KeyFilter(), [_NO_TAGS], [_NO_PLACES.astype(np.int32)], 0
    for members in leaving:
        for own, tags in _tag_keys(members, tagger):
            owners.append((own + count).astype(np.int32))
            found.append(tags)
        count += count_members(members)
        _add_keys(members, known)
    table = KeyTable(found)
    numbers = [table.find(tags)[1].astype(np.int32) for tags in found]
    return table, known, RarestKeys(np.concatenate(owners), np.concatenate(numbers), len(table))


@guarded
def _tag_keys(members: HashedRecords, tagger: Tagger) -> list[tuple[Indices, Tags]]:
    return list(tagger.tag_keys(members.unwrap()))


@guarded
def _add_keys(members: HashedRecords, known: KeyFilter) -> None:
    for _, _, hashes in hashes_by_kind(members.unwrap()):
        known.add(hash_matrix(hashes))


@guarded
def _tag_likely(records: HashedRecords, tagger: Tagger, known: KeyFilter) -> tuple[Indices, Tags]:
    """Return owners and tags of the keys that may be `known`."""
    owners, tags = [_NO_PLACES], [_NO_TAGS]
    for kind, lists, hashes in hashes_by_kind(records.unwrap()):
        likely = known.likely(matrix := hash_matrix(hashes))
        owners.append(_owners_of(likely, list_offsets(lists)))
        tags.append(tagger.tag_hashes(hash_array(matrix.take(likely, axis=0)), kind))
    return np.concatenate(owners), np.concatenate(tags)


def _owners_of(places: Indices, offsets: Places) -> Indices:
    """Return the list of each value at `places`, counted from the first value; lists begin and end at `offsets`."""
    present = np.flatnonzero(offsets[1:] > offsets[:-1])
    if len(present) == offsets[-1] - offsets[0]:  # none has several
        return present[places]
    owners: Indices = offsets.searchsorted((places + offsets[0]).astype(offsets.dtype), side="right") - 1
    return owners


def _keys_by_kind(
    members: HashedRecords, keys: RemovalKeys, tagger: Tagger
) -> Iterable[tuple[Kind, tuple[Indices, Indices]]]:
    """Yield for each kind that occurs: the member of each key, and the number of the key."""
    batch = members.unwrap()
    present = [kind for kind in Kind if len(batch.column(kind.value).flatten())]
    for kind, (owners, tags) in zip(present, tagger.tag_keys(batch), strict=True):
        yield kind, (owners, keys.table.find(tags)[1])


def _count_keys(
    of_kinds: dict[Kind, tuple[Indices, Indices]], keys: RemovalKeys, members: int
) -> tuple[Indices, Indices]:
    """Return for each member how many of its keys no remaining member holds, and how many any of them holds."""
    own, held = np.zeros(members, dtype=np.int64), np.zeros(members, dtype=np.int64)
    for owners, numbers in of_kinds.values():
        is_held = keys.holders[numbers] > 0
        own += np.bincount(owners[~is_held], minlength=members)
        held += np.bincount(owners[is_held], minlength=members)
    return own, held


def _least_held(of_kinds: dict[Kind, tuple[Indices, Indices]], keys: RemovalKeys, members: int) -> Indices:
    """Return for each member the number of the key that the fewest hold."""
    owners = np.concatenate([each for each, _ in of_kinds.values()])
    numbers = np.concatenate([each for _, each in of_kinds.values()])
    order = np.lexsort((numbers, keys.holders[numbers], owners))
    first = np.searchsorted(owners[order], np.arange(members))
    return numbers[order][first]


# --- A set of keys for a hundred million searches: first by bits of their hashes, then by their tags ---

Numbers = npt.NDArray[np.uint64]

_NEAR_BITS: Final = 24  # of 200,000 keys one in eighty others passes; two megabytes
_FAR_BITS: Final = 27  # and of these one in six hundred; 16 megabytes


class KeyFilter:
    """A filter with some bits of the hash of every added key: most other keys are excluded without making a tag.

    Its callers hold hashes, and are guarded.
    """

    def __init__(self) -> None:
        self._near, self._far = (np.zeros(2**bits // 8, dtype=np.uint8) for bits in (_NEAR_BITS, _FAR_BITS))

    def __repr__(self) -> str:
        return "<KeyFilter>"

    def add(self, hashes: Matrix) -> None:
        """Add these keys."""
        for word, bits in enumerate((self._near, self._far)):
            numbers = hashes.view("<u4")[:, word] & np.uint32(8 * len(bits) - 1)
            np.bitwise_or.at(bits, numbers >> 3, np.left_shift(np.uint8(1), (numbers & 7).astype(np.uint8)))

    def likely(self, hashes: Matrix) -> Indices:
        """The places of those `hashes` that may have been added."""
        return TAG_LOOPS.find_likely(hashes, self._near, self._far)


class KeyTable:
    """Numbers for distinct `tags`, from 0."""

    def __init__(self, tags: Sequence[Tags]) -> None:
        halves = (np.concatenate([_NO_TAGS[half], *(each[half] for each in tags)]) for half in ("high", "low"))
        self._high, self._low = _distinct(*halves)
        self._begins = MARK_LOOPS.prepare(self._high)

    def __len__(self) -> int:
        return len(self._high)

    def __repr__(self) -> str:
        return f"<KeyTable of {len(self)}>"

    def find(self, tags: Tags) -> tuple[Indices, Indices]:
        """The places of those `tags` that are in the set, and the number of each."""
        numbers = MARK_LOOPS.find_tags(tags, Halves(self._high, self._low), self._begins)
        places = np.flatnonzero(numbers >= 0)
        return places, numbers[places]


def _distinct(high: Numbers, low: Numbers) -> tuple[Numbers, Numbers]:
    """Return each pair of halves once, ascending."""
    order = np.argsort(high)
    is_same, is_equal = _neighbours(high, order), _neighbours(low, order)
    if bool((is_same & ~is_equal).any()):  # hardly ever
        order = np.lexsort((low, high))
        is_same, is_equal = _neighbours(high, order), _neighbours(low, order)
    order = order[np.append(True, ~(is_same & is_equal))[: len(order)]]
    return high[order], low[order]


def _neighbours(halves: Numbers, order: Indices) -> Bools:
    """Return for all but the first in this order whether each is equal to the one before it."""
    ordered = halves[order]
    equal: Bools = ordered[1:] == ordered[:-1]
    return equal


# --- Shared keys: which keys of leaving members may have to be deleted although a remaining member holds them ---
#
# A member goes by the key that the fewest hold. So one that many hold, as the telephone of a whole household, is hardly
# ever struck, and its holders need not be looked at while the others are still being counted.

_TIMES: Final = 2  # so many times as many batches are counted before it is looked at again
_CHANCE: Final = 2  # so many holders more may be chance, while few are counted


class RarestKeys:
    """Count the holders of the keys of leaving members: `owners` hold the keys with these `numbers`.

    `likely` says of each of so many `keys`, by the holders counted so far, whether it may still be the key of some
    member that the fewest hold.
    """

    def __init__(self, owners: Places, numbers: Places, keys: int) -> None:
        self._owners, self._numbers = owners, numbers
        self.holders = np.zeros(keys, dtype=np.int64)
        self.likely: Bools = np.ones(keys, dtype=bool)
        self._batches, self._due = 0, 1

    def __repr__(self) -> str:
        return f"<RarestKeys of {len(self.holders)}>"

    def count(self, numbers: Indices) -> None:
        """Count the keys that the records of the next batch hold."""
        np.add.at(self.holders, numbers, 1)
        self._batches += 1
        if self._batches == self._due:
            self._due *= _TIMES
            self.likely = self._find()

    def _find(self) -> Bools:
        held = self.holders[self._numbers]
        least = np.full(int(self._owners.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(least, self._owners, held)
        likely = np.zeros(len(self.holders), dtype=bool)
        likely[self._numbers[held <= least[self._owners] + _CHANCE]] = True
        return likely
