"""Query parameters, one at a time."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from audiencekit.emulator.calls import Address, Call
from audiencekit.emulator.envelope import RefusalError
from audiencekit.emulator.options import EmulatorOptions
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.signatures import decode_pairs
from audiencekit.emulator.store import Store


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


@pytest.mark.parametrize("query", [b"%FF=1", b"a=%FF", b"a=%ED%A0%80"])
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


def test_what_nobody_reads_is_refused() -> None:
    """A misspelled name does not pass in silence."""
    parameters = Parameters(_call(b"a=1&b=2"))
    parameters.text("a")
    assert _refused(parameters.finish) == ("INVALID_PARAMETER", '"b" is not a parameter of this endpoint')
