"""From settings to a client that is ready to be opened."""

from __future__ import annotations

from audiencekit.api.addresses import ServiceAddresses
from audiencekit.api.client import AdsClient
from audiencekit.api.dryrun import DryTransport
from audiencekit.api.exchange import BASES
from audiencekit.api.oauth import Credentials
from audiencekit.api.transport import HttpTransport
from audiencekit.machine.connections import Connections
from audiencekit.settings import Settings


def open_client(settings: Settings, *, dry_run: bool = False) -> AdsClient:
    """An AdsClient for the account of `settings`, to be used as an async context manager.

    In a `dry_run` it raises WouldSend in place of the first request that would change something. Raises
    CredentialsRefused, UsageError or HostRefused at once when it could never work.
    """
    settings.require_ads_url()
    settings.require_account()
    return open_calls(settings, dry_run=dry_run)


def open_calls(settings: Settings, credentials: Credentials | None = None, *, dry_run: bool = False) -> AdsClient:
    """The same for calls of which some need neither the account nor the address of the ads API.

    `credentials` take the place of those of `settings`.
    """
    transport = HttpTransport(
        credentials=credentials or Credentials(**settings.require_secrets()),
        addresses=ServiceAddresses(
            settings.profile,
            {base: getattr(settings, base) for base in BASES},
            allowed_hosts=settings.allowed_hosts,
            named=settings.named_addresses,
        ),
        connections=Connections(concurrency=settings.concurrency, proxy=settings.proxy, ca_bundle=settings.ca_bundle),
    )
    return AdsClient(
        DryTransport(transport) if dry_run else transport,
        account_id=settings.account_id or None,
        version=settings.profile.version,
        wire_names=settings.profile.wire_names,
    )
