"""Cells are divided into parts that can be whole values, and into no others."""

from __future__ import annotations

import re

from hypothesis import given, strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.several_values import MAY_DIVIDE, values_in
from tests.cases import each_case

ADA, BOB = "ada@example.com", "bob@example.com"
EMAIL, PHONE = Kind.EMAIL, Kind.PHONE_NUMBER


@each_case("between", [",", ", ", " / ", "/", " & ", " or ", " OR ", " und ", " o ", "、", ",\xa0"])
def test_addresses_are_divided(between: str) -> None:
    """By signs and words that are in no address."""
    assert values_in(EMAIL, f" {ADA}{between}{BOB}") == [ADA, BOB]


@each_case(
    "kind, text",
    [
        (EMAIL, ADA),
        (EMAIL, f"{ADA},, {BOB}"),
        (EMAIL, f"{ADA}&{BOB}"),
        (EMAIL, ", ".join([ADA] * 6)),
        (PHONE, "+1 212 234 5600, 234-5601"),
        (PHONE, "030 1234567 / 2345678"),
        (PHONE, "+49 30 1234567/68"),
        (PHONE, "30 1234567, 2345678"),
        (Kind.HANDLE, "ada, bob"),
        (Kind.PARTNER_USER_ID, "1,2"),
    ],
)
def test_other_texts_are_not(kind: Kind, text: str) -> None:
    """One value, a gap, many people, numbers that may lack their area, and kinds that have one value."""
    assert values_in(kind, text) == []


@each_case(
    "text", ["+1 212 234 5600,+44 20 7946 0958", "0171 1234567 / +49 30 123456", "(212) 234-5600 & (212) 234-5601"]
)
def test_whole_numbers_are_divided(text: str) -> None:
    """Each with a plus or a zero, or all of one length."""
    assert len(values_in(PHONE, text)) == 2


@given(st.lists(st.sampled_from([ADA, "+1", "0", ",", "/", " ", "or", "&", "\n", "x"]), max_size=8).map("".join))
def test_every_divided_text_has_a_divider(text: str) -> None:
    """The pattern that whole columns are asked for leaves nothing out."""
    assert not values_in(EMAIL, text) or re.search(MAY_DIVIDE, text)
