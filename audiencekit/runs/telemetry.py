"""The events of a run as OpenTelemetry has them: one trace a run, and metrics, sent to the collector of the settings.

Loaded only where a collector is named. It gets ids of runs and targets, times, states, and counts of rows that are
floored as those of a notification: no value, no hash, no name of a column, a file or an audience. A run ends as it
would without the collector, and waits for it at most MOST_SECONDS.

Only the spans and metrics are made by the SDK. Its exporters also read the variables of other programs: they would send
headers of these, ask their proxies, and follow redirects.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime
from threading import Event, Lock, Thread
from typing import Any, Final
from urllib.parse import unquote

from audiencekit import __version__
from audiencekit.errors import UsageError
from audiencekit.personal import Secret
from audiencekit.process.connections import Connections
from audiencekit.process.exchanges import Address, Deadline, Exchange
from audiencekit.reporting.page.privacy import FlooredCounts
from audiencekit.settings import PREFIX, Settings
from audiencekit.text import install_extra

try:
    from opentelemetry.context import Context
    from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.metrics import Meter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
    from opentelemetry.trace import Span, StatusCode, Tracer, set_span_in_context
except ImportError:
    raise UsageError(f"{PREFIX}OTEL_URL needs a package that is missing", hint=install_extra("otel")) from None

MOST_SECONDS: Final = 3.0  # that the end of a run waits for the collector
_EVERY_SECONDS: Final = 10.0
_MOST_SPANS: Final = 10_000  # that wait for a collector; the oldest ones go first
_MOST_SENT: Final = 1_000  # spans in one body
_SECONDS: Final = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14400)
_MADE_BY: Final = "audiencekit"
_RESTING: Final = frozenset({"read", "pending"})  # counts of rows that are no outcome
_HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2


class RunTrace:
    """The spans and the measurements of one run, from its events in their order.

    The run is a span. Its children are the reading and the planning of the source, each request, and each wait, which
    is a child of its request where it has one.
    """

    def __init__(self, tracer: Tracer, meter: Meter) -> None:
        self._tracer = tracer
        self._rows = meter.create_counter("audiencekit.rows", "{row}", "Rows by outcome; floored.")
        self._durations = {
            name: meter.create_histogram(
                f"audiencekit.{name}.duration", "s", words, explicit_bucket_boundaries_advisory=_SECONDS
            )
            for name, words in (("run", "Runs."), ("request", "Requests that ended."), ("wait", "Waits."))
        }
        self._root: Span | None = None
        self._step: Span | None = None
        self._is_planned = False
        self._requests: dict[int, tuple[Span, int]] = {}
        self._waits: list[tuple[Span, int]] = []
        self._begun_at = self._last_at = 0
        self._before: Mapping[str, int | None] = {}
        self._end: Mapping[str, Any] = {}

    def add(self, event: Mapping[str, Any]) -> None:
        """Take one event. Unknown ones are left out."""
        now = self._last_at = _nanoseconds(event["at"])
        self._end_waits(now)
        if self._root is None:
            self._begin(event, now)
        elif event["event"] == "read":
            self._next_step("plan", now)
        elif event["event"] == "planned":
            self._is_planned = True
            self._next_step(None, now)
        elif event["event"] == "request" and self._is_planned:  # earlier ones are of another process
            self._request(event, now)
        elif event["event"] == "wait":
            self._wait(event, now)
        elif event["event"] in ("ended", "erasure"):
            self._end = event

    def finish(self) -> None:
        """End the run, as its last event says."""
        if self._root is None:
            return
        now, root = self._last_at, self._root
        self._end_waits(now, all_of_them=True)
        for number in list(self._requests):
            self._end_request(number, "unknown", None, now)
        self._next_step(None, now)
        report = self._end.get("report", self._end)
        state, error = report.get("state", "incomplete"), self._end.get("error")
        if "report" in self._end:
            self._count_rows(root, report)
        elif self._end.get("people") is not None:
            root.set_attribute("audiencekit.people", self._end["people"])
        root.set_attribute("audiencekit.state", state)
        if "exit_code" in self._end:
            root.set_attribute("audiencekit.exit_code", self._end["exit_code"])
        _fail(root, error, is_failed=state != "complete")
        found = {**self._place, "audiencekit.state": state, **({"error.type": error} if error else {})}
        self._durations["run"].record((now - self._begun_at) / 1e9, found)
        root.end(now)

    def _begin(self, event: Mapping[str, Any], now: int) -> None:
        report = event.get("report", {})
        target = report.get("target") or {}
        facts = {"operation": report.get("operation", "forget"), "target.kind": target.get("kind")}
        facts |= {"target.id": target.get("id")}
        self._place = {f"audiencekit.{name}": str(value) for name, value in facts.items() if value is not None}
        attributes = {"audiencekit.run_id": event["run_id"], **self._place}
        attributes["audiencekit.resumed"] = event.get("resumed", False) or event.get("step") == "resumed"
        # Without the span that surrounds this process: a run has one trace, also when it goes on in another process.
        self._root = self._tracer.start_span("audiencekit.run", Context(), attributes=attributes, start_time=now)
        self._begun_at = now
        if "report" in event:
            self._before = FlooredCounts(report).rows or {}
            self._next_step("read", now)

    def _next_step(self, name: str | None, now: int) -> None:
        if self._step is not None:
            self._step.end(now)
        self._step = None if name is None else self._child(f"audiencekit.{name}", now)

    def _request(self, event: Mapping[str, Any], now: int) -> None:
        number, state = event["number"], event["state"]
        if state != "intended":
            self._end_request(number, state, event, now)
        elif number not in self._requests:
            attributes = {"audiencekit.request.number": number, "audiencekit.request.wave": event["wave"]}
            self._requests[number] = self._child("audiencekit.request", now, attributes), now

    def _end_request(self, number: int, state: str, event: Mapping[str, Any] | None, now: int) -> None:
        if number not in self._requests:
            return
        span, begun_at = self._requests.pop(number)
        span.set_attribute("audiencekit.state", state)
        if event is not None:
            for name in ("attempts", "rate_limited"):
                span.set_attribute(f"audiencekit.request.{name}", event[name])
        _fail(span, None if event is None else event["error"], is_failed=state != "confirmed")
        span.end(now)
        self._durations["request"].record((now - begun_at) / 1e9, {**self._place, "audiencekit.state": state})

    def _wait(self, event: Mapping[str, Any], now: int) -> None:
        duration, why = int(event["seconds"] * 1e9), {"audiencekit.wait.why": event["why"]}
        begun_at = now - duration if event["why"] == "pace" else now  # the event of which comes at its end
        parent = self._requests[event["request"]][0] if event["request"] in self._requests else self._root
        self._waits.append((self._child("audiencekit.wait", begun_at, why, parent), begun_at + duration))
        self._durations["wait"].record(event["seconds"], {**self._place, **why})
        self._end_waits(now)

    def _end_waits(self, now: int, *, all_of_them: bool = False) -> None:
        for span, ends_at in self._waits:
            if ends_at <= now or all_of_them:
                span.end(min(ends_at, now))
        self._waits = [] if all_of_them else [each for each in self._waits if each[1] > now]

    def _count_rows(self, root: Span, report: Mapping[str, Any]) -> None:
        told = FlooredCounts(report)
        for name, number in (told.rows or {}).items():
            if number is None:
                continue
            root.set_attribute(f"audiencekit.rows.{name}", number)
            if name not in _RESTING and (more := number - (self._before.get(name) or 0)) > 0:
                self._rows.add(more, {**self._place, "audiencekit.outcome": name})
        if told.step is not None:
            root.set_attribute("audiencekit.rounded_to", told.step)

    def _child(
        self, name: str, now: int, attributes: Mapping[str, Any] | None = None, parent: Span | None = None
    ) -> Span:
        parent = parent or self._root
        context = Context() if parent is None else set_span_in_context(parent, Context())
        return self._tracer.start_span(name, context, attributes=attributes, start_time=now)


def _fail(span: Span, error: str | None, *, is_failed: bool) -> None:
    if error:
        span.set_attribute("error.type", error)
    if is_failed or error:
        span.set_status(StatusCode.ERROR)


def _nanoseconds(at: str) -> int:
    return round(datetime.fromisoformat(at).timestamp() * 1000) * 1_000_000


# --- The way to the collector: a thread that sends what there is, until the run ends ---


class Telemetry:
    """The trace and the metrics of one run, and their way to the collector. Once it is made, nothing is raised.

    Raises UsageError when the settings name no address, and invalid headers.
    """

    def __init__(self, settings: Settings, run_id: str) -> None:
        self._traces_at, self._metrics_at, self._headers = read_collector(settings)
        self._connections = Connections(proxy=settings.proxy, ca_bundle=settings.ca_bundle)
        resource = _resource(run_id)
        self._spans, self._reader = _WaitingSpans(), InMemoryMetricReader()
        tracers = TracerProvider(resource=resource, shutdown_on_exit=False, id_generator=_IdsOf(run_id))
        tracers.add_span_processor(self._spans)
        self._meters = MeterProvider([self._reader], resource=resource, shutdown_on_exit=False)
        self._trace = RunTrace(tracers.get_tracer(_MADE_BY), self._meters.get_meter(_MADE_BY))
        self._lock, self._is_over = Lock(), Event()
        self._failure = self._bug = ""
        self._thread = Thread(target=self._send_until_over, name="audiencekit-telemetry", daemon=True)
        self._thread.start()

    def add(self, event: Mapping[str, Any]) -> None:
        """Take one event, from any thread."""
        self._carefully(self._trace.add, event)

    def close(self) -> str:
        """Send the rest; return why not all of it was taken, else an empty text. It takes at most MOST_SECONDS."""
        end = Deadline(MOST_SECONDS)
        self._carefully(self._trace.finish)
        self._is_over.set()
        self._thread.join(end.left)
        return end.in_words if self._thread.is_alive() else self._bug or self._failure

    def _carefully(self, work: Callable[..., None], *arguments: Any) -> None:
        """Do `work` under the lock. A bug in it is noted, and is no bug of the run."""
        try:
            with self._lock:
                work(*arguments)
        except Exception as error:  # its message may quote what the event has
            self._bug = f"bug: {type(error).__name__}; please report this line"

    def _send_until_over(self) -> None:
        try:
            while not self._is_over.wait(_EVERY_SECONDS):
                self._send()
            self._send()
        except Exception as error:
            self._bug = f"bug: {type(error).__name__}; please report this line"
        self._meters.shutdown()

    def _send(self) -> None:
        end = Deadline(MOST_SECONDS)
        with self._lock:
            found = self._reader.get_metrics_data()
        measured = None
        if found is not None and found.resource_metrics:
            measured = self._exchange(self._metrics_at, encode_metrics(found).SerializeToString(), end)
        failure = ""
        while not failure and (spans := self._spans.first(_MOST_SENT)):
            failure = self._exchange(self._traces_at, encode_spans(spans).SerializeToString(), end).wait()
            if not failure:
                self._spans.remove(spans)
        self._failure = failure or ("" if measured is None else measured.wait()) or self._spans.lost

    def _exchange(self, address: Address, body: bytes, end: Deadline) -> Exchange:
        return Exchange(address, connections=self._connections, deadline=end, body=body, headers=self._headers)


class _WaitingSpans(SpanProcessor):
    """Ended spans that the collector has not taken yet."""

    def __init__(self) -> None:
        self._spans: deque[ReadableSpan] = deque()
        self._lock, self._lost = Lock(), 0

    @property
    def lost(self) -> str:
        """How many were dropped, in words; empty for none."""
        return f"{self._lost:,} spans were dropped, since it took none for too long" if self._lost else ""

    def on_end(self, span: ReadableSpan) -> None:
        """Keep the span, if it is one of those that are sampled."""
        if not (span.context and span.context.trace_flags.sampled):
            return
        with self._lock:
            if len(self._spans) == _MOST_SPANS:
                self._spans.popleft()
                self._lost += 1
            self._spans.append(span)

    def first(self, most: int) -> list[ReadableSpan]:
        """Return the oldest ones, without removing them."""
        with self._lock:
            return [self._spans[place] for place in range(min(most, len(self._spans)))]

    def remove(self, sent: list[ReadableSpan]) -> None:
        """Forget spans that were sent; some may have been dropped meanwhile."""
        known = {id(span) for span in sent}
        with self._lock:
            while self._spans and id(self._spans[0]) in known:
                self._spans.popleft()


class _IdsOf(RandomIdGenerator):
    """The same trace for all processes of a run; a span has a random id."""

    def __init__(self, run_id: str) -> None:
        self._trace_id = int.from_bytes(hashlib.sha256(f"audiencekit run {run_id}".encode()).digest()[:16], "big")

    def generate_trace_id(self) -> int:
        return self._trace_id


def _resource(run_id: str) -> Resource:
    """Return the description of the sender: the variables of the SDK take precedence. No other detector is asked."""
    own = {"service.name": _MADE_BY, "service.version": __version__, "service.instance.id": run_id}
    return Resource(own).merge(OTELResourceDetector().detect())


def read_collector(settings: Settings) -> tuple[Address, Address, dict[str, str]]:
    """Return the addresses for traces and for metrics, and the headers. Raises UsageError for invalid ones."""
    assert settings.otel_url is not None  # noqa: S101
    base, name = settings.otel_url.unwrap().rstrip("/"), f"{PREFIX}OTEL_URL"
    traces_at, metrics_at = (Address.read(Secret(f"{base}/v1/{what}"), name) for what in ("traces", "metrics"))
    return traces_at, metrics_at, {"Content-Type": "application/x-protobuf", **_read_headers(settings.otel_headers)}


def _read_headers(given: Secret | None) -> dict[str, str]:
    """Return the headers in `NAME=VALUE,NAME=VALUE`, with %XX in values, as OTEL_EXPORTER_OTLP_HEADERS has them."""
    found = {}
    for pair in filter(None, ("" if given is None else given.unwrap()).split(",")):
        name, sign, value = (part.strip() for part in pair.partition("="))
        value = unquote(value)
        if not (sign and _HEADER.fullmatch(name) and value.isascii() and value.isprintable()):
            raise UsageError(
                f"{PREFIX}OTEL_HEADERS is not of the form NAME=VALUE,NAME=VALUE", hint="write signs of a value as %XX"
            )
        found[name] = value
    return found
