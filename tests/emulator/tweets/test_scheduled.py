"""Scheduled tweets over the wire, by a clock that is moved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.emulator.conftest import Opener
from tests.emulator.media.builder import media_keys, refused
from tests.emulator.tweets.builder import TOMORROW, problem, read, write

NOT_FOUND = (404, "NOT_FOUND", "scheduled_tweet_id")
DAY = 86_400


async def test_a_scheduled_tweet_waits(caller: Any) -> None:
    """It is shown, listed and changed meanwhile; deleted, it never goes out."""
    made = await write(caller, "scheduled")
    waiting = made.body["data"]
    assert "account_id" not in made.body["request"]["params"]
    assert waiting == {
        "id": waiting["id"],
        "user_id": caller.emulator.store.origin.user_id,
        "text": "Spring is here",
        "card_uri": None,
        "media_keys": [],
        "nullcast": True,
        "name": None,
        "scheduled_at": TOMORROW,
        "scheduled_status": "SCHEDULED",
        "completed_at": None,
        "tweet_id": None,
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
    }
    path = f"{caller.account}/scheduled_tweets/{waiting['id']}"
    assert (await caller.call("GET", path)).body["data"] == waiting
    assert await read(caller, "/scheduled_tweets") == [waiting]
    changed = (await caller.call("PUT", path, query={"name": "Later", "scheduled_at": "2027-02-01T10:00:30+01"})).body
    assert changed["data"] == {**waiting, "name": "Later", "scheduled_at": "2027-02-01T09:00:00Z"}
    deleted = (await caller.call("DELETE", path)).body["data"]
    assert deleted == {**changed["data"], "scheduled_status": "DELETED"}
    for method in ("GET", "PUT", "DELETE"):
        assert await refused(caller, method, path) == NOT_FOUND
    await caller.move_clock(advance=30 * DAY)
    assert await read(caller, "/tweets", tweet_type="PUBLISHED") == []


async def test_a_scheduled_tweet_goes_out_at_its_time(caller: Any) -> None:
    """Then it is a tweet with a number of its own, and nothing can be done about it any more."""
    image = (await media_keys(caller, "IMAGE"))[0]
    waiting = (await write(caller, "scheduled", media_keys=image)).body["data"]
    path = f"{caller.account}/scheduled_tweets/{waiting['id']}"
    await caller.move_clock(set=1_800_000_000 + DAY - 1)
    assert (await caller.call("GET", path)).body["data"] == waiting
    await caller.move_clock(set=1_800_000_000 + DAY)
    out = (await caller.call("GET", path)).body["data"]
    assert out == {
        **waiting,
        "scheduled_status": "SUCCESS",
        "completed_at": TOMORROW,
        "tweet_id": out["tweet_id"],
        "updated_at": TOMORROW,
    }
    (tweet,) = await read(caller, "/tweets", tweet_type="PUBLISHED")
    assert (tweet["tweet_id"], tweet["text"]) == (out["tweet_id"], waiting["text"])
    assert tweet["created_at"] == "Sat Jan 16 08:00:00 +0000 2027"
    assert int(out["tweet_id"]) > int(waiting["id"])
    for method in ("PUT", "DELETE"):
        assert await refused(caller, method, path) == (403, "ACTION_NOT_ALLOWED", "scheduled_tweet_id")
    assert await read(caller, "/tweets", tweet_type="SCHEDULED") == []
    library = await read(caller, f"/media_library/{image}")
    assert library["tweeted"] is True


@pytest.mark.parametrize(
    "scheduled_at", ["2027-01-15T08:00:00Z", "2027-01-15T08:00:59Z", "2020-01-01T00:00:00Z", "2028-01-15T08:01:00Z"]
)
async def test_the_time_lies_in_the_coming_year(caller: Any, scheduled_at: str) -> None:
    """At a minute after now; when it is made, and when it is changed."""
    waiting = (await write(caller, "scheduled")).body["data"]
    fault = (400, "INVALID_PARAMETER", "scheduled_at")
    assert problem(await write(caller, "scheduled", scheduled_at=scheduled_at)) == fault
    path = f"{caller.account}/scheduled_tweets/{waiting['id']}"
    assert await refused(caller, "PUT", path, {"scheduled_at": scheduled_at}) == fault
    assert await read(caller, "/scheduled_tweets") == [waiting]


async def test_this_very_minute_is_too_late(caller: Any) -> None:
    """At its first moment, too; the last minute of the year is good then."""
    await caller.move_clock(set=1_800_000_000)
    for scheduled_at, status in (("2027-01-15T08:00:00Z", 400), ("2028-01-15T08:00:00Z", 200)):
        assert (await write(caller, "scheduled", scheduled_at=scheduled_at)).status == status


async def test_a_time_must_be_given(caller: Any) -> None:
    """And be one; the first and the last minute of the year are good."""
    assert problem(await write(caller, "scheduled", scheduled_at="")) == (400, "MISSING_PARAMETER", "scheduled_at")
    assert problem(await write(caller, "scheduled", scheduled_at="soon")) == (400, "INVALID_PARAMETER", "scheduled_at")
    for scheduled_at in ("2027-01-15T08:01:00Z", "2028-01-15T08:00:00Z"):
        assert (await write(caller, "scheduled", scheduled_at=scheduled_at)).status == 200


async def test_a_restarted_emulator_has_the_same_tweets(open_emulator: Opener, tmp_path: Path) -> None:
    """Whichever call came first, and whatever got a number in between."""
    state = tmp_path / "state"
    async with open_emulator(state=state) as caller:
        await write(caller, "scheduled")
        await caller.move_clock(advance=2 * DAY)
        await read(caller, "/scheduled_tweets")
        later = (await write(caller, "tweet")).body["data"]["id_str"]
        before = await read(caller, "/tweets", tweet_type="PUBLISHED")
        assert len({later, *(tweet["tweet_id"] for tweet in before)}) == 2
    async with open_emulator(state=state) as caller:
        assert await read(caller, "/tweets", tweet_type="PUBLISHED") == before
