"""Answers that carry credentials: read strictly, and never shown."""

from __future__ import annotations

import pytest

from audiencekit.api.credentials import read_credential, read_pairs, read_stream
from audiencekit.api.exchange import ApiResponse
from audiencekit.errors import MalformedAnswer, Unauthorized
from tests.cases import each_case

CANARY = "zebra-7391"


NO_PAIRS = [
    b"",
    b"a=b",
    b"oauth_token",
    b"oauth_token=",
    b"oauth_token=a&oauth_token=b",
    b"oauth_token=\xff",
    b"&" * 30,
    f"oauth_token={CANARY}&{CANARY}".encode(),
    f"oauth_token={CANARY}%0D%0Aa".encode(),
    b"oauth_token=a&oauth_token_secret=%20",
]


@each_case("body", NO_PAIRS)
def test_pairs_that_are_none(body: bytes) -> None:
    """Without a token, twice the same name, or not in ASCII; nothing of it is repeated."""
    with pytest.raises(MalformedAnswer) as caught:
        read_pairs(ApiResponse(status=200, body=body))
    assert CANARY not in str(caught.value)


def test_pairs_are_decoded() -> None:
    """Escapes and plus signs."""
    answer = read_pairs(ApiResponse(status=200, body=b"oauth_token=a%2Fb&screen_name=a+b"))
    assert answer.data["oauth_token"].unwrap() == "a/b"
    assert answer.data["screen_name"] == "a b"


TOKENS = ["1", '""', '"a b"', r'"a\r\nb"', r'"a\u001b[2J"', '"\u00e4"']


@each_case("body", ["", "[]", "{}", '{"token_type":"bearer"}', *(f'{{"access_token":{token}}}' for token in TOKENS)])
def test_credentials_that_are_none(body: str) -> None:
    """No object, no token, or one that is no text and could stand in no header."""
    with pytest.raises(MalformedAnswer):
        read_credential(ApiResponse(status=200, body=body.encode()))


@each_case("read", [read_pairs, read_credential, read_stream])
def test_refusals_are_errors(read: object) -> None:
    """Whatever the form of the answer would have been."""
    response = ApiResponse(status=401, body=b'{"errors":[{"code":89,"message":"Invalid or expired token."}]}')
    with pytest.raises(Unauthorized) as caught:
        read(response)  # type: ignore[operator]
    assert caught.value.codes == ("89",)
