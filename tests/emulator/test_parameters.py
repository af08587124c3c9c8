"""Query parameters, one at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from audiencekit.emulator.answers import RefusalError
from audiencekit.emulator.authentication import decode_pairs
from audiencekit.emulator.calls import Address, Call
from audiencekit.emulator.options import EmulatorOptions
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.store import Store
from tests.cases import each_case


def _call(query: bytes) -> Call:
    store = Store(0, 0.0)
    return Call(
        address=Address.ADS,
        ids={"account_id": "a"},
        query=decode_pairs(query),
        media_type="",
        body=b"",
        now=0.0,
        store=store,
        options=EmulatorOptions(),
    )


def _refused(act: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(RefusalError) as caught:
        act()
    assert caught.value.answer.status == 400
    assert isinstance(caught.value.answer.body, bytes)
    error = json.loads(caught.value.answer.body)["errors"][0]
    return error["code"], error["message"]


def test_the_echo_is_typed_and_grows() -> None:
    """Ids of the path, then what was read: numbers, booleans, lists, texts. Defaults are not echoed."""
    parameters = Parameters(_call(b"n=007&b=false&w=x%2Cy&t=+z&c=ONE"))
    assert parameters.echo == {"account_id": "a"}
    assert parameters.number("n", default=1, least=1, most=9) == 7
    assert parameters.boolean("b") is False
    assert parameters.words("w") == ["x", "y"]
    assert parameters.text("t") == " z"
    assert parameters.choice("c", ("ONE", "TWO"), "TWO") == "ONE"
    assert parameters.number("absent", default=5, least=1, most=9) == 5
    assert parameters.echo == {"account_id": "a", "n": 7, "b": False, "w": ["x", "y"], "t": " z", "c": "ONE"}
    parameters.finish()


@each_case("query", [b"%FF=1", b"a=%FF", b"a=%ED%A0%80"])
def test_a_query_is_utf_8(query: bytes) -> None:
    """Bytes that are no text are refused."""
    assert _refused(lambda: Parameters(_call(query)))[0] == "ILLEGAL_CHARACTERS"


def test_messages_follow_the_service() -> None:
    """The patterns of the captured messages."""
    assert _refused(lambda: Parameters(_call(b"")).required_text("name")) == (
        "MISSING_PARAMETER",
        '"name" is a required parameter',
    )
    assert _refused(lambda: Parameters(_call(b"b=1")).boolean("b")) == (
        "INVALID_PARAMETER",
        'Expected boolean, got "1" for b',
    )
    assert _refused(lambda: Parameters(_call(b"a=1&b=2")).exclusive("a", "b")) == (
        "EXCLUSIVE_PARAMETERS",
        "a and b are exclusive parameters",
    )


def test_an_unread_parameter_is_refused() -> None:
    """A misspelled name does not pass in silence."""
    parameters = Parameters(_call(b"a=1&b=2"))
    parameters.text("a")
    assert _refused(parameters.finish) == ("INVALID_PARAMETER", '"b" is not a parameter of this endpoint')


def test_numbers_of_users_and_tweets_keep_every_digit() -> None:
    """Up to the largest long integer, echoed as numbers; None when they are not given."""
    parameters = Parameters(_call(b"u=9223372036854775807&t=1%2C9007199254740993"))
    assert parameters.required_long("u") == 2**63 - 1
    assert parameters.required_longs("t", most=2) == [1, 9_007_199_254_740_993]
    assert parameters.long("absent") is None
    assert parameters.echo == {"account_id": "a", "u": 2**63 - 1, "t": [1, 9_007_199_254_740_993]}


@each_case("text", ["9223372036854775808", "-1", "1.0", "1e3", "\u0663", ""])
def test_an_invalid_long_integer_is_refused(text: str) -> None:
    """Alone, in a list, and in the path, with the captured message where a list has it."""
    for read in (
        lambda: Parameters(_call(f"n={text}".encode())).long("n"),
        lambda: Parameters(_call(f"n=1,{text}".encode())).required_longs("n"),
        lambda: Parameters(replace(_call(b""), ids={"n": text})).path_long("n"),
    ):
        assert _refused(read)[0] == "INVALID_PARAMETER"
    assert _refused(lambda: Parameters(_call(b"n=x")).required_longs("n"))[1] == 'Expected Long, got "x" for n'


def test_a_list_of_numbers_has_a_most() -> None:
    """One more is refused."""
    assert _refused(lambda: Parameters(_call(b"n=1,2,3")).required_longs("n", most=2))[0] == "INVALID_PARAMETER"


def test_times_are_echoed_in_utc() -> None:
    """Whatever offset they came with; a text that is no time is refused."""
    parameters = Parameters(_call(b"t=2017-07-10T08:00:00-0800"))
    assert parameters.required_time("t") == 1_499_702_400
    assert parameters.echo["t"] == "2017-07-10T16:00:00Z"
    assert Parameters(_call(b"")).time("t") is None
    assert _refused(lambda: Parameters(_call(b"t=soon")).time("t"))[1] == 'Expected time, got "soon" for t'
    assert _refused(lambda: Parameters(_call(b"")).required_time("t"))[0] == "MISSING_PARAMETER"


def test_an_unread_parameter_of_the_public_client_is_ignored() -> None:
    """Which sends back whole records; what was read is echoed alone."""
    call = replace(_call(b"a=1&b=2"), options=EmulatorOptions(profile="x"))
    parameters = Parameters(call)
    parameters.text("a")
    parameters.finish()
    assert parameters.echo == {"account_id": "a", "a": "1"}


def test_a_list_of_numbers_may_be_left_out() -> None:
    """None then; else it is read like one that must be given."""
    assert Parameters(_call(b"")).longs("n") is None
    assert Parameters(_call(b"n=1,2")).longs("n") == [1, 2]
    assert _refused(lambda: Parameters(_call(b"n=x")).longs("n"))[0] == "INVALID_PARAMETER"


@each_case("text", ["https://shop.example", "http://shop.example:8080/a?b=c#d", "HTTPS://shop.example/"])
def test_addresses_of_the_web(text: str) -> None:
    """With a host; either of two schemes."""
    assert Parameters(_call(urlencode({"u": text}).encode())).web_address("u") == text


@each_case("text", ["", "shop.example", "//shop.example", "ftp://shop.example", "https://", "https://[", "https://a b"])
def test_an_invalid_address_is_refused(text: str) -> None:
    """An empty one too, unless it takes away what was there."""
    query = urlencode({"u": text}).encode()
    assert _refused(lambda: Parameters(_call(query)).web_address("u"))[0] == "INVALID_PARAMETER"
    assert Parameters(_call(b"u=")).web_address("u", empty=True) == ""
    assert Parameters(_call(b"")).web_address("u") is None
