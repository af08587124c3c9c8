"""One purge between the two writings of its receipt."""

from __future__ import annotations

import json
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from audiencekit.destinations.target import Target
from audiencekit.errors import AudienceBusy, InputOutputFailed
from audiencekit.machine.checkeddocuments import decode_checked
from audiencekit.runs.locks import TargetLock
from audiencekit.runs.purge import removal
from audiencekit.runs.purge.expired import find_runs
from audiencekit.runs.purge.purging import only_purge, receipted, remove_all
from audiencekit.runs.purge.receipt import FORM, PURGES, PurgeReceipt
from audiencekit.runs.runorder import BEGUN
from audiencekit.runs.store import RunStore
from tests.runs.journal.conftest import FACTS, STATE_KEY
from tests.runs.purge.state import NOW, make_run


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

    monkeypatch.setattr("audiencekit.runs.purge.purging.remove", stop)
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
        patched.setattr("audiencekit.runs.purge.removal.shutil.rmtree", refuse_some)
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
