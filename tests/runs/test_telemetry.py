"""The trace and the metrics of a run: what is in them, and collectors that do what they like."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from audiencekit.delivery.limiter import Unlimited
from audiencekit.delivery.retry import SystemClock
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.emulator.faults.orders import read_faults
from audiencekit.errors import UsageError
from audiencekit.personal import Secret
from audiencekit.pipeline import resume_async, upload_async
from audiencekit.runs import telemetry as room
from audiencekit.runs.events import read_events
from audiencekit.runs.store import RunStore
from audiencekit.runs.telemetry import RunTrace
from audiencekit.settings import Settings, load_settings
from tests.notifications.localreceiver import WAYS, LocalReceiver, local_receiver
from tests.runs.begun import ROWS, Listener, begin
from tests.runs.test_events import FAULTS

pytestmark = pytest.mark.usefixtures("small_requests")


@pytest.fixture
def collector() -> Iterator[LocalReceiver]:
    with local_receiver() as found:
        yield found


def base(collector: LocalReceiver) -> str:
    return f"http://127.0.0.1:{collector.port}/otlp/"


def traced(settings: Settings, collector: LocalReceiver) -> Settings:
    return replace(settings, otel_url=Secret(base(collector)))


def seen(events: list[dict[str, Any]]) -> tuple[list[ReadableSpan], dict[str, Any]]:
    """The spans of events, and the sums or counts of each metric by its attributes."""
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers, meters = TracerProvider(), MeterProvider([reader])
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    trace = RunTrace(tracers.get_tracer("test"), meters.get_meter("test"))
    for event in events:
        trace.add(event)
    trace.finish()
    found = reader.get_metrics_data()
    assert found is not None
    measured = {
        metric.name: {frozenset((point.attributes or {}).items()): point for point in metric.data.data_points}
        for metric in found.resource_metrics[0].scope_metrics[0].metrics
    }
    return list(spans.get_finished_spans()), measured


def at(seconds: float) -> str:
    return f"2026-01-01T00:00:{seconds:06.3f}Z"


def event(name: str, when: float, /, **facts: Any) -> dict[str, Any]:
    return {"version": 1, "event": name, "run_id": "one", "at": at(when), **facts}


def request(seconds: float, number: int, state: str, error: str | None = None) -> dict[str, Any]:
    facts = {"number": number, "wave": 0, "state": state, "attempts": 2, "rate_limited": 1, "records": 7, "bytes": 900}
    return event("request", seconds, **facts, success_count=7, refused=[{"row": 5, "codes": ["X"]}], error=error)


def report(state: str = "incomplete", **rows: int) -> dict[str, Any]:
    counts = dict.fromkeys(("read", "sent", "rejected", "duplicate", "superseded", "suppressed", "pending"), 0) | rows
    return {
        "run_id": "one", "state": state, "operation": "update", "target": {"kind": "audience", "id": "abc"},
        "rows": counts, "rejections": {}, "identifiers": {}, "notes": ["column secret_column"], "problems": [],
    }  # fmt: skip


EVENTS = [
    event("begun", 0, resumed=False, report=report()),
    event("read", 2, rows={"read": 2000, "rejected": 0}),
    event("planned", 3, report=report(read=2000, pending=2000)),
    request(4, 1, "intended"),
    event("wait", 5, request=1, seconds=2.0, why="retry"),
    request(8, 1, "confirmed"),
    event("wait", 10, request=None, seconds=1.5, why="pace"),
    request(11, 2, "intended"),
    event("wait", 12, request=2, seconds=30.0, why="outage"),
    request(15, 2, "unknown", "ServiceUnavailable"),
    event("ended", 20, report=report(read=2000, sent=1000, pending=1000), error="NotFinished", exit_code=75),
]


def _lines(spans: list[ReadableSpan]) -> set[tuple[str, str | None, float, float, bool]]:
    """Name, name of the parent, begin and end in seconds, whether it failed."""
    names = {span.context.span_id: span.name for span in spans if span.context}
    zero = min(span.start_time or 0 for span in spans)
    return {
        (
            span.name.removeprefix("audiencekit."),
            names[span.parent.span_id].removeprefix("audiencekit.") if span.parent else None,
            ((span.start_time or 0) - zero) / 1e9,
            ((span.end_time or 0) - zero) / 1e9,
            span.status.status_code is StatusCode.ERROR,
        )
        for span in spans
    }


def test_a_run_is_a_span_with_its_steps_requests_and_waits() -> None:
    """A wait of the pace is told at its end; one that the run did not wait for ends with it."""
    spans, _ = seen(EVENTS)
    assert _lines(spans) == {
        ("run", None, 0, 20, True),
        ("read", "run", 0, 2, False),
        ("plan", "run", 2, 3, False),
        ("request", "run", 4, 8, False),
        ("wait", "request", 5, 7, False),
        ("wait", "run", 8.5, 10, False),
        ("request", "run", 11, 15, True),
        ("wait", "request", 12, 20, False),
    }
    attributes = {span.name: dict(span.attributes or {}) for span in spans}
    assert attributes["audiencekit.run"] == {
        "audiencekit.run_id": "one",
        "audiencekit.resumed": False,
        "audiencekit.operation": "update",
        "audiencekit.target.kind": "audience",
        "audiencekit.target.id": "abc",
        "audiencekit.state": "incomplete",
        "audiencekit.exit_code": 75,
        "audiencekit.rounded_to": 10,
        "error.type": "NotFinished",
        **{f"audiencekit.rows.{name}": 0 for name in ("rejected", "duplicate", "superseded", "suppressed")},
        "audiencekit.rows.read": 2000,
        "audiencekit.rows.sent": 1000,
        "audiencekit.rows.pending": 1000,
    }


def test_metrics_count_what_this_process_did() -> None:
    """A run that goes on counts only what is new, and no request of the process before."""
    place = {"audiencekit.operation": "update", "audiencekit.target.kind": "audience", "audiencekit.target.id": "abc"}

    def of(**also: str) -> frozenset[tuple[str, str]]:
        return frozenset(
            {**place, **{f"audiencekit.{name.replace('_', '.')}": each for name, each in also.items()}}.items()
        )

    _, measured = seen(EVENTS)
    assert {key: point.value for key, point in measured["audiencekit.rows"].items()} == {of(outcome="sent"): 1000}
    counted = {key: point.count for key, point in measured["audiencekit.request.duration"].items()}
    assert counted == {of(state="confirmed"): 1, of(state="unknown"): 1}
    waited = {key: point.sum for key, point in measured["audiencekit.wait.duration"].items()}
    assert waited == {of(wait_why="retry"): 2, of(wait_why="pace"): 1.5, of(wait_why="outage"): 30}
    later = [
        event("begun", 30, resumed=True, report=report(read=2000, sent=1000, pending=1000)),
        request(30, 1, "confirmed"),
        request(30, 2, "unknown"),
        event("read", 31, rows={"read": 2000, "rejected": 0}),
        event("planned", 32, report=report(read=2000, sent=1000, pending=1000)),
        request(33, 2, "intended"),
        request(34, 2, "confirmed"),
        event("ended", 35, report=report("complete", read=2000, sent=1500, rejected=500), error=None, exit_code=0),
    ]
    spans, measured = seen(later)
    assert Counter(span.name for span in spans)["audiencekit.request"] == 1
    assert {key: point.value for key, point in measured["audiencekit.rows"].items()} == {
        of(outcome="sent"): 500,
        of(outcome="rejected"): 500,
    }


def test_small_counts_and_texts_are_not_told() -> None:
    """Neither a row, nor bytes or records of a request, which a single person could be computed from."""
    ended = event("ended", 9, report=report("complete", read=2003, sent=2000, rejected=3), error=None, exit_code=0)
    spans, measured = seen([*EVENTS[:6], ended])
    told = json.dumps([[span.name, dict(span.attributes or {})] for span in spans])
    assert "audiencekit.rows.rejected" not in told
    assert "2003" not in told
    assert "secret_column" not in told
    (of_request,) = (span.attributes or {} for span in spans if span.name == "audiencekit.request")
    assert set(of_request) == {
        *("audiencekit.request.number", "audiencekit.request.wave", "audiencekit.state"),
        *("audiencekit.request.attempts", "audiencekit.request.rate_limited"),
    }
    assert {point.value for point in measured["audiencekit.rows"].values()} == {2000}


def _spans(collector: LocalReceiver) -> list[Any]:
    """All spans that came to the collector, in any body."""
    found = []
    for path, body in zip(collector.paths, collector.bodies, strict=True):
        if path == "POST /otlp/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                found += [span for scope in resource.scope_spans for span in scope.spans]
    return found


async def test_the_collector_gets_the_trace_of_the_events(
    source: Path, tmp_path: Path, collector: LocalReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through lost answers and a wrong count: the spans are those of the lines in the file, and hold nothing else."""

    async def at_once(clock: SystemClock, seconds: float) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr(SystemClock, "sleep", at_once)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://192.0.2.1:4318")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=of-another-program")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=night")
    path = tmp_path / "events.jsonl"
    async with Emulator(EmulatorOptions(faults=tuple(read_faults(FAULTS)))) as emulator:
        variables = {
            "AUDIENCEKIT_OTEL_URL": base(collector),
            "AUDIENCEKIT_OTEL_HEADERS": "Authorization=Bearer%20x,a=b",
        }
        settings = load_settings(
            {**emulator.env, **variables, "AUDIENCEKIT_CONCURRENCY": "1"}, directory=tmp_path,
            state_dir=tmp_path / "state", events=path,
        )  # fmt: skip
        done = await upload_async(source, audience=emulator.audience_id, settings=settings, limiter=Unlimited())
    expected, _ = seen(list(read_events(path)))
    came = _spans(collector)
    assert sorted((span.name, span.start_time_unix_nano, span.end_time_unix_nano) for span in came) == sorted(
        (span.name, span.start_time, span.end_time) for span in expected
    )
    assert len({span.trace_id for span in came}) == 1
    (metrics,) = [
        body for path, body in zip(collector.paths, collector.bodies, strict=True) if path == "POST /otlp/v1/metrics"
    ]
    (resource,) = ExportMetricsServiceRequest.FromString(metrics).resource_metrics
    told = {each.key: each.value.string_value for each in resource.resource.attributes}
    assert told["service.name"] == "audiencekit"
    assert (told["service.instance.id"], told["deployment.environment.name"]) == (done.run_id, "night")
    assert {(each["Authorization"], each["a"], each.get("api-key")) for each in collector.headers} == {
        ("Bearer x", "b", None)
    }
    everything = b"".join(collector.bodies)
    for word in (b"example.com", b"person", b"email", b"phone", str(source.name).encode()):
        assert word not in everything


async def test_a_run_that_goes_on_has_the_same_trace(
    source: Path, emulator: Emulator, settings: Settings, collector: LocalReceiver
) -> None:
    """A span of the run for each of its processes."""
    run_id = await begin(source, emulator, traced(settings, collector))
    await resume_async(run_id, settings=traced(settings, collector))
    came = _spans(collector)
    assert len({span.trace_id for span in came}) == 1
    assert Counter(span.name for span in came)["audiencekit.run"] == 2
    assert Counter(span.name for span in came)["audiencekit.request"] >= ROWS // 30


@pytest.mark.parametrize("way", [each for each in WAYS if each != "well"])
async def test_a_collector_may_do_what_it_likes(
    source: Path, emulator: Emulator, settings: Settings, collector: LocalReceiver, monkeypatch: pytest.MonkeyPatch,
    way: str,
) -> None:  # fmt: skip
    """The run is complete, waits for no longer than it may, and says once that the trace is not whole."""
    collector.way = way
    monkeypatch.setattr(room, "MOST_SECONDS", 0.3)
    progress = Listener()
    done = await upload_async(
        source, audience=emulator.audience_id, settings=traced(settings, collector), progress=progress
    )
    assert done.state == "complete"
    (warning,) = [each for each in progress.told if "OTEL_URL" in each]
    assert warning.startswith("warning: the collector of AUDIENCEKIT_OTEL_URL did not take the whole trace: ")
    assert "127.0.0.1" not in warning
    assert not [path for path in collector.paths if "elsewhere" in path]


async def test_a_bug_in_the_trace_is_none_of_the_run(
    source: Path, emulator: Emulator, settings: Settings, collector: LocalReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: RunTrace, event: Mapping[str, Any]) -> None:
        raise ValueError("ada@example.com")

    monkeypatch.setattr(RunTrace, "add", fail)
    progress = Listener()
    settings = traced(settings, collector)
    done = await upload_async(source, audience=emulator.audience_id, settings=settings, progress=progress)
    assert done.state == "complete"
    (warning,) = [each for each in progress.told if "OTEL_URL" in each]
    assert warning.endswith("bug: ValueError; please report this line")


async def test_spans_wait_for_a_collector_that_comes_back(
    collector: LocalReceiver, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest ones go when there are too many, and that is said."""
    monkeypatch.setattr(room, "_EVERY_SECONDS", 0.01)
    monkeypatch.setattr(room, "_MOST_SPANS", 5)
    collector.way = "error"
    telemetry = room.Telemetry(traced(settings, collector), "one")
    for each in EVENTS[:-1]:
        telemetry.add(each)
    while "POST /otlp/v1/traces" not in collector.paths:
        time.sleep(0.005)
    collector.way = "well"
    collector.bodies, collector.paths = [], []
    telemetry.add(EVENTS[-1])
    assert telemetry.close() == "3 spans were dropped, since it took none for too long"
    assert Counter(span.name for span in _spans(collector))["audiencekit.run"] == 1


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"OTEL_URL": "http://collector.example.com:4318/s3cret"}, "OTEL_URL is an address without encryption"),
        ({"OTEL_URL": "s3cret"}, "OTEL_URL is not an address"),
        ({"OTEL_URL": "https://c.example", "OTEL_HEADERS": "s3cret"}, "OTEL_HEADERS is not of the form"),
        ({"OTEL_URL": "https://c.example", "OTEL_HEADERS": "a=s3cret%0d%0ab"}, "OTEL_HEADERS is not of the form"),
    ],
)
async def test_an_invalid_address_is_refused_at_once(
    source: Path, emulator: Emulator, tmp_path: Path, variables: dict[str, str], words: str
) -> None:
    """Nothing is begun, and nothing of it is shown."""
    environment = emulator.env | {f"AUDIENCEKIT_{name}": value for name, value in variables.items()}
    settings = load_settings(environment, directory=None, state_dir=tmp_path / "state", user_file=False)
    with pytest.raises(UsageError, match=words) as caught:
        await upload_async(source, audience=emulator.audience_id, settings=settings)
    assert "s3cret" not in f"{caught.value}{caught.value.hint}"
    assert RunStore(settings.state_dir).ids() == []


async def test_variables_of_other_programs_name_no_collector(
    source: Path, emulator: Emulator, tmp_path: Path, collector: LocalReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", base(collector))
    environment = emulator.env | {"OTEL_EXPORTER_OTLP_ENDPOINT": base(collector)}
    settings = load_settings(environment, directory=None, state_dir=tmp_path / "state", user_file=False)
    assert (await upload_async(source, audience=emulator.audience_id, settings=settings)).state == "complete"
    assert collector.paths == []
