"""Duplicates, superseded records, conflicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.records.columns.arrays import hash_matrix
from audiencekit.records.record_bits import Bools
from audiencekit.selection.key_sets import KeyMemory, KeySets
from audiencekit.selection.partitions import Chunks
from audiencekit.selection.selection import Selection
from tests.cases import each_case
from tests.examples import examples

Records = Callable[..., HashedRecords]
Store = Callable[[], Chunks]


class Chosen(NamedTuple):
    """A selection, a list of all records."""

    chosen: list[bool]
    waves: list[int]
    duplicates: int
    superseded: int


def _select(records: HashedRecords, chunks: Chunks, *, mixed: bool, bits: int = 2) -> Chosen:
    keysets = KeySets(chunks, mixed=mixed, bits=bits)
    batch = records.unwrap()
    for start in range(0, batch.num_rows, 3):
        keysets.add(keysets.tag(HashedRecords(batch.slice(start, 3))))
    selection = keysets.select()
    waves = np.zeros(batch.num_rows, dtype=int)
    for wave, own in selection.later.items():
        waves[own] = wave
    chosen = selection.chosen.slice(0, batch.num_rows).tolist()
    return Chosen(chosen, waves.tolist(), selection.duplicates, selection.superseded)


def _emails(*texts: str) -> dict[Kind, list[str]]:
    return {Kind.EMAIL: list(texts)}


def test_of_equal_key_sets_the_first_is_sent(hashed_records: Records, memory_chunks: Store) -> None:
    """With one verb the later ones are duplicates."""
    records = hashed_records(*(("Update", _emails(text)) for text in ("a", "b", "a", "c", "b", "a")))
    selection = _select(records, memory_chunks(), mixed=False)
    assert selection.chosen == [True, True, False, True, False, False]
    assert (selection.duplicates, selection.superseded) == (3, 0)


def test_a_subset_is_no_duplicate(hashed_records: Records, memory_chunks: Store) -> None:
    """Key sets are compared whole: a person with one more key is another entry."""
    both = {Kind.EMAIL: ["a"], Kind.PHONE_NUMBER: ["+12015550123"]}
    selection = _select(hashed_records(("Update", both), ("Update", _emails("a"))), memory_chunks(), mixed=False)
    assert selection.chosen == [True, True]


def test_the_same_hash_of_another_kind_is_no_duplicate(hashed_records: Records, memory_chunks: Store) -> None:
    """A handle and an email with one hash are two key sets."""
    records = hashed_records(("Update", _emails("a")), ("Update", {Kind.HANDLE: ["a"]}))
    assert _select(records, memory_chunks(), mixed=False).chosen == [True, True]


@each_case(
    "verbs, chosen, duplicates, superseded",
    [
        ("UD", [1], 0, 1),
        ("DU", [1], 0, 1),
        ("UUD", [2], 0, 2),
        ("UDD", [2], 1, 1),
        ("UDU", [2], 0, 2),
        ("UUU", [2], 2, 0),
    ],
)
def test_the_last_word_on_a_key_set_wins(
    hashed_records: Records, memory_chunks: Store, verbs: str, chosen: list[int], duplicates: int, superseded: int
) -> None:
    """Everything before a change of verb is superseded; repeats of the last verb are duplicates."""
    names = {"U": "Update", "D": "Delete"}
    selection = _select(hashed_records(*((names[verb], _emails("a")) for verb in verbs)), memory_chunks(), mixed=True)
    assert [index for index, is_chosen in enumerate(selection.chosen) if is_chosen] == chosen
    assert (selection.duplicates, selection.superseded) == (duplicates, superseded)


def test_conflicts_follow_each_other_in_waves(hashed_records: Records, memory_chunks: Store) -> None:
    """A Delete that shares any key with an earlier Update waits for it, and the other way round."""
    records = hashed_records(
        ("Update", _emails("a", "b")),
        ("Delete", _emails("b", "c")),
        ("Update", _emails("c", "d")),
        ("Update", _emails("x")),
        ("Delete", _emails("d")),
    )
    assert _select(records, memory_chunks(), mixed=True).waves == [0, 1, 2, 0, 3]


Entry = frozenset[str]


def _apply(operations: list[tuple[str, Entry]]) -> set[Entry]:
    """The service: an Update of a key set adds it, a Delete removes every entry that holds any of its keys."""
    members: set[Entry] = set()
    for verb, keys in operations:
        members = members | {keys} if verb == "Update" else {entry for entry in members if not entry & keys}
    return members


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(["Update", "Delete"]), st.sets(st.sampled_from("abcde"), min_size=1, max_size=3)),
        min_size=1,
        max_size=14,
    ),
    st.randoms(use_true_random=False),
)
def test_any_order_within_a_wave_ends_where_row_order_ends(
    hashed_records: Records, memory_chunks: Store, rows: list[tuple[str, set[str]]], random: object
) -> None:
    """Only what is chosen, wave by wave, shuffled within each: the members are those of sending every row in order."""
    selection = _select(hashed_records(*((verb, _emails(*keys)) for verb, keys in rows)), memory_chunks(), mixed=True)
    sent: list[tuple[str, Entry]] = []
    for wave in sorted(set(selection.waves)):
        of_wave = [
            (verb, frozenset(keys))
            for (verb, keys), chosen, own in zip(rows, selection.chosen, selection.waves, strict=True)
            if chosen and own == wave
        ]
        random.shuffle(of_wave)  # type: ignore[attr-defined]
        sent += of_wave
    assert _apply(sent) == _apply([(verb, frozenset(keys)) for verb, keys in rows])
    assert sum(selection.chosen) + selection.duplicates + selection.superseded == len(rows)


def _simply(rows: list[tuple[str, Entry]], *, mixed: bool) -> Chosen:
    """The rules, told one record after the other with everything in memory."""
    count = len(rows)
    later_verbs = [[verb for verb, keys in rows[index + 1 :] if keys == rows[index][1]] for index in range(count)]
    if not mixed:
        chosen = [all(keys != rows[index][1] for _, keys in rows[:index]) for index in range(count)]
        return Chosen(chosen, [0] * count, chosen.count(False), 0)
    chosen = [not verbs for verbs in later_verbs]
    superseded = [any(verb != rows[index][0] for verb in later_verbs[index]) for index in range(count)]
    live: set[str] = set()
    for index, (verb, keys) in enumerate(rows):
        if verb == "Update":
            live |= keys if chosen[index] else frozenset()
        elif chosen[index] or (superseded[index] and live & keys):
            chosen[index] = True
            live -= keys
    waves = [0] * count
    for index, (verb, keys) in enumerate(rows):
        earlier = [n for n in range(index) if chosen[n] and rows[n][0] != verb and rows[n][1] & keys]
        waves[index] = max((waves[n] + 1 for n in earlier), default=0) if chosen[index] else 0
    overruled = sum(one and not other for one, other in zip(superseded, chosen, strict=True))
    return Chosen(chosen, waves, chosen.count(False) - overruled, overruled)


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(["Update", "Delete"]), st.sets(st.sampled_from("abcdef"), min_size=1, max_size=3)),
        min_size=1,
        max_size=20,
    ),
    st.integers(1, 6),
    st.integers(0, 80),
    st.integers(1, 40),
    st.booleans(),
)
def test_parts_decide_as_the_whole_would(
    hashed_records: Records,
    memory_chunks: Store,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[tuple[str, set[str]]],
    bits: int,
    buffer_bytes: int,
    together: int,
    mixed: bool,
) -> None:
    """However many parts there are and however little of each fits the memory, the answers are those of the rules."""
    monkeypatch.setattr("audiencekit.selection.partitions.BUFFER_BYTES", buffer_bytes)
    monkeypatch.setattr("audiencekit.selection.partitions.TOGETHER", together)
    rows = rows if mixed else [("Update", keys) for _, keys in rows]
    records = hashed_records(*((verb, _emails(*keys)) for verb, keys in rows))
    expected = _simply([(verb, frozenset(keys)) for verb, keys in rows], mixed=mixed)
    assert _select(records, memory_chunks(), mixed=mixed, bits=bits) == expected


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


def _suppression_select(
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
    selection = _suppression_select(rows, memory_chunks(), mixed=False, suppress=[phones, others])
    assert (_kept(selection), selection.suppressed, selection.duplicates) == ([False, True, False, True], 2, 0)


def test_a_person_who_refuses_is_refused_in_every_row(hashed_records: Records, memory_chunks: Store) -> None:
    """A row that says yes does not send a person who says no in another row, before or after."""
    rows = hashed_records(*(("Update", _emails(*keys)) for keys in ("a", "ab", "c", "a", "bd")))
    selection = _suppression_select(rows, memory_chunks(), mixed=False, refusing=[False, False, False, True, False])
    assert (_kept(selection), selection.suppressed) == ([False, False, True, False, True], 3)


def test_deletes_are_never_suppressed(hashed_records: Records, memory_chunks: Store) -> None:
    """And a suppressed Update after one does not overrule it."""
    rows = hashed_records(("Delete", _emails("a")), ("Update", _emails("a")), ("Delete", _emails("b")))
    selection = _suppression_select(
        rows, memory_chunks(), mixed=True, suppress=[hashed_records(("Update", _emails("a", "b")))]
    )
    assert (_kept(selection), selection.suppressed, selection.superseded) == ([True, False, True], 1, 0)


def test_nothing_suppresses_nothing(hashed_records: Records, memory_chunks: Store) -> None:
    """Without sources, memories and refusals a selection is what it was."""
    rows = hashed_records(*(("Update", _emails(key)) for key in "aba"))
    selection = _suppression_select(rows, memory_chunks(), mixed=False)
    assert (_kept(selection), selection.suppressed, selection.duplicates) == ([True, True, False], 0, 1)


def test_a_batch_without_records_suppresses_no_record(hashed_records: Records, memory_chunks: Store) -> None:
    """As the last batch of a source may be."""
    rows = hashed_records(("Update", _emails("a")))
    assert _kept(_suppression_select(rows, memory_chunks(), mixed=False, suppress=[hashed_records()])) == [True]


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    found = _suppression_select(
        records(rows), memory_chunks(), mixed=mixed, suppress=suppress, memories=memories, bits=bits
    )
    plain = _suppression_select(records(left), memory_chunks(), mixed=mixed, bits=bits) if left else None
    kept = [is_kept for is_kept, is_gone in zip(_kept(found), gone, strict=True) if not is_gone]
    assert not any(is_kept and is_gone for is_kept, is_gone in zip(_kept(found), gone, strict=True))
    assert kept == (_kept(plain) if plain else [])
    assert found.suppressed == sum(gone)
    assert sum(_kept(found)) + found.duplicates + found.superseded + found.suppressed == len(rows)
