"""Bodies stay hidden and whole; requests that could mean two things are refused."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given, strategies as st

from audiencekit.api.exchange import ApiRequest, ApiResponse, Body
from audiencekit.errors import UsageError
from tests.cases import each_case

PATH = "/12/accounts/abc1/custom_audiences"


@given(st.lists(st.binary(max_size=50), max_size=6), st.integers(1, 20))
def test_slices_are_the_pieces_in_order(pieces: list[bytes], slice_bytes: int) -> None:
    """However a body is cut, its slices are its bytes, none longer than asked, and `size` is their sum."""
    body = Body(pieces)
    slices = list(body.slices(slice_bytes))
    assert b"".join(slices) == b"".join(pieces)
    assert all(1 <= len(each) <= slice_bytes for each in slices)
    assert body.size == sum(map(len, pieces))


def test_size_is_in_bytes_for_wide_views() -> None:
    """A view of wider elements counts and is sent byte by byte."""
    body = Body([memoryview(b"12345678").cast("I"), bytearray(b"9")])
    assert body.size == 9
    assert b"".join(body.slices(4)) == b"123456789"


def test_body_can_be_read_again() -> None:
    """A body made from a generator gives the same slices each time, as a re-send needs."""
    body = Body(piece for piece in (b"one", b"two"))
    assert list(body.slices(2)) == list(body.slices(2))


def test_body_is_never_shown() -> None:
    """A body refuses repr, str, format, pickle and JSON, also inside a request."""
    body = Body([b"canary"])
    request = ApiRequest(method="POST", path=PATH, query=(("q", "canary"),), body=body)
    response = ApiResponse(status=200, headers={"set-cookie": "canary"}, body=b"canary")
    assert "canary" not in f"{body} {body!r} {request} {request!r} {response} {response!r}"
    with pytest.raises(TypeError):
        pickle.dumps(body)
    with pytest.raises(TypeError):
        json.dumps(body)


@each_case(
    "path",
    [
        "",
        "12/accounts",
        "/12/../accounts",
        "/12/./accounts",
        "/12//accounts",
        "/12/accounts/",
        "/12/accounts?count=1",
        "/12/accounts#top",
        "/12/accounts/%2e%2e",
        "/12/acc ounts",
        "/12/accounts\r\nHost: evil.example.net",
        "/12/accounts\\x",
        "//evil.example.net/12",
        "/12/accounts/ä",
        "/12/@evil.example.net",
    ],
)
def test_paths_with_two_meanings_are_refused(path: str) -> None:
    """A path that climbs, carries a query, or needs escaping never becomes a request."""
    with pytest.raises(UsageError):
        ApiRequest(method="GET", path=path)


@each_case("path", [PATH, "/1.1/oauth/invalidate_token", "/2/tweets", "/12/accounts/a/cards/all/1_2"])
def test_ordinary_paths_pass(path: str) -> None:
    """Paths as the specification writes them pass."""
    assert ApiRequest(method="GET", path=path).path == path


@each_case("query", [(("q", "a"), ("q", "b")), (("q", "half\ud800"),), (("\udfff", "a"),)])
def test_queries_that_cannot_be_signed_or_sent_are_refused(query: tuple[tuple[str, str], ...]) -> None:
    """A repeated key or half a character is refused, and the message shows neither."""
    with pytest.raises(UsageError) as caught:
        ApiRequest(method="GET", path=PATH, query=query)
    assert "half\ud800" not in str(caught.value)


def test_form_is_a_body() -> None:
    """A request has one of them; a name stands in one place only."""
    pairs = (("a", "1"),)
    assert ApiRequest(method="POST", path=PATH, form=pairs).form == pairs
    with pytest.raises(UsageError):
        ApiRequest(method="POST", path=PATH, form=pairs, body=Body([b"{}"]))
    with pytest.raises(UsageError):
        ApiRequest(method="POST", path=PATH, form=pairs, query=pairs)
