"""Runs at a service that takes fewer people, operations or bytes a request than the specification says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator
from audiencekit.emulator.faults.orders import read_faults
from audiencekit.pipeline import upload_async
from audiencekit.settings import Settings
from tests.shortened import shortened


def _source(path: Path, people: int) -> Path:
    path.write_text("email\n" + "".join(f"person{number}@example.com\n" for number in range(people)))
    return path


@pytest.mark.parametrize(
    ("people", "fault", "limited", "most_attempts"),
    shortened(
        [
            (20_000, {"most_operations": 1_000}, "operations", 10),
            (20_000, {"most_bytes": 1_000_000, "status": 413}, "bytes", 12),
            (60_000, {"most_records": 2_500}, "records", 40),
        ],
        0,
    ),
    ids=str,
)
async def test_a_size_is_learned_once(
    tmp_path: Path,
    emulator: Emulator,
    settings: Settings,
    people: int,
    fault: dict[str, Any],
    limited: str,
    most_attempts: int,
) -> None:
    """The run is complete with few attempts; the report says which size is taken, and its option keeps its promise."""
    source = _source(tmp_path / "list.csv", people)
    settings = replace(settings, concurrency=2)
    emulator.faults.add(read_faults([{"fault": 19, **fault}]))
    report = await upload_async(source, audience=emulator.audience_id, settings=settings)
    assert (report.state, report.success_count) == ("complete", people)
    assert report.attempts <= most_attempts
    learned = report.to_json()["requests"]["learned_size"]
    assert learned["limited"] == limited
    limit = fault[f"most_{limited}"]
    assert learned["taken"][limited] <= limit < learned["refused"][limited]
    name = "max_body_bytes" if limited == "bytes" else "max_records_per_request"
    (note,) = [note for note in report.notes if name in note]
    assert f"`{name}={learned['taken'][limited]}`" in note
    size: Any = {name: learned["taken"][limited]}
    again = await upload_async(source, audience=emulator.audience_id, settings=settings, **size)
    assert again.attempts == again.requests_planned
    assert again.learned_size is None


async def test_a_bad_record_is_found_beside_a_limit(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """Its row is refused alone, and all others are taken."""
    source = _source(tmp_path / "list.csv", 5_000)
    emulator.faults.add(read_faults([{"fault": 19, "most_records": 700}]))
    emulator.faults.add(read_faults([{"fault": 20, "bad": {"share": 0.001}, "shape": "errors", "seed": 2}]))
    report = await upload_async(source, audience=emulator.audience_id, settings=settings)
    refused = report.rejections["refused_by_service"]
    assert 0 < refused < 30
    assert (report.state, report.success_count) == ("complete", 5_000 - refused)
    assert report.learned_size is not None
    assert report.learned_size["limited"] == "records"
    assert report.learned_size["taken"]["records"] <= 700
