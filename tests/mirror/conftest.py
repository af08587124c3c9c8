"""A bucket in memory, and the environment that leads to it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from audiencekit.mirror import objects as objects_module, opening
from tests.mirror.servers import KEY
from tests.mirror.stores import MemoryObjects

ADDRESS = "s3://lists/acme"


@pytest.fixture
def objects(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MemoryObjects:
    """Those at every address, without a state."""
    found = MemoryObjects()
    monkeypatch.setattr(opening, "BucketObjects", lambda _: found)
    monkeypatch.setattr(objects_module, "_FIRST_WAIT_SECONDS", 0.0)
    monkeypatch.delenv("AUDIENCEKIT_STATE_DIR")
    monkeypatch.setenv("AUDIENCEKIT_STATE", ADDRESS)
    monkeypatch.setenv("AUDIENCEKIT_KEY", KEY)
    (tmp_path / "copies").mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "copies"))
    return found


@pytest.fixture
def empty(objects: MemoryObjects, tmp_path: Path) -> Iterator[Path]:
    """Where working copies are made; none is left."""
    yield tmp_path / "copies"
    assert list((tmp_path / "copies").iterdir()) == []
