"""The permission that an endpoint takes, against an emulator that was written from the same sentences."""

from __future__ import annotations

import pytest

from audiencekit.api.catalogue import BY_NAME, ENDPOINTS
from audiencekit.api.catalogue.endpoint import describe_permissions, permissions_for
from audiencekit.api.opening import open_client
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.emulator.endpoints.users import Users
from audiencekit.errors import Unauthorized
from audiencekit.settings import load_settings
from tests.emulator.test_parameter_rules import ROWS, complete
from tests.emulator.world import open_world


async def test_client_and_emulator_agree() -> None:
    """For every endpoint with a query and every permission: refused where the client says so."""
    async with open_world() as world:
        users: Users = world.caller.emulator.store.users
        for row in ROWS:
            given = complete(world, row)
            path = row.path.format_map({"account_id": world.values["account_id"], **given})
            base = world.caller.emulator.ads_sandbox_url if row.sandbox_only else world.caller.emulator.ads_url
            for user in users.all():
                may = not permissions_for(row) or not {*permissions_for(row)}.isdisjoint(user.permissions)
                if may and row.method != "GET":
                    continue  # it would change the world
                signed = {"resource_owner_key": user.access_token, "resource_owner_secret": user.access_token_secret}
                reply = await world.caller.send(
                    row.method, path, base=base, headers=world.caller.sign(row.method, base + path, **signed)
                )
                if reply.status == 429:
                    await world.caller.move_clock(advance=1_000)
                    continue
                refused = reply.status == 403 and "This needs the permission" in reply.content.decode()
                assert refused != may, (row.name, user.screen_name, reply.content)


@pytest.mark.parametrize(
    ("name", "user", "words"),
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
