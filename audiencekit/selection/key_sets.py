"""Which records are duplicates, superseded or suppressed, found by keyed tags of their key sets and keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

import numpy as np

from audiencekit.errors import Bug
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords, guarded
from audiencekit.process.workers import cores, in_order
from audiencekit.records.batches import IS_DELETE, ROW
from audiencekit.records.columns.hashes import sha256_of
from audiencekit.records.record_bits import Bits, Bools, Indices, bools_of
from audiencekit.selection.partitions import (
    NO_RECORD,
    PARTITION_BITS,
    Chunks,
    Partitions,
    are_in,
    last_of_tag,
    records_of,
    repeated,
)
from audiencekit.selection.selection import Selection, find_conflicts
from audiencekit.selection.shared_values import SharedValueSearch
from audiencekit.selection.tag_arrays import ENTRY, Entries, OrderedTags, Slots, Tags
from audiencekit.selection.tags import TaggedRows, Tagger, slots_of

_FEW_BYTES: Final = 8 * 1024  # of one part of the key sets that change: memory that is touched first costs most


@dataclass(frozen=True, slots=True)
class TaggedBatch:
    """Tags of the records of one batch: of their key sets, and, where keys are compared one by one, of single keys.

    `suppressed` are those of keys that suppress every record which has them. Where shared values are looked for, `rows`
    are the tags of all keys in the order of the records, and `slots` are what these are counted by.
    """

    deletes: Bools = field(repr=False)
    key_sets: OrderedTags
    keys: OrderedTags | None = None
    suppressed: OrderedTags | None = None
    slots: Slots | None = field(default=None, repr=False)
    rows: TaggedRows | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class _Changes:
    """Records whose key sets were changed: all of them, those without any key now, and the tags of the others' sets."""

    records: Bits
    gone: Bits
    key_sets: Partitions


class KeySets:
    """Collects the tags of all records of a run, then decides. Tags beyond a fixed amount of memory go to `chunks`.

    With `mixed` False every record has the same verb: nothing can be superseded or in conflict. With `suppressing`
    False no record is suppressed. With neither, the tags of single keys are not kept. `memories` are asked of every
    key, too, whether it suppresses. `tagger` is for tags that are compared with those of another run. `search`
    looks for shared values.
    """

    def __init__(
        self,
        chunks: Chunks,
        *,
        mixed: bool,
        suppressing: bool = False,
        memories: Sequence[KeyMemory] = (),
        bits: int = PARTITION_BITS,
        tagger: Tagger | None = None,
        search: SharedValueSearch | None = None,
    ) -> None:
        self.mixed, self.search = mixed, search
        self._memories = memories
        self._suppressed = SuppressedKeys(chunks, bits=bits) if suppressing or memories else None
        self.tagger = tagger or Tagger()
        self._chunks, self._bits = chunks, bits
        self._changes: _Changes | None = None
        self._key_sets = Partitions(chunks, bits=bits)
        self._keys = Partitions(chunks, bits=bits)
        self._deletes = Bits()

    def __repr__(self) -> str:
        return f"<KeySets of {len(self)} records>"

    def __len__(self) -> int:
        """How many records were gathered."""
        return len(self._deletes)

    def drop_keys(self, tags: Tags) -> None:
        """Forget the keys of `tags`, which ascend, as if no record had them; then `change` the records that have."""
        self._keys.drop(tags)
        none = Bits.of(len(self), False)
        self._changes = _Changes(none, none.copy(), Partitions(self._chunks, bits=self._bits, buffer_bytes=_FEW_BYTES))

    def change(self, records: Indices, key_sets: Tags, is_gone: Bools) -> None:
        """Give `records`, counted over the run, other key sets. Records that are left without keys are removed.

        They count as nothing then: they are neither sent nor a duplicate. To be called after `drop_keys`.
        """
        if self._changes is None:
            raise Bug("key sets change for keys that were dropped")
        self._changes.records.set(records, True)
        self._changes.gone.set(records[is_gone], True)
        stays, now = ~is_gone, self._changes.key_sets
        now.add(now.sort(key_sets[stays], records[stays]), 0)

    @guarded
    def tag(self, records: HashedRecords, refusing: Bools | None = None) -> TaggedBatch:
        """The tags of one batch. May be called from any thread. The keys of `refusing` records suppress."""
        batch = records.unwrap()
        tagged = self.tagger.tag(batch)
        slots, rows = None, None
        if self.search is not None:
            rows, slots = TaggedRows(batch.column(ROW).to_numpy(), tagged), slots_of(tagged.tags)
        key_sets = self._key_sets.sort(tagged.of_sets())
        deletes = bools_of(batch.column(IS_DELETE))
        if not tagged.offsets or (not self.mixed and self._suppressed is None):
            return TaggedBatch(deletes, key_sets, slots=slots, rows=rows)
        owners, tags = tagged.owners(), tagged.tags
        suppressed = None
        if self._suppressed is not None:
            held = held_keys(batch, self._memories)
            suppressed = self._suppressed.sort(tags[held if refusing is None else held | refusing[owners]])
        return TaggedBatch(deletes, key_sets, self._keys.sort(tags, owners), suppressed, slots, rows)

    @guarded
    def tag_suppressed(self, records: HashedRecords) -> OrderedTags | None:
        """The tags of the keys of one batch of people who are to be suppressed. May be called from any thread."""
        tags = self.tagger.tag(records.unwrap()).tags
        return self._suppressed.sort(tags) if self._suppressed is not None and len(tags) else None

    def suppress(self, tagged: OrderedTags | None) -> None:
        """Gather what `tag_suppressed` gave back."""
        if self._suppressed is not None and tagged is not None:
            self._suppressed.add(tagged)

    def add(self, tagged: TaggedBatch) -> None:
        """Gather the tags of the next batch, in the order of the source."""
        first = len(self)
        self._key_sets.add(tagged.key_sets, first)
        if tagged.keys:
            self._keys.add(tagged.keys, first)
        if self.search is not None and tagged.slots is not None:
            self.search.add(tagged.slots)
        self.suppress(tagged.suppressed)
        self._deletes.append(tagged.deletes)

    def tagged(self, part: int) -> list[Entries]:
        """Return the tags of the key sets of one part, in the order of their records.

        May be called from any thread.
        """
        pieces = self._key_sets.pieces([part])
        if self._changes is None:
            return pieces
        pieces = [entries.compress(~self._changes.records.at(records_of(entries))) for entries in pieces]
        entries = np.concatenate(pieces + self._changes.key_sets.pieces([part]))
        return [entries.take(np.argsort(entries["record"], kind="stable"))]

    def deletes_of(self, records: Indices) -> Bools:
        """Return for each of `records`, counted over the run, whether it is a Delete."""
        return self._deletes.at(records)

    def find_suppressing(self, tags: Tags) -> Tags:
        """The `tags`, ascending, that suppress the records that have them."""
        return tags[:0] if self._suppressed is None else tags[self._suppressed.holds(tags)]

    def has_values(self, tags: Tags) -> Bools:
        """Return for each of `tags` whether a record has it. For plans with suppression or with mixed verbs only."""
        return self._keys.holds(tags)

    def select(self) -> Selection:
        """One record of each key set is sent; the waves keep conflicts in row order.

        With one verb it is the first, and later ones are duplicates. With both it is the last word: an earlier record
        is a duplicate when every later one of its key set has its verb, superseded when the verb changed after it.
        Suppressed records count as if they were not there: a Delete that one of them would overrule is sent.
        """
        suppressed = self._find_suppressed()
        chosen = Bits.of(len(self), True)
        if self._changes is not None:
            chosen.subtract(self._changes.gone)
        records = chosen.count()
        superseded = Bits.of(len(self) if self.mixed else 0, False)
        # Unsealed by one thread: two would wait for each other's lock longer than the unsealing takes.
        unsealed = map(self._unsealed, self._key_sets.runs())
        for dropped, overruled in in_order(partial(self._decide, suppressed), unsealed, workers=cores()):
            chosen.set(dropped, False)
            superseded.set(overruled, True)
        dropped_count = records - chosen.count()
        suppressed_count = 0 if suppressed is None else suppressed.count()
        if suppressed is not None:
            chosen.subtract(suppressed)
        if not self.mixed:
            return Selection(chosen, self._deletes, duplicates=dropped_count, suppressed=suppressed_count)
        overruled_count = superseded.count()
        conflicts = find_conflicts(self._keys, chosen, superseded, self._deletes)
        chosen.set(conflicts.far_reaching, True)
        return Selection(
            chosen,
            self._deletes,
            conflicts.later,
            duplicates=dropped_count - overruled_count,
            superseded=overruled_count - len(conflicts.far_reaching),
            suppressed=suppressed_count,
        )

    def _find_suppressed(self) -> Bits | None:
        """Flag records to be put in that have a suppressed key; None without any. Deletes are never suppressed."""
        if self._suppressed is None:
            return None
        found = Bits.of(len(self), False)
        for records in in_order(partial(self._suppressed.owners, self._keys), self._keys.parts(), workers=cores()):
            found.set(records[~self._deletes.at(records)], True)
        return found

    def _unsealed(self, parts: range) -> tuple[list[Entries], Entries]:
        """The tags of the key sets of some parts as they were read; those of changed records as they are now."""
        changed = [] if self._changes is None else self._changes.key_sets.pieces(parts)
        return self._key_sets.pieces(parts), np.concatenate([np.zeros(0, dtype=ENTRY), *changed])

    def _decide(self, suppressed: Bits | None, pieces: tuple[list[Entries], Entries]) -> tuple[Indices, Indices]:
        """Return the records of these parts that are not sent, and which of them are superseded."""
        as_read, changed = pieces
        every = [*as_read, changed]
        if suppressed is not None:
            every = [entries.compress(~suppressed.at(entries["record"])) for entries in every]
        entries = repeated(*every)
        if self._changes is not None:
            # Hardly any entry is repeated, and of these hardly any changed: to look at these alone costs least.
            is_now = ~self._changes.records.at(records_of(entries))
            is_now[~is_now] = are_in(entries[~is_now], changed)
            entries = entries[is_now]
        records, last = records_of(entries), last_of_tag(entries)
        if not self.mixed:
            first = np.append(True, last[:-1]) if len(last) else last
            return records[~first], np.zeros(0, dtype=np.int64)
        superseded = _superseded(records, last, self._deletes)
        return records[~last], records[superseded]


def _superseded(records: Indices, last: Bools, deletes: Bits) -> Bools:
    """The records before a change of verb of their key set; `records` are ordered by tag, then as they came."""
    verbs = deletes.at(records)
    changes = np.zeros(len(records), dtype=np.int64)
    changes[:-1] = ~last[:-1] & (verbs[1:] != verbs[:-1])
    so_far = np.cumsum(changes) - changes  # before each
    ends = np.flatnonzero(last)
    of_set = so_far[ends[np.searchsorted(ends, np.arange(len(records)))]]
    superseded: Bools = of_set > so_far
    return superseded


class KeyMemory(Protocol):
    """A store of keys that must not be sent again, as tags under another secret key. Several threads may ask it at
    once."""

    def holds(self, kind: Kind, hashes: Any) -> Bools:
        """Return for each of `hashes` (HASH_TYPE, an Arrow array) whether it is remembered.

        They are SHA-256 of the normalised values, also of the kind that is sent as it is. Called inside guarded
        functions.
        """

    @property
    def note(self) -> str:
        """The note on the keys that it held so far; empty for none."""


def held_keys(records: Any, memories: Sequence[KeyMemory]) -> Bools:
    """Whether one of `memories` holds each key of `records` (RECORD_SCHEMA), kind after kind.

    Holds hashes: to be called from a guarded function only.
    """
    found = [np.zeros(0, dtype=bool)]
    for kind in Kind:
        values = records.column(kind.value).flatten()
        held = np.zeros(len(values), dtype=bool)
        if memories and len(values):
            hashes = values if kind.is_hashed else sha256_of(values)
            for memory in memories:
                held |= memory.holds(kind, hashes)
        found.append(held)
    return np.concatenate(found)


class SuppressedKeys:
    """Tags of the keys that suppress, in `chunks`, partitioned like the keys of the records."""

    def __init__(self, chunks: Chunks, *, bits: int = PARTITION_BITS) -> None:
        self._tags = Partitions(chunks, bits=bits)

    def __repr__(self) -> str:
        return "<SuppressedKeys>"

    def sort(self, tags: Tags) -> OrderedTags:
        """Some tags by part. May be called in any thread."""
        return self._tags.sort(tags, np.full(len(tags), NO_RECORD, dtype=np.int64))

    def add(self, tagged: OrderedTags) -> None:
        """Put them aside."""
        self._tags.add(tagged, 0)

    def holds(self, tags: Tags) -> Bools:
        """Return for each of `tags` whether it suppresses."""
        return self._tags.holds(tags)

    def owners(self, keys: Partitions, part: int) -> Indices:
        """The records that have a suppressed key, of one part of their `keys`. May be called in any thread."""
        suppressing = self._tags.pieces([part])
        if not any(map(len, suppressing)):
            return np.zeros(0, dtype=np.int64)
        # Every tag that both have is among those that occur more than once.
        ordered = repeated(*suppressing, *keys.pieces([part]))
        records, ends = records_of(ordered), last_of_tag(ordered)
        # NO_RECORD comes last of its tag.
        suppressed = (records[ends] == NO_RECORD)[np.cumsum(ends) - ends]
        owners: Indices = records[suppressed & (records != NO_RECORD)]
        return owners
