"""Calls that were let in, applied at once or late, with the faults around it."""

from __future__ import annotations

from typing import Any

import pytest

from audiencekit.emulator.faults.orders import read_faults

H1 = "a1" * 32
BODY = [{"operation_type": "Update", "params": {"users": [{"email": [H1]}]}}]


@pytest.mark.parametrize(
    ("fault", "status", "is_applied"),
    [
        ({"fault": 8, "status": 502}, 502, False),
        ({"fault": 9, "status": 502}, 502, True),
        ({"fault": 3, "delay_seconds": 60, "meanwhile": "status"}, 504, False),
    ],
)
async def test_a_fault_stands_before_or_behind(
    caller: Any, fault: dict[str, Any], status: int, is_applied: bool
) -> None:
    """It answers either way; only one that stands behind it has what it answers for applied."""
    caller.emulator.faults.add(read_faults([fault]))
    assert (await caller.upload(BODY)).status == status
    assert bool(await caller.log()) is is_applied


async def test_a_fault_of_the_emulator_quotes_nothing(
    caller: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An unexpected exception is a 500, logged by its type and place alone."""

    def fail(*args: object) -> None:
        raise KeyError(H1)

    monkeypatch.setattr(type(caller.emulator.store.operations), "append", fail)
    reply = await caller.upload(BODY)
    assert (reply.status, reply.codes) == (500, ["INTERNAL_ERROR"])
    assert reply.headers["x-rate-limit-limit"] == "1500"
    assert "KeyError in fail" in caplog.text
    assert H1 not in caplog.text + reply.content.decode()
