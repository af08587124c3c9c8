"""Duplicates, superseded records, conflicts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.preparation.keysets import KeySets, Selection, TaggedBatch
from audiencekit.preparation.tags import TAG

Records = Callable[..., HashedRecords]


def _select(records: HashedRecords, *, mixed: bool) -> Selection:
    keysets = KeySets(mixed=mixed)
    batch = records.unwrap()
    for start in range(0, batch.num_rows, 3):
        part = batch.slice(start, 3)
        deletes = np.array([verb == "Delete" for verb in part.column("operation").to_pylist()])
        keysets.add(keysets.tag(HashedRecords(part), deletes))
    return keysets.select()


def _emails(*texts: str) -> dict[Kind, list[str]]:
    return {Kind.EMAIL: list(texts)}


def test_of_equal_key_sets_the_first_is_sent(hashed_records: Records) -> None:
    """With one verb the later ones are duplicates."""
    records = hashed_records(*(("Update", _emails(text)) for text in ("a", "b", "a", "c", "b", "a")))
    selection = _select(records, mixed=False)
    assert selection.kept.tolist() == [True, True, False, True, False, False]
    assert (selection.duplicates, selection.superseded) == (3, 0)


def test_a_subset_is_no_duplicate(hashed_records: Records) -> None:
    """Key sets are compared whole: a person with one more key is another entry."""
    both = {Kind.EMAIL: ["a"], Kind.PHONE_NUMBER: ["+12015550123"]}
    selection = _select(hashed_records(("Update", both), ("Update", _emails("a"))), mixed=False)
    assert selection.kept.all()


def test_the_same_hash_of_another_kind_is_no_duplicate(hashed_records: Records) -> None:
    """A handle and an email with one hash are two key sets."""
    records = hashed_records(("Update", _emails("a")), ("Update", {Kind.HANDLE: ["a"]}))
    assert _select(records, mixed=False).kept.all()


@pytest.mark.parametrize(
    ("verbs", "kept", "duplicates", "superseded"),
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
    hashed_records: Records, verbs: str, kept: list[int], duplicates: int, superseded: int
) -> None:
    """Everything before a change of verb is superseded; repeats of the last verb are duplicates."""
    names = {"U": "Update", "D": "Delete"}
    selection = _select(hashed_records(*((names[verb], _emails("a")) for verb in verbs)), mixed=True)
    assert [index for index, is_kept in enumerate(selection.kept) if is_kept] == kept
    assert (selection.duplicates, selection.superseded) == (duplicates, superseded)


def test_conflicts_follow_each_other_in_waves(hashed_records: Records) -> None:
    """A Delete that shares any key with an earlier Update waits for it, and the other way round."""
    records = hashed_records(
        ("Update", _emails("a", "b")),
        ("Delete", _emails("b", "c")),
        ("Update", _emails("c", "d")),
        ("Update", _emails("x")),
        ("Delete", _emails("d")),
    )
    assert _select(records, mixed=True).waves.tolist() == [0, 1, 2, 0, 3]


def test_half_a_tag_in_common_is_no_duplicate() -> None:
    """All 128 bits decide, whatever the order they come in."""
    tags = np.zeros(6, dtype=TAG)
    tags["high"] = [7, 7, 7, 7, 3, 3]
    tags["low"] = [2, 1, 2, 1, 9, 8]
    keysets = KeySets(mixed=False)
    keysets.add(TaggedBatch(tags, np.zeros(6, dtype=bool), []))
    assert keysets.select().kept.tolist() == [True, True, False, False, True, True]


Entry = frozenset[str]


def _apply(operations: list[tuple[str, Entry]]) -> set[Entry]:
    """The service: an Update of a key set adds it, a Delete removes every entry that holds any of its keys."""
    members: set[Entry] = set()
    for verb, keys in operations:
        members = members | {keys} if verb == "Update" else {entry for entry in members if not entry & keys}
    return members


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(["Update", "Delete"]), st.sets(st.sampled_from("abcde"), min_size=1, max_size=3)),
        min_size=1,
        max_size=14,
    ),
    st.randoms(use_true_random=False),
)
def test_any_order_within_a_wave_ends_where_row_order_ends(
    hashed_records: Records, rows: list[tuple[str, set[str]]], random: object
) -> None:
    """Only what is kept, wave by wave, shuffled within each: the members are those of sending every row in order."""
    selection = _select(hashed_records(*((verb, _emails(*keys)) for verb, keys in rows)), mixed=True)
    sent: list[tuple[str, Entry]] = []
    for wave in sorted(set(selection.waves[selection.kept].tolist())):
        of_wave = [
            (verb, frozenset(keys))
            for (verb, keys), kept, own in zip(rows, selection.kept, selection.waves, strict=True)
            if kept and own == wave
        ]
        random.shuffle(of_wave)  # type: ignore[attr-defined]
        sent += of_wave
    assert _apply(sent) == _apply([(verb, frozenset(keys)) for verb, keys in rows])
    assert selection.kept.sum() + selection.duplicates + selection.superseded == len(rows)
