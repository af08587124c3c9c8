"""A journal on disk: durable, private, and refused untouched when it is not what it should be."""

from __future__ import annotations

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

from audiencekit.delivery.journal.facts import Ending, PlannedBody, Sums
from audiencekit.delivery.journal.file import JournalFile
from audiencekit.delivery.journal.writer import RunJournal
from audiencekit.errors import InputOutputFailed, Outcome, ResumeRefused
from audiencekit.machine.keys import StateKey

from .conftest import FACTS, KEY, PLAN, RUN_ID, packed, result_of

KILLED_IN_A_COMMIT = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.executescript("PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN IMMEDIATE")
connection.execute("UPDATE requests SET state = 'confirmed'")
filling = [(number, 0, 1, 1) for number in range(4, 5_000)]
connection.executemany("INSERT INTO requests (number, wave, records, body_bytes) VALUES (?,?,?,?)", filling)
os.kill(os.getpid(), 9)
"""
OLD = Path(__file__).with_name("schema-1.sqlite")
GOLDEN = Path(__file__).with_name("schema-2.sqlite")


def _opened(path: Path) -> JournalFile:
    journal = JournalFile.open(path)
    journal.check(RUN_ID, KEY)
    return journal


def test_what_was_written_comes_back(planned: JournalFile, path: Path) -> None:
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
            connection.execute("INSERT INTO requests (number, wave, records, body_bytes) VALUES (1, 0, 1, 1)")
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
    """By whoever opens the journal next."""
    killed = subprocess.run([sys.executable, "-c", KILLED_IN_A_COMMIT, str(path)], check=False, timeout=60)
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
    "newer": ("newer", lambda path: _write(path, "PRAGMA user_version=3")),
    "older": ("newer", lambda path: _write(path, "PRAGMA user_version=1")),
    "without a beginning": ("not_begun", lambda path: _write(path, "DELETE FROM documents")),
    "without tables": ("not_begun", lambda path: _write(path, "DROP TABLE documents")),
    "another run's": ("key", lambda path: _write(path, "UPDATE documents SET digest = zeroblob(16)")),
    "edited": ("key", lambda path: _write(path, "UPDATE documents SET content = replace(content, 'list', 'lost')")),
    "a document more": ("damaged", lambda path: _write(path, "INSERT INTO documents VALUES ('x', '', '')")),
    "odd facts": ("damaged", lambda path: _write(path, "UPDATE documents SET content = '{\"a\": 1}'")),
    "no JSON": ("damaged", lambda path: _write(path, "UPDATE documents SET content = 'x'")),
    "odd numbers": ("damaged", lambda path: _write(path, "UPDATE requests SET records = 'ten'")),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_what_is_no_sound_journal_is_refused_untouched(planned: JournalFile, path: Path, name: str) -> None:
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
        planned.check("20261121-013000-ffffff", KEY)
    assert caught.value.reason == "other_run"


def test_a_journal_of_schema_1_is_refused_untouched(tmp_path: Path) -> None:
    """It knew no other target than an audience, and no release wrote it."""
    path = tmp_path / "journal.sqlite"
    path.write_bytes(OLD.read_bytes())
    with pytest.raises(ResumeRefused) as caught:
        JournalFile.open(path)
    assert caught.value.reason == "newer"
    assert path.read_bytes() == OLD.read_bytes()


def test_a_journal_of_schema_2_is_read(tmp_path: Path) -> None:
    """Kept from the first release: whatever comes later must resume it or refuse it untouched."""
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
    """How the golden journal was made: one request confirmed at the second try, one that nobody lived to conclude."""
    journal = JournalFile.begin(path, FACTS, StateKey(bytes(range(32))).derive("digests", RUN_ID))
    journal.keep_plan(PLAN, KEY)
    async with RunJournal(journal, KEY) as writer:
        await writer.intend(packed(1))
        await writer.conclude(result_of(1, Outcome.CONFIRMED, 2))
        await writer.intend(packed(2))
    journal.close()


def test_the_plan_lists_every_request(planned: JournalFile) -> None:
    """In order of their numbers."""
    plan = planned.plan()
    assert plan is not None
    assert plan.requests == tuple(PlannedBody(number, 0, 10, 1_000) for number in (1, 2, 3))
