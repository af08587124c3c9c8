"""The settings file as `init` and `login` write it: the service that was chosen, and one of its ads accounts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from audiencekit.cli.output import insist, tell
from audiencekit.errors import AudiencekitError
from audiencekit.text import shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from audiencekit.api.login import AdsAccount
    from audiencekit.settings import Settings


def keep_settings(settings: Settings, account_id: str | None) -> Path:
    """Write the service of `settings` and this account into the settings file, and return its path.

    Raises HostRefused for an address to which no credentials may go, and as `write_settings_file`.
    """
    from audiencekit.api.hosts import check_address
    from audiencekit.settings_file import SERVICE, write_settings_file

    service, profile, hosts = _service_of(settings), settings.profile, settings.allowed_hosts
    named = settings.named_addresses
    addresses = [service[name] for name in SERVICE[1:] if name in service]
    if any(check_address(url, profile=profile, allowed_hosts=hosts, named=named).is_loopback for url in addresses):
        tell("note: this is a rehearsal on this machine: run `audiencekit init` again for the real service")
    return write_settings_file({**service, "account_id": account_id or "", "allow_host": " ".join(sorted(hosts))})


def keep_after_login(settings: Settings) -> str | None:
    """Keep the service and the ads account of this login, and return the account; None when it is not known.

    A settings file of another service stays as it is. The login is done by now, so what fails here is only told.
    """
    from audiencekit.settings_file import DEFAULT_PROFILE, SERVICE, read_settings_file

    try:
        kept = read_settings_file()
        of_file = {name: value for name, value in kept.items() if name in SERVICE}
        if kept and {"profile": DEFAULT_PROFILE, **of_file} != _service_of(settings):
            tell("note: the settings file is of another service, and stays as it is: `audiencekit init` changes it")
            return settings.account_id
        account_id = settings.account_id or _account_of_login(settings)
        tell(f"the service and the account are kept in {shown(keep_settings(settings, account_id))}")
    except AudiencekitError as error:
        tell(f"note: the account is not kept: {error}" + (f"; {error.hint}" if error.hint else ""))
        return settings.account_id
    return account_id


def choose_account(accounts: Sequence[AdsAccount], present: str | None) -> str:
    """The ads account that a person chooses by its number; `present`, or the first one, on Enter."""
    ids = [each.account_id for each in accounts]
    insist("Ads accounts of this login:")
    for number, each in enumerate(accounts, start=1):
        insist(f"  {number}  {shown(each.account_id)}" + (f"  {shown(each.name)}" if each.name else ""))
    default = ids.index(present) + 1 if present in ids else 1
    number = click.prompt("Number of the account", type=click.IntRange(1, len(ids)), default=default, err=True)
    return ids[number - 1]


def _service_of(settings: Settings) -> dict[str, str]:
    from audiencekit.settings_file import ADDRESSES

    addresses = {name: getattr(settings, name) for name in ADDRESSES}
    return {"profile": settings.profile.name, **{name: url for name, url in addresses.items() if url}}


def _account_of_login(settings: Settings) -> str | None:
    import asyncio

    from audiencekit.api.login import list_ads_accounts

    accounts = asyncio.run(list_ads_accounts(settings))
    if len(accounts) == 1:
        return accounts[0].account_id
    if not accounts:
        tell("note: this login has no ads account")
        return None
    if sys.stdin.isatty():
        return choose_account(accounts, None)
    tell(f"note: this login has {len(accounts)} ads accounts: `audiencekit init --account ID` keeps one of them")
    return None
