"""The Authorization header, by the credential that an endpoint asks for."""

from __future__ import annotations

import json
import os
import re
from base64 import b64decode
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import pytest
from hypothesis import given, strategies as st
from oauthlib import oauth1

from audiencekit.api.answers import read_answer
from audiencekit.api.exchange import ApiRequest
from audiencekit.api.oauth import (
    Credentials,
    ServiceClock,
    authorization,
    authorization_header,
    base_string_uri,
    format_header,
    normalize_parameters,
    percent_encode,
    sign_hmac_sha1,
    signature_base_string,
)
from audiencekit.delivery.faults import CLOCK_OFF, retry_class
from audiencekit.errors import Bug, CredentialsRefused, Unauthorized
from audiencekit.personal import Secret
from tests.api.randomrequests import is_verified, sign_random
from tests.api.vectors import CORPORA, each_vector
from tests.cases import each_case

# --- The Authorization header, by the credential that an endpoint asks for ---

URL = "https://api.example/oauth/request_token"


def _header(request: ApiRequest, credentials: Credentials) -> str:
    return authorization(request, credentials, url=URL, nonce="n", timestamp=1).unwrap()


def test_a_person_signs_with_their_token(credentials: Credentials) -> None:
    """Query, form and further parameters are signed."""
    request = ApiRequest(
        method="POST",
        path="/oauth/request_token",
        query=(("a", "1"),),
        form=(("b", "2"),),
        oauth=(("oauth_callback", "oob"),),
    )
    expected = authorization_header(
        credentials, method="POST", url=URL, parameters=[("a", "1"), ("b", "2")], nonce="n", timestamp=1,
        extra=[("oauth_callback", "oob")],
    )  # fmt: skip
    assert _header(request, credentials) == expected.unwrap()
    assert 'oauth_callback="oob"' in expected.unwrap()


def test_an_application_signs_without_a_token(credentials: Credentials) -> None:
    """Neither the token nor its secret has a part in it."""
    header = _header(ApiRequest(method="POST", path="/a", auth="app"), credentials)
    assert "oauth_token" not in header
    other = Credentials(
        consumer_key=credentials.consumer_key,
        consumer_secret=credentials.consumer_secret,
        access_token=Secret("another"),
        access_token_secret=Secret("another"),
    )
    assert _header(ApiRequest(method="POST", path="/a", auth="app"), other) == header


def test_a_key_pair_is_encoded_before_it_is_joined(credentials: Credentials) -> None:
    """So that a colon in the key divides nothing (public service)."""
    header = _header(ApiRequest(method="POST", path="/oauth2/token", auth="basic"), credentials)
    assert b64decode(header.removeprefix("Basic ")) == b"invented-key:invented%20consumer%2Bsecret"


def test_a_bearer_token_is_sent_as_it_is(credentials: Credentials) -> None:
    """It may hold escapes; a request that has none is refused."""
    request = ApiRequest(method="GET", path="/2/tweets", auth="bearer", bearer=Secret("AAA%2F="))
    assert _header(request, credentials) == "Bearer AAA%2F="
    assert "AAA" not in repr(request)
    with pytest.raises(CredentialsRefused):
        _header(ApiRequest(method="GET", path="/2/tweets", auth="bearer"), credentials)


# --- The time that requests are signed with, whatever happens to our own clock ---

NOW = 1_790_000_000.0


class Times:
    """A wall clock and a steady one, both moved by the test."""

    def __init__(self) -> None:
        self.wall, self.steady = NOW, 100.0

    def clock(self) -> ServiceClock:
        return ServiceClock(wall=lambda: self.wall, elapsed=lambda: self.steady)

    def wait(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds


@each_case("jump", [-3600.0, 3600.0, 86_400.0])
def test_jumps_of_the_wall_clock_do_not_matter(jump: float) -> None:
    """Summer time, a correction, a leap second: time goes on as it was."""
    times = Times()
    clock = times.clock()
    times.wait(10)
    times.wall += jump
    assert clock.now() == NOW + 10


@each_case(
    "status, off, learnt",
    [
        (401, 600.0, 600.0),
        (401, -600.0, -600.0),
        (401, 900.0, 900.0),
        (401, 901.0, 0.0),  # that far off, our clock is to be set
        (401, -86_400.0, 0.0),
        (401, 29.0, 0.0),  # not the reason
        (401, None, 0.0),
        (200, 600.0, 0.0),  # what was accepted proves our time right
        (403, 600.0, 0.0),
        (429, 600.0, 0.0),
        (503, 600.0, 0.0),
    ],
)
def test_offset_is_learnt_from_a_refused_signature(status: int, off: float | None, learnt: float) -> None:
    """Only a 401 teaches, within 15 minutes."""
    clock = Times().clock()
    clock.learn(status=status, answered_at=None if off is None else NOW + off)
    assert clock.now() == NOW + learnt


def test_offset_is_learnt_anew() -> None:
    """A machine that slept where its steady clock did not count learns once more."""
    times = Times()
    clock = times.clock()
    clock.learn(status=401, answered_at=NOW + 600)
    times.wait(60)
    clock.learn(status=401, answered_at=NOW + 60 + 300)
    assert clock.now() == NOW + 360
    clock.learn(status=401, answered_at=NOW + 60)
    assert clock.now() == NOW + 60


async def test_next_attempt_is_signed_by_the_clock_of_the_service(
    answering: Any, answer_bytes: Any, make_transport: Any, read_header: Any, credentials: Credentials
) -> None:
    """A 401 with a `Date` ten minutes ahead: the re-send bears that time, and the error says what to do."""
    ahead = "Mon, 21 Sep 2026 14:23:20 GMT"  # NOW + 600
    refused = answer_bytes(401, b'{"errors": [{"code": 135}]}', {"Date": ahead})
    request = ApiRequest(method="GET", path="/12/accounts")
    times = Times()
    async with (
        answering(refused, answer_bytes()) as listener,
        make_transport(listener, clock=times.clock()) as transport,
    ):
        with pytest.raises(Unauthorized) as caught:
            read_answer(await transport.exchange(request))
        assert retry_class(caught.value) is CLOCK_OFF
        assert "clock" in caught.value.hint
        await transport.exchange(request)
    stamps = [
        read_header(head, "authorization").partition('oauth_timestamp="')[2][:10] for head, _ in listener.requests
    ]
    assert [int(stamp) - NOW for stamp in stamps] == [0, 600]


# --- Signatures: public vectors, the documents' own examples, and an independent signer ---

VECTORS = CORPORA / "oauth" / "oauth1_vectors.json"
OURS = "HMAC-SHA1"

# The two published values that do not verify, each with what is wrong in its source.
WRONG_IN_THEIR_SOURCE = {
    "oa-1ef840cd37": "RFC 5849, section 3.1, prints a signature that its own secrets do not give",
    "oa-25b9a47945": "the page shows the signature of another address, that of version 1",
}


def _base_string_of(case: dict[str, Any]) -> str:
    parts = urlsplit(case["url"])
    query = parse_qsl(parts.query, keep_blank_values=True)
    form = [tuple(pair) for pair in case["form_body_params"]]
    return signature_base_string(case["method"], case["url"], [*query, *form, *case["oauth_params"].items()])


@each_vector(VECTORS, "percent_encode")
def test_percent_encode_vectors(case: dict[str, Any]) -> None:
    """Each public vector of escaping comes out as published."""
    assert percent_encode(case["input"]) == case["expected"]


@each_vector(VECTORS, "base_string_uri")
def test_base_string_uri_vectors(case: dict[str, Any]) -> None:
    """Each public vector of the address comes out as published."""
    assert base_string_uri(case["input"]) == case["expected"]


@each_vector(VECTORS, "normalize_parameters")
def test_normalize_parameters_vectors(case: dict[str, Any]) -> None:
    """Each public vector of sorted parameters comes out as published."""
    assert normalize_parameters([tuple(pair) for pair in case["input"]]) == case["expected"]


@each_vector(VECTORS, "base_string")
def test_base_string_vectors(case: dict[str, Any]) -> None:
    """Each public vector of a base string comes out as published; a given signature is left out of it."""
    given_ = case["input"]
    pairs = [tuple(pair) for pair in given_["params"]]
    assert signature_base_string(given_["method"], given_["url"], pairs) == case["expected"]


@each_vector(VECTORS, "authorization_header")
def test_header_vectors(case: dict[str, Any]) -> None:
    """Each public vector of the header's form comes out as published."""
    assert format_header(case["input"].items()) == case["expected"]


@each_vector(VECTORS, "hmac_of_base_string")
def test_hmac_vectors(case: dict[str, Any]) -> None:
    """Each public HMAC-SHA1 vector comes out as published."""
    if case["signature_method"] != OURS:
        pytest.skip("another signature method, which the service does not take")
    secrets = Secret(case["consumer_secret"]), Secret(case["token_secret"])
    assert sign_hmac_sha1(case["base_string"], *secrets) == case["expected"]["signature"]


@each_vector(VECTORS, "signature")
def test_signature_vectors(case: dict[str, Any]) -> None:
    """Each public vector of a whole request gives its base string and signature; two are wrong in their source."""
    base_string = _base_string_of(case)
    assert base_string == case["recomputed"]["base_string"]
    if case["signature_method"] != OURS:
        return
    signature = sign_hmac_sha1(base_string, Secret(case["consumer_secret"]), Secret(case["token_secret"]))
    assert (signature == case["expected"]["signature"]) is (case["id"] not in WRONG_IN_THEIR_SOURCE)


@pytest.mark.skipif(not VECTORS.exists(), reason="no shared corpora here")
def test_vectors_are_all_known() -> None:
    """The corpus holds 75 verified vectors, and the unverified ones are those named here with their reason."""
    cases = json.loads(VECTORS.read_text())["cases"]
    assert sum(case["verified"] for case in cases) == 75
    assert {case["id"] for case in cases if not case["verified"]} == set(WRONG_IN_THEIR_SOURCE)


DOCUMENTED = Credentials(
    consumer_key=Secret("xvz1evFS4wEEPTGEFPHBog"),
    consumer_secret=Secret("kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw"),
    access_token=Secret("370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb"),
    access_token_secret=Secret("LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE"),
)
SIGN_IN = Credentials(
    consumer_key=Secret("cChZNFj6T5R0TigYB9yd1w"),
    consumer_secret=Secret("L8qq9PZyRg6ieKGEKhZolGC0vJWLw8iEJ88DRdyOg"),
    access_token=Secret(""),
    access_token_secret=Secret(""),
)
SIGNED_IN = Credentials(
    consumer_key=SIGN_IN.consumer_key,
    consumer_secret=SIGN_IN.consumer_secret,
    access_token=Secret("NPcudxy0yU5T3tBzho7iCotZ3cnetKwcTIRlX0iwRl0"),
    access_token_secret=Secret("veNRnAWe6inFuo8o2u8SLLZLjolYDmDP7SzL0YfYI"),
)
STATUS = {
    "method": "POST",
    "parameters": [("include_entities", "true"), ("status", "Hello Ladies + Gentlemen, a signed OAuth request!")],
    "nonce": "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg",
    "timestamp": 1318622958,
}


def _parts(header: Secret) -> dict[str, str]:
    text = header.unwrap()
    assert text.startswith("OAuth ")
    return {name: unquote(value) for name, value in re.findall(r'([^ =,]+)="([^"]*)"', text)}


@each_case(
    "credentials, arguments, signature",
    [
        (
            DOCUMENTED,
            {**STATUS, "url": "https://api.twitter.com/1/statuses/update.json"},
            "tnnArxj06cWHq44gCs1OSKk/jLY=",
        ),
        (
            DOCUMENTED,
            {**STATUS, "url": "https://api.twitter.com/1.1/statuses/update.json"},
            "hCtSmYh+iHYCEqBWrE7C7hYmtUk=",
        ),
        (
            DOCUMENTED,
            {**STATUS, "url": "https://api.x.com/1.1/statuses/update.json"},
            "Ls93hJiZbQ3akF3HF3x1Bz8/zU4=",
        ),
        (
            SIGN_IN,
            {
                "method": "POST",
                "url": "https://api.twitter.com/oauth/request_token",
                "parameters": [],
                "extra": [("oauth_callback", "http://localhost/sign-in-with-twitter/")],
                "nonce": "ea9ec8429b68d6b77cd5600adbbb0456",
                "timestamp": 1318467427,
            },
            "F1Li3tvehgcraF8DMJ7OyxO4w9Y=",
        ),
        (
            SIGNED_IN,
            {
                "method": "POST",
                "url": "https://api.twitter.com/oauth/access_token",
                "parameters": [("oauth_verifier", "uw7NjWHT6OJ1MpJOXsHfNxoAhPKpgI8BlYDhxEjIBY")],
                "nonce": "a9900fe68e2573b27a37f10fbad6a755",
                "timestamp": 1318467427,
            },
            "39cipBtIOHEEnybAR4sATQTpl2I=",
        ),
        (
            Credentials(
                consumer_key=Secret("dpf43f3p2l4k3l03"),
                consumer_secret=Secret("kd94hf93k423kf44"),
                access_token=Secret("nnch734d00sl2jdk"),
                access_token_secret=Secret("pfkkdhi9sl3r4s00"),
            ),
            {
                "method": "GET",
                "url": "http://photos.example.net/photos",
                "parameters": [("file", "vacation.jpg"), ("size", "original")],
                "nonce": "kllo9940pd9333jh",
                "timestamp": 1191242096,
            },
            "tR3+Ty81lMeYAr/Fid0kMTYa/WM=",
        ),
    ],
)
def test_documented_requests(credentials: Credentials, arguments: dict[str, Any], signature: str) -> None:
    """The requests that the documents print get the signatures that they print (public service, OAuth pages)."""
    header = _parts(authorization_header(credentials, **arguments))
    assert header["oauth_signature"] == signature
    assert header["oauth_version"] == "1.0"
    assert header["oauth_signature_method"] == OURS
    assert ("oauth_token" in header) is bool(credentials.access_token.unwrap())


def test_method_is_signed_in_upper_case() -> None:
    """The method stands in upper case, however it is given (RFC 5849, section 3.4.1.1)."""
    expected = "POST&https%3A%2F%2Fads.example.com%2F&a%3D1"
    assert signature_base_string("post", "https://ads.example.com/", [("a", "1")]) == expected


@each_case("url", ["https://ads.example.com/12?count=1", "https://ads.example.com/12#top"])
def test_query_in_the_address_is_refused(url: str) -> None:
    """A query hidden in the address would go out unsigned, so it is refused."""
    with pytest.raises(Bug):
        authorization_header(DOCUMENTED, method="GET", url=url, parameters=[], nonce="n", timestamp=1)


def test_credentials_and_header_are_not_shown() -> None:
    """Neither the credentials nor the finished header shows a secret in repr, str or format."""
    header = authorization_header(
        DOCUMENTED, method="GET", url="https://ads.example.com/", parameters=[], nonce="n", timestamp=1
    )
    shown = f"{DOCUMENTED} {DOCUMENTED!r} {header} {header!r}"
    for secret in ("xvz1", "kAcS", "370773112", "Lsww", "oauth_signature"):
        assert secret not in shown


def test_unexpected_failure_carries_no_secret() -> None:
    """Text that cannot be encoded fails without naming it."""
    with pytest.raises(Bug) as caught:
        authorization_header(
            DOCUMENTED,
            method="GET",
            url="https://ads.example.com/",
            parameters=[("q", "canary\ud800")],
            nonce="n",
            timestamp=1,
        )
    assert "canary" not in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


texts = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)
names = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=8).filter(
    lambda name: not name.startswith("oauth_")
)
secrets = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=16)
paths = st.lists(st.text("abcxyz019._~-", min_size=1, max_size=6), max_size=4).map(lambda parts: "/" + "/".join(parts))
hosts = st.sampled_from(["https://ads.example.com", "http://127.0.0.1:8080", "https://ads.example.org:443"])


@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE"]),
    host=hosts,
    path=paths,
    query=st.lists(st.tuples(names, texts), max_size=4),
    form=st.lists(st.tuples(names, texts), max_size=4),
    keys=st.tuples(secrets, secrets, secrets, secrets),
    nonce=st.text("0123456789abcdef", min_size=1, max_size=32),
    timestamp=st.integers(0, 2**33),
)
def test_agrees_with_another_signer(
    method: str,
    host: str,
    path: str,
    query: list[tuple[str, str]],
    form: list[tuple[str, str]],
    keys: tuple[str, str, str, str],
    nonce: str,
    timestamp: int,
) -> None:
    """Every request is signed as oauthlib signs it, whatever its parameters and secrets."""
    signer = oauth1.Client(
        keys[0],
        client_secret=keys[1],
        resource_owner_key=keys[2],
        resource_owner_secret=keys[3],
        nonce=nonce,
        timestamp=str(timestamp),
    )
    form = form if method in ("POST", "PUT") else []
    url = host + path
    uri = f"{url}?{urlencode(query, quote_via=quote, safe='')}" if query else url
    content = {"Content-Type": "application/x-www-form-urlencoded"} if form else {}
    _, theirs, _ = signer.sign(uri, method, urlencode(form, quote_via=quote, safe="") if form else None, content)
    ours = authorization_header(
        Credentials(
            consumer_key=Secret(keys[0]),
            consumer_secret=Secret(keys[1]),
            access_token=Secret(keys[2]),
            access_token_secret=Secret(keys[3]),
        ),
        method=method,
        url=url,
        parameters=[*query, *form],
        nonce=nonce,
        timestamp=timestamp,
    )
    assert _parts(ours) == _parts(Secret(theirs["Authorization"]))


def test_random_requests_are_verified_by_another_library() -> None:
    """The server check of oauthlib accepts our signature, and refuses it for another secret."""
    for number in range(int(os.environ.get("SIGNED_REQUESTS", "500"))):
        request = sign_random(number)
        assert is_verified(request), f"request {number}"
        assert not is_verified(request, token_secret=request.token_secret + "x"), f"request {number}"


@each_case("change", ["method", "url", "parameters", "client_secret", "header"])
def test_the_other_library_notices_each_change(change: str) -> None:
    """So that its consent to random requests says something."""
    request = sign_random(1)
    others = {
        "method": "PATCH",
        "url": request.url + "/x",
        "parameters": (*request.parameters, ("a", "1")),
        "client_secret": "x",
        "header": request.header.replace('oauth_timestamp="', 'oauth_timestamp="1'),
    }
    assert not is_verified(replace(request, **{change: others[change]}))
