"""The people on a list, and from when, against a model that re-reads its whole history."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, strategies as st

from audiencekit.emulator.audiences.entries import Span
from audiencekit.emulator.audiences.fields import EMAIL, make_key, make_key_set
from audiencekit.emulator.audiences.membership import Membership

KEYS = [make_key(EMAIL, f"{number:064x}") for number in range(4)]
FOREVER = 1e9


@dataclass
class Step:
    """An operation, and how long after the one before it came."""

    verb: str
    keys: frozenset[bytes]
    wait: int
    delay: int
    life: int


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(["update", "delete"]),
        st.frozensets(st.sampled_from(KEYS), min_size=1, max_size=3),
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


@given(STEPS, st.integers(0, 12))
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
    membership.update([KEYS[0]], Span(110.0, 120.0), 100.0)
    assert [bool(_people(membership, now)) for now in (109.9, 110.0, 119.9, 120.0)] == [False, True, True, False]


def test_a_renewal_sets_the_expiry() -> None:
    """The same key set again has the later expiry, or the earlier one: the last word counts."""
    membership = Membership()
    for expires_at in (200.0, 150.0):
        membership.update([KEYS[0]], Span(100.0, expires_at), 100.0)
    assert [span.expires_at for _, span in membership.members(100.0)] == [150.0]


def test_a_delete_matches_on_any_key() -> None:
    """Two people who share a phone: deleting one by e-mail and phone removes both."""
    membership = Membership()
    one, two = make_key_set(KEYS[:2]), make_key_set(KEYS[1:3])
    membership.update([one, two, KEYS[3]], Span(0.0, FOREVER), 100.0)
    membership.delete([one], Span(0.0, FOREVER), 100.0)
    assert _people(membership, 100.0) == [KEYS[3]]


def test_an_announced_renewal_leaves_the_entry_until_then() -> None:
    """A person on the list stays on it while an Update of hers waits."""
    membership = Membership()
    membership.update([KEYS[0]], Span(100.0, 130.0), 100.0)
    membership.update([KEYS[0]], Span(120.0, 200.0), 100.0)
    assert [span.expires_at for _, span in membership.members(119.0)] == [130.0]
    assert [span.expires_at for _, span in membership.members(120.0)] == [200.0]


def test_a_delete_calls_off_what_was_announced() -> None:
    """An Update that waits does not bring back who was deleted meanwhile; one that arrives later does."""
    membership = Membership()
    membership.update([KEYS[0]], Span(120.0, FOREVER), 100.0)
    membership.delete([KEYS[0]], Span(101.0, FOREVER), 101.0)
    assert _people(membership, 130.0) == []
    membership.update([KEYS[0]], Span(120.0, FOREVER), 130.0)
    assert _people(membership, 130.0) == [KEYS[0]]


def test_an_announced_delete_waits() -> None:
    """It removes who is on the list then, those who came since included."""
    membership = Membership()
    membership.delete([KEYS[0]], Span(120.0, FOREVER), 100.0)
    membership.update([KEYS[0]], Span(105.0, FOREVER), 105.0)
    assert _people(membership, 119.0) == [KEYS[0]]
    assert _people(membership, 120.0) == []
