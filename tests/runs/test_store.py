"""One run at a time on one audience, and nothing to clean up after a kill."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from audiencekit.destinations.target import Target
from audiencekit.errors import AudienceBusy, InputOutputFailed, UsageError
from audiencekit.runs.store import (
    BEGUN,
    RunOrder,
    RunStore,
    TargetLock,
    at_work,
    erasure_lock,
    new_run_id,
    nothing_at_work,
)
from tests.moments import PATIENCE_SECONDS
from tests.processes import start
from tests.runs.storedruns import NEW, OLD, REPORT, mode_of, store
from tests.shortened import shortened

# --- One run at a time on one audience, and nothing to clean up after a kill ---

ROOT = Path(__file__).resolve().parents[2]
HOLDER = """
import sys, time
from pathlib import Path
from audiencekit.runs.store import TargetLock
from audiencekit.destinations.target import Target
with TargetLock(Path(sys.argv[1]), "acc", Target.audience("aud"), "run-of-another"):
    print("held", flush=True)
    sys.stdin.read()
"""
# Two processes start at the same moment, round after round; each says whether it got the lock, and waits.
RACE = """
import os, sys
from pathlib import Path
from audiencekit.runs.store import TargetLock
from audiencekit.destinations.target import Target
from audiencekit.errors import AudienceBusy
rounds = []
for number in range(int(sys.argv[2])):
    start, said, over = os.pipe(), os.pipe(), os.pipe()
    for _ in range(2):
        if os.fork() == 0:
            os.close(start[1]), os.close(over[1])
            os.read(start[0], 1)
            try:
                with TargetLock(Path(sys.argv[1]), "acc", Target.audience("aud"), "run"):
                    os.write(said[1], b"1")
                    os.read(over[0], 1)
            except AudienceBusy:
                os.write(said[1], b"0")
            os._exit(0)
    os.close(start[1])
    answers = os.read(said[0], 1) + os.read(said[0], 1)
    os.close(over[1])
    os.wait(), os.wait()
    rounds.append(sorted(answers.decode()))
    for end in (start[0], *said, over[0]):
        os.close(end)
print(all(answers == ["0", "1"] for answers in rounds), len(rounds))
"""


def _lock(state_dir: Path, run_id: str = "run-1", audience_id: str = "aud") -> TargetLock:
    return TargetLock(state_dir, "acc", Target.audience(audience_id), run_id)


def test_the_second_is_told_who_holds_it(tmp_path: Path) -> None:
    """By run and process; another audience is free."""
    with (
        _lock(tmp_path),
        _lock(tmp_path, "run-2", "other"),
        pytest.raises(AudienceBusy, match=f"run run-1 .process {os.getpid()}. is at work") as caught,
        _lock(tmp_path),
    ):
        pass
    assert (caught.value.run_id, caught.value.process_id, caught.value.exit_code) == ("run-1", os.getpid(), 75)
    with _lock(tmp_path):
        pass


def test_a_kill_gives_it_back(tmp_path: Path) -> None:
    """At once, though the file with the dead process's number stays."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    holder = start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == "held\n"
    assert at_work(tmp_path, {"run-of-another"}) == {"run-of-another"}
    assert at_work(tmp_path, {"run-1"}) == set()
    with pytest.raises(AudienceBusy, match="run-of-another"), _lock(tmp_path):
        pass
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdin.close()
    holder.stdout.close()
    with _lock(tmp_path):
        assert at_work(tmp_path, {"run-1"}) == {"run-1"}
    assert at_work(tmp_path, {"run-1"}) == set()


@pytest.mark.parametrize("rounds", shortened([10, 100], 1))
def test_of_two_that_start_at_once_exactly_one_proceeds(rounds: int, tmp_path: Path) -> None:
    """Time after time."""
    done = subprocess.run(
        [sys.executable, "-c", RACE, str(tmp_path), str(rounds)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.stdout == f"True {rounds}\n"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"run_id": 1, "process_id": "x"}'])
def test_a_holder_that_has_not_said_who_it_is_still_holds(tmp_path: Path, content: bytes) -> None:
    """The content of the file is for the message only."""
    with _lock(tmp_path):
        (tmp_path / "locks" / "acc-aud.lock").write_bytes(content)
        with pytest.raises(AudienceBusy, match="another run is at work"), _lock(tmp_path):
            pass


@pytest.mark.parametrize("kind", ["link", "directory", "locks is a link", "locks is a file"])
def test_a_planted_lock_is_a_failure(tmp_path: Path, kind: str) -> None:
    """Nothing is followed, nothing is written elsewhere."""
    (tmp_path / "elsewhere").mkdir()
    if kind.startswith("locks"):
        (tmp_path / "locks").symlink_to(tmp_path / "elsewhere") if "link" in kind else (tmp_path / "locks").touch()
    else:
        (tmp_path / "locks").mkdir()
        place = tmp_path / "locks" / "acc-aud.lock"
        place.symlink_to(tmp_path / "elsewhere" / "file") if kind == "link" else place.mkdir()
    with pytest.raises(InputOutputFailed), _lock(tmp_path):
        pass
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_run_without_a_lock_file_is_not_running(tmp_path: Path) -> None:
    """Looking makes nothing."""
    assert at_work(tmp_path / "none", {"run-1"}) == set()
    assert list(tmp_path.iterdir()) == []


def test_the_runs_at_work_are_known_without_their_journals(tmp_path: Path) -> None:
    """Of those that are asked about; one that has ended is none, although the file still names it."""
    with _lock(tmp_path), _lock(tmp_path, "run-2", "other"):
        assert at_work(tmp_path, {"run-1", "run-3"}) == {"run-1"}
    assert at_work(tmp_path, {"run-1", "run-2"}) == set()
    assert at_work(tmp_path / "none", {"run-1"}) == set()


def test_an_erasure_is_at_work_from_its_note_on(tmp_path: Path) -> None:
    """Like a run; until then the lock is held without a name, and after its end it is free."""
    with erasure_lock(tmp_path) as note:
        assert at_work(tmp_path, {"forget-1"}) == set()
        note("forget-1")
        assert at_work(tmp_path, {"forget-1", "run-1"}) == {"forget-1"}
        with pytest.raises(AudienceBusy, match="another erasure is at work"), erasure_lock(tmp_path):
            pass
    assert at_work(tmp_path, {"forget-1"}) == set()


def test_the_note_of_an_older_version_names_no_erasure(tmp_path: Path) -> None:
    """It wrote the id alone; its lock is held all the same."""
    with erasure_lock(tmp_path):
        (tmp_path / "erasures" / ".lock").write_bytes(b"forget-1")
        assert at_work(tmp_path, {"forget-1"}) == set()
        with pytest.raises(AudienceBusy), erasure_lock(tmp_path):
            pass


@pytest.mark.parametrize("holder", ["a run", "an erasure", "none"])
def test_a_change_of_all_waits_for_none(tmp_path: Path, holder: str) -> None:
    """It is refused while anything is at work, and holds every lock while it lasts."""
    with _lock(tmp_path), erasure_lock(tmp_path):
        pass
    if holder == "none":
        with nothing_at_work(tmp_path), pytest.raises(AudienceBusy), _lock(tmp_path):
            pass
        return
    held = _lock(tmp_path) if holder == "a run" else erasure_lock(tmp_path)
    with held, pytest.raises(AudienceBusy, match="nothing was changed"), nothing_at_work(tmp_path):
        pass
    with nothing_at_work(tmp_path):
        pass


# --- The order in which runs were begun, which no clock tells ---


def _begin(state_dir: Path, *ids: str) -> None:
    for run_id in ids:
        (state_dir / "runs").mkdir(exist_ok=True)
        RunOrder(state_dir).begin(run_id, {})
        (state_dir / "runs" / run_id).mkdir()


@given(st.permutations(range(6)))
def test_a_run_begun_later_comes_later(tmp_path_factory: pytest.TempPathFactory, moments: list[int]) -> None:
    """Whatever the clock said."""
    state_dir = tmp_path_factory.mktemp("state")
    places = {f"run-{number}": moment for number, moment in enumerate(moments)}
    _begin(state_dir, *places)
    assert RunOrder(state_dir).ordered(dict(sorted(places.items(), reverse=True))) == list(places)


def test_an_unlisted_run_stands_behind_earlier_runs(tmp_path: Path) -> None:
    """By its time: its line was damaged, or a kill came before. A clock that was ahead moves nothing else."""
    _begin(tmp_path, "first", "ahead", "third")
    places = {"first": 10, "ahead": 50, "third": 12, "old": 1, "between": 11, "late": 13}
    assert RunOrder(tmp_path).ordered(places) == ["old", "first", "between", "ahead", "third", "late"]


def test_an_unlisted_run_is_listed_with_the_next(tmp_path: Path) -> None:
    """In its place; from then on its time is nothing. One that has written nothing may never have begun."""
    for run_id in ("one", "two"):
        (tmp_path / "runs" / run_id).mkdir(parents=True)
    (tmp_path / "runs" / "two" / "journal.sqlite").write_bytes(b"")
    (tmp_path / "runs" / "one" / "journal.sqlite").write_bytes(b"content")
    order = RunOrder(tmp_path)
    order.begin("three", {"two": 1, "one": 2})
    assert (tmp_path / BEGUN).read_text() == "two?\none\nthree\n"
    assert [order.knows(run_id) for run_id in ("one", "two", "three", "four")] == [True, False, True, False]
    order.insert("two", {})
    assert (tmp_path / BEGUN).read_text() == "two\none\nthree\n"
    assert (tmp_path / BEGUN).stat().st_mode & 0o777 == 0o600


def test_a_removed_run_is_forgotten(tmp_path: Path) -> None:
    """The list does not grow for ever; an id that is begun again is the last."""
    _begin(tmp_path, "one", "two", "three")
    for run_id in ("one", "two"):
        (tmp_path / "runs" / run_id).rmdir()
    _begin(tmp_path, "one")
    assert (tmp_path / BEGUN).read_text().split() == ["three", "one"]


def test_one_that_goes_is_taken_off_the_list(tmp_path: Path) -> None:
    """And no other, also one that is not made yet; a list that is not there stays so."""
    RunOrder(tmp_path).forget("one")
    assert not (tmp_path / BEGUN).exists()
    _begin(tmp_path, "one", "two")
    RunOrder(tmp_path).begin("not-made-yet", {})
    RunOrder(tmp_path).forget("one")
    assert (tmp_path / BEGUN).read_text().split() == ["two", "not-made-yet"]


def test_a_list_that_a_kill_left_half_written_goes_with_the_next(tmp_path: Path) -> None:
    """It holds ids, also of runs that are gone."""
    _begin(tmp_path, "one", "two")
    (tmp_path / f".{BEGUN}-0123456789abcdef").write_text("one\ntwo\nthr")
    RunOrder(tmp_path).forget("one")
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [BEGUN]


def test_many_at_once_are_all_listed(tmp_path: Path) -> None:
    """One after the other."""
    (tmp_path / "runs").mkdir()
    ids = [f"run-{number}" for number in range(20)]
    for run_id in ids:
        (tmp_path / "runs" / run_id).mkdir()
    threads = [threading.Thread(target=RunOrder(tmp_path).begin, args=(run_id, {})) for run_id in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted((tmp_path / BEGUN).read_text().split()) == sorted(ids)


def test_a_list_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    """When something is begun: a directory in its place, or no state directory. What was begun is shown by its time."""
    (tmp_path / BEGUN).mkdir()
    assert RunOrder(tmp_path).ordered({"late": 2, "early": 1}) == ["early", "late"]
    with pytest.raises(InputOutputFailed, match="cannot be read"):
        RunOrder(tmp_path).begin("run", {})
    with pytest.raises(InputOutputFailed, match="cannot be written"):
        RunOrder(tmp_path / "nowhere").begin("run", {})


# --- Runs on disk: private, whole at every moment, listed ---

__all__ = ["store"]


def test_run_id_tells_its_time() -> None:
    """An id is the UTC time of its making, the second's fraction in four digits, and four random ones."""
    assert new_run_id(1_795_224_600.5, lambda size: "1f3a") == "20261121-013000-80001f3a"


@given(st.floats(0, 4e9), st.floats(2**-15, 1e9))
def test_run_ids_sort_by_time(now: float, later: float) -> None:
    """A run made 30 microseconds later or more sorts after, whatever its random digits."""
    assert new_run_id(now, lambda size: "f" * 4) < new_run_id(now + later, lambda size: "0" * 4)


def test_run_ids_differ() -> None:
    """Two ids of one second differ, and are ids that the store takes."""
    first, second = new_run_id(1.0), new_run_id(1.0)
    assert first != second
    assert re.fullmatch(r"19700101-000001-0000[0-9a-f]{4}", first)


def test_directory_is_for_its_owner_alone(store: RunStore, tmp_path: Path) -> None:
    """Directories are 0700 and files 0600, whatever the umask allows."""
    before = os.umask(0)
    try:
        directory = store.create(NEW)
        report = store.write(NEW, REPORT)
    finally:
        os.umask(before)
    assert directory == tmp_path / "state" / "runs" / NEW
    assert [mode_of(path) for path in (directory, directory.parent, report)] == [0o700, 0o700, 0o600]


def test_open_directory_of_runs_is_closed(store: RunStore, tmp_path: Path) -> None:
    """A directory of runs that others may enter is taken from them."""
    runs = tmp_path / "state" / "runs"
    runs.mkdir(parents=True)
    runs.chmod(0o755)
    store.create(NEW)
    assert mode_of(runs) == 0o700


def test_run_is_made_once(store: RunStore) -> None:
    """An id that exists is never used again."""
    store.create(NEW)
    with pytest.raises(InputOutputFailed, match="cannot be made"):
        store.create(NEW)


@pytest.mark.parametrize(
    "run_id",
    ["", ".", "..", "../../etc", "short", "a" * 41, "UPPER-CASE-1", "with space1", "with/slash1", "with\x00null1",
     "with\nnewline", "20261121-013000-1f3a9c00\n", "é" * 9, "..........", "%2e%2e%2f%2e%2e"],
    ids=lambda run_id: f"{len(run_id)} characters",
)  # fmt: skip
def test_an_invalid_run_id_reaches_no_path(store: RunStore, tmp_path: Path, run_id: str) -> None:
    """Only `[0-9a-z-]{8,40}` becomes a path; everything else is refused before the disk is touched."""
    for use in (store.create, store.directory, lambda run: store.write(run, {}), store.read):
        with pytest.raises(UsageError):
            use(run_id)
    assert list(tmp_path.iterdir()) == []


def test_runs_are_listed_newest_first(store: RunStore) -> None:
    """Each run is there with its state and sums; one without a report is incomplete."""
    for run_id in (OLD, NEW):
        store.create(run_id)
    store.write(NEW, REPORT)
    assert store.list_runs() == [
        {
            "run_id": NEW,
            "state": "complete",
            "audience_id": "1nmth",
            "started_at": "2026-11-21T01:30:00Z",
            "finished_at": "2026-11-21T01:30:05Z",
            "rows": {"read": 3, "sent": 3},
            "requests": {"planned": 1},
        },
        {"run_id": OLD, "state": "incomplete", "started_at": "2026-11-20T12:00:00Z"},
    ]


def test_no_runs_are_no_failure(store: RunStore) -> None:
    """A state directory that does not exist holds no runs, and is not made by looking."""
    assert store.list_runs() == []
    with pytest.raises(UsageError, match="no such run"):
        store.find("last")


def test_strange_things_among_the_runs_are_left_alone(store: RunStore, tmp_path: Path) -> None:
    """Files, links and other names among the runs are neither listed nor followed."""
    runs = store.create(NEW).parent
    (runs / "20261121-000000-file00").write_text("")
    (runs / "NOT-A-RUN").mkdir()
    (runs / "20261121-000000-link00").symlink_to(tmp_path)
    assert [run["run_id"] for run in store.list_runs()] == [NEW]


def test_linked_directory_of_runs_is_refused(tmp_path: Path) -> None:
    """A `runs` that points elsewhere is not ours to write to."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "runs").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputOutputFailed, match="is a link"):
        RunStore(tmp_path).create(NEW)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_unusable_state_directory_is_said(tmp_path: Path) -> None:
    """A state directory that is a file is named with the cause."""
    (tmp_path / "state").write_text("")
    with pytest.raises(InputOutputFailed, match="is no directory"):
        RunStore(tmp_path / "state").create(NEW)
    with pytest.raises(InputOutputFailed, match="is no directory"):
        RunStore(tmp_path / "state").list_runs()


def test_a_run_that_is_purged_meanwhile_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are listed, and a new one can be begun."""
    store = RunStore(tmp_path / "state")
    for run_id in ("the-one-that-goes", "the-one-that-stays"):
        store.create(run_id)
    scandir = os.scandir

    def and_purge(path: Path) -> list[os.DirEntry[str]]:
        entries = list(scandir(path))
        store.directory("the-one-that-goes").rmdir()
        return entries

    with monkeypatch.context() as patched:
        patched.setattr("audiencekit.runs.store.os.scandir", and_purge)
        assert list(store.last_changes()) == ["the-one-that-stays"]
    store.create("the-next-one")
    assert sorted(store.ids()) == ["the-next-one", "the-one-that-stays"]  # both may be of one tick of the clock
