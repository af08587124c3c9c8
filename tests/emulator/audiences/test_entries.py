"""Entries, found by key set and by key."""

from __future__ import annotations

from hypothesis import given, strategies as st

from audiencekit.emulator.audiences.entries import Entries, Span
from audiencekit.emulator.audiences.fields import EMAIL, HANDLE, PARTNER_USER_ID, make_key, make_key_set

KEYS = [
    *(make_key(tag, f"{number:064x}") for tag in (EMAIL, HANDLE) for number in range(3)),
    # As long as the key of a hash.
    make_key(PARTNER_USER_ID, "p" * 28),
    make_key(PARTNER_USER_ID, "q"),
]
KEY_SETS = st.sets(st.sampled_from(KEYS), min_size=1, max_size=4)
STEPS = st.lists(
    st.tuples(st.just("put"), st.lists(KEY_SETS, min_size=1, max_size=3))
    | st.tuples(st.just("remove"), st.lists(KEY_SETS, max_size=2)),
    max_size=30,
)


@given(STEPS)
def test_entries_behave_like_a_plain_dictionary(steps: list[tuple[str, list[set[bytes]]]]) -> None:
    """Putting renews equal key sets; removing takes every entry that holds any of the keys. Nothing is left behind."""
    entries = Entries()
    model: dict[frozenset[bytes], Span] = {}
    for number, (verb, key_sets) in enumerate(steps):
        span = Span(float(number), float(number + 1))
        if verb == "put":
            entries.put([make_key_set(keys) for keys in key_sets], span)
            model.update({frozenset(keys): span for keys in key_sets})
        else:
            keys = set().union(*key_sets)
            entries.remove(keys)
            model = {held: old for held, old in model.items() if not held & keys}
        assert dict(entries) == {make_key_set(held): old for held, old in model.items()}
    entries.remove(KEYS)
    assert len(entries) == 0
    assert not entries._holders


def test_one_batch_may_repeat_a_key_set() -> None:
    """The same person twice in one operation is one entry."""
    entries = Entries()
    key_set = make_key_set(KEYS[:2])
    entries.put([key_set, key_set], Span(0.0, 1.0))
    assert len(entries) == 1
    entries.remove(KEYS[:1])
    assert len(entries) == 0


def test_entries_of_another_list_are_taken_over() -> None:
    """Waiting entries take effect, and any key removes them."""
    here, there = Entries(), Entries()
    here.put([make_key_set(KEYS[:1])], Span(0.0, 1.0))
    there.put([make_key_set(KEYS[:1]), make_key_set(KEYS[1:3])], Span(5.0, 6.0))
    here.take_over(there)
    assert dict(here) == {make_key_set(KEYS[:1]): Span(5.0, 6.0), make_key_set(KEYS[1:3]): Span(5.0, 6.0)}
    here.remove([KEYS[2]])
    assert list(dict(here)) == [make_key_set(KEYS[:1])]
