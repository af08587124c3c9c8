"""How long something took."""

from __future__ import annotations

from typing import Any

import pytest

from audiencekit.reporting.durationtext import in_short, seconds_of


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1:00 min"),
        (65, "1:05 min"),
        (3_599, "59:59 min"),
        (3_600, "1:00 h"),
        (7_620, "2:07 h"),
    ],
)
def test_durations(seconds: int, text: str) -> None:
    assert in_short(seconds) == text


@pytest.mark.parametrize(
    ("document", "seconds"),
    [
        ({}, None),
        ({"started_at": "2026-11-22T21:56:18Z"}, None),
        ({"started_at": "2026-11-22T21:56:18Z", "finished_at": None}, None),
        ({"started_at": None, "finished_at": "2026-11-22T21:56:18Z"}, None),
        ({"started_at": "2026-11-22T21:56:18Z", "finished_at": "2026-11-23T00:56:19Z"}, 10_801),
    ],
)
def test_a_run_that_has_not_ended_took_no_time_yet(document: dict[str, Any], seconds: int | None) -> None:
    assert seconds_of(document) == seconds
