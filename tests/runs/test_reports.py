"""The report of a run as things stand."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator
from audiencekit.pipeline import upload_async
from audiencekit.runs import beginning, reports
from audiencekit.settings import Settings


def _set_clock(monkeypatch: pytest.MonkeyPatch, module: Any, time: str) -> None:
    """Have `module` read this time for ever."""

    class Fixed(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime.fromisoformat(time)

    monkeypatch.setattr(module, "datetime", Fixed)


async def test_a_run_never_ends_before_it_began(
    source: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock may be set back while it goes on."""
    _set_clock(monkeypatch, beginning, "2026-11-21T01:30:00Z")
    _set_clock(monkeypatch, reports, "2026-11-20T01:30:00Z")
    report = await upload_async(source, audience_id=emulator.audience_id, settings=settings)
    assert report.started_at == report.finished_at == "2026-11-21T01:30:00Z"
