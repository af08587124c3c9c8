"""Updates and Deletes that share a key: they go out in row order, the later in a wave after the earlier."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np

from audiencekit.preparation.recordbits import Bits, Indices
from audiencekit.process.workers import cores, in_order
from audiencekit.selection.partitions import Entries, Partitions, last_of_tag, records_of, repeated

_BLOCK: Final = 100_000  # keys that are Python numbers at a time


@dataclass(frozen=True, slots=True)
class Conflicts:
    """`far_reaching`: superseded Deletes that are sent all the same. `later`: records of the waves after the first."""

    far_reaching: Indices = field(repr=False)
    later: dict[int, Indices] = field(repr=False)


class _Contender(NamedTuple):
    """A record and those of its keys that both an Update and a Delete have, by number."""

    record: int
    is_chosen: bool
    is_delete: bool
    keys: list[int]


def find_conflicts(keys: Partitions, chosen: Bits, superseded: Bits, deletes: Bits) -> Conflicts:
    """The consequences of keys that Updates and Deletes have in common. Records with no such key are not looked at.

    `chosen` are the last words on their key sets.
    """

    def contested(parts: Iterable[int]) -> Entries:
        heeded = []
        for entries in keys.pieces(parts):
            records = records_of(entries)
            heeded.append(entries.compress(chosen.at(records) | (superseded.at(records) & deletes.at(records))))
        return _contested(repeated(*heeded), deletes)

    contest = _Contest(in_order(contested, keys.runs(), workers=cores()), chosen, deletes)
    far_reaching = contest.far_reaching()
    return Conflicts(np.array(far_reaching, dtype=np.int64), contest.waves(set(far_reaching)))


def _contested(entries: Entries, deletes: Bits) -> Entries:
    """Of entries ordered by tag those whose key both verbs have, the number of the key in the place of its tag."""
    ends = last_of_tag(entries)
    numbers: Indices = np.cumsum(ends) - ends
    is_delete = deletes.at(records_of(entries))
    by_verb = [np.bincount(numbers[of_verb], minlength=int(ends.sum())) for of_verb in (is_delete, ~is_delete)]
    both = (by_verb[0] > 0) & (by_verb[1] > 0)
    found = entries[both[numbers]]
    found["high"] = numbers[both[numbers]]
    return found


class _Contest:
    """All contested keys and their records, in the order of the records."""

    def __init__(self, parts: Iterable[Entries], chosen: Bits, deletes: Bits) -> None:
        records, keys, self._key_count = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], 0
        for entries in parts:
            records.append(records_of(entries))
            keys.append(entries["high"].astype(np.int64) + self._key_count)
            self._key_count = int(keys[-1].max(initial=self._key_count - 1)) + 1
        owners = np.concatenate(records)
        order = np.argsort(owners, kind="stable")
        self._records, self._keys = owners[order], np.concatenate(keys)[order]
        self._chosen, self._deletes = chosen, deletes

    def far_reaching(self) -> list[int]:
        """Superseded Deletes that reach an earlier entry of another key set.

        A Delete matches on any of its keys, so the later Update of its own key set does not undo all that it did.
        """
        found = []
        live = bytearray(self._key_count)
        for contender in self._contenders():
            keys = contender.keys
            if not contender.is_delete:
                for key in keys:
                    live[key] = True
            elif contender.is_chosen or any(live[key] for key in keys):
                if not contender.is_chosen:
                    found.append(contender.record)
                for key in keys:
                    live[key] = False
        return found

    def waves(self, far_reaching: set[int]) -> dict[int, Indices]:
        """For each record, one more than the latest wave of an earlier opposite record that shares a key."""
        later: dict[int, array[int]] = {}
        latest = [array("q", [-1]) * self._key_count for _ in range(2)]
        for contender in self._contenders():
            if not contender.is_chosen and contender.record not in far_reaching:
                continue
            own, opposite = latest[contender.is_delete], latest[not contender.is_delete]
            wave = max(opposite[key] + 1 for key in contender.keys)
            for key in contender.keys:
                own[key] = max(own[key], wave)
            if wave:
                later.setdefault(wave, array("q")).append(contender.record)
        return {wave: np.array(records, dtype=np.int64) for wave, records in later.items()}

    def _contenders(self) -> Iterator[_Contender]:
        for (record, is_chosen, is_delete), entries in groupby(self._numbers(), lambda entry: entry[:3]):
            yield _Contender(record, is_chosen, is_delete, [key for *_, key in entries])

    def _numbers(self) -> Iterator[tuple[int, bool, bool, int]]:
        for start in range(0, len(self._records), _BLOCK):
            records = self._records[start : start + _BLOCK]
            columns = (records, self._chosen.at(records), self._deletes.at(records), self._keys[start : start + _BLOCK])
            yield from zip(*(column.tolist() for column in columns), strict=True)
