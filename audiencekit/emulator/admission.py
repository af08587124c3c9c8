"""Whether a request is let in: endpoint, signature, rate, account and body, in this order."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

from audiencekit.emulator.arrivals import Arrival
from audiencekit.emulator.bodies import Received
from audiencekit.emulator.emulatorparts import EmulatorParts
from audiencekit.emulator.envelope import refuse
from audiencekit.emulator.oauth.requiredcredentials import Gate
from audiencekit.emulator.rate_limits import CORE_READS, COUNTED_READS, READS, USERS, Quota, RateLimits, Window
from audiencekit.emulator.routing import Match
from audiencekit.emulator.signatures import SignedCall, decode_pairs
from audiencekit.emulator.state import ReceivedCall


@dataclass(frozen=True, slots=True)
class Admission:
    """A request with a known caller: the endpoint, attributes of the header, and the quota that is left."""

    match: Match
    attributes: Mapping[str, str]
    quota: Quota
    may_only_read: bool

    @property
    def user_id(self) -> str:
        """The user who signed; empty where none did."""
        return self.attributes.get("oauth_token", "").partition("-")[0]


class Admissions:
    """Judges the requests of one emulator, whose rates it counts."""

    def __init__(self, parts: EmulatorParts) -> None:
        self._parts = parts
        self._gate = Gate(parts.store.origin.credentials, parts.store.tokens)
        self._rate_limits = RateLimits()

    def admit(self, arrival: Arrival, received: Received | None) -> Admission:
        """Return the endpoint, the caller and the rest of the quota. Raises RefusalError for what is unknown."""
        request, skew_seconds = arrival.request, arrival.faults.skew_seconds
        match = self._parts.router.find(request.method, arrival.path, arrival.address)
        signed = SignedCall(
            method=request.method,
            scheme=request.scheme,
            host=request.host,
            path=arrival.path,
            query=arrival.query,
            form=received.content if received else b"",
            authorization=request.headers.get("Authorization"),
        )
        attributes = self._gate.admit(match.route.credential, signed, arrival.time + skew_seconds)
        token = attributes.get("oauth_token", "")
        window = self._window(match, arrival.query)
        owner: Hashable = token
        if window.each_endpoint:
            owner = (token, match.ids.get("account_id"), match.route.method, match.route.path)
        quota = self._rate_limits.take(window, owner, arrival.time)
        return Admission(
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

    def let_in(self, arrival: Arrival, admission: Admission, received: Received) -> ReceivedCall:
        """Return the call, to be carried out. Raises RefusalError: its quota was counted already."""
        ids = admission.match.ids
        if not admission.quota.granted:
            raise admission.quota.exhausted(ids)
        self._parts.handlers.check_access(admission.match, admission.user_id)
        if admission.may_only_read and admission.match.route.writes:
            words = "The token may only read"
            raise refuse(403, "INSUFFICIENT_USER_AUTHORIZED_PERMISSION", words, params=ids)
        if received.too_large:
            raise refuse(413, "REQUEST_TOO_COMPLEX", "The body of the request is too large", params=ids)
        if arrival.header("Content-Encoding") not in ("", "identity"):
            raise refuse(415, "UNSUPPORTED_MEDIA_TYPE", "Expected no Content-Encoding", params=ids)
        return ReceivedCall(
            now=self._parts.clock.now(),
            address=arrival.address,
            method=arrival.request.method,
            path=arrival.path,
            query=arrival.query,
            attributes=json.dumps(admission.attributes),
            media_type=arrival.header("Content-Type"),
            body=received.content,
        )
