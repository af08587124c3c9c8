"""The events of runs: a line for each step, from which the report is made again."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from audiencekit.delivery.limiter import Unlimited
from audiencekit.delivery.retry import SystemClock
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.emulator.faults.orders import read_faults
from audiencekit.errors import AudiencekitError, InputOutputFailed, UsageError
from audiencekit.pipeline import resume_async, upload_async
from audiencekit.runs import events as room
from audiencekit.runs.events import RunEvents, open_events
from audiencekit.runs.reports import read_report, report_from_events
from audiencekit.runs.store import RunStore
from audiencekit.settings import Settings, load_settings
from tests.runs.begun import Listener, begin

pytestmark = pytest.mark.usefixtures("small_requests")
SCHEMA = Draft202012Validator(json.loads(Path(room.__file__).with_name("events.schema.json").read_text()))
STEPS = ["begun", "read", "planned", "request", "wait", "ended"]
FAULTS: list[dict[str, Any]] = [
    {"fault": 13, "where": "after_apply", "nth": 1, "match": {"path": "*/users"}},  # its answer is lost, twice
    {"fault": 13, "where": "after_apply", "nth": 2, "match": {"path": "*/users"}},
    {"fault": 17, "kind": "success_short", "nth": 4, "match": {"path": "*/users"}},  # it is counted wrongly
]


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The events of a file, each valid."""
    found = [json.loads(line) for line in path.read_bytes().splitlines()]
    for event in found:
        SCHEMA.validate(event)
    return found


@pytest.fixture
def recorded(settings: Settings, tmp_path: Path) -> Settings:
    """Settings of runs that write events."""
    return replace(settings, events=tmp_path / "events.jsonl")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


async def test_each_step_is_a_line_of_the_schema(
    source: Path, tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order of the steps, through lost answers and a wrong count; the first repetition waits for nothing."""

    async def at_once(clock: SystemClock, seconds: float) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr(SystemClock, "sleep", at_once)
    async with Emulator(EmulatorOptions(faults=tuple(read_faults(FAULTS)))) as emulator:
        given = {**emulator.env, "AUDIENCEKIT_CONCURRENCY": "1"}
        settings = load_settings(given, directory=tmp_path, state_dir=tmp_path / "state", events=path)
        report = await upload_async(source, audience=emulator.audience_id, settings=settings, limiter=Unlimited())
    found = lines_of(path)
    assert list(dict.fromkeys(each["event"] for each in found)) == STEPS
    assert {each["run_id"] for each in found} == {report.run_id}
    states = {each["number"]: each["state"] for each in found if each["event"] == "request"}
    assert states == dict.fromkeys(range(1, report.requests_planned + 1), "confirmed")
    assert [(each["request"], each["why"]) for each in found if each["event"] == "wait"] == [(1, "retry")]
    assert report.attempts == report.requests_planned + len(FAULTS)
    assert found[-1]["report"] == report.to_json() == report_from_events(path).to_json()


async def test_a_run_that_goes_on_appends_and_begins_with_what_was_sent(
    source: Path, emulator: Emulator, recorded: Settings, path: Path
) -> None:
    """Also after the file was lost; and lines that come twice change nothing."""
    run_id = await begin(source, emulator, recorded)
    assert report_from_events(path).to_json() == read_report(recorded.state_dir, run_id)
    assert (lines_of(path)[-1]["error"], lines_of(path)[-1]["exit_code"]) == ("NotFinished", 75)
    before = path.read_bytes()
    path.unlink()
    report = await resume_async(run_id, settings=recorded)
    found = lines_of(path)
    assert [each["event"] for each in found[:3]] == ["begun", "request", "request"]
    assert found[0]["resumed"]
    assert report_from_events(path).to_json() == report.to_json()
    path.write_bytes(before + 2 * path.read_bytes())
    assert report_from_events(path, run_id).to_json() == report.to_json()


async def test_a_refused_run_ends_without_a_plan(
    tmp_path: Path, emulator: Emulator, recorded: Settings, path: Path
) -> None:
    (tmp_path / "bad.csv").write_text("email\nno address\n")
    with pytest.raises(AudiencekitError) as caught:
        await upload_async(tmp_path / "bad.csv", audience=emulator.audience_id, settings=recorded)
    assert [each["event"] for each in lines_of(path)] == ["begun", "read", "ended"]
    assert report_from_events(path).to_json() == caught.value.document


async def test_several_runs_share_a_file(source: Path, emulator: Emulator, recorded: Settings, path: Path) -> None:
    runs = [await upload_async(source, audience=emulator.audience_id, settings=recorded) for _ in range(2)]
    for report in runs:
        assert report_from_events(path, report.run_id).to_json() == report.to_json()
    with pytest.raises(UsageError, match="has no events of a run other"):
        report_from_events(path, "other")


async def test_a_file_of_something_else_is_left_alone(
    source: Path, emulator: Emulator, recorded: Settings, path: Path
) -> None:
    """Nothing is begun, and a list that was named by mistake stays a list."""
    for content in ("email\nada@example.com\n", '{"email": "ada@example.com"}\n'):
        path.write_text(content)
        with pytest.raises(UsageError, match="is not a file of events"):
            await upload_async(source, audience=emulator.audience_id, settings=recorded)
        assert path.read_text() == content
    with pytest.raises(InputOutputFailed, match="the file of events cannot be written"):
        await upload_async(
            source, audience=emulator.audience_id, settings=replace(recorded, events=path.parent / "missing" / "file")
        )
    assert RunStore(recorded.state_dir).ids() == []


def test_a_line_that_was_cut_short_is_left_out(recorded: Settings, path: Path) -> None:
    """The next one is a line of its own."""
    with ExitStack() as stack:
        open_events(recorded, "run-number-1", stack).read(3, 1)
        path.write_bytes(path.read_bytes() + b'{"version":1,"event":"re')
        open_events(recorded, "run-number-2", stack).read(3, 1)
    assert [each["run_id"] for each in room.read_events(path)] == ["run-number-1", "run-number-2"]
    path.write_bytes(path.read_bytes().replace(b'"version":1', b'"version":2'))
    with pytest.raises(UsageError, match="of another version"):
        list(room.read_events(path))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
async def test_events_that_cannot_be_written_end_nothing(source: Path, emulator: Emulator, recorded: Settings) -> None:
    """It is told once, and the run is complete."""
    progress = Listener()
    full = replace(recorded, events=Path("/dev/full"))
    report = await upload_async(source, audience=emulator.audience_id, settings=full, progress=progress)
    assert report.state == "complete"
    assert sum("events are not written any more" in message for message in progress.told) == 1


async def test_without_a_file_nothing_is_written(source: Path, emulator: Emulator, settings: Settings) -> None:
    """And nothing is made ready to be written: the report of a plan is made for its store alone."""
    events = RunEvents()
    assert not events.is_on
    events.begun({}, is_resumed=False)
    events.wait(1, 2.0, "retry")
    report = await upload_async(source, audience=emulator.audience_id, settings=settings)
    assert report.state == "complete"
    assert not list(source.parent.glob("*.jsonl"))
