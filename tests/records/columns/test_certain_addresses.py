"""The kernels decide certain addresses as the definition does."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.texts import NO_ADDRESS
from audiencekit.kernels.layouts import Words
from audiencekit.records.columns import certain_values as plain
from audiencekit.records.columns.arrays import VALID
from audiencekit.records.columns.certain_values import NO_ADDRESSES
from benchmarks.values.emails import DOMAINS, LOCALS, ODD, PARTS
from tests.cases import each_case
from tests.examples import examples
from tests.records.columns.certain import decided, differing_addresses, needs_kernels

pytestmark = needs_kernels


def _addresses() -> list[str]:
    return [*(f"{local}@{domain}" for local in LOCALS for domain in DOMAINS), *ODD]


def test_addresses_as_the_definition() -> None:
    """Whatever a kernel decides has the definition's hash."""
    assert differing_addresses(_addresses()) == []


@given(st.lists(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=6).map("".join), max_size=20))
@settings(max_examples=examples(100), deadline=None)
def test_any_text_as_the_definition(texts: list[str]) -> None:
    """No text makes them differ."""
    assert differing_addresses(texts) == []


def test_every_ascii_character_at_every_place_of_an_address() -> None:
    """One foreign character anywhere."""
    address = "ab.c@de-f.gh"
    texts = [address[:at] + chr(code) + address[at:] for at in range(len(address) + 1) for code in range(128)]
    assert differing_addresses(texts) == []


@each_case("size", [62, 63, 64, 65, 66, 254, 255])
def test_long_addresses(size: int) -> None:
    """Around the bounds of parts and of the whole."""
    local, domain = "a" * (size - len("@b.example")), "b" * (size - len("a@.example"))
    assert differing_addresses([f"{local}@b.example", f"a@{domain}.example", f" {local}@b.example "]) == []


def test_placeholders_are_those_of_the_definition() -> None:
    """Every text of the list is a local part that says that there is no address."""
    assert all(NO_ADDRESS.fullmatch(text) for text in NO_ADDRESSES)
    assert differing_addresses([f"{text}@larchpost.example" for text in sorted(NO_ADDRESSES)]) == []


@given(st.from_regex(NO_ADDRESS, fullmatch=True))
def test_the_list_has_every_placeholder_of_the_definition(text: str) -> None:
    """And there are no others."""
    assert text in NO_ADDRESSES


def test_most_addresses_are_plain() -> None:
    """Of ordinary addresses none is left, whatever the case and the white space around."""
    texts = [
        f" {name}{number}@Mail.Larch-Post.example\n" for number in range(50) for name in ("anna.b", "NOAH", "o'k+x")
    ]
    assert set(decided(pa.array(texts), Kind.EMAIL)[0].tolist()) == {VALID}


@pytest.mark.parametrize(
    ("attribute", "broken"),
    [
        ("_NO_ADDRESSES", Words.of(["n/a"])),
        ("_DOUBLED", Words.of(["test"])),
        ("_WORDS", Words.of([])),
        ("SPECIAL_USE_DOMAIN_NAMES", ["test"]),
    ],
)
def test_broken_doubts_are_found(attribute: str, broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison fails when a stem or a special name is forgotten."""
    monkeypatch.setattr(plain, attribute, broken)
    assert differing_addresses([*_addresses(), "nomail@larchpost.example", "user@user.example", "a@b.local", "unknown"])
