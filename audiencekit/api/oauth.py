"""OAuth 1.0a and bearer tokens: the `Authorization` header of one attempt, by the clock of the service. Pure."""

from __future__ import annotations

import hashlib
import hmac
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias
from urllib.parse import quote, urlsplit

from audiencekit.api.exchange import ApiRequest
from audiencekit.errors import Bug, CredentialsRefused
from audiencekit.limits import MAX_CLOCK_OFFSET_SECONDS, MIN_CLOCK_OFFSET_SECONDS
from audiencekit.personal import Secret, guarded
from audiencekit.process.boot import boot_seconds

# --- The `Authorization` header of one attempt, by the credential that the endpoint asks for. Pure ---
#
# Source: specification part 0, section 5.

_NO_TOKEN = Secret("")


@guarded
def authorization(request: ApiRequest, credentials: Credentials, *, url: str, nonce: str, timestamp: int) -> Secret:
    """Return the value of the header. `url` is that of the request, without its query.

    Raises CredentialsRefused for a request that needs a bearer token and has none.
    """
    if request.auth == "basic":
        return basic_header(credentials)
    if request.auth == "bearer":
        if request.bearer is None:
            raise CredentialsRefused("the request needs a bearer token and has none")
        return Secret(f"Bearer {request.bearer.unwrap()}")
    if request.auth == "app":
        credentials = replace(credentials, access_token=_NO_TOKEN, access_token_secret=_NO_TOKEN)
    return authorization_header(
        credentials,
        method=request.method,
        url=url,
        parameters=(*request.query, *request.form),
        nonce=nonce,
        timestamp=timestamp,
        extra=request.oauth,
    )


@guarded
def basic_header(credentials: Credentials) -> Secret:
    """Return the header with the key pair of the application, both encoded before they are joined (public service)."""
    pair = ":".join(percent_encode(part.unwrap()) for part in (credentials.consumer_key, credentials.consumer_secret))
    return Secret(f"Basic {b64encode(pair.encode()).decode()}")


# --- The time of signatures: that of this machine, corrected by the time of the service ---

UNAUTHORIZED: Final = 401


def seconds_behind(now: float, answered_at: float | None) -> float:
    """Return how far `now`, of this machine, is behind the service's time; 0.0 if it is close, or not known."""
    behind = 0.0 if answered_at is None else answered_at - now
    return behind if abs(behind) >= MIN_CLOCK_OFFSET_SECONDS else 0.0


def skew_in_words(seconds_behind: float) -> str:
    """Return the difference of the clocks in words."""
    apart = "behind" if seconds_behind > 0 else "ahead of"
    return f"the clock of this machine is {abs(seconds_behind):,.0f} s {apart} the service's"


class ServiceClock:
    """The wall clock of the start, continued by a clock that never jumps, with a learned offset.

    So later changes of the wall clock do not matter, and a wrong clock is corrected when a signature was refused for
    its time (reliability bar, fault 23).
    """

    def __init__(self, *, wall: Callable[[], float] = time.time, elapsed: Callable[[], float] = boot_seconds) -> None:
        self._elapsed, self._zero = elapsed, wall() - elapsed()
        self.offset_seconds = 0.0

    def now(self) -> float:
        """Return the epoch seconds of the service, as far as they are known."""
        return self._zero + self._elapsed() + self.offset_seconds

    def learn(self, *, status: int, answered_at: float | None) -> None:
        """Take over the service's time from an answer that refused a signature.

        An answer that was accepted proves that our time is right, whatever its `Date`. So does one whose time is close
        to ours. A time that is too far from our clock is ignored.
        """
        if status != UNAUTHORIZED or answered_at is None:
            return
        offset = answered_at - (self._zero + self._elapsed())
        if abs(offset) <= MAX_CLOCK_OFFSET_SECONDS and abs(answered_at - self.now()) >= MIN_CLOCK_OFFSET_SECONDS:
            self.offset_seconds = offset


# --- OAuth 1.0a with HMAC-SHA1: from a request to its `Authorization` header. Pure: nonce and time are given ---
#
# Rules: specification part 0, section 5, and RFC 5849, section 3. A JSON body is not signed, nor is its hash sent.

Pairs: TypeAlias = Sequence[tuple[str, str]]

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_UNSIGNED: Final = "oauth_signature"  # RFC 5849, section 3.4.1.3.1
_PATH_CHARACTERS: Final = "/%:@!$&'()*+,;="  # stay as they are in a path; "%" because the path is already encoded


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The key pair of the application and the token pair of the user. An empty token means that there is none yet."""

    consumer_key: Secret
    consumer_secret: Secret
    access_token: Secret
    access_token_secret: Secret


@guarded
def authorization_header(
    credentials: Credentials,
    *,
    method: str,
    url: str,
    parameters: Pairs,
    nonce: str,
    timestamp: int,
    extra: Pairs = (),
) -> Secret:
    """The value of the `Authorization` header for one attempt.

    `url` is without query; `parameters` are the decoded pairs of query and form; `extra` are further `oauth_`
    parameters, such as `oauth_callback`. Raises Bug for a `url` that carries a query, since the query would stay
    unsigned.
    """
    if "?" in url or "#" in url:
        raise Bug("the address to sign carries a query or fragment; pass the query as pairs")
    oauth = [*_oauth_parameters(credentials, nonce=nonce, timestamp=timestamp), *extra]
    base_string = signature_base_string(method, url, [*parameters, *oauth])
    signature = sign_hmac_sha1(base_string, credentials.consumer_secret, credentials.access_token_secret)
    return Secret(format_header([*oauth, ("oauth_signature", signature)]))


def _oauth_parameters(credentials: Credentials, *, nonce: str, timestamp: int) -> list[tuple[str, str]]:
    token = credentials.access_token.unwrap()
    return [
        ("oauth_consumer_key", credentials.consumer_key.unwrap()),
        ("oauth_nonce", nonce),
        ("oauth_signature_method", "HMAC-SHA1"),
        ("oauth_timestamp", str(timestamp)),
        *([("oauth_token", token)] if token else []),
        ("oauth_version", "1.0"),
    ]


def format_header(parameters: Iterable[tuple[str, str]]) -> str:
    """Return `OAuth` and the parameters, encoded and sorted by name (RFC 5849, section 3.5.1)."""
    items = (f'{percent_encode(name)}="{percent_encode(value)}"' for name, value in sorted(parameters))
    return "OAuth " + ", ".join(items)


def signature_base_string(method: str, url: str, parameters: Iterable[tuple[str, str]]) -> str:
    """Return the text to sign: method, address, and all parameters but the signature (RFC 5849, section 3.4.1.1)."""
    signed = normalize_parameters(pair for pair in parameters if pair[0] != _UNSIGNED)
    return "&".join(percent_encode(part) for part in (method.upper(), base_string_uri(url), signed))


def base_string_uri(url: str) -> str:
    """Scheme, host and path, without query, fragment and default port (RFC 5849, section 3.4.1.2)."""
    parts = urlsplit(url)
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    if parts.port is not None and parts.port != _DEFAULT_PORTS.get(scheme):
        host = f"{host}:{parts.port}"
    return f"{scheme}://{host}{quote(parts.path, safe=_PATH_CHARACTERS) or '/'}"


def normalize_parameters(parameters: Iterable[tuple[str, str]]) -> str:
    """The pairs encoded, then sorted by name and value, then joined (RFC 5849, section 3.4.1.3.2)."""
    encoded = sorted((percent_encode(name), percent_encode(value)) for name, value in parameters)
    return "&".join(f"{name}={value}" for name, value in encoded)


def sign_hmac_sha1(base_string: str, consumer_secret: Secret, token_secret: Secret) -> str:
    """Return the signature in base64. Without a token secret the key still ends in `&` (RFC 5849, section 3.4.2)."""
    key = f"{percent_encode(consumer_secret.unwrap())}&{percent_encode(token_secret.unwrap())}"
    digest = hmac.new(key.encode(), base_string.encode(), hashlib.sha1).digest()
    return b64encode(digest).decode()


def encode_pairs(pairs: Pairs) -> str:
    """The pairs in their order, as they stand in a query and in a form."""
    return "&".join(f"{percent_encode(name)}={percent_encode(value)}" for name, value in pairs)


def percent_encode(text: str) -> str:
    """UTF-8 with all but letters, digits and `-._~` escaped in upper-case hex (RFC 5849, section 3.6)."""
    return quote(text, safe="")
