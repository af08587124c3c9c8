"""The measurement of the emulator, in small: a real process, real calls."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from audiencekit.limits import MAX_BODY_BYTES, MAX_OPERATIONS
from benchmarks import emulator
from benchmarks.emulator import Findings, main, make_body, measure, running_service

GOOD = Findings(
    applied_per_core_second=5.0, counted_per_core_second=30.0, small_call_seconds=0.003, kept_bytes_per_body=0.0
)

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")


def test_a_body_is_as_large_as_a_request_may_be() -> None:
    """Every operation with the same number of people, and little room left."""
    body = make_body()
    operations = json.loads(body)
    assert 0.95 * MAX_BODY_BYTES < len(body) <= MAX_BODY_BYTES
    assert len(operations) == MAX_OPERATIONS
    assert len({len(operation["params"]["users"]) for operation in operations}) == 1


@pytest.mark.benchmarks
@needs_proc
def test_everything_is_measured() -> None:
    """Bodies that were applied, bodies that were counted, and small calls."""
    findings = measure(2, 3, size=500_000)
    assert findings.applied_per_core_second > 0
    assert findings.counted_per_core_second > 0
    assert findings.small_call_seconds > 0


@needs_proc
def test_a_refused_body_is_no_measurement() -> None:
    """A body that the emulator does not take ends the benchmark."""
    with running_service() as service, pytest.raises(RuntimeError, match="400"):
        service.call("POST", service.users, b"[]")


@pytest.mark.parametrize(
    ("worse", "code"),
    [
        ({}, 0),
        ({"applied_per_core_second": 4.9}, 1),
        ({"counted_per_core_second": 29.0}, 1),
        ({"small_call_seconds": 0.0031}, 1),
    ],
)
def test_a_slow_emulator_is_told(
    worse: dict[str, float], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code says whether all three suffice; the findings are one line of JSON."""
    findings = replace(GOOD, **worse)
    monkeypatch.setattr(emulator, "measure", lambda bodies, calls: findings)
    assert main([]) == code
    assert json.loads(capsys.readouterr().out) == asdict(findings)
