"""Texts that are written in another way."""

from __future__ import annotations

import base64
import random

import pytest
from hypothesis import given, strategies as st

from audiencekit.identifiers.disguises import undisguised

CASES = [
    ("a percent sign", "ada%40canarymail.com", ["ada@canarymail.com"]),
    ("a reference of HTML", "ada&commat;canarymail.com", ["ada@canarymail.com"]),
    ("base64", "YWRhQGNhbmFyeW1haWwuY29t", ["ada@canarymail.com"]),
    ("base64 without its end", "YWRhQHguY28", ["ada@x.co"]),
    ("hexadecimal", "61646140782e636F", ["ada@x.co"]),
    ("a name in base64", "QWRhIExvdmVsYWNl", ["Ada Lovelace"]),
    ("an id in base64", "Q3VzdG9tZXI6NDcxMQ==", []),
    ("bytes in base64", "q83vEjRWeJAq83vE", []),
    ("a percent sign of itself", "save40%", []),
    ("an ampersand of itself", "a&b", []),
    ("an id", "crm-4711", []),
]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_text_inside_a_disguise_is_found(text: str, expected: list[str]) -> None:
    """The text itself; nothing where none is a person's."""
    assert list(undisguised(text)) == expected


@given(st.from_regex(r"[a-z]{2,12}[.+]?[a-z0-9]{1,9}@[a-z]{2,12}\.(com|org|de)", fullmatch=True))
def test_an_address_is_found_in_every_way(address: str) -> None:
    """However long it is, with and without what fills up."""
    encoded = base64.b64encode(address.encode()).decode()
    quoted = "".join(f"%{byte:02x}" for byte in address.encode())
    for text in (encoded, encoded.rstrip("="), address.encode().hex(), address.encode().hex().upper(), quoted):
        assert list(undisguised(text)) == [address]


@pytest.mark.parametrize("size", [8, 12, 16, 24])
def test_random_ids_hold_nothing(size: int) -> None:
    """Of letters and digits, of the signs of base64, and hexadecimal."""
    chance = random.Random(size)
    alphabets = [
        "abcdefABCDEF0123456789",
        "0123456789abcdef",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    ]
    ids = ["".join(chance.choices(alphabet, k=size)) for alphabet in alphabets for _ in range(3_000)]
    assert [text for text in ids if list(undisguised(text))] == []
