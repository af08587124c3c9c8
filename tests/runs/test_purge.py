"""The receipt of a purge counts, and names nothing."""

from __future__ import annotations

import itertools
import json
import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audiencekit.destinations.target import Target
from audiencekit.emulator import Emulator
from audiencekit.errors import AudienceBusy, InputOutputFailed
from audiencekit.pipeline import upload_async
from audiencekit.process.crash_points import set_hook
from audiencekit.runs import purge as removal
from audiencekit.runs.journal.file import JOURNAL
from audiencekit.runs.purge import (
    ASIDE,
    FORM,
    KEEPABLE,
    PURGES,
    REMOVABLE,
    WORDS,
    Expired,
    PurgeCandidates,
    PurgeReceipt,
    find_runs,
    hold_run,
    kept_until,
    kind_of,
    leftovers,
    only_purge,
    purge_expired,
    receipted,
    remove,
    remove_all,
)
from audiencekit.runs.reports import list_runs, summary_of
from audiencekit.runs.start import KEPT
from audiencekit.runs.store import BEGUN, RunStore, TargetLock
from audiencekit.settings import Settings
from audiencekit.state.files import decode_checked
from audiencekit.state.keys import SubKey, find_state_key
from audiencekit.state.spool import KeptSpool, SpoolDamaged
from tests.runs.journal.conftest import FACTS, STATE_KEY
from tests.runs.state import KINDS, NOW, SALT, make_run, names

# --- The receipt of a purge counts, and names nothing ---

DAY = 86_400


def _found(*kinds: str) -> PurgeCandidates:
    now = NOW.timestamp()
    return PurgeCandidates(
        [Expired(Path("a-name"), kind, now - number * DAY) for number, kind in enumerate(kinds, 40)],
        Counter(resumable=2, running=1),
    )


def test_it_counts_by_kind_and_tells_ages() -> None:
    """Every kind, also of none; what a killed purge has left has no age."""
    receipt = PurgeReceipt.of(timedelta(days=30), NOW, "command")
    receipt.count(_found("complete", "complete", "refused", "leftovers"))
    document = receipt.to_json()
    assert document["purge_id"].startswith("purge-20261121-120000-")
    assert (document["state"], document["by"], document["finished_at"]) == ("planned", "command", None)
    assert (document["before"], document["older_than_seconds"]) == ("2026-10-22T12:00:00Z", 30 * DAY)
    assert (document["oldest"], document["newest"]) == ("2026-10-10T12:00:00Z", "2026-10-12T12:00:00Z")
    assert document["expired"] == {**dict.fromkeys(REMOVABLE, 0), "complete": 2, "refused": 1, "leftovers": 1}
    assert document["kept"] == {**dict.fromkeys(KEEPABLE, 0), "resumable": 2, "running": 1}
    assert not any(document["removed"].values())
    assert "a-name" not in str(document)


def test_its_text_says_what_goes_and_what_stays() -> None:
    """Before and after."""
    receipt = PurgeReceipt.of(timedelta(days=30), NOW, "command")
    receipt.count(_found("complete"))
    assert receipt.to_text().splitlines() == [
        "last changed before 2026-10-22T12:00:00Z:",
        "  to be purged        1  complete runs",
        "  kept                2  runs that can be resumed",
        "  kept                1  at work, or their audience is",
    ]
    receipt.state, receipt.kept = "complete", Counter()
    assert receipt.to_text().splitlines()[1:] == ["  purged           none", "  kept             none"]


def test_a_time_before_all_times_is_the_first() -> None:
    """An age may be longer than there are times."""
    receipt = PurgeReceipt.of(timedelta(weeks=999_999), NOW, "command")
    assert (receipt.before, receipt.to_json()["before"]) == (0.0, "1970-01-01T00:00:00Z")


def test_every_kind_has_words() -> None:
    """And no other."""
    assert set(WORDS) == {*REMOVABLE, *KEEPABLE}


# --- Which runs a purge takes, and which it leaves ---

AGE = timedelta(days=30)
BEFORE = (NOW - AGE).timestamp()


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_known_and_only_what_has_ended_goes_by_itself(tmp_path: Path, kind: str) -> None:
    """A run that a resumption could finish is purged when it is asked for."""
    directory = make_run(tmp_path, kind)
    goes = kind in ("complete", "refused", "not_begun", "not_resumable")
    found = find_runs(tmp_path, BEFORE, STATE_KEY)
    assert [(each.path, each.kind) for each in found.expired] == ([(directory, kind)] if goes else [])
    assert dict(found.kept) == ({} if goes else {kind: 1})
    asked = find_runs(tmp_path, BEFORE, STATE_KEY, unfinished=True)
    assert [(each.path, each.kind) for each in asked.expired] == [(directory, kind)]


def test_the_last_change_tells_the_age(tmp_path: Path) -> None:
    """To the second before, oldest first; an id that says another time tells nothing."""
    for name, age in (("20200101-000000-young", 10), ("this-is-old", 31), ("this-is-older", 50)):
        make_run(tmp_path, "complete", age=timedelta(days=age), name=name)
    assert names(each.path for each in find_runs(tmp_path, BEFORE).expired) == ["this-is-older", "this-is-old"]
    make_run(tmp_path, "complete", age=AGE, name="just-not-yet")
    make_run(tmp_path, "complete", age=AGE + timedelta(seconds=1), name="just-now-so")
    assert names(each.path for each in find_runs(tmp_path, BEFORE).expired) == [
        "this-is-older",
        "this-is-old",
        "just-now-so",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_at_work_stays(tmp_path: Path, kind: str) -> None:
    """Whatever its report and journal say: its process holds a lock."""
    directory = make_run(tmp_path, kind)
    with TargetLock(tmp_path, "any", Target.audience("aud"), directory.name):
        found = find_runs(tmp_path, BEFORE, unfinished=True)
    assert (found.expired, dict(found.kept)) == ([], {"running": 1})


def test_remains_of_a_killed_purge_go_whatever_their_age(tmp_path: Path) -> None:
    """First, and no list of runs shows it."""
    make_run(tmp_path, "complete")
    left = tmp_path / "runs" / f"{ASIDE}some-run"
    left.mkdir()
    found = find_runs(tmp_path, BEFORE)
    assert [(each.path.name, each.kind) for each in found.expired] == [
        (left.name, "leftovers"),
        ("a-complete-run", "complete"),
    ]
    assert [run["run_id"] for run in list_runs(tmp_path)] == ["a-complete-run"]


def test_the_search_ends_when_its_time_is_over(tmp_path: Path) -> None:
    """With what it has."""
    for number in range(3):
        make_run(tmp_path, "complete", name=f"run-of-{number:04}")
    answers = iter([False, True])
    assert len(find_runs(tmp_path, BEFORE, is_over=lambda: next(answers)).expired) == 1


def test_nothing_is_there_yet(tmp_path: Path) -> None:
    """And nothing is made."""
    found = find_runs(tmp_path / "state", BEFORE)
    assert (found.expired, dict(found.kept), (tmp_path / "state").exists()) == ([], {}, False)


@pytest.mark.parametrize("kind", KINDS)
def test_runs_say_until_when_they_are_kept(tmp_path: Path, kind: str) -> None:
    """Those that go by themselves; an erasure is none of them."""
    directory = make_run(tmp_path, kind, age=timedelta(days=1))
    run = summary_of(tmp_path, directory.name, STATE_KEY)
    assert kind_of(run) == kind
    expected = None if kind in ("resumable", "damaged") else "2026-12-20T12:00:00Z"
    assert kept_until(tmp_path, run, AGE) == expected
    assert kept_until(tmp_path, run, timedelta(weeks=900_000)) is None
    assert kept_until(tmp_path, {**run, "operation": "forget"}, AGE) is None
    assert kept_until(tmp_path / "elsewhere", run, AGE) is None


# --- One purge between the two writings of its receipt ---


def _purge(state_dir: Path, *, unfinished: bool = False) -> PurgeReceipt:
    receipt = PurgeReceipt.of(timedelta(days=30), NOW, "command")
    with only_purge(state_dir):
        found = find_runs(state_dir, receipt.before, STATE_KEY, unfinished=unfinished)
        receipt.count(found)
        with receipted(state_dir, receipt) as failures:
            failures += remove_all(state_dir, receipt, found.expired)
    return receipt


def _kept(state_dir: Path) -> list[dict[str, Any]]:
    read = [decode_checked(path.read_bytes(), FORM, path) for path in sorted((state_dir / PURGES).iterdir())]
    assert all(document is not None and is_as_written for document, is_as_written in read)
    return [document for document, _ in read if document is not None]


def test_a_purged_run_is_in_the_receipt_and_nowhere_else(tmp_path: Path) -> None:
    """Neither a file nor its id."""
    for kind in ("complete", "refused", "resumable"):
        make_run(tmp_path, kind)
    receipt = _purge(tmp_path)
    assert dict(receipt.removed) == {"complete": 1, "refused": 1}
    assert _kept(tmp_path) == [receipt.to_json()]
    assert (receipt.state, receipt.bytes > 0) == ("complete", True)
    assert RunStore(tmp_path).ids() == ["a-resumable-run"]
    assert (tmp_path / BEGUN).read_text() == "a-resumable-run\n"
    for path in (tmp_path / PURGES, *(tmp_path / PURGES).iterdir()):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077
        assert path.is_dir() or b"a-complete-run" not in path.read_bytes()


def test_the_receipt_is_begun_before_anything_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that ends in the middle says what was to go."""
    make_run(tmp_path, "complete")
    seen: list[Any] = []

    def stop(*_: Any) -> int:
        seen.extend(_kept(tmp_path))
        raise KeyboardInterrupt

    monkeypatch.setattr("audiencekit.runs.purge.remove", stop)
    with pytest.raises(KeyboardInterrupt):
        _purge(tmp_path)
    assert [(one["state"], one["expired"]["complete"], one["removed"]["complete"]) for one in seen] == [("begun", 1, 0)]
    assert _kept(tmp_path) == seen


def test_a_run_that_cannot_be_purged_holds_no_other_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is told with the receipt, which is incomplete; the next purge takes it."""
    for kind in ("complete", "refused", "not_begun"):
        make_run(tmp_path, kind)
    whole = removal.shutil.rmtree

    def refuse_some(path: Path) -> None:
        if "refused" in path.name or "begun" in path.name:
            raise PermissionError(13, "Permission denied")
        whole(path)

    with monkeypatch.context() as patched:
        patched.setattr("audiencekit.runs.purge.shutil.rmtree", refuse_some)
        with pytest.raises(InputOutputFailed, match="Permission denied") as failed:
            _purge(tmp_path)
    assert "1 more could not be purged" in failed.value.hint
    assert failed.value.document == _kept(tmp_path)[0]
    assert [failed.value.document[key] for key in ("state", "removed")] == ["incomplete", _removed(complete=1)]
    assert RunStore(tmp_path).ids() == []
    again = _purge(tmp_path)
    assert (again.state, dict(again.removed)) == ("complete", {"leftovers": 2})
    assert list((tmp_path / "runs").iterdir()) == []


def _removed(**counts: int) -> dict[str, int]:
    return {**dict.fromkeys(PurgeReceipt.of(timedelta(1), NOW, "command").to_json()["removed"], 0), **counts}


def test_an_unfinished_run_stays_while_its_audience_is_busy(tmp_path: Path) -> None:
    """A resumption could begin."""
    make_run(tmp_path, "resumable")
    with TargetLock(tmp_path, FACTS.account_id, Target.audience(FACTS.target.id), "another-run"):
        receipt = _purge(tmp_path, unfinished=True)
    assert (receipt.state, dict(receipt.removed), dict(receipt.kept)) == ("incomplete", {}, {"running": 1})
    assert _purge(tmp_path, unfinished=True).removed == {"resumable": 1}


def test_a_receipt_that_a_kill_left_half_written_goes_with_the_next(tmp_path: Path) -> None:
    """Whole ones stay."""
    receipt = _purge(tmp_path)
    (tmp_path / PURGES / f".{receipt.purge_id}.json-0123456789abcdef").write_text("{")
    assert len([_purge(tmp_path), *(tmp_path / PURGES).iterdir()]) == 3
    assert not list((tmp_path / PURGES).glob(".*"))


def test_one_purge_at_a_time(tmp_path: Path) -> None:
    """The second says so and does nothing."""
    make_run(tmp_path, "complete")
    with only_purge(tmp_path), pytest.raises(AudienceBusy, match="another purge is at work"):
        _purge(tmp_path)
    assert RunStore(tmp_path).ids() == ["a-complete-run"]
    assert list((tmp_path / PURGES).iterdir()) == []


def test_the_first_goes_however_little_time_there_is(tmp_path: Path) -> None:
    """So that a purge that is short of time comes to its end at last."""
    paths = [make_run(tmp_path, "complete", name=f"run-of-{number:04}") for number in range(3)]
    receipt = PurgeReceipt.of(timedelta(days=30), NOW, "retention")
    found = find_runs(tmp_path, receipt.before)
    assert remove_all(tmp_path, receipt, found.expired, lambda: True) == []
    assert [path.exists() for path in paths] == [False, True, True]
    assert json.loads(json.dumps(receipt.to_json()["removed"])) == _removed(complete=1)


# --- A directory goes for good: hidden, its keys destroyed, then its files ---

_FORGOTTEN: list[str] = []
SPOOL_KEY = SubKey(b"k" * 32)


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The directory of a run with a kept spool, and a journal that SQLite was writing to."""
    directory = make_run(tmp_path, "complete")
    with KeptSpool.create(directory / KEPT, SPOOL_KEY) as spool:
        spool.append(b"records" * 1_000)
        spool.finish()
    (directory / f"{JOURNAL}-journal").write_bytes((directory / JOURNAL).read_bytes())
    return directory


@pytest.fixture(autouse=True)
def _no_hook() -> Iterator[None]:
    yield
    set_hook(None)


def _kill_at(point: str) -> None:
    def hook(passed: str) -> None:
        if passed == point:
            raise Killed

    set_hook(hook)


def test_nothing_is_left_and_the_bytes_are_told(run: Path) -> None:
    """Of files in directories below, too; a second time there is nothing."""
    (run / "more").mkdir()
    (run / "more" / "file").write_bytes(b"12345")
    size = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
    assert remove(run, _FORGOTTEN.append) == size
    assert list(run.parent.iterdir()) == []
    assert remove(run, _FORGOTTEN.append) == 0


def test_a_link_is_removed_and_not_followed(run: Path, tmp_path: Path) -> None:
    """Whatever it is called."""
    for name in ("journal.sqlite-wal", "other.sealed", "directory"):
        (run / name).symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").write_text("stays")
    remove(run, _FORGOTTEN.append)
    assert (tmp_path / "elsewhere" / "file").read_text() == "stays"
    assert not run.exists()


@pytest.mark.parametrize("point", ["before aside", "after aside", "before keys"])
def test_before_its_keys_go_it_is_whole_or_hidden(run: Path, tmp_path: Path, point: str) -> None:
    """And whole where it is hidden."""
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    _kill_at(point)
    with pytest.raises(Killed):
        remove(run, _FORGOTTEN.append)
    is_there = point == "before aside"
    assert RunStore(tmp_path).ids() == ([run.name] if is_there else [])
    place = run if is_there else run.with_name(ASIDE + run.name)
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before
    set_hook(None)
    assert remove(place, _FORGOTTEN.append) > 0
    assert leftovers(run.parent) == []


@pytest.mark.parametrize("point", ["after keys", "before files"])
def test_once_its_keys_are_gone_nothing_can_be_read(run: Path, point: str) -> None:
    """Neither a journal, nor what SQLite kept beside it, nor a spool; the next purge takes the rest."""
    assert SALT.encode() in (run / JOURNAL).read_bytes()
    _kill_at(point)
    with pytest.raises(Killed):
        remove(run, _FORGOTTEN.append)
    (left,) = leftovers(run.parent)
    for path in left.glob(f"{JOURNAL}*"):
        assert not path.read_bytes().strip(b"\0")
    assert not (left / KEPT).exists()
    set_hook(None)
    remove(left, _FORGOTTEN.append)
    assert list(run.parent.iterdir()) == []


def test_a_spool_that_was_copied_before_is_of_no_use_to_its_name(run: Path, tmp_path: Path) -> None:
    """The salt is overwritten in the very file, before the file goes: a link to it reads nothing."""
    os.link(run / KEPT, tmp_path / "linked")
    with KeptSpool.open(tmp_path / "linked", SPOOL_KEY) as spool:
        assert len(spool) == 1
    remove(run, _FORGOTTEN.append)
    with pytest.raises(SpoolDamaged):
        KeptSpool.open(tmp_path / "linked", SPOOL_KEY)


def test_a_journal_that_was_linked_before_tells_nothing(run: Path, tmp_path: Path) -> None:
    """It is overwritten in its place, too, and what SQLite wrote beside it."""
    for name in (JOURNAL, f"{JOURNAL}-journal"):
        os.link(run / name, tmp_path / name)
    remove(run, _FORGOTTEN.append)
    for name in (JOURNAL, f"{JOURNAL}-journal"):
        assert not (tmp_path / name).read_bytes().strip(b"\0")


def test_its_id_is_forgotten_while_it_is_out_of_sight_and_whole(run: Path) -> None:
    """So that after any kill the next purge forgets it."""
    size = (run / JOURNAL).stat().st_size
    seen = list[tuple[str, int]]()

    def forget(name: str) -> None:
        seen.append((name, (run.with_name(ASIDE + name) / JOURNAL).stat().st_size))

    remove(run, forget)
    assert seen == [(run.name, size)]


def test_a_file_goes_by_itself(tmp_path: Path) -> None:
    """In one step."""
    (tmp_path / ".receipt.json-1").write_bytes(b"123")
    assert remove(tmp_path / ".receipt.json-1", _FORGOTTEN.append) == 3
    assert list(tmp_path.iterdir()) == []


def test_a_directory_in_the_way_is_told(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which directory, and what to do; the next purge finds it."""

    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("audiencekit.runs.purge.shutil.rmtree", refuse)
    with pytest.raises(InputOutputFailed, match=f"this cannot be purged: '{run}': Permission denied") as failed:
        remove(run, _FORGOTTEN.append)
    assert "audiencekit purge" in failed.value.hint
    assert len(leftovers(run.parent)) == 1


@pytest.mark.parametrize("kind", ["resumable", "damaged", "not_begun"])
def test_no_process_goes_on_with_a_run_that_goes(tmp_path: Path, kind: str) -> None:
    """Its target is locked, where the journal tells it; while another run is at work there it stays."""
    directory = make_run(tmp_path, kind)
    target = Target.audience(FACTS.target.id)
    with TargetLock(tmp_path, FACTS.account_id, target, "another-run"):
        if kind == "resumable":
            with pytest.raises(AudienceBusy), hold_run(tmp_path, directory):
                pass
        else:
            with hold_run(tmp_path, directory):
                pass
    with hold_run(tmp_path, directory):
        other = TargetLock(tmp_path, FACTS.account_id, target, "another-run")
        if kind == "resumable":
            with pytest.raises(AudienceBusy), other:
                pass


def test_a_sealed_file_that_goes_alone_is_opened_by_no_key(tmp_path: Path) -> None:
    """Not by another name either: its salt goes first, as with a directory."""
    path, copy = tmp_path / "keys.sealed", tmp_path / "copy"
    with KeptSpool.create(path, SPOOL_KEY) as spool:
        spool.append(b"records")
        spool.finish()
    os.link(path, copy)
    size = path.stat().st_size
    assert remove(path, _FORGOTTEN.append) == size
    assert not path.exists()
    with pytest.raises(SpoolDamaged):
        KeptSpool.open(copy, SPOOL_KEY)
    (tmp_path / "link.sealed").symlink_to(tmp_path / "other")
    (tmp_path / "other").write_bytes(b"stays")
    remove(tmp_path / "link.sealed", _FORGOTTEN.append)
    assert [path.name for path in tmp_path.iterdir() if path.name != "copy"] == ["other"]
    assert (tmp_path / "other").read_bytes() == b"stays"


# --- The setting `retention` at the start of a run ---

RETENTION = timedelta(days=30)


def test_an_ended_run_goes_when_it_is_old_enough(tmp_path: Path) -> None:
    """One line says how many; what can be resumed stays for good."""
    for kind in KINDS:
        make_run(tmp_path, kind)
    make_run(tmp_path, "complete", age=timedelta(days=29), name="a-younger-run")
    assert purge_expired(tmp_path, RETENTION, now=NOW) == "AUDIENCEKIT_RETENTION: 4 older runs purged"
    assert {*RunStore(tmp_path).ids()} == {"a-resumable-run", "a-damaged-run", "a-younger-run"}
    (receipt,) = (tmp_path / PURGES).iterdir()
    assert b'"by": "retention"' in receipt.read_bytes()


def test_without_anything_to_purge_nothing_is_said_or_kept(tmp_path: Path) -> None:
    """And without the setting nothing goes."""
    make_run(tmp_path, "complete")
    assert purge_expired(tmp_path, None, now=NOW) == ""
    assert not (tmp_path / PURGES).exists()
    assert purge_expired(tmp_path, timedelta(days=41), now=NOW) == ""
    assert list((tmp_path / PURGES).iterdir()) == []
    assert RunStore(tmp_path).ids() == ["a-complete-run"]


@pytest.mark.parametrize("retention", [None, timedelta(days=400)], ids=str)
def test_sealed_rejections_go_by_themselves(tmp_path: Path, retention: timedelta | None) -> None:
    """At the start of a run, when they are 30 days old, whatever the retention of runs."""
    make_run(tmp_path, "complete")
    (tmp_path / "rejections").mkdir()
    path = tmp_path / "rejections" / "a-run-of-ours.age"
    path.write_bytes(b"sealed")
    for age, said in [(29, ""), (31, "1 file of sealed rejections purged")]:
        os.utime(path, ((NOW - timedelta(days=age)).timestamp(),) * 2)
        assert purge_expired(tmp_path, retention, now=NOW) == said
        assert path.exists() == (not said)
    assert RunStore(tmp_path).ids() == ["a-complete-run"]


def test_it_takes_a_bounded_time(tmp_path: Path) -> None:
    """By a clock; the rest goes at the next start."""
    for number in range(4):
        make_run(tmp_path, "complete", name=f"run-of-{number:04}")
    ticks = itertools.chain([0.0] * 7, itertools.repeat(2.0))
    assert purge_expired(tmp_path, RETENTION, now=NOW, clock=lambda: next(ticks)).endswith(" 3 older runs purged")
    assert purge_expired(tmp_path, RETENTION, now=NOW).endswith(" 1 older run purged")


def test_it_fails_no_run(tmp_path: Path) -> None:
    """An obstacle is one line; a purge that is at work already is none."""
    make_run(tmp_path, "complete")
    with only_purge(tmp_path):
        assert purge_expired(tmp_path, RETENTION, now=NOW) == ""
    (tmp_path / PURGES).rmdir()
    (tmp_path / PURGES).write_text("in the way")
    line = purge_expired(tmp_path, RETENTION, now=NOW)
    assert line.startswith("older runs were not purged: ")
    assert line.endswith("; `audiencekit purge` says what to do")
    assert "\n" not in line


class Told:
    """A listener that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def tell(self, message: str) -> None:
        self.lines.append(message)

    def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
        pass


@pytest.mark.parametrize("is_in_the_way", [False, True])
async def test_the_start_of_a_run_purges(
    tmp_path: Path, emulator: Emulator, settings: Settings, is_in_the_way: bool
) -> None:
    """And says so; the run goes its way, also when nothing can be purged."""
    (tmp_path / "list.csv").write_text("email\nada@example.org\n")
    settings = replace(settings, retention=RETENTION)
    find_state_key(settings.state_dir, None)
    old = make_run(settings.state_dir, "complete", age=NOW - datetime.now(UTC) + timedelta(days=31))
    if is_in_the_way:
        (settings.state_dir / PURGES).write_text("in the way")
    told = Told()
    report = await upload_async(tmp_path / "list.csv", audience=emulator.audience_id, settings=settings, progress=told)
    assert (report.state, old.exists()) == ("complete", is_in_the_way)
    expected = "older runs were not purged" if is_in_the_way else "AUDIENCEKIT_RETENTION: 1 older run purged"
    assert len([line for line in told.lines if line.startswith(expected)]) == 1
