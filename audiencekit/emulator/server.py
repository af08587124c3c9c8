"""The emulator as a server: it starts and stops, and receives, authorizes and answers requests."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import random
import signal
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from audiencekit.emulator.answer_sending import CallRunner, Sender
from audiencekit.emulator.answers import Answer, RefusalError, refuse
from audiencekit.emulator.authentication import SignedCall, decode_pairs
from audiencekit.emulator.bodies import Received
from audiencekit.emulator.calls import Address, is_form
from audiencekit.emulator.connections import ClientConnection, Listener
from audiencekit.emulator.control_endpoints import ControlRouter
from audiencekit.emulator.emulator_parts import EmulatorParts
from audiencekit.emulator.encryption import Encryption
from audiencekit.emulator.endpoints.oauth import Gate
from audiencekit.emulator.endpoints.webhooks import WebhookSender
from audiencekit.emulator.faults.effects import Outage
from audiencekit.emulator.faults.fault_points import ConnectionCutError, InjectedError, RequestFaults
from audiencekit.emulator.faults.network import FaultSites, inject_connection_fault
from audiencekit.emulator.faults.orders import Register
from audiencekit.emulator.incoming import IncomingRequest, read_body
from audiencekit.emulator.options import EmulatorOptions
from audiencekit.emulator.routing import (
    CORE_READS,
    COUNTED_READS,
    READS,
    USERS,
    Match,
    Quota,
    RateLimits,
    Window,
    choose_address,
)
from audiencekit.emulator.store import Clock, ReceivedCall, Store
from audiencekit.process.loop_signals import on_ending

# --- The emulator as a server: three addresses on loopback, from `async with` or until a signal ---


class Emulator:
    """A local ads API. `async with Emulator(options) as emulator:` serves until the block ends."""

    def __init__(self, options: EmulatorOptions | None = None) -> None:
        self.options = options or EmulatorOptions()
        self._end = asyncio.Event()
        self._listeners: dict[Address, Listener] = {}
        self._parts = EmulatorParts(self.options)
        self._request_handler = RequestHandler(self._parts, stop=self._stop, prepare=self._prepare)
        self.store.webhooks.receivers.update(self.options.webhooks)
        secret = self.store.origin.credentials.consumer_secret
        self._webhook_sender = WebhookSender(self.store.webhooks, secret, self.options.delivery_waits)
        self._encryption: Encryption | None = None
        answer = functools.partial(self._request_handler.answer, address=Address.ADS)
        self._sites = FaultSites(self._parts.faults, answer, self._request_handler.admit, self._end, self._ports)

    async def __aenter__(self) -> Self:
        try:
            if self.options.tls:
                self._encryption = Encryption(self.options.hosts, self.options.authority)
            for address in Address:
                await self._open(address, self.options.port if address is Address.ADS else 0)
            await self._sites.prepare()
            self._webhook_sender.open()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    @property
    def faults(self) -> Register:
        """The present faults, and the record of their effects."""
        return self._parts.faults

    @property
    def ads_url(self) -> str:
        """The address of the ads API."""
        return self._listeners[Address.ADS].url

    @property
    def ads_sandbox_url(self) -> str:
        """The address of the sandbox; it has the same accounts."""
        return self._listeners[Address.SANDBOX].url

    @property
    def base_url(self) -> str:
        """The address of all that is not the ads API."""
        return self._listeners[Address.BASE].url

    @property
    def authority(self) -> Path | None:
        """The file with the certificate to trust; None without `tls`."""
        return self._encryption.authority if self._encryption else None

    @property
    def account_id(self) -> str:
        """The first account."""
        return self.store.origin.account_id

    @property
    def audience_id(self) -> str:
        """The first audience."""
        return self.store.audience_id

    @property
    def store(self) -> Store:
        """The store of the emulator."""
        return self._parts.store

    @property
    def clock(self) -> Clock:
        """The clock of all rules."""
        return self._parts.clock

    @property
    def env(self) -> dict[str, str]:
        """The environment variables with which a client uses this emulator."""
        credentials, user = self.store.origin.credentials, self.store.users.named(self.options.user)
        return {
            "AUDIENCEKIT_PROFILE": self.options.profile,
            "AUDIENCEKIT_ADS_URL": self.ads_url,
            "AUDIENCEKIT_ADS_SANDBOX_URL": self.ads_sandbox_url,
            "AUDIENCEKIT_BASE_URL": self.base_url,
            "AUDIENCEKIT_ACCOUNT_ID": self.account_id,
            "AUDIENCEKIT_CONSUMER_KEY": credentials.consumer_key,
            "AUDIENCEKIT_CONSUMER_SECRET": credentials.consumer_secret,
            "AUDIENCEKIT_ACCESS_TOKEN": user.access_token,
            "AUDIENCEKIT_ACCESS_TOKEN_SECRET": user.access_token_secret,
            **({"AUDIENCEKIT_CA_BUNDLE": str(self.authority)} if self.authority else {}),
        }

    def ready_line(self) -> str:
        """Return one line of JSON: addresses, ids and environment."""
        return json.dumps(
            {
                "ads_url": self.ads_url,
                "ads_sandbox_url": self.ads_sandbox_url,
                "base_url": self.base_url,
                "account_id": self.account_id,
                "audience_id": self.audience_id,
                **({"authority": str(self.authority)} if self.authority else {}),
                "env": self.env,
            }
        )

    async def _open(self, address: Address, port: int) -> None:
        # The doors at the third address answer whatever befalls connections to the others.
        admit = self._request_handler.admit if address is not Address.BASE else lambda line: None
        answer = functools.partial(self._answer, address=address)
        context = self._encryption.context if self._encryption else None
        listener = self._listeners[address] = Listener(answer, admit, self._end, context=context)
        await listener.open(port)

    async def _answer(self, request: web.BaseRequest, address: Address) -> web.StreamResponse:
        called = choose_address(request.host, request.raw_path, self.options.hosts, otherwise=address)
        return await self._request_handler.answer(request, called)

    async def _prepare(self) -> dict[str, str]:
        return await self._sites.prepare()

    def _ports(self) -> set[int]:
        return {listener.port for listener in self._listeners.values()} | self._sites.ports

    def _stop(self, outage: Outage) -> None:
        if outage.lost:
            self._parts.lose_members()
        for address in (Address.ADS, Address.SANDBOX):
            self._listeners[address].stop_for(outage.seconds)

    async def _close(self) -> None:
        self._end.set()
        await self._webhook_sender.close()
        self._parts.close()
        await self._sites.close()
        while self._listeners:
            await self._listeners.popitem()[1].close()
        if self._encryption is not None:
            self._encryption.close()


async def serve(options: EmulatorOptions, *, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT. `announce` is called with the ready line once everything answers."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    signals = (signal.SIGTERM, signal.SIGINT)
    async with Emulator(options) as emulator:
        with contextlib.ExitStack() as handlers:
            for number in signals:
                handlers.callback(on_ending(loop, number, stop.set))
            announce(emulator.ready_line())
            await stop.wait()


# --- One HTTP request in, one answer out: route, signature, rate, account, body, handler, in this order ---


class RequestHandler:
    """Answers the requests of one emulator, at any of its addresses."""

    def __init__(
        self,
        parts: EmulatorParts,
        *,
        stop: Callable[[Outage], None],
        prepare: Callable[[], Awaitable[dict[str, str]]],
    ) -> None:
        self._parts, self._stop = parts, stop
        self._authenticator = Authenticator(parts)
        self._call_runner = CallRunner(parts)
        self._control = ControlRouter(parts, prepare)
        self._sender = Sender(parts.clock, random.Random(parts.options.seed))

    def admit(self, connection: ClientConnection) -> None:
        """Inject the faults of connections into a new one."""
        inject_connection_fault(connection, self._parts.faults, self._parts.clock.now(), self._stop)

    async def answer(self, request: web.BaseRequest, address: Address) -> web.StreamResponse:
        """Return the answer to `request`, already sent if it is streamed or is that of a fault."""
        self._parts.late.run_due()
        connection = ClientConnection.of(request)
        if connection is None:
            return web.Response()
        path, _, query = request.raw_path.partition("?")
        now = self._parts.clock.now()
        faults = RequestFaults(self._parts.faults, request, connection, self._stop)
        incoming = IncomingRequest(request, address, path, query.encode("utf-8", "surrogateescape"), now, faults)
        try:
            if path.startswith("/__"):
                return await self._sender.send(incoming, connection, await self._control.open(incoming))
            return await self._sender.send(incoming, connection, await self._serve(incoming))
        except ConnectionCutError:
            return web.Response()

    async def _serve(self, incoming: IncomingRequest) -> Answer:
        entry = self._parts.store.requests.open(incoming.time, incoming.request.method, incoming.path)
        received = None
        try:
            await incoming.faults.begin(entry.seq, incoming.time)
            # Only a form is covered by the signature; other requests are judged and counted before their body came.
            received = await read_body(incoming, entry) if is_form(incoming.header("Content-Type")) else None
            authenticated = self._authenticator.admit(incoming, received)
        except (RefusalError, InjectedError) as end:
            received = received or await read_body(incoming, entry)
            answer = end.answer
        else:
            received = received or await read_body(incoming, entry)
            answer = await self._handle(incoming, authenticated, received)
        answer = incoming.faults.reword(answer, incoming.header("Authorization").encode() + received.content)
        entry.status = answer.status
        if self._parts.state is not None:
            self._parts.state.add_request(entry)
        closing = {} if received.drained else {"Connection": "close"}
        return replace(answer, headers={**answer.headers, **closing})

    async def _handle(
        self, incoming: IncomingRequest, authenticated: AuthenticatedRequest, received: Received
    ) -> Answer:
        try:
            call = self._authenticator.authorize(incoming, authenticated, received)
            answer = await self._call_runner.carry_out(call, authenticated.match, incoming.faults)
        except RefusalError as refusal:
            answer = refusal.answer
        except InjectedError as injected:
            # A proxy between a client and the service knows nothing of rates.
            if injected.answer.status >= 300:
                return injected.answer
            answer = injected.answer
        level = {"x-access-level": "read"} if authenticated.may_only_read else {}
        return replace(answer, headers={**authenticated.quota.headers(), **level, **answer.headers})


# --- Authentication and authorization: endpoint, signature, rate, account and body, in this order ---


@dataclass(frozen=True, slots=True)
class AuthenticatedRequest:
    """A request of a known caller: the endpoint, attributes of the header, and the remaining quota."""

    match: Match
    attributes: Mapping[str, str]
    quota: Quota
    may_only_read: bool

    @property
    def user_id(self) -> str:
        """The user who signed; empty without one."""
        return self.attributes.get("oauth_token", "").partition("-")[0]


class Authenticator:
    """Authenticates and authorizes the requests of one emulator, and counts their rates."""

    def __init__(self, parts: EmulatorParts) -> None:
        self._parts = parts
        self._gate = Gate(parts.store.origin.credentials, parts.store.tokens)
        self._rate_limits = RateLimits()

    def admit(self, incoming: IncomingRequest, received: Received | None) -> AuthenticatedRequest:
        """Return the endpoint, the caller and the remaining quota. Raises RefusalError for unknown ones."""
        request, skew_seconds = incoming.request, incoming.faults.skew_seconds
        match = self._parts.router.find(request.method, incoming.path, incoming.address)
        signed = SignedCall(
            method=request.method,
            scheme=request.scheme,
            host=request.host,
            path=incoming.path,
            query=incoming.query,
            form=received.content if received else b"",
            authorization=request.headers.get("Authorization"),
        )
        attributes = self._gate.admit(match.route.credential, signed, incoming.time + skew_seconds)
        token = attributes.get("oauth_token", "")
        window = self._window(match, incoming.query)
        owner: Hashable = token
        if window.each_endpoint:
            owner = (token, match.ids.get("account_id"), match.route.method, match.route.path)
        quota = self._rate_limits.take(window, owner, incoming.time)
        return AuthenticatedRequest(
            match,
            attributes,
            replace(quota, reset=quota.reset + round(skew_seconds)),
            may_only_read=token in self._parts.store.tokens.readers,
        )

    def _window(self, match: Match, query: bytes) -> Window:
        window = match.route.window
        if window in (READS, CORE_READS) and (b"with_total_count", b"true") in decode_pairs(query):
            return COUNTED_READS
        if window is USERS and self._parts.options.rate is not None:
            requests, seconds = self._parts.options.rate
            return replace(USERS, requests=requests, seconds=seconds)
        return window

    def authorize(
        self, incoming: IncomingRequest, authenticated: AuthenticatedRequest, received: Received
    ) -> ReceivedCall:
        """Return the call to carry out. Raises RefusalError; its quota was counted already."""
        ids = authenticated.match.ids
        if not authenticated.quota.granted:
            raise authenticated.quota.exhausted(ids)
        self._parts.handlers.check_access(authenticated.match, authenticated.user_id)
        if authenticated.may_only_read and authenticated.match.route.writes:
            words = "The token may only read"
            raise refuse(403, "INSUFFICIENT_USER_AUTHORIZED_PERMISSION", words, params=ids)
        if received.too_large:
            raise refuse(413, "REQUEST_TOO_COMPLEX", "The body of the request is too large", params=ids)
        if incoming.header("Content-Encoding") not in ("", "identity"):
            raise refuse(415, "UNSUPPORTED_MEDIA_TYPE", "Expected no Content-Encoding", params=ids)
        return ReceivedCall(
            now=self._parts.clock.now(),
            address=incoming.address,
            method=incoming.request.method,
            path=incoming.path,
            query=incoming.query,
            attributes=json.dumps(authenticated.attributes),
            media_type=incoming.header("Content-Type"),
            body=received.content,
        )
