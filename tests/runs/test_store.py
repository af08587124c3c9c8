"""Runs on disk: private, whole at every moment, found again."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.errors import Bug, InputOutputFailed, UsageError
from audiencekit.runs.runorder import BEGUN
from audiencekit.runs.store import RunStore, new_run_id

OLD, NEW, NEWEST = "20261120-120000-aaaaaa", "20261121-013000-1f3a9c", "20261121-013000-1f4b00"
REPORT = {
    "run_id": NEW,
    "state": "complete",
    "audience_id": "1nmth",
    "rows": {"read": 3, "sent": 3},
    "requests": {"planned": 1},
    "started_at": "2026-11-21T01:30:00Z",
    "finished_at": "2026-11-21T01:30:05Z",
    "rejections": {},
}


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "state")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


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
        report = store.write_report(NEW, REPORT)
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


def test_report_comes_back(store: RunStore) -> None:
    """A report is read as it was written; a second writing replaces the first and leaves nothing beside it."""
    directory = store.create(NEW)
    store.write_report(NEW, {"state": "incomplete"})
    store.write_report(NEW, REPORT)
    assert store.read_report(NEW) == REPORT
    assert [path.name for path in directory.iterdir()] == ["report.json"]


def test_run_is_made_once(store: RunStore) -> None:
    """An id that exists is never used again."""
    store.create(NEW)
    with pytest.raises(InputOutputFailed, match="cannot be made"):
        store.create(NEW)


@pytest.mark.parametrize(
    "run_id",
    ["", ".", "..", "../../etc", "short", "a" * 41, "UPPER-CASE-1", "with space1", "with/slash1", "with\x00null1",
     "with\nnewline", "20261121-013000-1f3a9c\n", "é" * 9, "..........", "%2e%2e%2f%2e%2e"],
    ids=lambda run_id: f"{len(run_id)} characters",
)  # fmt: skip
def test_what_is_no_run_id_reaches_no_path(store: RunStore, tmp_path: Path, run_id: str) -> None:
    """Only `[0-9a-z-]{8,40}` becomes a path; everything else is refused before the disk is touched."""
    for use in (store.create, store.directory, lambda run: store.write_report(run, {}), store.read_report):
        with pytest.raises(UsageError):
            use(run_id)
    assert list(tmp_path.iterdir()) == []


def test_runs_are_listed_newest_first(store: RunStore) -> None:
    """Each run is there with its state and sums; one without a report is incomplete."""
    for run_id in (OLD, NEW):
        store.create(run_id)
    store.write_report(NEW, REPORT)
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


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"null", b'{"state": "complete"', b"\xff\xfe", b"{}x"])
def test_damaged_report_hides_no_other(store: RunStore, content: bytes) -> None:
    """A report that is no JSON object is `unreadable` in the list and a failure when read; nothing of it is quoted."""
    for run_id in (OLD, NEW):
        store.create(run_id)
    store.write_report(NEW, REPORT)
    (store.directory(OLD) / "report.json").write_bytes(content)
    assert [(run["run_id"], run["state"]) for run in store.list_runs()] == [(NEW, "complete"), (OLD, "unreadable")]
    with pytest.raises(InputOutputFailed, match="is not a report") as caught:
        store.read_report(OLD)
    assert caught.value.__cause__ is None


def _edited(content: bytes) -> Iterator[bytes]:
    """`content` with each of its digits one more."""
    for place, byte in enumerate(content):
        if chr(byte).isdigit():
            yield content[:place] + b"%d" % ((byte - 47) % 10) + content[place + 1 :]


def test_a_changed_number_is_no_report(store: RunStore) -> None:
    """A flipped bit makes no other count; a report of an older version, without a checksum, is read."""
    path = store.create(NEW) / "report.json"
    store.write_report(NEW, REPORT)
    assert store.read_report(NEW) == REPORT
    edited = list(_edited(path.read_bytes()))
    assert len(edited) > 50
    for content in edited:
        path.write_bytes(content)
        with pytest.raises(InputOutputFailed, match="damaged, or edited"):
            store.read_report(NEW)
    path.write_text(json.dumps(REPORT))
    assert store.read_report(NEW) == REPORT


def test_strange_things_among_the_runs_are_left_alone(store: RunStore, tmp_path: Path) -> None:
    """Files, links and other names among the runs are neither listed nor followed."""
    runs = store.create(NEW).parent
    (runs / "20261121-000000-file00").write_text("")
    (runs / "NOT-A-RUN").mkdir()
    (runs / "20261121-000000-link00").symlink_to(tmp_path)
    assert [run["run_id"] for run in store.list_runs()] == [NEW]


@pytest.mark.parametrize(
    ("given_run", "found"),
    [
        ("last", NEWEST),
        (OLD, OLD),
        ("20261120", OLD),
        ("2026112", None),  # three begin like this
        ("20261121-013000-1f", None),
        ("20261121-013000-1f3", NEW),
        ("20261122", None),
        ("", None),
        ("*", None),
        ("../runs", None),
    ],
)
def test_run_is_found_by_its_beginning(store: RunStore, given_run: str, found: str | None) -> None:
    """`last`, a whole id, or the beginning of exactly one; anything else is a usage error."""
    for run_id in (OLD, NEW, NEWEST):
        store.create(run_id)
    if found is not None:
        assert store.find(given_run) == found
        return
    with pytest.raises(UsageError):
        store.find(given_run)


def test_whole_id_wins_over_longer_ones(store: RunStore) -> None:
    """An id that is the beginning of another can still be named."""
    for run_id in ("abcdefgh", "abcdefgh-2"):
        store.create(run_id)
    assert store.find("abcdefgh") == "abcdefgh"


def _begin(store: RunStore, run_id: str, *, changed_at: float) -> None:
    """Begin a run; the clock of then put `changed_at` on its directory."""
    os.utime(store.create(run_id), (changed_at, changed_at))


def test_last_is_the_run_that_was_begun_last(store: RunStore) -> None:
    """Whatever its id says, and the clock said: one that is 30 days ahead makes no run the last for 30 days."""
    ahead, now = 1_795_224_600 + 30 * 86_400, 1_795_224_600
    ids = [new_run_id(ahead), new_run_id(now), "a-daily-list", new_run_id(now - 86_400), "20991231-235959-daily-list"]
    for run_id in ids:
        _begin(store, run_id, changed_at=ahead)
        assert store.find("last") == run_id
    assert store.ids() == ids[::-1]


def test_an_id_that_is_begun_again_is_the_last(store: RunStore) -> None:
    """Its directory was removed; what is removed is forgotten, and one that is there is not moved."""
    for run_id in (OLD, NEW):
        store.create(run_id)
    with pytest.raises(InputOutputFailed):
        store.create(OLD)
    assert store.ids() == [NEW, OLD]
    store.directory(OLD).rmdir()
    store.create(NEWEST)
    store.create(OLD)
    assert store.ids() == [OLD, NEWEST, NEW]


def _forget_order(store: RunStore) -> None:
    """As a state directory that only older versions have worked in."""
    (store.directory(NEW).parent.parent / BEGUN).unlink()


def test_runs_of_older_versions_are_ordered_by_time(store: RunStore) -> None:
    """Ids that callers chose tell no time: the last change in their directories does. New runs come behind them."""
    for run_id, changed in (("a-daily-list", "20261121-013001"), ("the-weekly-list", "20261120-235959")):
        when = datetime.strptime(changed, "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp()
        _begin(store, run_id, changed_at=when)
    for run_id in (NEW, OLD):
        store.create(run_id)
    _forget_order(store)
    old = ["a-daily-list", NEW, "the-weekly-list", OLD]
    assert store.ids() == old
    store.create("20010101-000000-000000")
    assert store.ids() == ["20010101-000000-000000", *old]


@pytest.mark.parametrize(
    "chosen", ["20261101-000000-daily-list", "20991231-235959-daily-list", "20261101-000000-0123456789abcdef"]
)
def test_a_time_in_an_id_that_a_caller_chose_is_not_that_of_the_run(store: RunStore, chosen: str) -> None:
    """It is what the run is for: a day before, or a year. When it began is not known then, but what came after it."""
    moments = {OLD: 0, chosen: 1_795_224_600, new_run_id(1_795_224_601): 0}
    for run_id, moment in moments.items():
        _begin(store, run_id, changed_at=moment)
    _forget_order(store)
    assert store.ids() == list(moments)[::-1]
    assert [run["started_at"] for run in store.list_runs()][1] is None


def test_of_one_second_the_run_of_an_older_version_that_changed_last_is_last(store: RunStore) -> None:
    """A name that sorts later, a 9 before a 10, and random digits make no run newer."""
    second = 1_795_224_601
    ids = [
        "the-daily-list", "a-daily-list", "20261121-013001-4000ffff", "20261121-013001-ffffff",
        "20261121-013001-000000", "20261121-013001-list--9", "20261121-013001-list--10",
    ]  # fmt: skip
    for place, run_id in enumerate(ids):
        _begin(store, run_id, changed_at=second + (place + 1) / 10)
    own = new_run_id(second + 0.95)
    _begin(store, own, changed_at=second)
    _forget_order(store)
    assert store.ids() == [own, *ids[::-1]]


@pytest.mark.parametrize("content", [b"", b"\xff\0\n\n", b"..\n/\nlast\n"])
def test_a_damaged_order_is_that_of_time(store: RunStore, tmp_path: Path, content: bytes) -> None:
    """And is put right by the next run."""
    for run_id in (OLD, NEW):
        store.create(run_id)
    order = tmp_path / "state" / BEGUN
    order.write_bytes(content)
    assert store.ids() == [NEW, OLD]
    store.create("20010101-000000-000000")
    assert order.read_text().split() == [OLD, NEW, "20010101-000000-000000"]


def test_the_report_of_another_run_is_no_report(store: RunStore) -> None:
    """A file that was restored into the wrong directory tells no counts."""
    first, second = (store.create(f"20261121-013000-00000{number}").name for number in (1, 2))
    store.write_report(first, {"run_id": first, "state": "complete"})
    shutil.copy(store.directory(first) / "report.json", store.directory(second))
    with pytest.raises(InputOutputFailed, match="the report of another run"):
        store.read_report(second)
    assert {run["run_id"]: run["state"] for run in store.list_runs()} == {first: "complete", second: "unreadable"}


def test_report_is_read_by_beginning_and_last(store: RunStore) -> None:
    """`read_report` takes what `find` takes."""
    store.create(NEW)
    store.write_report(NEW, REPORT)
    assert store.read_report("last") == store.read_report("202611") == REPORT


def test_run_without_report_says_so(store: RunStore) -> None:
    """Reading a report that was never written fails and names the file."""
    store.create(NEW)
    with pytest.raises(InputOutputFailed, match=re.escape("report.json")):
        store.read_report(NEW)


@pytest.mark.parametrize("call", ["fsync", "replace", "open"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_failed_writing_keeps_the_old_report(
    store: RunStore, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    """Whatever step fails, the report is the old one, whole, and no temporary file stays."""
    directory = store.create(NEW)
    store.write_report(NEW, REPORT)

    def failing(*args: Any, **options: Any) -> Any:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing)
        with pytest.raises(InputOutputFailed, match="the report cannot be written"):
            store.write_report(NEW, {"state": "refused"})
    assert store.read_report(NEW) == REPORT
    assert [path.name for path in directory.iterdir()] == ["report.json"]


def test_report_is_synced_before_it_is_renamed_and_its_directory_after(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order that survives a power loss: content, name, directory."""
    store.create(NEW)
    steps: list[str] = []
    sync, replace = os.fsync, os.replace

    def noting_sync(file: int) -> None:
        steps.append("directory" if stat.S_ISDIR(os.fstat(file).st_mode) else "content")
        sync(file)

    def noting_replace(source: Any, target: Any) -> None:
        steps.append("name")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noting_sync)
    monkeypatch.setattr(os, "replace", noting_replace)
    store.write_report(NEW, REPORT)
    assert steps == ["content", "name", "directory"]


def test_report_that_is_no_json_is_a_bug(store: RunStore) -> None:
    """Something that cannot be written, such as a type that must not be shown, is named without its value."""
    store.create(NEW)
    with pytest.raises(Bug, match="not JSON") as caught:
        store.write_report(NEW, {"state": object()})
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("kind", ["link", "pipe", "directory"])
def test_planted_report_is_not_followed(store: RunStore, tmp_path: Path, kind: str) -> None:
    """A link, pipe or directory in the place of a report is a failure, at once."""
    place = store.create(NEW) / "report.json"
    (tmp_path / "other.json").write_text("{}")
    if kind == "link":
        place.symlink_to(tmp_path / "other.json")
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.mkdir()
    with pytest.raises(InputOutputFailed):
        store.read_report(NEW)
    assert store.list_runs()[0]["state"] == "unreadable"


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
    assert store.ids() == ["the-next-one", "the-one-that-stays"]
