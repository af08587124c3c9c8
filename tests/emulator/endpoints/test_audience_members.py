"""Entries, found by key set and by key."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, strategies as st

from audiencekit.emulator.endpoints.audience_members import (
    EMAIL,
    FIELDS,
    HANDLE,
    PARTNER_USER_ID,
    Entries,
    Membership,
    Span,
    are_hashes,
    is_one_hash,
    make_key,
    make_key_set,
    name_tags,
    show_key_set,
    split_key_set,
)
from tests.cases import each_case

# --- Entries, found by key set and by key ---

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


# --- Keys and key sets ---

HASHES = st.binary(min_size=32, max_size=32).map(bytes.hex)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
PAIRS = st.lists(
    st.tuples(st.sampled_from([tag for tag in FIELDS["spec"].values() if tag != PARTNER_USER_ID]), HASHES)
    | st.tuples(st.just(PARTNER_USER_ID), TEXTS),
    min_size=1,
    max_size=8,
)


@given(PAIRS)
def test_a_key_set_comes_apart_into_its_keys(pairs: list[tuple[bytes, str]]) -> None:
    """Whatever the texts are, keys stay apart."""
    keys = {make_key(tag, text) for tag, text in pairs}
    assert len(keys) == len(set(pairs))
    assert set(split_key_set(make_key_set(keys))) == keys


@given(PAIRS, st.randoms())
def test_order_and_repetition_do_not_matter(pairs: list[tuple[bytes, str]], chance: object) -> None:
    """A set is a set."""
    keys = [make_key(tag, text) for tag, text in pairs]
    assert make_key_set(keys) == make_key_set([*reversed(keys), *keys])


@given(PAIRS)
def test_one_hash_is_told_from_the_rest(pairs: list[tuple[bytes, str]]) -> None:
    """A single hashed key, and nothing else."""
    distinct = set(pairs)
    alone = len(distinct) == 1 and next(iter(distinct))[0] != PARTNER_USER_ID
    assert is_one_hash(make_key_set(make_key(tag, text) for tag, text in pairs)) == alone


@each_case("profile, name, other", [("spec", "platform_id", "twitter_id"), ("x", "twitter_id", "platform_id")])
def test_profiles_name_one_field_differently(profile: str, name: str, other: str) -> None:
    """`platform_id` is `twitter_id` at the public service."""
    assert name in FIELDS[profile]
    assert other not in FIELDS[profile]
    key_set = make_key_set([make_key(FIELDS[profile][name], "AB" * 32), make_key(PARTNER_USER_ID, "p")])
    assert show_key_set(key_set, name_tags(profile)) == {"partner_user_id": ["p"], name: ["ab" * 32]}


@given(st.lists(PAIRS, min_size=1, max_size=4))
def test_many_key_sets_are_told_together_as_they_are_one_by_one(people: list[list[tuple[bytes, str]]]) -> None:
    """All of them one hash each, or not."""
    key_sets = [make_key_set(make_key(tag, text) for tag, text in pairs) for pairs in people]
    assert are_hashes(key_sets) is all(map(is_one_hash, key_sets))


# --- The people on a list, and from when, against a model that re-reads its whole history ---

MEMBER_KEYS = [make_key(EMAIL, f"{number:064x}") for number in range(4)]
FOREVER = 1e9


@dataclass
class Step:
    """An operation, and how long after the one before it came."""

    verb: str
    keys: frozenset[bytes]
    wait: int
    delay: int
    life: int


MEMBER_STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(["update", "delete"]),
        st.frozensets(st.sampled_from(MEMBER_KEYS), min_size=1, max_size=3),
        st.integers(0, 3),
        st.sampled_from([-5, 0, 0, 0, 1, 2, 5]),
        st.integers(1, 8),
    ),
    max_size=14,
)


def _model(history: list[tuple[float, Step]], now: float) -> dict[frozenset[bytes], float]:
    """Return the people on the list by the whole history: in order of effect, without operations called off."""
    pending: list[tuple[float, int, Step, set[frozenset[bytes]]]] = []
    for number, (arrival, step) in enumerate(history):
        effective_at = max(arrival, arrival + step.delay)
        if step.verb == "delete":
            for moment, _, earlier, held in pending:
                if moment > arrival and moment >= effective_at and earlier.verb == "update":
                    held -= {keys for keys in held if keys & step.keys}
        pending.append((effective_at, number, step, {step.keys}))
    members: dict[frozenset[bytes], float] = {}
    for moment, number, step, held in sorted(pending, key=lambda entry: entry[:2]):
        arrival = history[number][0]
        if moment > now:
            continue
        if step.verb == "update":
            members.update(dict.fromkeys(held, arrival + step.delay + step.life + 5))
        else:
            members = {keys: end for keys, end in members.items() if not keys & step.keys}
    return {keys: end for keys, end in members.items() if end > now}


@given(MEMBER_STEPS, st.integers(0, 12))
def test_members_are_those_of_the_model(steps: list[Step], later: int) -> None:
    """Updates and Deletes, at once and announced, expiring or not: the same people at every moment."""
    membership, now = Membership(), 100.0
    history: list[tuple[float, Step]] = []
    for step in steps:
        now += step.wait
        history.append((now, step))
        span = Span(now + step.delay, now + step.delay + step.life + 5)
        apply = membership.update if step.verb == "update" else membership.delete
        apply([make_key_set(step.keys)], span, now)
        _compare(membership, history, now)
    _compare(membership, history, now + later)


def _compare(membership: Membership, history: list[tuple[float, Step]], now: float) -> None:
    found = {key_set: span.expires_at for key_set, span in membership.members(now)}
    assert found == {make_key_set(keys): end for keys, end in _model(history, now).items()}


def _people(membership: Membership, now: float) -> list[bytes]:
    return [key_set for key_set, _ in membership.members(now)]


def test_an_entry_is_there_from_effective_to_expiry() -> None:
    """At `effective_at` it is, at `expires_at` it is no more."""
    membership = Membership()
    membership.update([MEMBER_KEYS[0]], Span(110.0, 120.0), 100.0)
    assert [bool(_people(membership, now)) for now in (109.9, 110.0, 119.9, 120.0)] == [False, True, True, False]


def test_a_renewal_sets_the_expiry() -> None:
    """The same key set again has the later expiry, or the earlier one: the last word counts."""
    membership = Membership()
    for expires_at in (200.0, 150.0):
        membership.update([MEMBER_KEYS[0]], Span(100.0, expires_at), 100.0)
    assert [span.expires_at for _, span in membership.members(100.0)] == [150.0]


def test_a_delete_matches_on_any_key() -> None:
    """Two people who share a phone: deleting one by e-mail and phone removes both."""
    membership = Membership()
    one, two = make_key_set(MEMBER_KEYS[:2]), make_key_set(MEMBER_KEYS[1:3])
    membership.update([one, two, MEMBER_KEYS[3]], Span(0.0, FOREVER), 100.0)
    membership.delete([one], Span(0.0, FOREVER), 100.0)
    assert _people(membership, 100.0) == [MEMBER_KEYS[3]]


def test_an_announced_renewal_leaves_the_entry_until_then() -> None:
    """A person on the list stays on it while an Update of hers waits."""
    membership = Membership()
    membership.update([MEMBER_KEYS[0]], Span(100.0, 130.0), 100.0)
    membership.update([MEMBER_KEYS[0]], Span(120.0, 200.0), 100.0)
    assert [span.expires_at for _, span in membership.members(119.0)] == [130.0]
    assert [span.expires_at for _, span in membership.members(120.0)] == [200.0]


def test_a_delete_calls_off_what_was_announced() -> None:
    """An Update that waits does not bring back who was deleted meanwhile; one that arrives later does."""
    membership = Membership()
    membership.update([MEMBER_KEYS[0]], Span(120.0, FOREVER), 100.0)
    membership.delete([MEMBER_KEYS[0]], Span(101.0, FOREVER), 101.0)
    assert _people(membership, 130.0) == []
    membership.update([MEMBER_KEYS[0]], Span(120.0, FOREVER), 130.0)
    assert _people(membership, 130.0) == [MEMBER_KEYS[0]]


def test_an_announced_delete_waits() -> None:
    """It removes who is on the list then, those who came since included."""
    membership = Membership()
    membership.delete([MEMBER_KEYS[0]], Span(120.0, FOREVER), 100.0)
    membership.update([MEMBER_KEYS[0]], Span(105.0, FOREVER), 105.0)
    assert _people(membership, 119.0) == [MEMBER_KEYS[0]]
    assert _people(membership, 120.0) == []
