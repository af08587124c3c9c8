"""OAuth 1.0a, against published vectors and against oauthlib over the wire."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import example, given, strategies as st
from oauthlib.oauth1 import Client  # type: ignore[import-untyped]

from audiencekit.emulator.answers import RefusalError
from audiencekit.emulator.authentication import (
    Signatures,
    SignedCall,
    base36,
    base_string,
    decode_pairs,
    make_origin,
    parse_authorization,
    sign,
)
from tests.cases import each_case

# --- OAuth 1.0a, against published vectors and against oauthlib over the wire ---

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpora" / "oauth" / "oauth1_vectors.json"
CREDENTIALS = make_origin(0).credentials
TOKENS = {CREDENTIALS.access_token: CREDENTIALS.access_token_secret}
NOW = 1_800_000_000.0
URL = "http://127.0.0.1:8080/12/accounts/a1/custom_audiences"


def _call(method: str, url: str, form: bytes = b"", authorization: str | None = None) -> SignedCall:
    parts = urlsplit(url)
    return SignedCall(
        method=method,
        scheme=parts.scheme.lower(),
        host=parts.netloc,
        path=parts.path,
        query=parts.query.encode(),
        form=form,
        authorization=authorization,
    )


def _signed(url: str = URL, method: str = "GET", **changes: Any) -> SignedCall:
    settings = {
        "client_secret": CREDENTIALS.consumer_secret,
        "resource_owner_key": CREDENTIALS.access_token,
        "resource_owner_secret": CREDENTIALS.access_token_secret,
        "timestamp": str(int(NOW)),
        **changes,
    }
    key = settings.pop("client_key", CREDENTIALS.consumer_key)
    header = Client(key, **settings).sign(url, method)[1]["Authorization"]
    return _call(method, url, authorization=header)


def _code(call: SignedCall, now: float = NOW, signatures: Signatures | None = None) -> int | None:
    try:
        (signatures or Signatures(CREDENTIALS)).verify(call, now, TOKENS)
    except RefusalError as refusal:
        answer = refusal.answer
    else:
        return None
    assert answer.status == 401
    assert isinstance(answer.body, bytes)
    document = json.loads(answer.body)
    assert list(document) == ["errors"]
    return int(document["errors"][0]["code"])


def _cases(kind: str) -> list[Any]:
    if not CORPUS.exists():
        pytest.skip("the shared vectors are not there")
    cases = json.loads(CORPUS.read_text("utf-8"))["cases"]
    return [case for case in cases if case["kind"] == kind and case["verified"]]


@each_case(
    "host, path, signature",
    [
        ("api.twitter.com", "/1/statuses/update.json", "tnnArxj06cWHq44gCs1OSKk/jLY="),
        ("api.twitter.com", "/1.1/statuses/update.json", "hCtSmYh+iHYCEqBWrE7C7hYmtUk="),
        ("api.x.com", "/1.1/statuses/update.json", "Ls93hJiZbQ3akF3HF3x1Bz8/zU4="),
    ],
)
def test_the_documented_signatures_come_out(host: str, path: str, signature: str) -> None:
    """The example of the public documentation, at its three addresses."""
    attributes = {
        "oauth_consumer_key": "xvz1evFS4wEEPTGEFPHBog",
        "oauth_nonce": "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg",
        "oauth_signature": "left out of the text that is signed",
        "oauth_signature_method": "HMAC-SHA1",
        "oauth_timestamp": "1318622958",
        "oauth_token": "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
        "oauth_version": "1.0",
        "realm": "left out, too",
    }
    form = b"status=Hello%20Ladies%20%2b+Gentlemen%2C%20a%20signed%20OAuth%20request%21"
    text = base_string(_call("post", f"https://{host.upper()}:443{path}?include_entities=true", form), attributes)
    consumer_secret = "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw"
    assert sign(text, consumer_secret, "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE") == signature


def test_shared_signature_vectors_come_out() -> None:
    """Every verified HMAC-SHA1 vector of the corpus."""
    compared = 0
    for case in _cases("signature"):
        if case["signature_method"] == "HMAC-SHA1":
            form = "&".join(f"{quote(name, '')}={quote(text, '')}" for name, text in case["form_body_params"])
            text = base_string(_call(case["method"], case["url"], form.encode()), case["oauth_params"])
            compared += 1
            assert sign(text, case["consumer_secret"], case["token_secret"]) == case["expected"]["signature"]
    assert compared > 5


def test_shared_hmac_vectors_come_out() -> None:
    """The keyed hash alone, with and without a token secret."""
    for case in _cases("hmac_of_base_string"):
        if case["signature_method"] == "HMAC-SHA1":
            signature = sign(case["base_string"], case["consumer_secret"], case["token_secret"])
            assert signature == case["expected"]["signature"]


def test_shared_parameter_vectors_come_out() -> None:
    """Sorted by escaped name, then by escaped value."""
    for case in _cases("normalize_parameters"):
        query = "&".join(f"{quote(name, safe='')}={quote(text, safe='')}" for name, text in case["input"])
        text = base_string(_call("GET", f"http://example.com/?{query}"), {})
        assert text == f"GET&http%3A%2F%2Fexample.com%2F&{quote(case['expected'], safe='')}"


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.text(st.characters(exclude_categories=["Cs"]))
    )
)
@example({"oauth_signature": "not covered, wherever it stands"})
def test_whatever_oauthlib_signs_is_verified(query: dict[str, str]) -> None:
    """Any query that the independent signer signs is let in, whatever its characters."""
    pairs = "&".join(f"{quote(name, safe='')}={quote(text, safe='')}" for name, text in query.items())
    assert _code(_signed(f"{URL}?{pairs}" if pairs else URL)) is None


def test_plus_and_percent_20_are_both_a_space() -> None:
    """A query is decoded as a form is (RFC 5849, section 3.4.1.3.1)."""
    assert decode_pairs(b"a+b=c%20d&e&&f=%2B") == [(b"a b", b"c d"), (b"e", b""), (b"f", b"+")]


@each_case(
    "header",
    [
        None,
        "",
        "Bearer abc",
        "OAuth",
        "OAuth oauth_token",
        'OAuth oauth_token="a", oauth_token="a"',
        'OAuth oauth_token="a" oauth_nonce="b"',
        'OAuth oauth_token="é"',
        'OAuth oauth_token="\udcff"',
    ],
)
def test_headers_that_are_none_are_told_apart(header: str | None) -> None:
    """No header, another scheme, or attributes that cannot be read: bad authentication data."""
    assert parse_authorization(header) is None
    assert _code(_call("GET", URL, authorization=header)) == 215


def test_names_and_values_of_a_header_are_decoded() -> None:
    """Attributes are percent-encoded on both sides; the scheme is in any case."""
    assert parse_authorization('oauth a%20b="c%2Fd" , e=""') == {"a b": "c/d", "e": ""}


@each_case(
    "attribute, text",
    [
        ("oauth_version", "2.0"),
        ("oauth_signature_method", "HMAC-SHA256"),
        ("oauth_signature_method", "PLAINTEXT"),
        ("oauth_timestamp", "now"),
        ("oauth_timestamp", "-1"),
        ("oauth_timestamp", "1800000000.5"),
        ("oauth_timestamp", ""),
        ("oauth_nonce", ""),
        ("oauth_nonce", "%C3%A9"),
        ("oauth_consumer_key", ""),
        ("oauth_token", ""),
        ("oauth_signature", ""),
    ],
)
def test_invalid_attributes_are_bad_data(attribute: str, text: str) -> None:
    """Attributes that OAuth 1.0a does not allow answer 215, before anything is verified."""
    call = _signed()
    attributes = dict(part.split("=", 1) for part in str(call.authorization).removeprefix("OAuth ").split(", "))
    attributes[attribute] = f'"{text}"'
    header = "OAuth " + ", ".join(f"{name}={value}" for name, value in attributes.items())
    assert _code(_call("GET", URL, authorization=header)) == 215


def test_a_version_may_be_left_out() -> None:
    """`oauth_version` is optional (RFC 5849, section 3.1): signed without it, the call is let in."""
    attributes = {
        "oauth_consumer_key": CREDENTIALS.consumer_key,
        "oauth_nonce": "n",
        "oauth_signature_method": "HMAC-SHA1",
        "oauth_timestamp": str(int(NOW)),
        "oauth_token": CREDENTIALS.access_token,
    }
    pairs = "&".join(f"{name}={attributes[name]}" for name in sorted(attributes))
    text = f"GET&{quote(URL, safe='')}&{quote(pairs, safe='')}"
    key = f"{CREDENTIALS.consumer_secret}&{CREDENTIALS.access_token_secret}"
    signature = base64.b64encode(hmac.digest(key.encode(), text.encode(), hashlib.sha1)).decode()
    listed = {**attributes, "oauth_signature": quote(signature, safe="")}
    header = "OAuth " + ",".join(f'{name}="{value}"' for name, value in listed.items())
    assert _code(_call("GET", URL, authorization=header)) is None


@each_case(
    "changes, code",
    [
        ({}, None),
        ({"client_key": "localsomeoneelse"}, 32),
        ({"client_secret": "wrong"}, 32),
        ({"resource_owner_secret": "wrong"}, 32),
        ({"resource_owner_key": "1-localsomeoneelse"}, 89),
        ({"timestamp": str(int(NOW) - 300)}, None),
        ({"timestamp": str(int(NOW) + 300)}, None),
        ({"timestamp": str(int(NOW) - 301)}, 135),
        ({"timestamp": str(int(NOW) + 301)}, 135),
        ({"timestamp": "1", "client_secret": "wrong"}, 135),
    ],
)
def test_refusals_are_told_apart(changes: dict[str, str], code: int | None) -> None:
    """A wrong signature, an unknown token and a wrong time have codes of their own."""
    assert _code(_signed(**changes)) == code


@each_case(
    "other",
    [
        ("POST", URL),
        ("GET", URL + "/x"),
        ("GET", URL.replace("8080", "8081")),
        ("GET", URL.replace("http:", "https:")),
        ("GET", URL + "?a=b"),
    ],
)
def test_a_signature_covers_method_address_and_query(other: tuple[str, str]) -> None:
    """A signature for one call does not let another one in."""
    assert _code(_call(*other, authorization=_signed().authorization)) == 32


def test_a_call_is_let_in_once() -> None:
    """A nonce that was spent with its timestamp is refused; with another timestamp it is a new one."""
    signatures = Signatures(CREDENTIALS)
    call = _signed(nonce="once")
    assert _code(call, signatures=signatures) is None
    assert _code(call, signatures=signatures) == 32
    assert _code(call, NOW + 299, signatures) == 32
    assert _code(_signed(nonce="once", timestamp=str(int(NOW) + 1)), signatures=signatures) is None


def test_a_refused_call_spends_no_nonce() -> None:
    """A caller without the key cannot use up the nonces of others."""
    signatures = Signatures(CREDENTIALS)
    assert _code(_signed(nonce="mine", client_secret="wrong"), signatures=signatures) == 32
    assert _code(_signed(nonce="mine"), signatures=signatures) is None


def test_old_nonces_are_forgotten() -> None:
    """A nonce is forgotten when its timestamp is refused anyway."""
    signatures = Signatures(CREDENTIALS)
    for second in range(0, 2_000, 100):
        assert _code(_signed(timestamp=str(int(NOW) + second)), NOW + second, signatures) is None
    assert len(signatures._nonces) <= 4


def test_secrets_are_not_shown() -> None:
    """The header that was sent is not in the repr of a call."""
    call = _signed()
    assert str(call.authorization) not in repr(call)


# --- Ids and credentials that follow from a seed ---


@given(st.integers(min_value=0, max_value=2**80))
def test_base36_is_read_back_by_int(number: int) -> None:
    """The digits are the ones that `int` knows."""
    text = base36(number)
    assert int(text, 36) == number
    assert text == text.lower()


def test_a_seed_fixes_everything() -> None:
    """The same seed gives the same emulator, another seed another one."""
    assert make_origin(7) == make_origin(7)
    first, second = make_origin(7), make_origin(8)
    assert first.account_id != second.account_id
    assert first.credentials.access_token_secret != second.credentials.access_token_secret


@each_case("seed", [0, 1, -5, 2**70])
def test_credentials_are_plainly_local(seed: int) -> None:
    """They are plainly no real ones, and secrets are not in their repr."""
    credentials = make_origin(seed).credentials
    assert credentials.consumer_key.startswith("local")
    assert credentials.consumer_secret.startswith("local")
    assert credentials.access_token_secret.startswith("local")
    assert re.fullmatch(r"[0-9]{10}-local[A-Za-z0-9]+", credentials.access_token)
    assert credentials.consumer_secret not in repr(credentials)
    assert credentials.access_token_secret not in repr(credentials)
