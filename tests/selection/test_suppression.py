"""The people that a run must not put in, found by the tags of single keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.preparation.columnar.buffers import hash_matrix
from audiencekit.preparation.recordbits import Bools
from audiencekit.selection.keysets import KeySets
from audiencekit.selection.partitions import Chunks
from audiencekit.selection.selection import Selection
from audiencekit.selection.suppression import KeyMemory
from tests.examples import examples

Records = Callable[..., HashedRecords]
Store = Callable[[], Chunks]
Row = tuple[str, set[str]]

ROWS = st.lists(
    st.tuples(st.sampled_from(["Update", "Delete"]), st.sets(st.sampled_from("abcdef"), min_size=1, max_size=3)),
    min_size=1,
    max_size=20,
)
KEYS = st.sets(st.sampled_from("abcdefgh"), max_size=3)


class Memory:
    """Remembers keys by their hashes."""

    def __init__(self, records: HashedRecords) -> None:
        batch = records.unwrap()
        self._held = {(kind, bytes(row)) for kind in Kind for row in _hashes(batch.column(kind.value).flatten())}

    def holds(self, kind: Kind, hashes: Any) -> Bools:
        return np.array([(kind, bytes(row)) in self._held for row in hash_matrix(hashes)], dtype=bool)


def _hashes(values: Any) -> Any:
    return hash_matrix(values) if len(values) else ()


def _emails(*texts: str) -> dict[Kind, list[str]]:
    return {Kind.EMAIL: list(texts)}


def _select(
    rows: HashedRecords,
    chunks: Chunks,
    *,
    mixed: bool,
    suppress: Sequence[HashedRecords] = (),
    memories: Sequence[KeyMemory] = (),
    refusing: Sequence[bool] | None = None,
    bits: int = 2,
) -> Selection:
    keysets = KeySets(chunks, mixed=mixed, suppressing=True, memories=memories, bits=bits)
    for records in suppress:
        keysets.suppress(keysets.tag_suppressed(records))
    batch = rows.unwrap()
    for start in range(0, batch.num_rows, 3):
        own = None if refusing is None else np.array(refusing[start : start + 3])
        keysets.add(keysets.tag(HashedRecords(batch.slice(start, 3)), own))
    return keysets.select()


def _kept(selection: Selection) -> list[bool]:
    kept: list[bool] = selection.chosen.slice(0, len(selection.chosen)).tolist()
    return kept


def test_any_shared_key_suppresses(hashed_records: Records, memory_chunks: Store) -> None:
    """Of whichever kind; the same word of another kind is another key."""
    both = {Kind.EMAIL: ["a"], Kind.PHONE_NUMBER: ["p"]}
    rows = hashed_records(
        ("Update", both), ("Update", _emails("p")), ("Update", {Kind.PARTNER_USER_ID: ["x"]}), ("Update", _emails("b"))
    )
    phones = hashed_records(("Update", {Kind.PHONE_NUMBER: ["p"]}))
    others = hashed_records(("Update", {Kind.PARTNER_USER_ID: ["x", "y"]}))
    selection = _select(rows, memory_chunks(), mixed=False, suppress=[phones, others])
    assert (_kept(selection), selection.suppressed, selection.duplicates) == ([False, True, False, True], 2, 0)


def test_a_person_who_refuses_is_refused_in_every_row(hashed_records: Records, memory_chunks: Store) -> None:
    """A row that says yes does not send a person who says no in another row, before or after."""
    rows = hashed_records(*(("Update", _emails(*keys)) for keys in ("a", "ab", "c", "a", "bd")))
    selection = _select(rows, memory_chunks(), mixed=False, refusing=[False, False, False, True, False])
    assert (_kept(selection), selection.suppressed) == ([False, False, True, False, True], 3)


def test_deletes_are_never_suppressed(hashed_records: Records, memory_chunks: Store) -> None:
    """And a suppressed Update after one does not overrule it."""
    rows = hashed_records(("Delete", _emails("a")), ("Update", _emails("a")), ("Delete", _emails("b")))
    selection = _select(rows, memory_chunks(), mixed=True, suppress=[hashed_records(("Update", _emails("a", "b")))])
    assert (_kept(selection), selection.suppressed, selection.superseded) == ([True, False, True], 1, 0)


def test_nothing_suppresses_nothing(hashed_records: Records, memory_chunks: Store) -> None:
    """Without sources, memories and refusals a selection is what it was."""
    rows = hashed_records(*(("Update", _emails(key)) for key in "aba"))
    selection = _select(rows, memory_chunks(), mixed=False)
    assert (_kept(selection), selection.suppressed, selection.duplicates) == ([True, True, False], 0, 1)


def test_a_batch_without_records_suppresses_no_record(hashed_records: Records, memory_chunks: Store) -> None:
    """As the last batch of a source may be."""
    rows = hashed_records(("Update", _emails("a")))
    assert _kept(_select(rows, memory_chunks(), mixed=False, suppress=[hashed_records()])) == [True]


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, KEYS, KEYS, st.integers(1, 6), st.integers(0, 80), st.integers(1, 40), st.booleans())
def test_a_selection_is_that_of_the_others_alone(
    hashed_records: Records,
    memory_chunks: Store,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[Row],
    listed: set[str],
    remembered: set[str],
    bits: int,
    buffer_bytes: int,
    together: int,
    mixed: bool,
) -> None:
    """As if the suppressed Updates had never stood there, whatever the parts and however little fits the memory."""
    monkeypatch.setattr("audiencekit.selection.partitions.BUFFER_BYTES", buffer_bytes)
    monkeypatch.setattr("audiencekit.selection.partitions.TOGETHER", together)
    rows = rows if mixed else [("Update", keys) for _, keys in rows]
    gone = [verb == "Update" and bool(keys & (listed | remembered)) for verb, keys in rows]
    left = [row for row, is_gone in zip(rows, gone, strict=True) if not is_gone]

    def records(chosen: list[Row]) -> HashedRecords:
        return hashed_records(*((verb, _emails(*keys)) for verb, keys in chosen))

    suppress = [hashed_records(("Update", _emails(*listed)))] if listed else []
    memories = [Memory(hashed_records(("Update", _emails(*remembered))))] if remembered else []
    found = _select(records(rows), memory_chunks(), mixed=mixed, suppress=suppress, memories=memories, bits=bits)
    plain = _select(records(left), memory_chunks(), mixed=mixed, bits=bits) if left else None
    kept = [is_kept for is_kept, is_gone in zip(_kept(found), gone, strict=True) if not is_gone]
    assert not any(is_kept and is_gone for is_kept, is_gone in zip(_kept(found), gone, strict=True))
    assert kept == (_kept(plain) if plain else [])
    assert found.suppressed == sum(gone)
    assert sum(_kept(found)) + found.duplicates + found.superseded + found.suppressed == len(rows)
