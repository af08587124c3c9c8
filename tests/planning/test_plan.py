"""`audiencekit.planning.plan`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audiencekit.destinations.ads import AUDIENCE
from audiencekit.destinations.requests.request_plan import PlannedRequest
from audiencekit.limits import FEW_PEOPLE
from audiencekit.packed_request import PackedRequest
from audiencekit.pipeline import check
from audiencekit.planning.options import Options, read_keywords
from audiencekit.planning.plan import (
    PlannedRequests,
    expired,
    ignored_operation,
    no_records_left,
    refuse_few,
    to_manifest,
    to_plan,
)
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.planning.planner import plan_run
from audiencekit.planning.reading import ReadSource
from audiencekit.profile import find_profile
from audiencekit.records.batches import ColumnMapping
from audiencekit.records.plan_times import PlanTimes
from audiencekit.records.record_bits import Bits
from audiencekit.reporting.report import Plan
from audiencekit.selection.selection import Selection
from audiencekit.settings import load_settings
from audiencekit.sources.manifest import NamedPart
from tests.cases import each_case
from tests.planning.withheld import write

WITHOUT_COUNTRY = [f"p{number}@example.com,0301234{number:04}" for number in range(200)]


def _planned(tmp_path: Path, rows: list[str], **keywords: Any) -> tuple[Plan, dict[str, Any]]:
    source, profile = write(tmp_path / "list.csv", "email,phone", *rows), find_profile("spec")
    with ExitStack() as stack:
        terms = PlanTerms.pinned(read_keywords(keywords, profile), profile, now=datetime.now(UTC))  # type: ignore[arg-type]
        planned = plan_run(source, terms, PlanResources(stack=stack))
        plan = to_plan(planned)
        return plan, to_manifest(planned, plan, NamedPart("records.parquet", 4, "00"))


@pytest.mark.parametrize(
    ("rows", "keywords", "verdict"),
    [
        (["ada@example.com,", "bob@example.com,"], {}, "ready"),
        (WITHOUT_COUNTRY, {}, "ready_with_warnings"),
        (WITHOUT_COUNTRY, {"fail_on_warnings": True}, "refused"),
        (["ada@example.com,no"], {"consent_column": "phone=yes", "allow_empty": True}, "empty"),
    ],
)
def test_the_verdict_follows_from_refusals_requests_and_warnings(
    tmp_path: Path, rows: list[str], keywords: dict[str, Any], verdict: str
) -> None:
    """In this order."""
    plan, _ = _planned(tmp_path, rows, **keywords)
    assert plan.verdict == verdict


def test_the_manifest_lists_the_sizes_of_each_request(tmp_path: Path) -> None:
    """Their sums are those of the plan, and no value is in it."""
    plan, manifest = _planned(tmp_path, [f"p{number}@example.com," for number in range(50)], max_body_bytes=2_000)
    listed = manifest["requests"]
    assert [each["number"] for each in listed] == list(range(1, plan.requests + 1))
    assert plan.requests > 1
    sums = [sum(each[name] for each in listed) for name in ("records", "operations", "bytes")]
    assert sums == [plan.records, plan.operations, plan.bytes]
    assert (plan.records, plan.rows.pending, plan.rows.read) == (50, 50, 50)
    assert manifest["format"] == "audiencekit-prepared/1"
    assert "@example.com" not in str(manifest)


NAMES = [*(f"p{number}" for number in range(40)), "p0"]  # the last row is a duplicate of the first


@pytest.fixture
def planned(tmp_path: Path) -> Iterator[PlannedRequests]:
    """Requests of forty people, who do not fit one body."""
    source = write(tmp_path / "list.csv", "email", *(f"{name}@example.com" for name in NAMES))
    profile = find_profile("spec")
    terms = PlanTerms.pinned(read_keywords({"max_body_bytes": 2_000}, profile), profile, now=datetime.now(UTC))
    with ExitStack() as stack:
        yield plan_run(source, terms, PlanResources(stack=stack))


def _hashes(packed: PackedRequest) -> list[str]:
    return [user["email"][0] for each in json.loads(bytes(packed.body.unwrap())) for user in each["params"]["users"]]


def test_bodies_are_those_of_the_requests_that_are_wanted(planned: PlannedRequests) -> None:
    """In order, each with the hashes of its people, and as long as was planned."""
    every = list(planned.packed(lambda number: True))
    assert len(every) > 2
    assert [len(packed.body.unwrap()) for packed in every] == [request.body_bytes for request in planned.requests]
    hashes = [hashlib.sha256(f"{name}@example.com".encode()).hexdigest() for name in NAMES[:-1]]
    assert [text for packed in every for text in _hashes(packed)] == hashes
    (second,) = planned.packed(lambda number: number == 2)
    assert _hashes(second) == _hashes(every[1])


def test_the_records_that_are_sent_are_known_by_their_places(planned: PlannedRequests) -> None:
    """Those of a duplicate are not among them."""
    records, places = planned.chosen_records(0)
    assert places.tolist() == list(range(40))
    assert records.unwrap().num_rows >= 40


NOW = datetime(2027, 1, 15, 8, tzinfo=UTC)


def _options(**keywords: Any) -> Options:
    return read_keywords(keywords, find_profile("spec"))  # type: ignore[arg-type]


@each_case(
    "name, keywords, is_revised, hint",
    [
        (None, {}, False, None),
        ("customer type", {"operation": "update"}, False, None),
        (
            "customer type",
            {},
            False,
            "`operation_column='customer type'`, in which each cell is to be update or delete",
        ),
        ("customer type", {}, True, "write a file of their rows, without that column"),
    ],
)
def test_a_column_of_operations_without_its_option_is_refused(
    name: str | None, keywords: dict[str, Any], is_revised: bool, hint: str | None
) -> None:
    """The hint can be followed: the name as the shell takes it, and the words that are understood."""
    source = ReadSource(
        mapping=ColumnMapping(columns=()), description={"format": "csv"}, parts=(), notes=(), operation_hint=name,
        repeatable=True,
    )  # fmt: skip
    refusals = ignored_operation(source, _options(**keywords), is_revised=is_revised)
    assert [hint in (each.hint or "") for each in refusals] == ([True] if hint else [])


@each_case(
    "sent, suppressed, keywords, cause",
    [
        (0, 0, {}, None),
        (1, 1, {}, None),
        (0, 2, {"allow_empty": True}, None),
        (0, 2, {}, "`forget`"),
        (0, 2, {"consent_column": "marketing=yes"}, "`consent_column=`"),
    ],
)
def test_a_source_of_suppressed_records_alone_is_refused(
    sent: int, suppressed: int, keywords: dict[str, Any], cause: str | None
) -> None:
    """Unless it is allowed; the hint names what can have suppressed them."""
    are_sent = Bits()
    are_sent.append(np.arange(2) < sent)
    selection = Selection(are_sent, Bits.of(2, False), suppressed=suppressed)
    refusals = no_records_left(selection, _options(**keywords))
    assert [cause in (each.hint or "") for each in refusals] == ([True] if cause else [])
    assert all("all of 2 records" in str(each) for each in refusals)


@each_case(
    "people, few_people, is_refused",
    [
        (0, "refuse", False),
        (1, "refuse", True),
        (FEW_PEOPLE - 1, "refuse", True),
        (FEW_PEOPLE, "refuse", False),
        (1, "tell", False),
        (1, "allow", False),
    ],
)
def test_a_change_of_few_people_is_refused_where_asked(people: int, few_people: str, is_refused: bool) -> None:
    """A change of no people tells of none."""
    options = replace(_options(), few_people=few_people)  # type: ignore[arg-type]
    assert bool(refuse_few(people, options, AUDIENCE)) is is_refused


@each_case(
    "days, updates, deletes, is_refused", [(1, 1, 0, False), (-1, 1, 1, True), (-1, 0, 1, False), (-1, 0, 0, False)]
)
def test_entries_that_have_expired_are_refused(days: int, updates: int, deletes: int, is_refused: bool) -> None:
    """But no Delete, whose time does not end."""
    times = PlanTimes(plan_time=NOW - timedelta(days=30), expires_at=NOW + timedelta(days=days))
    request = PlannedRequest(
        number=1, wave=0, first_update=0, first_delete=0, updates=updates, deletes=deletes,
        update_operations=updates, delete_operations=deletes, body_bytes=100,
    )  # fmt: skip
    refusals = expired([request] if updates + deletes else [], times, NOW)
    assert ["2027-01-14T08:00:00Z" in str(each) for each in refusals] == ([True] if is_refused else [])


def test_losses_are_refusals_where_asked(tmp_path: Path) -> None:
    """In the place of warnings, with the same remedy."""
    path = tmp_path / "list.csv"
    path.write_text("email,phone\n" + "".join(f"p{n}@example.com,0301234{n:04}\n" for n in range(200)))
    settings = load_settings({}, directory=tmp_path)
    warned, refused = (check(path, settings=settings, fail_on_warnings=strict) for strict in (False, True))
    assert (warned.verdict, refused.verdict) == ("ready_with_warnings", "refused")
    assert [str(each) for each in refused.refusals] == [each.message for each in warned.warnings]
    assert all("or leave out `fail_on_warnings=True`" in (each.hint or "") for each in refused.refusals)
