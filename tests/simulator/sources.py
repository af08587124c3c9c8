"""Small invented sources, planned by the real planner, and what must come of them by a reference of its own."""

from __future__ import annotations

import functools
import hashlib
import random
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

from audiencekit.destinations.requests.packing import pack_requests
from audiencekit.destinations.requests.request_plan import BodyLimits
from audiencekit.packed_request import PackedRequest
from audiencekit.planning import planner
from audiencekit.planning.options import read_keywords
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.profile import SPEC

SOURCES = 48
PLAN_TIME = datetime(2026, 11, 21, tzinfo=UTC)

Keys = frozenset[str]


@dataclass(frozen=True)
class Row:
    """One row of a source: the verb, the email, and a handle or nothing."""

    is_delete: bool
    email: str
    handle: str

    @property
    def keys(self) -> Keys:
        """The hashes under which the service knows the person; written without any code of the library."""
        return frozenset(hashlib.sha256(value.encode()).hexdigest() for value in (self.email, self.handle) if value)


@dataclass(frozen=True)
class Planned:
    """A source and its requests. `loners` are rows whose keys no other row has."""

    rows: tuple[Row, ...]
    requests: tuple[PackedRequest, ...]
    expires_at: str
    loners: tuple[int, ...]

    def expected(self, without: frozenset[int]) -> frozenset[Keys]:
        """Return the members when every row was applied in order, those of `without` (from 0) left out."""
        members: set[Keys] = set()
        for number, row in enumerate(self.rows):
            if number in without:
                continue
            if row.is_delete:
                members = {keys for keys in members if not keys & row.keys}
            else:
                members.add(row.keys)
        return frozenset(members)


@functools.cache
def planned_source(number: int) -> Planned:
    """The `number`-th source: of one verb or mixed, with shared keys, in bodies of few operations."""
    chance = random.Random(number)
    rows = tuple(_rows(chance, mixed=number % 3 != 0))
    everyone = [key for row in rows for key in row.keys]
    loners = tuple(place for place, row in enumerate(rows) if all(everyone.count(key) == 1 for key in row.keys))
    limits = BodyLimits(max_operations=chance.randint(2, 6), max_body_bytes=chance.randint(600, 1500))
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        path = Path(folder) / "people.csv"
        lines = [f"{'delete' if row.is_delete else 'update'},{row.email},{row.handle}" for row in rows]
        path.write_text("\n".join(["verb,email,handle", *lines]) + "\n")
        options = read_keywords({"operation_column": "verb", "columns": {"email": "email", "handle": "handle"}}, SPEC)
        with mock.patch.object(BodyLimits, "within", return_value=limits):
            terms = PlanTerms.pinned(options, SPEC, now=PLAN_TIME)
            run = planner.plan_run(path, terms, PlanResources(stack=stack, spool_dir=Path(folder)))
        assert not run.refusals
        requests = tuple(pack_requests(run.requests, run.users_of, run.form))
        return Planned(rows, requests, run.times.expires_at.strftime("%Y-%m-%dT%H:%M:%SZ"), loners)


def _rows(chance: random.Random, *, mixed: bool) -> list[Row]:
    people = [(f"person{number}@example.com", f"handle{number}") for number in range(chance.randint(3, 14))]
    rows = []
    for _ in range(chance.randint(4, 40)):
        email, handle = chance.choice(people)
        if chance.random() < 0.15:
            handle = chance.choice(people)[1]  # two people share a handle
        rows.append(Row(mixed and chance.random() < 0.4, email, handle if chance.random() < 0.6 else ""))
    rows += [Row(False, f"loner{number}@example.com", "") for number in range(chance.randint(1, 5))]
    chance.shuffle(rows)
    return rows
