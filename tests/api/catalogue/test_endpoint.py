"""The permission that an endpoint takes, against an emulator that was written from the same sentences."""

from __future__ import annotations

import re
from contextlib import nullcontext

import pytest

from audiencekit.api.catalogue import BY_NAME, ENDPOINTS
from audiencekit.api.catalogue.endpoint import describe_permissions, permissions_for
from audiencekit.api.opening import open_client
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.emulator.answers import RefusalError
from audiencekit.emulator.authentication import make_origin
from audiencekit.emulator.calls import Address
from audiencekit.emulator.endpoints.users import Users, check_permission
from audiencekit.emulator.routes import ROUTES
from audiencekit.emulator.routing import Router
from audiencekit.errors import Unauthorized
from audiencekit.settings import load_settings
from tests.cases import each_case


def test_client_and_emulator_agree() -> None:
    """For every endpoint that a user signs and every permission: refused where the client says so."""
    router, users = Router(ROUTES), Users(make_origin(0)).all()
    for row in ENDPOINTS:
        if (row.auth, row.answer) != ("user", "json"):
            continue
        path = re.sub(r"\{\w+\}", "1", row.path)
        match = router.find(row.method, path, Address.SANDBOX if row.sandbox_only else Address.ADS)
        for user in users:
            may = not permissions_for(row) or not {*permissions_for(row)}.isdisjoint(user.permissions)
            with nullcontext() if may else pytest.raises(RefusalError, match="403"):
                check_permission(user, match)


@each_case(
    "name, user, words",
    [
        ("list_campaigns", "local_analyst", "ACCOUNT_ADMIN or AD_MANAGER or CAMPAIGN_ANALYST on the account"),
        ("create_do_not_reach_list", "local_partner_audience_manager", "ACCOUNT_ADMIN or AD_MANAGER on the account"),
        ("update_account", "local_ad_manager", "the user needs ACCOUNT_ADMIN on the account"),
    ],
)
async def test_a_refusal_names_the_permission_that_is_missing(name: str, user: str, words: str) -> None:
    """With the command that shows those of the user."""
    async with Emulator(EmulatorOptions(user=user)) as emulator, open_client(load_settings(emulator.env)) as client:
        with pytest.raises(Unauthorized) as caught:
            await client.call(name)
    assert words in caught.value.hint
    assert "whoami" in caught.value.hint


async def test_a_tweet_for_another_user_names_the_composer() -> None:
    """Beside the permission to create."""
    async with (
        Emulator(EmulatorOptions(user="local_account_admin")) as emulator,
        open_client(load_settings(emulator.env)) as client,
    ):
        with pytest.raises(Unauthorized, match="ACTION_NOT_ALLOWED") as caught:
            await client.call("create_tweet", {"as_user_id": emulator.store.origin.user_id, "text": "spring"})
    assert "TWEET_COMPOSER" in caught.value.hint


def test_calls_open_to_every_user_name_no_permission() -> None:
    """Reference data, the access itself, authorization."""
    for name in ("get_authenticated_user_access", "list_publishers", "list_accounts", "oauth2_token", "get_posts"):
        assert describe_permissions(BY_NAME[name]) == ""
    assert sum(bool(permissions_for(row)) for row in ENDPOINTS) > 80
