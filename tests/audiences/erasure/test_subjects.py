"""The people that an erasure is asked for."""

from __future__ import annotations

import pytest

from audiencekit.audiences.erasure import subjects as room
from audiencekit.audiences.erasure.subjects import Asked
from audiencekit.errors import PlanRefused
from audiencekit.identifiers.kinds import Kind


def test_the_same_form_counts_once() -> None:
    """Two ways to write one identifier are two identifiers asked for, and one key."""
    asked = Asked()
    asked.add(Kind.EMAIL, frozenset({"a" * 64}))
    asked.add(Kind.EMAIL, frozenset({"a" * 64}))
    asked.add(Kind.HANDLE, frozenset({"a" * 64}))
    assert asked.keys.unwrap() == {(Kind.EMAIL, "a" * 64), (Kind.HANDLE, "a" * 64)}
    assert asked.identifiers == {"email": 2, "handle": 1}


def test_more_than_memory_should_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is sent."""
    monkeypatch.setattr(room, "MAX_ERASURE_KEYS", 2)
    asked = Asked()
    asked.add(Kind.EMAIL, frozenset({"a", "b"}))
    with pytest.raises(PlanRefused, match="nothing was sent"):
        asked.add(Kind.EMAIL, frozenset({"c"}))


def test_keys_are_not_shown() -> None:
    """Not in a repr."""
    asked = Asked()
    asked.add(Kind.PARTNER_USER_ID, frozenset({"crm-canary"}))
    assert "canary" not in repr(asked) + repr(asked.keys)
