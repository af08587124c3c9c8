"""Runs in a store of their own, for the tests of the store."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from audiencekit.runs.store import RunStore

OLD, NEW, NEWEST = "20261120-120000-aaaaaa00", "20261121-013000-1f3a9c00", "20261121-013000-1f4b0000"
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
