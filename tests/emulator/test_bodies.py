"""Bodies: taken in, and read as JSON."""

from __future__ import annotations

import gc
import json
from collections.abc import AsyncIterator

import pytest
from hypothesis import given, strategies as st

from audiencekit.emulator.bodies import MAX_DRAINED_BYTES, collector_paused, parse_json, receive
from audiencekit.limits import MAX_BODY_BYTES
from tests.cases import each_case


async def _parts(*sizes: int) -> AsyncIterator[bytes]:
    for size in sizes:
        yield b"x" * size


async def test_a_body_up_to_the_limit_is_kept() -> None:
    """Exactly 5,000,000 bytes are not too many."""
    received = await receive(_parts(1, MAX_BODY_BYTES - 1))
    assert (len(received.content), received.size) == (MAX_BODY_BYTES, MAX_BODY_BYTES)
    assert received.drained
    assert not received.too_large


async def test_a_byte_more_is_too_large_and_thrown_away() -> None:
    """5,000,001 bytes are taken in, so that the sender can hear the answer, but not kept."""
    received = await receive(_parts(MAX_BODY_BYTES, 1))
    assert (received.content, received.size) == (b"", MAX_BODY_BYTES + 1)
    assert received.drained
    assert received.too_large


async def test_there_is_an_end_to_patience() -> None:
    """A body without end is not read to its end."""
    received = await receive(_parts(*[MAX_BODY_BYTES] * 100))
    assert MAX_DRAINED_BYTES < received.size <= MAX_DRAINED_BYTES + MAX_BODY_BYTES
    assert not received.drained


@each_case(
    "text",
    [
        b"",
        b" ",
        b"[1,]",
        b"[1] [2]",
        b"[NaN]",
        b"[Infinity]",
        b"[-Infinity]",
        b"{'a':1}",
        b"[01]",
        b'["\xff"]',
        b'["\\ud800"]',
        b"\xef\xbb\xbf[]",
        b"[1",
        b'["a\nb"]',
        b'[{"a":1,"a":1}]',
        b'[{"a":1,"b":{"c":[],"c":[]}}]',
        b'[{ "a" : 1 , "\\u0061" : 2 }]',
        b"[" * 100_000 + b"]" * 100_000,
        b"[" * 1_000 + b'{"a":1,"a":1}' + b"]" * 1_000,
    ],
)
def test_invalid_json_is_refused(text: bytes) -> None:
    """Repeated keys, numbers that are none, and all the rest; the message quotes nothing, and no cause is kept."""
    with pytest.raises(ValueError, match="not valid JSON, or a key is repeated") as caught:
        parse_json(text)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@each_case("text", [b'[ {"a" : 1.50, "b":"\\u00e9"} ]\n', b'{"a":{"a":{"a":1}}}', b"[" * 300 + b"]" * 300])
def test_other_ways_of_writing_are_read(text: bytes) -> None:
    """White space, escapes and depth do not matter."""
    assert parse_json(text) == json.loads(text)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
)


@given(_JSON, st.sampled_from([None, 1]), st.booleans())
def test_every_json_text_reads_as_it_was_meant(document: object, indent: int | None, ascii_only: bool) -> None:
    """Reading agrees with the standard library, however the text is written."""
    assert parse_json(json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode()) == document


def test_the_collector_is_put_back_as_it_was() -> None:
    """A pause ends, also with an error, and does not switch on what was off."""
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
    with pytest.raises(KeyError), collector_paused():
        dict[bool, int]()[gc.isenabled()]
    assert gc.isenabled()
