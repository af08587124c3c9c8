"""Shared by the tests of runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from audiencekit.destinations.requests.request_plan import BodyLimits
from audiencekit.settings import Settings
from tests.runs.begun import HEADER, LINES


@pytest.fixture
def small_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows are several requests."""
    monkeypatch.setattr(BodyLimits, "within", lambda _: BodyLimits(max_body_bytes=1_500))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A list of ROWS people."""
    path = tmp_path / "list.csv"
    path.write_text("\n".join([HEADER, *LINES]) + "\n")
    return path


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """One request after the other, so that it is known where a run ends."""
    return replace(settings, concurrency=1)
