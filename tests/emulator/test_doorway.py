"""The way to the doors: from which address, and what is due before they answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

H1 = "a1" * 32
BODY = [{"operation_type": "Update", "params": {"users": [{"email": [H1]}]}}]


async def test_doors_are_at_every_address(caller: Any) -> None:
    """The same log, whichever address is asked."""
    await caller.upload(BODY)
    replies = [
        (await caller.send("GET", "/__log", base=base)).content
        for base in (caller.emulator.ads_url, caller.emulator.ads_sandbox_url, caller.emulator.base_url)
    ]
    assert len(set(replies)) == 1
    assert replies[0]


@pytest.mark.parametrize("host", ["audiences.example.com", "127.0.0.1.example.com:80", "10.0.0.1:80"])
async def test_doors_do_not_open_to_other_names(caller: Any, host: str) -> None:
    """A web page that reaches the port by a name of its own finds the doors shut."""
    assert (await caller.send("GET", "/__log", headers={"Host": host})).status == 403


async def test_a_body_is_applied_when_a_door_moves_the_clock_past_its_moment(caller: Any) -> None:
    """Before the door answers."""
    late = {"fault": 3, "delay_seconds": 60, "meanwhile": "status"}
    assert (await caller.send("POST", "/__faults", data=json.dumps([late]).encode())).status == 200
    await caller.upload(BODY)
    for seconds, applied in ((59, 0), (1, 1)):
        await caller.move_clock(advance=seconds)
        assert len(caller.emulator.store.operations) == applied
