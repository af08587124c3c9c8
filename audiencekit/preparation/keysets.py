"""Which records are duplicates, superseded or in conflict, found by keyed tags of key sets and keys."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.tags import TAG, Tagger, Tags, sum_of_keys


@dataclass(frozen=True, slots=True)
class Selection:
    """Per record, in order: whether it is sent, and in which wave (0 first); `duplicates` and `superseded` count."""

    kept: npt.NDArray[np.bool_]
    waves: npt.NDArray[np.int64]
    duplicates: int
    superseded: int


@dataclass(frozen=True, slots=True)
class TaggedBatch:
    """Tags of the records of one batch: of their key sets, and, where verbs are mixed, of their single keys."""

    key_sets: Tags = field(repr=False)
    deletes: npt.NDArray[np.bool_] = field(repr=False)
    single_keys: list[list[bytes]] = field(repr=False)


@dataclass(slots=True)
class KeySets:
    """Gathers the tags of all records of a run, then decides.

    With `mixed` False every record has the same verb: nothing can be superseded or in conflict, and the tags of single
    keys are not kept.
    """

    mixed: bool
    _tagger: Tagger = field(default_factory=Tagger, repr=False)
    _tags: list[Tags] = field(default_factory=list, repr=False)
    _deletes: list[npt.NDArray[np.bool_]] = field(default_factory=list, repr=False)
    _single_keys: list[list[bytes]] = field(default_factory=list, repr=False)

    def tag(self, records: HashedRecords, deletes: npt.NDArray[np.bool_]) -> TaggedBatch:
        """The tags of one batch; `deletes` says which records take people out. May be called from any thread."""
        return _tag(self, records, deletes)

    def add(self, tagged: TaggedBatch) -> None:
        """Gather the tags of the next batch, in the order of the source."""
        self._tags.append(tagged.key_sets)
        self._deletes.append(tagged.deletes)
        self._single_keys.extend(tagged.single_keys)

    def deletes(self) -> npt.NDArray[np.bool_]:
        """For each record in order, whether it takes people out."""
        return np.concatenate(self._deletes) if self._deletes else np.zeros(0, dtype=bool)

    def select(self) -> Selection:
        """One record of each key set is sent; the waves keep conflicts in row order.

        With one verb it is the first, and later ones are duplicates. With both it is the last word: an earlier record
        is a duplicate when every later one of its key set has its verb, superseded when the verb changed after it.
        """
        tags = np.concatenate(self._tags) if self._tags else np.zeros(0, dtype=TAG)
        if not len(tags):
            return Selection(np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int64), 0, 0)
        order, changes = _grouped(tags)
        kept = np.zeros(len(tags), dtype=bool)
        if not self.mixed:
            kept[order[np.concatenate([[True], changes])]] = True
            return Selection(kept, np.zeros(len(tags), dtype=np.int64), int((~kept).sum()), 0)
        last = np.concatenate([changes, [True]])
        kept[order[last]] = True
        deletes = self.deletes()
        superseded = _superseded(order, last, deletes)
        self._keep_far_reaching(kept, superseded, deletes)
        overruled = superseded & ~kept
        waves = self._waves(kept, deletes)
        return Selection(kept, waves, int((~kept & ~superseded).sum()), int(overruled.sum()))

    def _keep_far_reaching(
        self, kept: npt.NDArray[np.bool_], superseded: npt.NDArray[np.bool_], deletes: npt.NDArray[np.bool_]
    ) -> None:
        """Keep superseded Deletes that reach an earlier entry of another key set.

        A Delete matches on any of its keys, so the later Update of its own key set does not undo all that it did.
        """
        live: set[bytes] = set()
        for index, keys in enumerate(self._single_keys):
            if not deletes[index]:
                live.update(keys if kept[index] else ())
            elif kept[index] or (superseded[index] and not live.isdisjoint(keys)):
                kept[index] = True
                live.difference_update(keys)

    def _waves(self, kept: npt.NDArray[np.bool_], deletes: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """For each record, one more than the latest wave of an earlier opposite record that shares a key."""
        waves = np.zeros(len(kept), dtype=np.int64)
        latest: tuple[dict[bytes, int], dict[bytes, int]] = ({}, {})
        for index in np.flatnonzero(kept):
            own, opposite = latest[int(deletes[index])], latest[1 - int(deletes[index])]
            keys = self._single_keys[index]
            wave = max((opposite.get(key, -1) + 1 for key in keys), default=0)
            waves[index] = wave
            for key in keys:
                own[key] = max(own.get(key, 0), wave)
        return waves


def _grouped(tags: Tags) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """An order that brings equal tags together, each group in the order of the source, and where a group ends."""
    order = np.argsort(tags["high"], kind="stable")
    high, low = tags["high"][order], tags["low"][order]
    changes = high[1:] != high[:-1]
    # Two people may share half a tag: then the other half takes part in the order, too.
    if bool((~changes & (low[1:] != low[:-1])).any()):
        order = np.lexsort((tags["low"], tags["high"]))
        high, low = tags["high"][order], tags["low"][order]
        changes = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    return order, changes


def _superseded(
    order: npt.NDArray[np.int64], last: npt.NDArray[np.bool_], deletes: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Walks each key set from its last record back: everything before a change of verb is superseded."""
    superseded = np.zeros(len(order), dtype=bool)
    changed = False
    for position in range(len(order) - 1, -1, -1):
        if last[position]:
            changed = False
        elif deletes[order[position]] != deletes[order[position + 1]]:
            changed = True
        superseded[order[position]] = changed
    return superseded


@guarded
def _tag(keysets: KeySets, records: HashedRecords, deletes: npt.NDArray[np.bool_]) -> TaggedBatch:
    of_kinds = list(keysets._tagger.tag_keys(records.unwrap()))
    rows = records.unwrap().num_rows
    keys: list[list[bytes]] = [[] for _ in range(rows)] if keysets.mixed else []
    for owners, tags in of_kinds if keysets.mixed else ():
        for owner, tag in zip(owners.tolist(), tags, strict=True):
            keys[owner].append(tag.tobytes())
    return TaggedBatch(sum_of_keys(of_kinds, rows), deletes, keys)
