"""A journal of invented requests."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audiencekit.delivery.results import RequestResult
from audiencekit.destinations.target import Target
from audiencekit.errors import Outcome
from audiencekit.packed_request import PackedRequest, RequestBody
from audiencekit.runs.journal.digests import Seals
from audiencekit.runs.journal.facts import PlanFacts, PlannedBody, RunFacts
from audiencekit.runs.journal.file import JournalFile
from audiencekit.state.keys import StateKey, SubKey

RUN_ID = "20261121-013000-1f3a9c00"
STATE_KEY = StateKey(bytes(range(32)))
FACTS = RunFacts(
    run_id=RUN_ID,
    account_id="18ce54d4x5t",
    target=Target.audience("1nmth"),
    operation="update",
    profile="spec",
    sources=["/data/list.csv"],
    rejections="/data/rejections.csv",
    keywords={"columns": [["email", "mail"]], "hashed": []},
    started_at="2026-11-21T01:30:00Z",
    audiencekit="0.1.0",
    salt="000102030405060708090a0b0c0d0e0f",
)
KEY = FACTS.key(STATE_KEY)
PLAN = PlanFacts(
    mapping={"columns": [{"kind": "email", "position": 0, "name": "mail", "hashed": False}], "country": None},
    rules={"phone_form": "e164", "expires_at": "2027-12-21T01:30:00Z"},
    found={"format": "delimited", "header": True},
    rows_read=40,
    rows_rejected=10,
    records=30,
    fingerprint="00112233445566778899aabbccddeeff",
    suppression="ffeeddccbbaa99887766554433221100",
    requests=tuple(PlannedBody(number, 0, 10, 1_000) for number in (1, 2, 3)),
    verbs=("U", "U", "D"),
)


def packed(number: int, body: bytes = b"") -> PackedRequest:
    """Request `number` of PLAN, of ten rows."""
    content = body or b"body %d" % number
    return PackedRequest(
        number=number,
        wave=0,
        body=RequestBody(content),
        body_bytes=len(content),
        operations=1,
        records=10,
        rows=np.arange(number * 10, number * 10 + 10)[::-1],
    )


def result_of(number: int, outcome: Outcome | None = Outcome.CONFIRMED, attempts: int = 1) -> RequestResult:
    """How request `number` ended."""
    return RequestResult(
        number=number, outcome=outcome, attempts=attempts, rate_limited=0, records=10, body_bytes=1_000,
        success_count=10 * (outcome is Outcome.CONFIRMED), total_count=10 * (outcome is Outcome.CONFIRMED),
    )  # fmt: skip


def rewrite(path: Path, key: SubKey, statement: str, values: Sequence[Any] = ()) -> None:
    """Have a journal say something else of its requests, under new seals: as one that was written so."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement, values)
        for (number,) in connection.execute("SELECT number FROM requests").fetchall():
            Seals(key).renew(connection, number)
    connection.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


@pytest.fixture
def key() -> SubKey:
    return KEY


@pytest.fixture
def planned(path: Path) -> Iterator[JournalFile]:
    """A journal with a plan."""
    journal = JournalFile.begin(path, FACTS, KEY)
    journal.store_plan(PLAN, KEY)
    yield journal
    journal.close()


@pytest.fixture
def states(path: Path) -> Callable[[], dict[int, str]]:
    """The states of the requests, as they are on disk."""

    def read() -> dict[int, str]:
        connection = sqlite3.connect(path)
        try:
            return dict(connection.execute("SELECT number, state FROM requests"))
        finally:
            connection.close()

    return read
