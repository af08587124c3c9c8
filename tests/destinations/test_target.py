"""`audiencekit.destinations.target`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audiencekit.destinations.target import Target
from audiencekit.emulator.faults.replies import HOSTILE_IDS
from audiencekit.errors import UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.pipeline import check
from audiencekit.settings import load_settings
from tests.cases import each_case

AUDIENCE, LIST = Target.audience("1a2b"), Target.do_not_reach_list("1a2b")


def test_people_and_programs_call_them_differently() -> None:
    """Words in messages, codes in documents."""
    assert (str(AUDIENCE), str(LIST)) == ("audience 1a2b", "do-not-reach list 1a2b")
    assert LIST.to_json() == {"kind": "do_not_reach_list", "id": "1a2b"}
    assert (AUDIENCE.audience_id, LIST.audience_id) == ("1a2b", None)


@each_case("target", [AUDIENCE, LIST])
def test_a_document_gives_the_target_back(target: Target) -> None:
    """A resumed run has the target of its journal."""
    assert Target.from_json(target.to_json()) == target


@each_case("given", HOSTILE_IDS)
def test_an_invalid_id_is_no_target(given: Any) -> None:
    """It would become the name of a lock; in a journal it is damage."""
    with pytest.raises(UsageError):
        Target(AUDIENCE.destination, given)
    with pytest.raises(ValueError, match="not an id"):
        Target.from_json({"kind": "audience", "id": given})


NO_TARGETS = [{}, {"kind": "audience"}, *({"kind": kind, "id": "1"} for kind in (7, [], "", "Other", "a\n")), None]


@each_case("document", NO_TARGETS)
def test_an_invalid_target_is_refused(document: Any) -> None:
    """With the errors that a journal takes for damage."""
    with pytest.raises((KeyError, ValueError, TypeError)):
        Target.from_json(document)


def test_a_destination_that_is_not_installed_is_known_by_its_name(tmp_path: Path) -> None:
    """It stays in the document, and nothing can be planned or sent."""
    document = {"kind": "mail_boxes2", "id": "1"}
    target = Target.from_json(document)
    assert (target.to_json(), str(target), target.is_known) == (document, "mail_boxes2 1", False)
    assert target.lock_name not in {AUDIENCE.lock_name, Target.do_not_reach_list("1").lock_name}
    with pytest.raises(UsageError, match="this installation has no destination `mail_boxes2`"):
        target.connect(load_settings({}))
    with pytest.raises(UsageError, match="mail_boxes2"):
        check(tmp_path / "list.csv", destination=target.destination)
    assert AUDIENCE.is_known
    assert LIST.is_known


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
