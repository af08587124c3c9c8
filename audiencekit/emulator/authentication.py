"""Whether a request is signed by a known consumer and a user (specification part 1, section 2)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import random
import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote_to_bytes

from audiencekit.emulator.answers import RefusalError, refuse_legacy

# --- OAuth 1.0a as the server sees it: HMAC-SHA1 over method, address and parameters (RFC 5849, section 3) ---

TIMESTAMP_TOLERANCE_SECONDS: Final = 300

Pair = tuple[bytes, bytes]

_UNRESERVED: Final = (string.ascii_letters + string.digits + "-._~").encode()
_ESCAPED: Final = [chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in range(256)]
_ATTRIBUTE: Final = re.compile(r'\s*([^\s=",]+)="([^"]*)"\s*', re.ASCII)
_NEEDED: Final = ("oauth_consumer_key", "oauth_nonce", "oauth_signature", "oauth_timestamp")


@dataclass(frozen=True, slots=True)
class SignedCall:
    """The parts of a call that its signature covers. `path` is as received, with its escapes."""

    method: str
    scheme: str
    host: str
    path: str
    query: bytes
    form: bytes = b""
    authorization: str | None = field(default=None, repr=False)


class Signatures:
    """Verifies calls. Remembers nonces as long as their timestamps are accepted."""

    def __init__(self, credentials: Credentials) -> None:
        self._consumers = {credentials.consumer_key: credentials.consumer_secret}
        self._nonces: dict[int, set[tuple[str, str, str]]] = {}

    def verify(self, call: SignedCall, now: float, tokens: Mapping[str, str] | None) -> dict[str, str]:
        """Return the attributes in the header of `call`. Raises RefusalError (401) for a wrong signature.

        `tokens` are the tokens that may sign it, with their secrets; None when the application signs without a token.
        """
        attributes = parse_authorization(call.authorization)
        if attributes is None or not _complete(attributes, needs_token=tokens is not None):
            raise _unauthorized(215, "Bad Authentication data.")
        consumer, token = attributes["oauth_consumer_key"], attributes.get("oauth_token", "")
        if consumer not in self._consumers:
            raise _unauthorized(32, "Could not authenticate you.")
        if tokens is not None and token not in tokens:
            raise _unauthorized(89, "Invalid or expired token.")
        secret = "" if tokens is None else tokens[token]
        timestamp = int(attributes["oauth_timestamp"])
        if abs(now - timestamp) > TIMESTAMP_TOLERANCE_SECONDS:
            raise _unauthorized(135, "Timestamp out of bounds.")
        expected = sign(base_string(call, attributes), self._consumers[consumer], secret)
        if not hmac.compare_digest(expected.encode(), attributes["oauth_signature"].encode()):
            raise _unauthorized(32, "Could not authenticate you.")
        self._spend(timestamp, (consumer, token, attributes["oauth_nonce"]), now)
        return attributes

    def _spend(self, timestamp: int, nonce: tuple[str, str, str], now: float) -> None:
        if timestamp not in self._nonces:
            for old in [moment for moment in self._nonces if now - moment > TIMESTAMP_TOLERANCE_SECONDS]:
                del self._nonces[old]
        spent = self._nonces.setdefault(timestamp, set())
        if nonce in spent:
            raise _unauthorized(32, "Could not authenticate you.")
        spent.add(nonce)


def parse_authorization(header: str | None) -> dict[str, str] | None:
    """Return the decoded attributes of an `OAuth …` header; None for another header, or a repeated attribute."""
    scheme, _, rest = (header or "").partition(" ")
    attributes: dict[str, str] = {}
    if scheme.lower() != "oauth" or not rest.isascii():
        return None
    for part in rest.split(","):
        found = _ATTRIBUTE.fullmatch(part)
        if found is None:
            return None
        name, text = (unquote_to_bytes(chunk).decode("utf-8", "replace") for chunk in found.groups())
        if name in attributes:
            return None
        attributes[name] = text
    return attributes


def _complete(attributes: Mapping[str, str], *, needs_token: bool) -> bool:
    timestamp = attributes.get("oauth_timestamp", "")
    return (
        all(attributes.get(name) for name in _NEEDED)
        and bool(attributes.get("oauth_token")) is needs_token
        and attributes.get("oauth_signature_method") == "HMAC-SHA1"
        and attributes.get("oauth_version", "1.0") == "1.0"
        and attributes["oauth_nonce"].isascii()
        and re.fullmatch(r"[0-9]{1,12}", timestamp) is not None
    )


def decode_pairs(query: bytes) -> list[Pair]:
    """Return the decoded names and values of a query or form body (RFC 5849, section 3.4.1.3.1)."""
    pairs = []
    for part in query.split(b"&"):
        if part:
            name, _, text = part.replace(b"+", b" ").partition(b"=")
            pairs.append((unquote_to_bytes(name), unquote_to_bytes(text)))
    return pairs


def base_string(call: SignedCall, attributes: Mapping[str, str]) -> str:
    """Return the text to sign (RFC 5849, section 3.4.1)."""
    covered = [(name.encode(), text.encode()) for name, text in attributes.items() if name != "realm"]
    covered += decode_pairs(call.query) + decode_pairs(call.form)
    covered = [pair for pair in covered if pair[0] != b"oauth_signature"]
    return "&".join(map(_escape_text, (call.method.upper(), _base_address(call), _normalized(covered))))


def _base_address(call: SignedCall) -> str:
    default_port = {"http": ":80", "https": ":443"}[call.scheme]
    return f"{call.scheme}://{call.host.lower().removesuffix(default_port)}{call.path or '/'}"


def _normalized(pairs: Iterable[Pair]) -> str:
    escaped = sorted((_escape(name), _escape(text)) for name, text in pairs)
    return "&".join(f"{name}={text}" for name, text in escaped)


def sign(text: str, consumer_secret: str, token_secret: str) -> str:
    """Return the HMAC-SHA1 signature of `text`, in base64 (RFC 5849, section 3.4.2)."""
    key = f"{_escape_text(consumer_secret)}&{_escape_text(token_secret)}"
    # SHA-1 is what OAuth 1.0a prescribes.
    return base64.b64encode(hmac.new(key.encode(), text.encode(), hashlib.sha1).digest()).decode()


def _escape(raw: bytes) -> str:
    return "".join(map(_ESCAPED.__getitem__, raw))


def _escape_text(text: str) -> str:
    # A path may hold bytes that are no text.
    return _escape(text.encode("utf-8", "surrogateescape"))


def _unauthorized(code: int, message: str) -> RefusalError:
    return refuse_legacy(401, code, message)


# --- The one application, user, account and audience that an emulator has at its start ---

_DIGITS: Final = string.digits + string.ascii_lowercase
_LETTERS: Final = string.ascii_letters + string.digits
_LONG_IDS_BEGAN: Final = 1_288_834_974_657  # epoch milliseconds
_SERIAL_BITS: Final = 22


def base36(number: int) -> str:
    """Return `number` in the digits of ids: 0-9, a-z."""
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
        if not number:
            return digits


def long_id(epoch: float, serial: int) -> str:
    """Return an id that grows with time and exceeds a float: milliseconds since 2010 above 22 bits of serial."""
    return str(max(0, int(epoch * 1_000) - _LONG_IDS_BEGAN) << _SERIAL_BITS | serial % (1 << _SERIAL_BITS))


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials that a client needs. Each begins with `local`, and is invalid at any other service."""

    consumer_key: str
    consumer_secret: str = field(repr=False)
    access_token: str
    access_token_secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Origin:
    """Values that follow from a seed: the same seed gives the same emulator."""

    credentials: Credentials
    account_id: str
    first_serial: int  # the number behind the id of the first audience
    user_id: str
    business_id: str
    foreign_account_id: str  # exists, but is no account of the user
    foreign_business_id: str


def make_origin(seed: int) -> Origin:
    """Return credentials and ids of the emulator with this seed."""
    chance = random.Random(f"audiencekit emulator {seed}")
    consumer_key, consumer_secret, token, token_secret = (_local(chance, length) for length in (20, 45, 30, 40))
    user_id = str(chance.randrange(10**9, 10**10))
    return Origin(
        credentials=Credentials(consumer_key, consumer_secret, f"{user_id}-{token}", token_secret),
        account_id=_account_id(chance),
        first_serial=chance.randrange(36**4, 36**5 // 2),
        user_id=user_id,
        business_id=base36(chance.randrange(36**5, 36**6)),
        foreign_account_id=_account_id(chance),
        foreign_business_id=base36(chance.randrange(36**5, 36**6)),
    )


def _account_id(chance: random.Random) -> str:
    return "18ce5" + base36(chance.randrange(36**5, 36**6))


def _local(chance: random.Random, length: int) -> str:
    return "local" + "".join(chance.choices(_LETTERS, k=length))
