"""The witnesses of a test."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from audiencekit.state import files, spool
from tests.canary.witnesses import Printed, Recorder


@pytest.fixture
def logs() -> Iterator[Recorder]:
    """Everything that any library logs, at DEBUG."""
    recorder, root = Recorder(), logging.getLogger()
    level = root.level
    root.addHandler(recorder)
    root.setLevel(logging.DEBUG)
    yield recorder
    root.removeHandler(recorder)
    root.setLevel(level)


@pytest.fixture
def spooled(monkeypatch: pytest.MonkeyPatch) -> bytearray:
    """Every byte that goes into a spool, which leaves no file behind to look into."""
    written = bytearray()

    def write_at(file: int, content: Any, offset: int) -> int:
        written.extend(content)
        return files.write_at(file, content, offset)

    monkeypatch.setattr(spool, "write_at", write_at)
    return written


@pytest.fixture
def printed(capfd: pytest.CaptureFixture[str], logs: Recorder) -> Printed:
    """Takes what was printed and logged so far."""

    def take() -> dict[str, bytes]:
        out, err = capfd.readouterr()
        return {"stdout": out.encode(), "stderr": err.encode(), "logs": "\n".join(logs.lines).encode()}

    return take
