"""A journal on disk: durable, private, and refused untouched when it is not what it should be."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import random
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audiencekit.delivery.results import RefusedRow
from audiencekit.errors import InputOutputFailed, Outcome, ResumeRefused
from audiencekit.runs.journal.facts import Ending, PlannedBody, Sums
from audiencekit.runs.journal.file import JournalFile, connect, connect_new
from audiencekit.runs.journal.writer import RunJournal
from audiencekit.runs.store import RUN_HOME
from audiencekit.state.files import encode_checked
from tests.moments import PATIENCE_SECONDS
from tests.runs.journal.conftest import FACTS, KEY, PLAN, RUN_ID, STATE_KEY, packed, result_of

# --- A journal on disk: durable, private, and refused untouched when it is not what it should be ---

KILLED_IN_A_COMMIT = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.executescript("PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN IMMEDIATE")
connection.execute("UPDATE requests SET state = 'confirmed'")
filling = [(number, 0, 1, 1, b"") for number in range(4, 5_000)]
connection.executemany("INSERT INTO requests (number, wave, records, body_bytes, seal) VALUES (?,?,?,?,?)", filling)
os.kill(os.getpid(), 9)
"""
GOLDEN = Path(__file__).with_name("schema-3.sqlite")


def _opened(path: Path) -> JournalFile:
    journal = JournalFile.open(path)
    try:
        journal.check(RUN_ID, KEY)
    except BaseException:
        journal.close()
        raise
    return journal


def test_a_written_journal_is_read_back(planned: JournalFile, path: Path) -> None:
    """In another process, too: nothing is kept in memory."""
    planned.finish(Ending(state="refused", exit_code=3, message="why", hint="what to do"), KEY)
    planned.close()
    again = _opened(path)
    assert (again.facts(), again.plan()) == (FACTS, PLAN)
    assert again.ending() == Ending(state="refused", exit_code=3, message="why", hint="what to do")
    assert again.sums() == Sums()
    again.close()


def test_a_journal_is_for_its_owner_alone(path: Path) -> None:
    """From its first moment, whatever the umask; and so is what SQLite writes beside it."""
    modes = set()
    before = os.umask(0)
    try:
        journal = JournalFile.begin(path, FACTS, KEY)

        def look(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO refused VALUES (1, 1, '')")
            connection.execute("PRAGMA cache_spill=1")
            modes.update(stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir())

        journal.write([look])
    finally:
        os.umask(before)
    journal.close()
    assert modes == {0o600}
    assert list(path.parent.iterdir()) == [path]


def test_a_commit_survives_a_loss_of_power(planned: JournalFile) -> None:
    """As far as SQLite can do it: the directory is synced, too."""
    settings = [planned._one(f"PRAGMA {name}")[0] for name in ("synchronous", "journal_mode")]
    assert settings == [3, "delete"]


def test_all_entries_are_written_or_none(planned: JournalFile) -> None:
    """One that fails undoes those before it, and the journal can be written again."""

    def good(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE requests SET state = 'confirmed'")

    def bad(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE requests SET state = 'whatever'")

    with pytest.raises(InputOutputFailed, match="CHECK"):
        planned.write([good, bad])
    assert planned.sums().confirmed == 0
    planned.write([good])
    assert planned.sums().confirmed == 3


def test_a_journal_is_begun_once(planned: JournalFile, path: Path) -> None:
    """One that is there is not written over."""
    before = path.read_bytes()
    with pytest.raises(InputOutputFailed, match="cannot be made"):
        JournalFile.begin(path, FACTS, KEY)
    assert path.read_bytes() == before


def test_a_commit_that_a_kill_left_open_is_undone(planned: JournalFile, path: Path) -> None:
    """By the process that opens the journal next."""
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_IN_A_COMMIT, str(path)], check=False, timeout=PATIENCE_SECONDS
    )
    assert killed.returncode == -9
    assert path.with_name("journal.sqlite-journal").exists(), "the kill came too early to mean anything"
    planned.close()
    again = _opened(path)
    assert again.plan() == PLAN
    assert again.confirmed_numbers() == frozenset()
    again.close()


def _write(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def _scramble(path: Path) -> None:
    content = bytearray(path.read_bytes())
    draw = random.Random(7)
    for _ in range(400):
        content[draw.randrange(100, len(content))] ^= 0xFF
    path.write_bytes(content)


DAMAGE: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "gone": ("no_journal", lambda path: path.unlink()),
    "empty": ("not_begun", lambda path: path.write_bytes(b"")),
    "text": ("damaged", lambda path: path.write_bytes(b"no journal at all " * 99)),
    "short": ("damaged", lambda path: path.write_bytes(path.read_bytes()[:50])),
    "cut off": ("damaged", lambda path: path.write_bytes(path.read_bytes()[:5_000])),
    "scrambled": ("damaged", _scramble),
    "another program's": ("damaged", lambda path: _write(path, "PRAGMA application_id=1")),
    "of a later schema": ("schema", lambda path: _write(path, "PRAGMA user_version=4")),
    "of no schema": ("schema", lambda path: _write(path, "PRAGMA user_version=0")),
    "without seals": ("damaged", lambda path: _write(path, "ALTER TABLE requests DROP COLUMN seal")),
    "without a beginning": ("damaged", lambda path: _write(path, "DELETE FROM documents")),
    "without tables": ("damaged", lambda path: _write(path, "DROP TABLE documents")),
    "another key's": ("key", lambda path: _write(path, "UPDATE documents SET digest = zeroblob(16)")),
    "edited": ("damaged", lambda path: _write(path, "UPDATE documents SET content = replace(content, 'list', 'lost')")),
    "without a plan": ("damaged", lambda path: _write(path, "DELETE FROM documents WHERE name = 'plan'")),
    "one request fewer": ("damaged", lambda path: _write(path, "DELETE FROM requests WHERE number = 3")),
    "a refused row more": ("damaged", lambda path: _write(path, "INSERT INTO refused VALUES (7, 1, 'BAD')")),
    "a refused row of nothing": ("damaged", lambda path: _write(path, "INSERT INTO refused VALUES (7, 9, 'BAD')")),
    "no text": ("damaged", lambda path: _write(path, "UPDATE documents SET content = CAST(X'FFFE' AS TEXT)")),
    "a table of another name": ("damaged", lambda path: _write(path, "ALTER TABLE refused RENAME TO taken")),
    "a document more": ("damaged", lambda path: _write(path, "INSERT INTO documents VALUES ('x', '', '')")),
    "odd facts": ("damaged", lambda path: _write(path, "UPDATE documents SET content = '{\"a\": 1}'")),
    "no JSON": ("damaged", lambda path: _write(path, "UPDATE documents SET content = 'x'")),
    "odd numbers": ("damaged", lambda path: _write(path, "UPDATE requests SET records = 'ten'")),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_journal_is_refused_untouched(planned: JournalFile, path: Path, name: str) -> None:
    """With the reason and what to do."""
    planned.close()
    reason, damage = DAMAGE[name]
    damage(path)
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(ResumeRefused) as caught:
        _opened(path).plan()
    assert caught.value.reason == reason
    assert caught.value.hint
    assert caught.value.__cause__ is None
    assert (path.read_bytes() if path.exists() else None) == before


def test_every_damaged_byte_is_refused_or_harmless(planned: JournalFile, path: Path) -> None:
    """A flipped byte anywhere gives a refusal or the same answers; never another plan, never a crash."""
    planned.close()
    sound = path.read_bytes()
    draw = random.Random(11)
    for place in draw.sample(range(len(sound)), 300):
        content = bytearray(sound)
        content[place] ^= 1 << draw.randrange(8)
        path.write_bytes(content)
        try:
            journal = _opened(path)
        except (ResumeRefused, InputOutputFailed):
            continue
        try:
            assert journal.facts() == FACTS
            plan = journal.plan()
            assert plan is None or dataclasses.replace(plan, requests=PLAN.requests) == PLAN
        except (ResumeRefused, InputOutputFailed):
            pass
        finally:
            journal.close()


def test_another_runs_journal_is_refused(planned: JournalFile) -> None:
    """Even under the right key."""
    with pytest.raises(ResumeRefused, match="another run") as caught:
        planned.check("20261121-013000-ffffff00", KEY)
    assert caught.value.reason == "other_run"


def test_another_schema_is_named_with_the_one_that_is_read(planned: JournalFile, path: Path) -> None:
    """A program can act on the reason."""
    planned.close()
    _write(path, "PRAGMA user_version=2")
    with pytest.raises(ResumeRefused, match="has schema 2, and this version reads schema 3 only") as caught:
        JournalFile.open(path)
    assert caught.value.reason == "schema"
    assert "the version of audiencekit that began the run" in caught.value.hint


def test_a_journal_that_was_kept_is_read(tmp_path: Path) -> None:
    """One file of this schema, as it was written once: the format is promised."""
    path = tmp_path / "journal.sqlite"
    path.write_bytes(GOLDEN.read_bytes())
    journal = _opened(path)
    assert (journal.facts(), journal.plan(), journal.ending()) == (FACTS, PLAN, None)
    assert journal.confirmed_numbers() == {1}
    assert list(journal.digests()) == [2]
    assert journal.sums() == Sums(
        confirmed=1, unknown=1, records_confirmed=10, body_bytes=1_000, success_count=10, total_count=10, attempts=3
    )
    journal.close()
    assert path.read_bytes() == GOLDEN.read_bytes()


async def write_golden(path: Path) -> None:
    """How the golden journal was made: one request confirmed at the second try, one cut short by a crash."""
    journal = JournalFile.begin(path, FACTS, KEY)
    journal.store_plan(PLAN, KEY)
    async with RunJournal(journal, KEY) as writer:
        await writer.intend(packed(1))
        await writer.conclude(result_of(1, Outcome.CONFIRMED, 2))
        await writer.intend(packed(2))
    journal.close()


def test_a_run_id_that_is_used_again_makes_another_key() -> None:
    """Of two journals of one id no two digests are under one key and one nonce."""
    keys = [dataclasses.replace(FACTS, salt=salt).key(STATE_KEY) for salt in ("00" * 16, "01" * 16)]
    assert keys[0].unwrap() != keys[1].unwrap()


@pytest.mark.parametrize(
    "column",
    ["wave", "records", "body_bytes", "first_row", "last_row", "digest", "left_boot", "left_seconds", "state",
     "attempts", "rate_limited", "success_count", "total_count", "seal"],
)  # fmt: skip
async def test_every_column_of_a_request_is_sealed(planned: JournalFile, path: Path, column: str) -> None:
    """One that is other than it was written is damage, whatever it counts."""
    async with RunJournal(planned, KEY) as journal:
        await journal.intend(packed(1))
    planned.close()
    # A digit more changes no number that has all its digits already.
    others = {"state": "'unknown'", "left_seconds": "coalesce(left_seconds, 0) + 1"}
    other = others.get(column, f"coalesce({column}, 0) || '1'")
    _write(path, f"UPDATE requests SET {column} = {other} WHERE number = 1")
    with pytest.raises(ResumeRefused) as caught:
        _opened(path)
    assert caught.value.reason == "damaged"


async def test_refused_rows_are_sealed_with_their_request(planned: JournalFile, path: Path) -> None:
    """None can be taken away, added, or given other codes."""
    refused = (RefusedRow(11, ("BAD",)), RefusedRow(12, ()))
    async with RunJournal(planned, KEY) as journal:
        await journal.intend(packed(1))
        await journal.conclude(dataclasses.replace(result_of(1), records=8, refused=refused))
    planned.close()
    _opened(path).close()
    sound = path.read_bytes()
    for change in (
        "DELETE FROM refused WHERE row = 12",
        "UPDATE refused SET codes = 'WORSE' WHERE row = 11",
        "UPDATE refused SET number = 2 WHERE row = 11",
    ):
        path.write_bytes(sound)
        _write(path, change)
        with pytest.raises(ResumeRefused):
            _opened(path)


def test_an_empty_journal_of_a_run_that_had_begun_is_damaged(planned: JournalFile, path: Path) -> None:
    """A report, or anything else, is written after it: what to do says the plan time, where the report tells it."""
    planned.close()
    for content, said in (
        (b"{", "`plan_time=` of the run"),
        (encode_checked({"plan_time": "2026-11-21T01:30:00Z"}, RUN_HOME.form), "11-21T01:30:00Z"),
    ):
        (path.parent / "report.json").write_bytes(content)
        path.write_bytes(b"")
        for words in ("is empty", "is gone"):
            with pytest.raises(ResumeRefused, match=words) as caught:
                _opened(path)
            assert caught.value.reason == "damaged"
            assert said in caught.value.hint
            path.unlink(missing_ok=True)


def test_a_damaged_rollback_journal_is_told(planned: JournalFile, path: Path) -> None:
    """A commit that a kill cut short is undone where it is sound; else the journal is damaged, or as it was."""
    planned.close()
    before = path.read_bytes()
    subprocess.run([sys.executable, "-c", KILLED_IN_A_COMMIT, str(path)], check=False, timeout=PATIENCE_SECONDS)
    hot = path.with_name("journal.sqlite-journal")
    killed, left = path.read_bytes(), hot.read_bytes()
    draw, told = random.Random(5), []
    for _ in range(150):
        damage = bytearray(left)
        place = draw.randrange(len(damage) - 16)
        damage[place : place + 16] = draw.randbytes(16)
        path.write_bytes(killed)
        hot.write_bytes(damage)
        try:
            journal = _opened(path)
        except ResumeRefused as refusal:
            told.append(refusal.reason)
            continue
        assert journal.plan() == PLAN
        assert journal.sums() == Sums()
        journal.close()
    assert {"damaged"} <= set(told) <= {"damaged", "key"}
    assert before != killed


def test_the_plan_lists_every_request(planned: JournalFile) -> None:
    """In order of their numbers."""
    plan = planned.plan()
    assert plan is not None
    assert plan.requests == tuple(PlannedBody(number, 0, 10, 1_000) for number in (1, 2, 3))


# --- The file of a journal, before anything of it is believed ---


@pytest.mark.parametrize(
    ("left", "reason"),
    [
        ((), "no_journal"),
        (("journal.sqlite",), "not_begun"),
        (("journal.sqlite", "journal.sqlite-journal"), "not_begun"),  # killed in the first transaction
        (("journal.sqlite-journal",), "no_journal"),
        (("report.json",), "damaged"),
        (("journal.sqlite", "report.json"), "damaged"),
        (("journal.sqlite", "journal.sqlite-journal", "spool.sealed"), "damaged"),
        (("rejections.csv", "journal.sqlite-journal"), "damaged"),
    ],
)
def test_the_files_beside_an_empty_journal_say_whether_the_run_had_begun(
    left: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    """Only where nothing else is there was nothing sent. No file is made."""
    for name in left:
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(ResumeRefused) as caught:
        connect(tmp_path / "journal.sqlite")
    assert caught.value.reason == reason
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(left)


def test_a_journal_that_was_changed_runs_nothing(tmp_path: Path) -> None:
    """A view or a trigger in it calls no function with effects."""
    path = tmp_path / "journal.sqlite"
    with contextlib.closing(connect_new(path)) as connection:
        connection.execute("COMMIT")
    with contextlib.closing(connect(path)) as connection:
        assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)
