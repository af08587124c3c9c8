"""The Authorization header, by the credential that an endpoint asks for."""

from __future__ import annotations

from base64 import b64decode

import pytest

from audiencekit.api.authentication import authorization
from audiencekit.api.exchange import ApiRequest
from audiencekit.api.oauth import Credentials, authorization_header
from audiencekit.errors import CredentialsRefused
from audiencekit.personal import Secret

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
