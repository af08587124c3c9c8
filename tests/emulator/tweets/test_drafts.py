"""Draft tweets over the wire."""

from __future__ import annotations

from typing import Any

from tests.emulator.media.builder import refused
from tests.emulator.tweets.builder import problem, read, write

NOT_FOUND = (404, "NOT_FOUND", "draft_tweet_id")


async def test_a_draft_goes_through_its_life(caller: Any) -> None:
    """Made, shown, listed, changed, previewed; deleted for good. The account is not echoed."""
    made = await write(caller, "draft")
    draft, user_id = made.body["data"], caller.emulator.store.origin.user_id
    assert made.body["request"]["params"] == {"as_user_id": int(user_id), "text": "Spring is here"}
    assert draft == {
        "id": draft["id"],
        "user_id": user_id,
        "text": "Spring is here",
        "card_uri": None,
        "media_keys": [],
        "nullcast": True,
        "name": None,
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
    }
    path = f"{caller.account}/draft_tweets/{draft['id']}"
    shown = (await caller.call("GET", path)).body
    assert shown == {"request": {"params": {"draft_tweet_id": int(draft["id"])}}, "data": draft}
    assert await read(caller, "/draft_tweets") == [draft]
    changed = (await caller.call("PUT", path, query={"text": "Summer"})).body["data"]
    assert changed["text"] == "Summer"
    assert (await caller.call("DELETE", path)).body["data"] == {**changed, "status": "DELETED"}
    for method in ("GET", "PUT", "DELETE"):
        assert await refused(caller, method, path) == NOT_FOUND
    assert await read(caller, "/draft_tweets") == []


async def test_a_preview_says_where_to_look(caller: Any) -> None:
    """In words, without data; only of a draft that is there."""
    draft = (await write(caller, "draft")).body["data"]
    path = caller.account + "/draft_tweets/preview/"
    previewed = (await caller.call("POST", path + draft["id"])).body
    assert previewed == {
        "request": {"params": {"draft_tweet_id": int(draft["id"])}},
        "message": "See @local_user's notifications in the X app to preview your Tweet.",
    }
    assert await refused(caller, "POST", path + "1") == NOT_FOUND


async def test_a_draft_is_named_by_a_number(caller: Any) -> None:
    """Else the parameter of the path is refused."""
    path = caller.account + "/draft_tweets/first"
    assert await refused(caller, "GET", path) == (400, "INVALID_PARAMETER", "draft_tweet_id")


async def test_drafts_come_in_pages_of_their_own(caller: Any) -> None:
    """A hundred unless told otherwise, two hundred at most; of one user; without the other list parameters."""
    for _ in range(102):
        await write(caller, "draft")
    path, whole = caller.account + "/draft_tweets", await read(caller, "/draft_tweets", count=200)
    assert len(whole) == 102
    first = (await caller.call("GET", path)).body
    assert first["data"] == whole[:100]
    assert await read(caller, "/draft_tweets", cursor=first["next_cursor"]) == whole[100:]
    assert await read(caller, "/draft_tweets", user_id=caller.emulator.store.origin.user_id) == whole[:100]
    assert await read(caller, "/draft_tweets", user_id=7) == []
    for query, parameter in (
        ({"count": 201}, "count"),
        ({"count": 0}, "count"),
        ({"cursor": "c-1"}, "cursor"),
        ({"user_id": "me"}, "user_id"),
        ({"sort_by": "created_at-asc"}, "sort_by"),
        ({"with_deleted": "true"}, "with_deleted"),
        ({"with_total_count": "true"}, "with_total_count"),
    ):
        assert problem(await caller.call("GET", path, query=query)) == (400, "INVALID_PARAMETER", parameter)
