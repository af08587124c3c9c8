"""Contestants do the job that is compared, all of it, and both paths are really compared."""

from __future__ import annotations

import argparse
import csv
import dataclasses
import hashlib
import json
import os
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from audiencekit.identifiers.kinds import Reason
from audiencekit.planning import planner
from audiencekit.planning.options import read_keywords
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.planning.planner import plan_run
from audiencekit.profile import SPEC
from audiencekit.records.chunks import RecordChunk, from_chunk
from benchmarks import differential, emails, phone_numbers
from benchmarks.bare_limit import run_bare
from benchmarks.contacts import write_contacts
from benchmarks.differential import BLOCK, Block, blocks, decide_block, value_at
from benchmarks.dry_check import run_check
from benchmarks.dry_uploads import run_apart
from benchmarks.known_lists import run_lists
from benchmarks.limiter_soak import Soak, run_soak
from benchmarks.plain_loop import make_body, read_users, run_loop
from benchmarks.read_sheet import run_reading
from benchmarks.sheet_writing import FORMS, main as write_sheet
from benchmarks.sync import _two_lists
from benchmarks.values.kinds import KINDS

pytestmark = pytest.mark.slow

HASHED = ("email", "phone_number")


def _our_users(path: Path) -> dict[int, dict[str, list[str]]]:
    found: dict[int, dict[str, list[str]]] = {}

    def gather(chunk: RecordChunk) -> None:
        for record in from_chunk(chunk).unwrap().to_pylist():
            found[record["row"]] = {kind: [value.hex() for value in record[kind]] for kind in HASHED if record[kind]}

    with ExitStack() as stack:
        terms = PlanTerms.pinned(read_keywords({}, SPEC), SPEC, now=datetime.now(UTC))
        plan_run(path, terms, PlanResources(stack=stack, on_records=lambda chunk, _: gather(chunk)))
    return found


def _kinds_of_one_rule(cells: dict[str, str]) -> set[str]:
    """Kinds whose rule is the same: we refuse placeholders, and hash internationalised domains in ASCII."""
    email = cells["email"].strip()
    is_other = email in emails.PLACEHOLDERS or not email.partition("@")[2].isascii()
    found = set() if is_other else {"email"}
    return found if cells["phone"] in phone_numbers.PLACEHOLDERS else found | {"phone_number"}


def test_the_plain_loop_and_the_package_come_to_the_same_hashes(tmp_path: Path) -> None:
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


def test_bodies_of_the_loop_hold_2500_users(tmp_path: Path) -> None:
    """In one operation, as the specification asks for it; rows without any identifier are read and not sent."""
    users = [{"email": ["a" * 64]}, {"phone_number": ["b" * 64]}]
    document: Any = json.loads(make_body(users))
    assert document == [
        {"operation_type": "Update", "params": {"expires_at": "2027-12-21T00:00:00Z", "users": users}},
    ]
    path = tmp_path / "contacts.csv"
    path.write_text("email,phone,country\n" + "ada@larch.example,,US\n" * 5_001 + ",,US\n")
    figures = run_loop(path)
    assert (figures["rows"], figures["records"], figures["requests"]) == (5_002, 5_001, 3)


@pytest.mark.parametrize(
    ("field", "text", "normal"),
    [
        ("em", " Ada@Larch.Example ", "ada@larch.example"),
        ("em", "no at sign", None),
        ("ph", "+44 7400 123456", "447400123456"),
        ("ph", "call the office", None),
    ],
)
def test_the_loop_around_the_sdk_hashes_what_its_users_do(field: str, text: str, normal: str | None) -> None:
    """Its phone numbers have no plus; what it refuses is None."""
    pytest.importorskip("facebook_business")
    from benchmarks.sdk_loop import hash_field

    assert hash_field(field, text) == (normal and hashlib.sha256(normal.encode()).hexdigest())


@pytest.mark.parametrize("engine", ["datafusion", "duckdb"])
def test_the_bare_limit_hashes_every_row(engine: str, tmp_path: Path) -> None:
    """The dirty ones, too: they are not looked at."""
    pytest.importorskip(engine)
    write_contacts(tmp_path / "contacts.csv", rows=1_000)
    assert run_bare(tmp_path / "contacts.csv", duckdb=engine == "duckdb")["rows"] == 1_000


@pytest.mark.parametrize(("without", "duplicates"), [(False, 200), (True, 0)])
def test_duplicates_are_found_unless_told_otherwise(
    without: bool, duplicates: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All else is the same: every row is read and judged."""
    monkeypatch.setattr(planner, "KeySets", vars(planner)["KeySets"])  # restored after this test
    path = tmp_path / "contacts.csv"
    path.write_text("email\n" + "".join(f"person{number % 300}@larch.example\n" for number in range(500)))
    figures = run_check(path, without_duplicates=without)
    assert (figures["rows"], figures["duplicates"]) == (500, duplicates)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system does not bind processes to cores")
def test_one_process_that_fails_fails_all(tmp_path: Path) -> None:
    """A share of the rows would be taken for all of them."""
    with pytest.raises(RuntimeError, match="one of the processes failed"):
        run_apart(tmp_path / "missing.csv")


def test_published_lists_count_value_by_value(tmp_path: Path, shared: Path) -> None:
    """Numbers are read for the country of their list; a character of private use goes to the definition."""
    for name in ("1-uk-500.csv", "2-unknown.csv"):
        (tmp_path / name).write_text("phone\n07400 123456\n07400 123457\n")
    (tmp_path / "3-few.csv").write_text("email\nida\ue000@larch.example\n", encoding="utf-8")
    figures = run_lists(tmp_path)
    assert (figures["lists"], figures["values"], figures["valid"], figures["decided_in_bulk"]) == (3, 5, 2, 0.8)
    assert run_lists(shared / "corpora/csv/contacts")["decided_in_bulk"] >= 0.97


@pytest.mark.parametrize("form", FORMS)
def test_sheets_are_as_any_reader_sees_them(tmp_path: Path, form: str) -> None:
    """A header, and an email and a phone number in each row."""
    path = tmp_path / "people.xlsx"
    write_sheet(["--rows", "30", "--form", form, str(path)])
    header, *rows = openpyxl.load_workbook(path).active.values
    assert header == ("email", "phone")
    assert len(rows) == 29
    assert all(email.endswith(".example.com") and str(phone).lstrip("+").startswith("44") for email, phone in rows)
    assert isinstance(rows[0][1], int) == (form == "numbers")
    assert [run_reading(path, by_fastexcel=by)["rows"] for by in (False, True)] == [29, 29]


def test_lists_of_a_sync_differ_by_the_share_that_changed(tmp_path: Path) -> None:
    """And the rows that only one of them has are in lists of their own."""
    with _two_lists(argparse.Namespace(rows=200, changed=0.05, seed=1, lists=tmp_path)) as paths:
        first, second, gone, new = (set(path.read_text().splitlines()[1:]) for path in paths)
    assert (gone, new) == (first - second, second - first)
    assert len(gone) == len(new) == 10


def test_both_paths_meet_every_kind() -> None:
    """In blocks that are numbered from 0."""
    found = list(blocks(100_000))
    assert 100_000 <= sum(size for _, _, size in found) < 100_000 + len(KINDS)
    for kind in KINDS:
        numbers = [number for name, number, _ in found if name == kind.name]
        assert numbers == list(range(len(numbers))) != []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_values_can_be_made_again(kind: Any) -> None:
    """Seed, kind and index give one value, the same each time; another seed gives others."""
    rows = kind.rows(3, 1, 40)
    assert value_at(kind.name, 3, BLOCK + 39) == rows[39]
    assert kind.rows(3, 1, 40) == rows
    assert kind.rows(4, 1, 40) != rows


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a definition says something else the index is told, counted through all blocks."""
    kind = next(kind for kind in KINDS if kind.name == "handle")
    other = dataclasses.replace(kind, define=lambda text, country: Reason.TOO_LONG)
    monkeypatch.setitem(differential._KINDS, "handle", other)
    found = decide_block("handle", 1, 2, 50)
    assert found.differing
    assert all(2 * BLOCK <= index < 2 * BLOCK + 50 for index in found.differing)


@pytest.mark.parametrize("ways", [((), ()), ((7,), ()), ((), (3,))])
def test_a_difference_by_either_way_counts(
    ways: tuple[tuple[int, ...], tuple[int, ...]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is named by kind, seed and index, and makes the status 1."""
    block = Block("email", 10, 9, ways[0], 4, ways[1])
    monkeypatch.setattr(differential, "run_differential", lambda count, seed, kinds, processes: iter([block]))
    assert differential.main(["--count", "10", "--seed", "5"]) == bool(ways[0] or ways[1])
    lines = capsys.readouterr().out.splitlines()
    assert f"| email | 10 | 0.9000 | 0.4000 | {len(ways[0])} | {len(ways[1])} |" in lines
    assert lines[len(KINDS) + 4 :] == [f"differs: email, seed 5, index {index}" for index in (*ways[0], *ways[1])]


async def test_the_limit_holds_while_processes_are_killed_and_started() -> None:
    """Four processes at the real rate, one killed again and again: never over in any 4 s, and all go on."""
    # 98 at the pace, and one of each process that lost its processor as it left, before a kill and after it.
    findings = await run_soak(Soak(seconds=6.0, kill_every_seconds=0.5, limit=106, window_seconds=4.0))
    assert findings.kills
    assert findings.over_limit == 0
    assert findings.requests


async def test_a_pace_over_the_limit_is_found_out() -> None:
    """The same server notices a pace that is too fast for it."""
    findings = await run_soak(Soak(seconds=2.0, processes=2, kill_every_seconds=0.0, limit=2, window_seconds=1.0))
    assert findings.over_limit > 0
