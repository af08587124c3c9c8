"""Random requests that we sign and oauthlib verifies, as a server would: each follows from its number."""

from __future__ import annotations

import random
import re
import string
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from audiencekit.api.oauth import Credentials, authorization_header
from audiencekit.personal import Secret

_HOSTS: Final = ("https://ads.example.com", "http://127.0.0.1:8080", "https://EXAMPLE.org:443")
_SEGMENTS: Final = ("12", "accounts", "a~b", "x.y", "-_")
_TEXT: Final = string.printable + "äß€漢😀\u0301\u202e\x00%+&=;,:/?#"
_SECRET: Final = string.ascii_letters + string.digits + "-_~%&+/="
_PARAMETER: Final = re.compile(r'([^ =,]+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A request that is not sent: its signed parts, the secrets, and our header."""

    method: str
    url: str
    parameters: tuple[tuple[str, str], ...]  # of query and form, decoded
    client_secret: str
    token_secret: str
    header: str


def sign_random(number: int) -> SignedRequest:
    """Return the request of this number."""
    randomness = random.Random(number)
    secrets = ["".join(randomness.choices(_SECRET, k=randomness.randint(1, 50))) for _ in range(4)]
    method = randomness.choice(["GET", "POST", "PUT", "DELETE"])
    path = "".join(f"/{randomness.choice(_SEGMENTS)}" for _ in range(randomness.randrange(5)))
    url, query, form = randomness.choice(_HOSTS) + path, _pairs(randomness), _pairs(randomness)
    nonce, timestamp = f"{randomness.getrandbits(128):x}", randomness.getrandbits(31)
    credentials = Credentials(**dict(zip(Credentials.__dataclass_fields__, map(Secret, secrets), strict=True)))
    header = authorization_header(
        credentials, method=method, url=url, parameters=[*query, *form], nonce=nonce, timestamp=timestamp
    ).unwrap()
    return SignedRequest(method, url, (*query, *form), secrets[1], secrets[3], header)


def _pairs(randomness: random.Random) -> list[tuple[str, str]]:
    return [(f"{number}{_text(randomness, 8)}", _text(randomness, 20)) for number in range(randomness.randint(0, 5))]


def _text(randomness: random.Random, longest: int) -> str:
    return "".join(randomness.choices(_TEXT, k=randomness.randint(0, longest)))


def is_verified(request: SignedRequest, *, token_secret: str | None = None) -> bool:
    """Whether oauthlib, as a server that knows the secrets, takes the signature; `token_secret` instead of its own."""
    from oauthlib.common import Request  # type: ignore[import-untyped]
    from oauthlib.oauth1.rfc5849.signature import verify_hmac_sha1  # type: ignore[import-untyped]

    oauth = {name: unquote(value) for name, value in _PARAMETER.findall(request.header)}
    received: Any = Request(request.url, request.method)
    received.signature = oauth.pop("oauth_signature")
    received.params = [*request.parameters, *oauth.items()]
    secret = request.token_secret if token_secret is None else token_secret
    return bool(verify_hmac_sha1(received, request.client_secret, secret))
