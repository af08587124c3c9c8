"""The media library, account media and media creatives over the wire."""

from __future__ import annotations

from typing import Any

from tests.cases import each_case
from tests.emulator.conftest import Opener
from tests.emulator.endpoints.campaigns_builder import make_campaign, make_line_item
from tests.emulator.endpoints.media_builder import account_media, media_keys, refused

NOT_FOUND = (404, "NOT_FOUND")


async def _line_item(caller: Any, **more: str) -> str:
    return await make_line_item(caller, (await make_campaign(caller)).body["data"]["id"], **more)


async def test_a_new_account_has_media_of_every_type(caller: Any) -> None:
    """More images than a tweet may have, an animated GIF and videos, each with the members of the public service."""
    listed = (await caller.call("GET", caller.account + "/media_library")).body
    assert [entry["media_type"] for entry in listed["data"]] == ["IMAGE"] * 7 + ["GIF"] + ["VIDEO"] * 3
    first = listed["data"][0]
    assert first == {
        "media_key": first["media_key"],
        "media_type": "IMAGE",
        "media_category": "TWEET_IMAGE",
        "media_status": "TRANSCODE_COMPLETED",
        "media_url": f"https://media.example/{first['media_key']}.jpg",
        "name": None,
        "file_name": None,
        "tweeted": False,
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }
    assert listed["request"] == {"params": {"account_id": caller.emulator.account_id}}


async def test_the_same_seed_has_the_same_media(open_emulator: Opener) -> None:
    """Another seed has others, and so has another account."""
    found = []
    for seed in (1, 1, 2):
        async with open_emulator(seed=seed) as caller:
            found.append(await media_keys(caller, "IMAGE"))
            made = await caller.call("POST", "/12/accounts", base=caller.emulator.ads_sandbox_url)
            caller.account = f"/12/accounts/{made.body['data'][0]['id']}"
            assert not set(await media_keys(caller, "IMAGE")) & set(found[-1])
    assert found[0] == found[1] != found[2]


async def test_media_go_through_their_life(caller: Any) -> None:
    """Added by key, named, shown, deleted once, and back when the key is added again."""
    path, key = caller.account + "/media_library", "3_1073727809120419840"
    added = await caller.call("POST", path, query={"media_key": key, "name": "Spring"})
    assert added.body["data"]["name"] == "Spring"
    assert added.body["data"]["media_type"] == "IMAGE"
    again = await caller.call("POST", path, query={"media_key": key, "name": "Summer"})
    assert again.body["data"] == added.body["data"]
    await caller.move_clock(advance=5)
    changed = await caller.call("PUT", f"{path}/{key}", query={"name": "", "file_name": "a.jpg"})
    assert changed.body["data"]["updated_at"] == "2027-01-15T08:00:05Z"
    assert (changed.body["data"]["name"], changed.body["data"]["file_name"]) == (None, "a.jpg")
    assert (await caller.call("GET", path, query={"q": "spr"})).body["data"] == []
    assert (await caller.call("DELETE", f"{path}/{key}")).body["data"]["deleted"] is True
    assert await refused(caller, "DELETE", f"{path}/{key}") == (*NOT_FOUND, "media_key")
    assert await refused(caller, "GET", f"{path}/{key}") == (*NOT_FOUND, "media_key")
    shown = await caller.call("GET", f"{path}/{key}", query={"with_deleted": "true"})
    assert shown.body["data"]["deleted"] is True
    assert (await caller.call("POST", path, query={"media_key": key})).body["data"]["deleted"] is False


@each_case("key", ["4_1", "3_", "3-1", "3_12345678901234567890", "3_1x", "images"])
async def test_a_key_says_what_it_leads_to(caller: Any, key: str) -> None:
    """Else it is none."""
    path = caller.account + "/media_library"
    assert await refused(caller, "POST", path, {"media_key": key}) == (400, "INVALID_MEDIA_ID", "media_key")


@each_case("sort, media_type", [("3", "IMAGE"), ("7", "VIDEO"), ("13", "VIDEO"), ("16", "GIF")])
async def test_the_type_follows_from_the_key(caller: Any, sort: str, media_type: str) -> None:
    """By the number that it begins with."""
    added = await caller.call("POST", caller.account + "/media_library", query={"media_key": f"{sort}_1"})
    assert added.body["data"]["media_type"] == media_type


async def test_account_media_are_listed_by_creative_type_and_id(caller: Any) -> None:
    """There is one of each type; prerolls are videos, the others images."""
    path = caller.account + "/account_media"
    everything = (await caller.call("GET", path)).body["data"]
    assert len({entry["creative_type"] for entry in everything}) == len(everything) == 9
    chosen = (await caller.call("GET", path, query={"creative_types": "PREROLL,BANNER"})).body
    assert chosen["request"]["params"]["creative_types"] == ["PREROLL", "BANNER"]
    assert {entry["creative_type"] for entry in chosen["data"]} == {"PREROLL", "BANNER"}
    for entry in chosen["data"]:
        assert (entry["video_id"] is None) is (entry["creative_type"] == "BANNER") is (entry["media_url"] is not None)
    query = {"account_media_ids": everything[3]["id"]}
    assert (await caller.call("GET", path, query=query)).body["data"] == [everything[3]]
    assert await refused(caller, "GET", path, {"creative_types": "POSTER"}) == (
        400,
        "INVALID_PARAMETER",
        "creative_types",
    )


async def test_account_media_are_deleted_once(caller: Any) -> None:
    """Then they are shown with `with_deleted` alone."""
    path = f"{caller.account}/account_media/{await account_media(caller, 'BANNER')}"
    before = (await caller.call("GET", path)).body["data"]
    assert (await caller.call("DELETE", path)).body["data"] == {**before, "deleted": True}
    assert await refused(caller, "DELETE", path) == (*NOT_FOUND, "account_media_id")
    assert await refused(caller, "GET", path) == (*NOT_FOUND, "account_media_id")
    assert (await caller.call("GET", path, query={"with_deleted": "true"})).body["data"]["deleted"] is True
    listed = (await caller.call("GET", caller.account + "/account_media")).body["data"]
    assert before["id"] not in {entry["id"] for entry in listed}


async def test_account_media_come_in_pages(caller: Any) -> None:
    """With a cursor until the last, in the order asked for, and with a count of all."""
    path = caller.account + "/account_media"
    whole = (await caller.call("GET", path, query={"sort_by": "created_at-desc", "with_total_count": "true"})).body
    assert whole["total_count"] == 9
    assert whole["request"]["params"]["sort_by"] == ["created_at-desc"]
    seen, query = [], {"count": 4}
    while True:
        page = (await caller.call("GET", path, query=query)).body
        seen += page["data"]
        if page["next_cursor"] is None:
            break
        query = {"count": 4, "cursor": page["next_cursor"]}
    assert seen == whole["data"]


async def test_a_creative_joins_an_asset_with_a_line_item(caller: Any) -> None:
    """It is shown, listed by line item, by campaign and by id, and deleted once."""
    path, asset = caller.account + "/media_creatives", await account_media(caller, "INTERSTITIAL")
    campaign = (await make_campaign(caller)).body["data"]["id"]
    line_item, other = [await make_line_item(caller, campaign) for _ in range(2)]
    query = {"account_media_id": asset, "line_item_id": line_item, "landing_url": "https://shop.example/"}
    made = await caller.call("POST", path, query=query)
    creative = made.body["data"]
    assert made.body["request"]["params"] == {"account_id": caller.emulator.account_id, **query}
    assert creative == {
        **query,
        "creative_type": "INTERSTITIAL",
        "entity_status": "ACTIVE",
        "approval_status": "ACCEPTED",
        "id": creative["id"],
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }
    assert (await caller.call("GET", f"{path}/{creative['id']}")).body["data"] == creative
    for chosen, count in (
        ({"line_item_ids": f"{other},{line_item}"}, 1),
        ({"line_item_ids": other}, 0),
        ({"campaign_id": campaign}, 1),
        ({"campaign_id": "other"}, 0),
        ({"media_creative_ids": creative["id"]}, 1),
    ):
        assert len((await caller.call("GET", path, query=chosen)).body["data"]) == count
    assert (await caller.call("DELETE", f"{path}/{creative['id']}")).body["data"]["deleted"] is True
    assert await refused(caller, "DELETE", f"{path}/{creative['id']}") == (*NOT_FOUND, "media_creative_id")
    assert (await caller.call("GET", path, query={"with_deleted": "true"})).body["data"][0]["deleted"] is True


async def test_website_clicks_need_an_address_to_land_at(caller: Any) -> None:
    """But for prerolls, whose address is elsewhere: there it is taken and not kept."""
    path, line_item = caller.account + "/media_creatives", await _line_item(caller, objective="WEBSITE_CLICKS")
    banner = {"account_media_id": await account_media(caller, "BANNER"), "line_item_id": line_item}
    assert await refused(caller, "POST", path, banner) == (400, "MISSING_PARAMETER", "landing_url")
    good = await caller.call("POST", path, query={**banner, "landing_url": "https://shop.example/"})
    assert good.status == 200
    for creative_type in ("PREROLL", "VAST_PREROLL"):
        preroll = {**banner, "account_media_id": await account_media(caller, creative_type)}
        for more in ({}, {"landing_url": "https://shop.example/"}):
            made = await caller.call("POST", path, query={**preroll, **more})
            assert (made.status, made.body["data"]["landing_url"]) == (200, None)


async def test_creatives_are_refused_without_their_parts(caller: Any) -> None:
    """Unknown and deleted ones."""
    path, line_item = caller.account + "/media_creatives", await _line_item(caller)
    good = {"account_media_id": await account_media(caller, "BANNER"), "line_item_id": line_item}
    for name in good:
        assert await refused(caller, "POST", path, {**good, name: "nothing"}) == (*NOT_FOUND, name)
    await caller.call("DELETE", f"{caller.account}/line_items/{line_item}")
    assert await refused(caller, "POST", path, good) == (*NOT_FOUND, "line_item_id")
    assert (await caller.call("GET", path)).body["data"] == []
