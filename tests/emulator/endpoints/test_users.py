"""Calls that each permission allows, and those that are refused for want of one."""

from __future__ import annotations

from typing import Any

import pytest

from audiencekit.emulator.endpoints.users import USER_NAMES
from audiencekit.emulator.routes import ROUTES
from tests.cases import each_case
from tests.emulator.world import open_world

# --- Calls that each permission allows, and those that are refused for want of one ---

# One call of each area: what it needs, method, path below the account, and the users that may.
ADMINS = ("local_user", "local_account_admin")
MANAGERS = (*ADMINS, "local_ad_manager")
CREATIVE = (*MANAGERS, "local_creative_manager", "local_tweet_composer")
CALLS = [
    ("GET", "", USER_NAMES),
    ("GET", "/features", USER_NAMES),
    ("GET", "/authenticated_user_access", USER_NAMES),
    ("GET", "/promotable_users", USER_NAMES),
    ("PUT", "?name=new", ADMINS),
    ("PUT", "/tax_settings?tax_id=1", ADMINS),
    ("GET", "/campaigns", (*MANAGERS, "local_campaign_analyst")),
    ("POST", "/campaigns", MANAGERS),
    ("GET", "/line_items", (*MANAGERS, "local_campaign_analyst")),
    ("GET", "/do_not_reach_lists", (*MANAGERS, "local_campaign_analyst")),
    ("POST", "/do_not_reach_lists", MANAGERS),
    ("GET", "/cards", (*CREATIVE, "local_campaign_analyst")),
    ("POST", "/draft_tweets", CREATIVE),
    ("GET", "/custom_audiences", (*MANAGERS, "local_campaign_analyst", "local_partner_audience_manager")),
    ("POST", "/custom_audiences", (*MANAGERS, "local_partner_audience_manager")),
    ("POST", "/audience_estimate", (*MANAGERS, "local_campaign_analyst", "local_analyst")),
]


async def as_user(caller: Any, screen_name: str, method: str, path: str, **query: Any) -> Any:
    """The answer to a call that another user signs."""
    user = caller.emulator.store.users.named(screen_name)
    token = {"resource_owner_key": user.access_token, "resource_owner_secret": user.access_token_secret}
    if query:
        path += "?" + "&".join(f"{key}={value}" for key, value in query.items())
    url = caller.emulator.ads_url + path
    return await caller.send(method, path, headers=caller.sign(method, url, **token))


@pytest.mark.parametrize("name", USER_NAMES)
async def test_a_user_may_do_what_their_permission_says(caller: Any, name: str) -> None:
    """And nothing else: 403, with the permission that is missing, and nothing changed."""
    for method, path, allowed in CALLS:
        reply = await as_user(caller, name, method, caller.account + path)
        refused = reply.status == 403 and reply.codes == ["ACTION_NOT_ALLOWED"]
        assert refused == (name not in allowed), (method, path, reply.content)
        if refused:
            assert "ACCOUNT_ADMIN" in reply.body["errors"][0]["message"]
    assert (caller.emulator.store.accounts[caller.emulator.account_id].name == "new") == (name in ADMINS)


async def test_every_user_is_told_what_they_may_do(caller: Any) -> None:
    """TWEET_COMPOSER goes with the first three alone."""
    seen = {}
    for user in (await caller.send("GET", "/__users")).body:
        told = await as_user(caller, user["screen_name"], "GET", caller.account + "/authenticated_user_access")
        assert told.body["data"] == {name: user[name] for name in ("user_id", "permissions")}
        seen[user["screen_name"]] = set(user["permissions"])
    assert len(seen) == len(USER_NAMES)
    assert {"ACCOUNT_ADMIN", "AD_MANAGER", "CREATIVE_MANAGER", "CAMPAIGN_ANALYST", "ANALYST",
            "PARTNER_AUDIENCE_MANAGER", "TWEET_COMPOSER"} == set().union(*seen.values())  # fmt: skip
    composing = {"ACCOUNT_ADMIN", "AD_MANAGER", "CREATIVE_MANAGER"}
    assert all(has & composing for has in seen.values() if "TWEET_COMPOSER" in has)


@each_case(
    "name, nullcast, is_made",
    [
        ("local_user", "true", True),
        ("local_user", "false", True),
        ("local_account_admin", "true", False),
        ("local_creative_manager", "true", False),
        ("local_ad_manager", "true", True),
        ("local_tweet_composer", "true", True),
        ("local_tweet_composer", "false", False),
        ("local_analyst", "true", False),
    ],
)
@each_case("path", ["/tweet", "/scheduled_tweets"])
async def test_a_tweet_for_the_advertiser_needs_a_composer(
    caller: Any, name: str, nullcast: str, is_made: bool, path: str
) -> None:
    """And is promoted-only: organic ones are for the user themselves (specification part 2, section 4.9)."""
    query = {"as_user_id": caller.emulator.store.origin.user_id, "text": "spring", "nullcast": nullcast}
    if path == "/scheduled_tweets":
        query["scheduled_at"] = "2027-01-16T08:00:00Z"
    reply = await as_user(caller, name, "POST", caller.account + path, **query)
    assert (reply.status == 200) == is_made, reply.content
    if not is_made:
        assert (reply.status, reply.codes) == (403, ["ACTION_NOT_ALLOWED"])


async def test_no_other_user_can_be_written_for(caller: Any) -> None:
    """Not even a user for themselves: only the FULL promotable user has tweets here."""
    own = caller.emulator.store.users.named("local_ad_manager").id
    reply = await as_user(caller, "local_ad_manager", "POST", caller.account + "/tweet", as_user_id=own, text="spring")
    assert (reply.status, reply.codes) == (400, ["INVALID_USER_ID"])


async def test_the_history_says_who(caller: Any) -> None:
    """And can be narrowed to them."""
    async with open_world() as world:
        campaign = world.values["campaign_id"]
        path = f"{world.caller.account}/campaigns/{campaign}"
        assert (await as_user(world.caller, "local_ad_manager", "PUT", path, name="other")).status == 200
        manager = world.caller.emulator.store.users.named("local_ad_manager").id
        query = {"entity_type": "CAMPAIGN", "entity_id": campaign, "start_time": "2027-01-15T08:00:00Z",
                 "end_time": "2027-01-15T09:00:00Z"}  # fmt: skip
        history = f"{world.caller.account}/account_history"
        changes = (await world.caller.call("GET", history, query=query)).body["data"]
        first = world.caller.emulator.store.origin.user_id
        assert [each["change_by"]["user_id"] for each in changes] == [first, manager]
        (change,) = (await world.caller.call("GET", history, query={**query, "user_id": manager})).body["data"]
        assert change["changes"]["name"]["after"] == "other"


async def test_a_login_is_that_of_the_name_that_was_typed(caller: Any) -> None:
    """The token has that user's permissions; only the owner of the application ends its bearer token."""
    users = caller.emulator.store.users
    assert users.named(" @Local_Analyst ").screen_name == "local_analyst"
    assert users.named("alice") == users.first
    tokens = caller.emulator.store.tokens
    pending = tokens.make_request_token("oob", may_write=True)
    tokens.approve(pending, users.named("local_analyst"))
    token, secret = tokens.exchange(pending, users.named("local_analyst"))
    signed = {"resource_owner_key": token, "resource_owner_secret": secret}
    url = caller.emulator.ads_url + caller.account + "/campaigns"
    reply = await caller.send("GET", caller.account + "/campaigns", headers=caller.sign("GET", url, **signed))
    assert reply.status == 403
    path, base = "/oauth2/invalidate_token?access_token=a", caller.emulator.base_url
    ended = await caller.send("POST", path, base=base, headers=caller.sign("POST", base + path, **signed))
    assert (ended.status, ended.codes) == (403, [220])


async def test_settings_of_users_are_apart(caller: Any) -> None:
    """Each sees and changes their own."""
    analyst = caller.emulator.store.users.named("local_analyst").id
    path = f"{caller.account}/user_settings/{analyst}"
    assert (await as_user(caller, "local_analyst", "PUT", path, contact_phone="12")).status == 200
    assert (await caller.call("GET", path)).status == 403
    own = f"{caller.account}/user_settings/{caller.emulator.store.origin.user_id}"
    assert (await caller.call("GET", own)).body["data"]["contact_phone"] == ""


def test_every_path_below_an_account_has_its_area() -> None:
    """A new resource is decided about, not forgotten."""
    from audiencekit.emulator.endpoints.users import _AREAS

    open_to_all = {"account_apps", "authenticated_user_access", "curated_categories", "promotable_users",
                   "user_settings"}  # fmt: skip
    paths = (route.path.replace("/batch/", "/").partition("/accounts/{account_id}/")[2] for route in ROUTES)
    named = {path.split("/")[0] for path in paths}
    assert named == {*_AREAS, *open_to_all}


# --- Promotable users, over the wire ---


async def _users(caller: Any, **query: Any) -> Any:
    return (await caller.call("GET", caller.account + "/promotable_users", query=query)).body


async def test_an_account_promotes_its_user_and_a_partners_tweets(caller: Any) -> None:
    """The user of the token in full, another one's tweets alone; each is shown by its id."""
    own, partner = (await _users(caller))["data"]
    user_id = caller.emulator.env["AUDIENCEKIT_ACCESS_TOKEN"].partition("-")[0]
    assert own == {
        "user_id": user_id,
        "type": "FULL",
        "id": own["id"],
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }
    assert (partner["type"], partner["user_id"] != user_id) == ("RETWEETS_ONLY", True)
    for each in (own, partner):
        assert (await caller.call("GET", f"{caller.account}/promotable_users/{each['id']}")).body["data"] == each


async def test_the_same_seed_gives_the_same_users(open_emulator: Any) -> None:
    """Another seed gives others."""
    seen = []
    for seed in (1, 1, 2):
        async with open_emulator(seed=seed) as caller:
            seen.append((await _users(caller))["data"])
    assert seen[0] == seen[1] != seen[2]


async def test_the_public_service_has_another_name_for_the_type(open_emulator: Any) -> None:
    """With profile x, in lists and alone."""
    async with open_emulator(profile="x") as caller:
        own = (await _users(caller))["data"][0]
        assert (own["promotable_user_type"], "type" in own) == ("FULL", False)
        assert (await caller.call("GET", f"{caller.account}/promotable_users/{own['id']}")).body["data"] == own


@each_case(
    "query, places",
    [
        ({"count": 1}, [0]),
        ({"with_total_count": "true", "with_deleted": "true"}, [0, 1]),
        ({"promotable_user_ids": "SECOND"}, [1]),
        ({"promotable_user_ids": "nothing"}, []),
        ({"cursor": "c-FIRST"}, [1]),
    ],
)
async def test_the_list_can_be_narrowed(caller: Any, query: dict[str, Any], places: list[int]) -> None:
    """By ids and by pages."""
    users = (await _users(caller))["data"]
    words = {"FIRST": users[0]["id"], "SECOND": users[1]["id"]}
    for word, text in words.items():
        query = {name: str(value).replace(word, text) for name, value in query.items()}
    page = await _users(caller, **query)
    assert page["data"] == [users[place] for place in places]


# --- Settings of a user, over the wire ---

EMPTY = {
    "notification_email": "",
    "contact_phone": "",
    "contact_phone_extension": "",
    "subscribe_email_types": [],
}


def _path(caller: Any, user_id: str = "") -> str:
    own = caller.emulator.env["AUDIENCEKIT_ACCESS_TOKEN"].partition("-")[0]
    return f"{caller.account}/user_settings/{user_id or own}"


async def test_settings_are_changed_one_by_one(caller: Any) -> None:
    """Fields that are not given stay; an empty value unsets."""
    assert (await caller.call("GET", _path(caller))).body["data"] == EMPTY
    steps: list[tuple[dict[str, str], dict[str, Any]]] = [
        ({"notification_email": "someone@mail.example"}, {"notification_email": "someone@mail.example"}),
        ({"contact_phone": "0123", "contact_phone_extension": "4"}, {}),
        ({"subscribe_email_types": "ONE,TWO"}, {"subscribe_email_types": ["ONE", "TWO"]}),
        ({"subscribe_email_types": "", "contact_phone": ""}, {"subscribe_email_types": [], "contact_phone": ""}),
        ({}, {}),
    ]
    expected: dict[str, Any] = EMPTY
    for query, changes in steps:
        expected = {**expected, **query, **changes}
        assert (await caller.call("PUT", _path(caller), query=query)).body["data"] == expected
    assert (await caller.call("GET", _path(caller))).body["data"] == expected


async def test_the_echo_has_the_user_as_a_number(caller: Any) -> None:
    """As the public service does with users."""
    params = (await caller.call("GET", _path(caller))).body["request"]["params"]
    assert params == {"account_id": caller.emulator.account_id, "user_id": int(_path(caller).rpartition("/")[2])}


@each_case("method, code", [("GET", "USER_NOT_FOUND"), ("PUT", "ACTION_NOT_ALLOWED")])
async def test_settings_are_of_their_user_alone(caller: Any, method: str, code: str) -> None:
    """Not even the administrator of the account."""
    refused = await caller.call(method, _path(caller, "783214"))
    assert (refused.status, refused.codes) == (403, [code])


@each_case("user_id", ["me", "9223372036854775808", "1.5", "-1"])
async def test_a_user_is_a_long_integer(caller: Any, user_id: str) -> None:
    """In the path, too."""
    for method in ("GET", "PUT"):
        refused = await caller.call(method, _path(caller, user_id))
        assert (refused.status, refused.body["errors"][0]["parameter"]) == (400, "user_id")


async def test_faulty_changes_are_refused(caller: Any) -> None:
    """Notifications are a list of words; a misspelled setting is none. Nothing changes, and no value is quoted."""
    for query in ({"subscribe_email_types": "ONE,,TWO"}, {"notification_mail": "someone@mail.example"}):
        refused = await caller.call("PUT", _path(caller), query={"contact_phone": "0123", **query})
        assert refused.codes == ["INVALID_PARAMETER"]
        assert b"someone" not in refused.content
    assert (await caller.call("GET", _path(caller))).body["data"] == EMPTY
