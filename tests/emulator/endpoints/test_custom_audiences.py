"""From PROCESSING to targetable, on the emulator's clock."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator.endpoints.audience_members import Span
from audiencekit.emulator.endpoints.custom_audiences import PROCESSING_SECONDS, Audience, Population, Processing
from tests.cases import each_case

# --- From PROCESSING to targetable, on the emulator's clock ---


def _update(first: int, count: int, **times: str) -> list[Any]:
    users = [{"email": [f"{number:064x}"]} for number in range(first, first + count)]
    return [{"operation_type": "Update", "params": {"users": users, **times}}]


def _delete(first: int, count: int) -> list[Any]:
    return [{**_update(first, count)[0], "operation_type": "Delete"}]


async def _state(caller: Any) -> tuple[bool, list[str], int | None]:
    record = (await caller.call("GET", f"{caller.audiences}/{caller.emulator.audience_id}")).body["data"]
    (listed,) = (await caller.call("GET", caller.audiences)).body["data"]
    assert listed == record
    return record["targetable"], record["reasons_not_targetable"], record["audience_size"]


BUSY = (False, ["PROCESSING", "TOO_SMALL"], None)
SMALL = (False, ["TOO_SMALL"], None)


async def test_an_audience_becomes_targetable_when_it_was_counted(open_emulator: Any) -> None:
    """Not a second before six hours are over."""
    async with open_emulator(match_rate=1.0) as caller:
        await caller.upload(_update(0, 100))
        await caller.move_clock(advance=PROCESSING_SECONDS - 1)
        assert await _state(caller) == BUSY
        await caller.move_clock(advance=1)
        assert await _state(caller) == (True, [], 100)


async def test_counts_follow_each_other_as_soon_as_is_wished(open_emulator: Any) -> None:
    """On the clock that the client has, too: it need not be moved for hours."""
    async with open_emulator(match_rate=1.0, processing_seconds=5.0) as caller:
        await caller.upload(_update(0, 100))
        await caller.move_clock(advance=4)
        assert await _state(caller) == BUSY
        await caller.move_clock(advance=1)
        assert await _state(caller) == (True, [], 100)
        await caller.upload(_update(100, 1))
        await caller.move_clock(advance=5)
        assert await _state(caller) == (True, [], 101)


async def test_under_a_hundred_people_are_too_few(open_emulator: Any) -> None:
    """Counted, and not enough; a later upload is in process until the next count."""
    async with open_emulator(match_rate=1.0) as caller:
        await caller.upload(_update(0, 99))
        await caller.move_clock(advance=PROCESSING_SECONDS)
        assert await _state(caller) == SMALL
        await caller.upload(_update(99, 1))
        assert await _state(caller) == BUSY
        await caller.move_clock(advance=PROCESSING_SECONDS)
        assert await _state(caller) == (True, [], 100)


async def test_sizes_lag_behind_membership(open_emulator: Any) -> None:
    """Between two counts an audience is what it was; each count sees the members of its own moment."""
    async with open_emulator(match_rate=1.0) as caller:
        await caller.upload(_update(0, 150))
        await caller.move_clock(advance=PROCESSING_SECONDS)
        assert await _state(caller) == (True, [], 150)
        await caller.upload(_update(150, 50))
        assert await _state(caller) == (True, [], 150)
        # A count falls due here that no call asks for before the next change.
        await caller.move_clock(advance=PROCESSING_SECONDS)
        await caller.upload(_delete(0, 190))
        assert await _state(caller) == (True, [], 200)
        await caller.move_clock(advance=PROCESSING_SECONDS)
        assert await _state(caller) == SMALL


async def test_expired_people_are_not_counted(open_emulator: Any) -> None:
    """An audience without renewals expires by itself."""
    async with open_emulator(match_rate=1.0) as caller:
        await caller.upload(_update(0, 120, expires_at="2027-01-20T00:00:00Z"))
        await caller.move_clock(advance=PROCESSING_SECONDS)
        assert await _state(caller) == (True, [], 120)
        await caller.move_clock(advance=5 * 86_400)
        assert await _state(caller) == SMALL


@each_case("seed", [0, 1])
async def test_the_match_rate_decides_the_size(open_emulator: Any, seed: int) -> None:
    """About six in ten by default, the same at each start, others with another seed."""
    sizes = []
    for _ in range(2):
        async with open_emulator(seed=seed) as caller:
            await caller.upload(_update(0, 2_000))
            await caller.move_clock(advance=PROCESSING_SECONDS)
            sizes.append((await _state(caller))[2])
    assert sizes[0] == sizes[1]
    assert 1_100 < sizes[0] < 1_300


async def test_a_deleted_audience_is_not_counted(open_emulator: Any) -> None:
    """A targetable audience that is deleted has no size."""
    async with open_emulator(match_rate=1.0) as caller:
        await caller.upload(_update(0, 120))
        await caller.move_clock(advance=PROCESSING_SECONDS)
        record = (await caller.call("DELETE", f"{caller.audiences}/{caller.emulator.audience_id}")).body["data"]
        assert (record["targetable"], record["reasons_not_targetable"], record["audience_size"]) == SMALL


def test_a_count_is_made_once() -> None:
    """However often one looks; also after the clock was moved back."""
    counts: list[float] = []
    processing = Processing(1_000.0)

    def count(moment: float) -> int:
        counts.append(moment)
        return 100

    for now in (1_000.0, 22_599.0, 22_600.0, 30_000.0, 900.0, 22_700.0, 90_000.0):
        processing.catch_up(now, count)
    assert counts == [22_600.0, 87_400.0]
    assert (processing.size, processing.is_targetable) == (100, True)


def test_more_identifiers_are_found_more_often() -> None:
    """One of several keys is enough; none at a rate of 0, all at 1."""
    span = Span(0.0, 1.0)
    emails = [(b"\x02" + bytes(31) + bytes([number]), span) for number in range(256)]
    pairs = [(email + b"\x06" + bytes(31) + bytes([number]), span) for number, (email, _) in enumerate(emails)]
    half = Population(7, 0.5)
    assert half.count(pairs) > half.count(emails) > 90
    assert Population(7, 0.0).count(pairs) == 0
    assert Population(7, 1.0).count(emails) == 256


# --- The record of an audience, against recorded answers ---

FIXTURES = Path(__file__).resolve().parents[3].parent / "shared" / "corpora" / "hash" / "x_sdk_response_fixtures.json"


def test_a_record_has_the_recorded_fields() -> None:
    """Every field of the recorded custom audiences but the one that was dropped (`list_type`)."""
    if not FIXTURES.exists():
        pytest.skip("the shared fixtures are not there")
    cases = json.loads(FIXTURES.read_text("utf-8"))["cases"]
    recorded = [
        record
        for case in cases
        if case["id"].endswith("custom_audiences_all")
        for record in case["body"]["data"]
        if record["audience_type"] == "CRM"
    ]
    shown = Audience("a", "b", "c", None, created_at=0.0, updated_at=0.0).document()
    assert recorded
    for record in recorded:
        assert record.keys() - {"list_type"} <= shown.keys()
        for name in ("audience_type", "targetable_types", "partner_source"):
            assert shown[name] == record[name]
