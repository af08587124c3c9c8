"""The plain loop is fair: it does the same job, and comes to the same hashes."""

from __future__ import annotations

import csv
import json
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audiencekit.planning.options import read_keywords
from audiencekit.planning.planinputs import Means, Terms
from audiencekit.planning.planner import plan_run
from audiencekit.preparation.chunks import RecordChunk, from_chunk
from audiencekit.profile import SPEC
from benchmarks import emails, phone_numbers
from benchmarks.contacts import write_contacts
from benchmarks.plain_loop import make_body, read_users, run_loop

KINDS = ("email", "phone_number")


def _our_users(path: Path) -> dict[int, dict[str, list[str]]]:
    found: dict[int, dict[str, list[str]]] = {}

    def gather(chunk: RecordChunk) -> None:
        for record in from_chunk(chunk).unwrap().to_pylist():
            found[record["row"]] = {kind: [value.hex() for value in record[kind]] for kind in KINDS if record[kind]}

    with ExitStack() as stack:
        terms = Terms.pinned(read_keywords({}, SPEC), SPEC, now=datetime.now(UTC))
        plan_run(path, terms, Means(stack=stack, on_records=lambda chunk, _: gather(chunk)))
    return found


def _kinds_of_one_rule(cells: dict[str, str]) -> set[str]:
    """Kinds whose rule is the same: we refuse placeholders, and hash internationalised domains in ASCII."""
    email = cells["email"].strip()
    is_other = email in emails.PLACEHOLDERS or not email.partition("@")[2].isascii()
    found = set() if is_other else {"email"}
    return found if cells["phone"] in phone_numbers.PLACEHOLDERS else found | {"phone_number"}


def test_the_loop_and_the_package_come_to_the_same_hashes(tmp_path: Path) -> None:
    """Row by row over 2,000 rows, wherever the rule is the same: the same hash, or none on either side."""
    path = tmp_path / "contacts.csv"
    write_contacts(path, rows=2_000, seed=3)
    with path.open(newline="", encoding="utf-8") as file:
        cells = list(csv.DictReader(file))
    ours = _our_users(path)
    compared = 0
    for row, (values, user) in enumerate(zip(cells, read_users(path), strict=True), 1):
        for kind in _kinds_of_one_rule(values):
            assert ours.get(row, {}).get(kind) == user.get(kind), f"row {row}, {kind}"
            compared += kind in user
    assert compared > 3_500


def test_a_body_is_one_operation() -> None:
    """As the specification asks for it, with every user."""
    users = [{"email": ["a" * 64]}, {"phone_number": ["b" * 64]}]
    document: Any = json.loads(make_body(users))
    assert document == [
        {"operation_type": "Update", "params": {"expires_at": "2027-12-21T00:00:00Z", "users": users}},
    ]


def test_bodies_hold_2500_users(tmp_path: Path) -> None:
    """Rows without any identifier are read and not sent."""
    path = tmp_path / "contacts.csv"
    path.write_text("email,phone,country\n" + "ada@larch.example,,US\n" * 5_001 + ",,US\n")
    figures = run_loop(path)
    assert (figures["rows"], figures["records"], figures["requests"]) == (5_002, 5_001, 3)
