"""Clients as settings describe them, and the transport of a dry run, which reads and does not write."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Final, Self

from audiencekit.api.client import AdsClient
from audiencekit.api.exchange import BASES, ApiRequest, ApiResponse
from audiencekit.api.hosts import ServiceAddresses
from audiencekit.api.oauth import Credentials
from audiencekit.api.transport import HttpTransport
from audiencekit.process.connections import Connections
from audiencekit.settings import Settings

# --- From settings to a client ---


def open_client(settings: Settings, *, dry_run: bool = False) -> AdsClient:
    """Return an AdsClient for the account of `settings`, to be used as an async context manager.

    In a `dry_run` it raises WouldSend in place of the first request that would change something. Raises
    CredentialsRefused, UsageError or HostRefused at once when it could never work.
    """
    settings.require_ads_url()
    settings.require_account()
    return open_calls(settings, dry_run=dry_run)


def open_calls(settings: Settings, credentials: Credentials | None = None, *, dry_run: bool = False) -> AdsClient:
    """Return a client for calls that need neither the account nor the address of the ads API.

    `credentials` replace those of `settings`.
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


# --- A transport that reads and does not write: the first request that would change something ends the work ---

_READS: Final = frozenset({"GET", "HEAD"})
_TOKENS: Final = "/oauth2/token"  # a POST that changes nothing: the bearer token that reading the v2 API takes


class WouldSend(Exception):
    """A request that was not sent: method, path, names of its parameters, bytes of its body. No values."""

    def __init__(self, request: ApiRequest) -> None:
        super().__init__(f"{request.method} {request.path}")
        self.method, self.path = request.method, request.path
        self.parameters = [name for name, _ in (*request.query, *request.form)]
        self.body_bytes = 0 if request.body is None else request.body.size

    def to_json(self) -> dict[str, Any]:
        """Return all of it."""
        return {
            "method": self.method, "path": self.path, "parameters": self.parameters, "body_bytes": self.body_bytes,
        }  # fmt: skip


class DryTransport:
    """Pass requests that read on. Raise WouldSend in place of sending any other."""

    def __init__(self, transport: HttpTransport) -> None:
        self._transport = transport

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transport.__aexit__(kind, error, trace)

    async def exchange(self, request: ApiRequest) -> ApiResponse:
        """Return the answer to a request that reads."""
        if request.method not in _READS and request.path != _TOKENS:
            raise WouldSend(request)
        return await self._transport.exchange(request)
