"""Settings of a user, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

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


@pytest.mark.parametrize(("method", "code"), [("GET", "USER_NOT_FOUND"), ("PUT", "ACTION_NOT_ALLOWED")])
async def test_settings_are_of_their_user_alone(caller: Any, method: str, code: str) -> None:
    """Not even the administrator of the account."""
    refused = await caller.call(method, _path(caller, "783214"))
    assert (refused.status, refused.codes) == (403, [code])


@pytest.mark.parametrize("user_id", ["me", "9223372036854775808", "1.5", "-1"])
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
