"""A clock that is never set, and a name for the moment that it counts from."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from audiencekit.process.boot import BOOT_ID_FILE, UNKNOWN_BOOT, boot_id, boot_seconds


def test_boot_time_goes_on() -> None:
    """Never back, and from the start of the machine: no earlier than the monotonic clock."""
    before = time.monotonic()
    first = boot_seconds()
    assert first >= before - 1.0
    assert boot_seconds() >= first


@pytest.mark.skipif(not BOOT_ID_FILE.exists(), reason="this system has no boot id")
def test_the_boot_has_one_name() -> None:
    """The same at every look."""
    assert boot_id() == boot_id() != UNKNOWN_BOOT


@pytest.mark.parametrize("content", [b"", b"../../etc", b"\xff\xfe", b"fa6e8dd1-ef1f-4c40-9d79"])
def test_an_invalid_boot_id_names_no_file(tmp_path: Path, content: bytes) -> None:
    """Nor does a missing one."""
    (tmp_path / "boot_id").write_bytes(content)
    assert boot_id(tmp_path / "boot_id") == UNKNOWN_BOOT == boot_id(tmp_path / "absent")
