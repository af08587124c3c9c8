"""Random requests, signed by us and verified by oauthlib as a server would; how many it takes otherwise.

    python -m benchmarks.signing --count 100000

Writes what it found between its marks of benchmarks/RESULTS.md. Every request is made from the seed and its number, so
that one that differs can be made again.
"""

from __future__ import annotations

import argparse
import random
import re
import string
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from audiencekit.api.oauth import Credentials, authorization_header
from audiencekit.personal import Secret
from benchmarks.benchmark import count
from benchmarks.sections import write_section
from benchmarks.trials import OUT

BEGIN: Final = "<!-- signing: what follows is written by python -m benchmarks.signing -->"
END: Final = "<!-- signing: end -->"
SEED: Final = 20261121
SHOWN: Final = 20  # differing requests that are named

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


@dataclass(frozen=True, slots=True)
class Findings:
    """How many were tried, and the numbers of those that oauthlib does not take as they are, or takes with a wrong
    secret."""

    count: int
    differing: tuple[int, ...]


def sign_random(seed: int, number: int) -> SignedRequest:
    """Request `number` of `seed`."""
    randomness = random.Random(f"{seed} {number}")
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


def verify_many(total: int, seed: int = SEED) -> Findings:
    """Requests 0 to `total` - 1: each must be taken as it is, and with another secret not."""
    differing = []
    for number in range(total):
        request = sign_random(seed, number)
        if not is_verified(request) or is_verified(request, token_secret=request.token_secret + "x"):
            differing.append(number)
    return Findings(total, tuple(differing))


def describe(findings: Findings, seed: int) -> str:
    """The paragraph of the results."""
    return (
        f"{findings.count:,} random requests of seed {seed}, signed by us and verified by oauthlib: "
        f"{len(findings.differing):,} differences. {datetime.now(UTC).date().isoformat()}."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Verify, write, and name what differs; 1 when anything does."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.signing", description=__doc__)
    parser.add_argument("--count", type=count, default=100_000, help="requests (default %(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, help="another seed, other requests (default %(default)s)")
    parser.add_argument("--out", type=Path, default=OUT, help="the file that the figure is written into")
    given = parser.parse_args(arguments)
    findings = verify_many(given.count, given.seed)
    text = describe(findings, given.seed)
    write_section(given.out, text, begin=BEGIN, end=END)
    print(text)
    for number in findings.differing[:SHOWN]:
        print(f"differs: seed {given.seed}, number {number}", file=sys.stderr)
    return 1 if findings.differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
