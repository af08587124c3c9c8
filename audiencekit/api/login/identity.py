"""The identity of the caller: the origin of the credentials, their user, and the permissions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from audiencekit.api.client import AdsClient
from audiencekit.api.oauth import Credentials
from audiencekit.api.opening import open_calls
from audiencekit.api.wire import require_list
from audiencekit.settings import Origin, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """`application` and `token` say where the two pairs were found. `user_id` and `permissions` are of the service and
    of the account, None without one; `accounts` are the ids of those that the token can use."""

    profile: str
    ads_url: str
    application: Origin
    token: Origin
    screen_name: str | None
    user_id: str | None
    account_id: str | None
    permissions: tuple[str, ...] | None
    accounts: tuple[str, ...]


async def who_am_i(settings: Settings) -> Identity:
    """Asks the service. Raises CredentialsRefused without credentials, UsageError without an address of the ads API,
    an ExchangeError, and HostRefused."""
    ads_url, secrets = settings.require_ads_url(), settings.require_secrets()
    found = settings.find_credentials()
    async with open_calls(settings, Credentials(**secrets)) as client:
        pages = [require_list(page, named=True) async for page in client.pages("list_accounts")]
        access = await _ask_access(client, settings)
    return Identity(
        profile=settings.profile.name,
        ads_url=ads_url,
        application=found.origins["application"],
        token=found.origins["token"],
        screen_name=found.screen_name or None,
        user_id=access.get("user_id") or found.user_id or None,
        account_id=settings.account_id,
        permissions=tuple(access["permissions"]) if "permissions" in access else None,
        accounts=tuple(account["id"] for page in pages for account in page.data),
    )


async def _ask_access(client: AdsClient, settings: Settings) -> dict[str, Any]:
    if not settings.account_id:
        return {}
    return dict((await client.get_authenticated_user_access()).data)
