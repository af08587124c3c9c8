"""`audiencekit.destinations.target`."""

from __future__ import annotations

from typing import Any

import pytest

from audiencekit.destinations.target import Target
from audiencekit.emulator.faults.lists import HOSTILE_IDS
from audiencekit.errors import UsageError
from audiencekit.identifiers.kinds import Kind

AUDIENCE, LIST = Target.audience("1a2b"), Target.do_not_reach_list("1a2b")


def test_people_and_programs_call_them_differently() -> None:
    """Words in messages, codes in documents."""
    assert (str(AUDIENCE), str(LIST)) == ("audience 1a2b", "do-not-reach list 1a2b")
    assert LIST.to_json() == {"kind": "do_not_reach_list", "id": "1a2b"}
    assert (AUDIENCE.audience_id, LIST.audience_id) == ("1a2b", None)


@pytest.mark.parametrize("target", [AUDIENCE, LIST])
def test_a_document_gives_the_target_back(target: Target) -> None:
    """A resumed run has the target of its journal."""
    assert Target.from_json(target.to_json()) == target


@pytest.mark.parametrize("given", HOSTILE_IDS)
def test_what_is_no_id_is_no_target(given: Any) -> None:
    """It would become the name of a lock; in a journal it is damage."""
    with pytest.raises(UsageError):
        Target(AUDIENCE.destination, given)
    with pytest.raises(ValueError, match="not an id"):
        Target.from_json({"kind": "audience", "id": given})


@pytest.mark.parametrize("document", [{}, {"kind": "audience"}, {"kind": "other", "id": "1"}, None])
def test_what_is_no_target_is_refused(document: Any) -> None:
    """With the errors that a journal takes for damage."""
    with pytest.raises((KeyError, ValueError, TypeError)):
        Target.from_json(document)


def test_an_audience_and_a_list_never_share_a_lock() -> None:
    """Even when their ids are the same."""
    assert AUDIENCE.lock_name != LIST.lock_name


def test_a_list_takes_emails_and_phone_numbers_only() -> None:
    """Specification part 2, section 4.6."""
    assert LIST.destination.kinds == {Kind.EMAIL, Kind.PHONE_NUMBER}
    assert AUDIENCE.destination.kinds == set(Kind)


def test_an_audience_and_a_list_share_one_pace() -> None:
    """The service counts their requests together (specification part 2, section 8)."""
    assert AUDIENCE.destination.quota == LIST.destination.quota
