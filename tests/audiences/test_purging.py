"""A purge of runs and erasures together."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from audiencekit.audiences.erasure.erasurestore import ErasureStore
from audiencekit.audiences.purging import PurgeOrder, plan_purge, purge
from audiencekit.errors import InputOutputFailed
from audiencekit.machine.keys import StateKey
from audiencekit.runs.purge.receipt import PURGES
from audiencekit.selection.forgotten.notes import RECEIPT
from audiencekit.settings import Settings, load_settings
from tests.audiences.erasure.test_erasurestore import ID, RECORDS, _receipt
from tests.runs.purge.state import NOW, make_run, set_age

OLD = timedelta(days=40)
ORDER = PurgeOrder(older_than=timedelta(days=30))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Of a state directory with an old run, and an old erasure that was never begun, its keys sealed."""
    settings = load_settings({}, directory=tmp_path, state_dir=tmp_path / "state")
    make_run(settings.state_dir, "complete")
    store = ErasureStore(settings.state_dir)
    with store.locked():
        store.begin(_receipt(), RECORDS, StateKey(b"k" * 32))
    (store.directory(ID) / RECEIPT).unlink()
    set_age(store.directory(ID), OLD)
    return settings


def _tree(state_dir: Path) -> list[str]:
    return sorted(os.path.relpath(path, state_dir) for path in state_dir.rglob("*"))


def test_a_plan_changes_nothing(settings: Settings) -> None:
    """And says what the purge then does."""
    before = _tree(settings.state_dir)
    planned = plan_purge(ORDER, settings, NOW)
    assert _tree(settings.state_dir) == before
    receipt = purge(ORDER, settings, NOW)
    assert planned.expired == receipt.expired == receipt.removed == {"complete": 1, "erasure_files": 1}
    assert receipt.to_json()["before"] == "2026-10-22T12:00:00Z"
    assert not list(settings.state_dir.glob("erasures/forget-*"))
    assert not list(settings.state_dir.glob("runs/*"))


def test_while_an_erasure_is_at_work_its_files_stay(settings: Settings) -> None:
    """Files that look left over may be its newest ones; runs are purged all the same."""
    store = ErasureStore(settings.state_dir)
    with store.locked():
        receipt = purge(ORDER, settings, NOW)
    assert (receipt.state, dict(receipt.removed), receipt.kept["running"]) == ("incomplete", {"complete": 1}, 1)
    assert store.has_keys(ID)
    assert purge(ORDER, settings, NOW).removed == {"erasure_files": 1}


def test_where_others_may_write_nothing_is_purged(settings: Settings) -> None:
    """They could have put there what is to go."""
    settings.state_dir.chmod(0o777)
    with pytest.raises(InputOutputFailed, match="others may write"):
        purge(ORDER, settings, NOW)
    settings.state_dir.chmod(0o700)
    assert len(list(settings.state_dir.glob("runs/*"))) == 1
    assert not (settings.state_dir / PURGES).exists()
