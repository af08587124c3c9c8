"""The gate: the credential that each endpoint asks for (specification part 0, section 5)."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import unquote

from audiencekit.emulator.credentials import Credentials
from audiencekit.emulator.envelope import RefusalError, refuse_legacy, refuse_problem
from audiencekit.emulator.oauth.tokens import Tokens
from audiencekit.emulator.routing import Credential
from audiencekit.emulator.signatures import Signatures, SignedCall

# Parts of the header that a handler sees: never the signature or the nonce.
_SHOWN: Final = ("oauth_token", "oauth_callback", "oauth_verifier", "platform_auth_access_type", "x_auth_access_type")


class Gate:
    """Lets calls in, by their credential."""

    def __init__(self, credentials: Credentials, tokens: Tokens) -> None:
        self._credentials, self._tokens = credentials, tokens
        self._signatures = Signatures(credentials)
        self._ways: Mapping[Credential, Callable[[SignedCall, float], dict[str, str]]] = {
            Credential.USER: lambda call, now: self._signatures.verify(call, now, tokens.access),
            Credential.PENDING: lambda call, now: self._signatures.verify(call, now, self._pending()),
            Credential.APPLICATION: lambda call, now: self._signatures.verify(call, now, None),
            Credential.BASIC: self._check_basic,
            Credential.BEARER: self._check_bearer,
            Credential.NONE: lambda call, now: {},
        }

    def admit(self, credential: Credential, call: SignedCall, now: float) -> dict[str, str]:
        """The `oauth_…` attributes that a handler may need. Raises RefusalError: 401, or 403 for a wrong client."""
        attributes = self._ways[credential](call, now)
        return {name: text for name, text in attributes.items() if name in _SHOWN}

    def _pending(self) -> dict[str, str]:
        return {token: pending.secret for token, pending in self._tokens.requests.items()}

    def _check_basic(self, call: SignedCall, now: float) -> dict[str, str]:
        known = (self._credentials.consumer_key, self._credentials.consumer_secret)
        scheme, _, encoded = (call.authorization or "").partition(" ")
        try:
            given = base64.b64decode(encoded, validate=True).decode().partition(":")
        except ValueError:
            raise _unverified() from None
        pairs = zip(known, (unquote(given[0]), unquote(given[2])), strict=True)
        if scheme.lower() != "basic" or not all(hmac.compare_digest(*map(str.encode, pair)) for pair in pairs):
            raise _unverified()
        return {}

    def _check_bearer(self, call: SignedCall, now: float) -> dict[str, str]:
        scheme, _, given = (call.authorization or "").partition(" ")
        known = self._tokens.bearer
        if scheme.lower() != "bearer" or known is None or not hmac.compare_digest(given.encode(), known.encode()):
            raise refuse_problem(401, "Unauthorized", "Unauthorized")
        return {}


def _unverified() -> RefusalError:
    return refuse_legacy(403, 99, "Unable to verify your credentials")
