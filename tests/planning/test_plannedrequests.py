"""`audiencekit.planning.plannedrequests`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from audiencekit.packedrequest import PackedRequest
from audiencekit.planning.options import read_keywords
from audiencekit.planning.planinputs import Means, Terms
from audiencekit.planning.plannedrequests import PlannedRequests
from audiencekit.planning.planner import plan_run
from audiencekit.profile import find_profile
from tests.planning.withheld import write

NAMES = [*(f"p{number}" for number in range(40)), "p0"]  # the last row is a duplicate of the first


@pytest.fixture
def planned(tmp_path: Path) -> Iterator[PlannedRequests]:
    """Requests of forty people, who do not fit one body."""
    source = write(tmp_path / "list.csv", "email", *(f"{name}@example.com" for name in NAMES))
    profile = find_profile("spec")
    terms = Terms.pinned(read_keywords({"max_body_bytes": 2_000}, profile), profile, now=datetime.now(UTC))
    with ExitStack() as stack:
        yield plan_run(source, terms, Means(stack=stack))


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
