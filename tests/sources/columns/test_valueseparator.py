"""Cells that hold several values are known by what divides them."""

from __future__ import annotations

import pytest

from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.columns.valueseparator import find_separator

ONE, TWO = "ann@example.com", "bob@example.com"
CASES: list[tuple[Kind, list[str], str | None]] = [
    (Kind.EMAIL, [f"{ONE} ::: {TWO}"], " ::: "),
    (Kind.EMAIL, [ONE] * 999 + [f"{ONE} ::: {TWO}"], " ::: "),
    (Kind.EMAIL, [f"{ONE};{TWO}"], ";"),
    (Kind.EMAIL, [f"{ONE}; {TWO} ;"], ";"),
    (Kind.EMAIL, [f"{ONE};"], ";"),
    (Kind.EMAIL, [f"{ONE}\n{TWO}"], "\n"),
    (Kind.EMAIL, [f"{ONE}\r\n{TWO}\r\n"], "\n"),
    (Kind.EMAIL, [f"{ONE};\n{TWO}"], ";"),
    # of few cells half, of more three, of many one in a hundred
    (Kind.EMAIL, [ONE, f"{ONE};{TWO}"], ";"),
    (Kind.EMAIL, [ONE] * 2 + [f"{ONE};{TWO}"], None),
    (Kind.EMAIL, [ONE] * 97 + [f"{ONE};{TWO}"] * 3, ";"),
    (Kind.EMAIL, [ONE] * 98 + [f"{ONE};{TWO}"] * 2, None),
    (Kind.EMAIL, [ONE] * 396 + [f"{ONE};{TWO}"] * 4, ";"),
    (Kind.EMAIL, [ONE] * 330 + [f"{ONE};{TWO}"] * 3, None),
    (Kind.EMAIL, [f"{ONE};{TWO}", "ann;"], None),
    (Kind.EMAIL, [ONE, TWO], None),
    (Kind.EMAIL, [], None),
    (Kind.EMAIL, ["ann@example;com", "an;n@example.com"], None),
    (Kind.EMAIL, [f"{ONE};{TWO}", "ann;", ";ann"], None),
    (Kind.EMAIL, ['"an;n"@example.com'], None),
    (Kind.EMAIL, [f"{ONE}:::{TWO}", f"{ONE},{TWO}", f"{ONE}|{TWO}"], None),
    (Kind.PHONE_NUMBER, ["+49 30 12345601 ::: +49 30 12345602"], " ::: "),
    (Kind.PHONE_NUMBER, ["030 12345601; 0171 2345602"], ";"),
    (Kind.PHONE_NUMBER, ["+493012345601\n+493012345602"], "\n"),
    (Kind.PHONE_NUMBER, ["+493012345601;ext=12345"], None),
    (Kind.PHONE_NUMBER, ["tel:+493012345601;phone-context=example.com; EXT=12345"], None),
    (Kind.PHONE_NUMBER, ["+493012345601;12"], None),
    (Kind.PHONE_NUMBER, ["+493012345601;ext=12345", "030 12345601;0171 2345602"], ";"),
    (Kind.DEVICE_ID, ["4b61639e-47cc-4056-a16a-c8217e029462;4b61639e-47cc-4056-a16a-c8217e029463"], None),
    (Kind.HANDLE, ["@ann ::: @bob"], None),
    (Kind.PARTNER_USER_ID, ["a;b", "c ::: d"], None),
]


@pytest.mark.parametrize(("kind", "cells", "separator"), CASES, ids=range(len(CASES)))
def test_separators_are_known_by_values_on_both_sides(kind: Kind, cells: list[str], separator: str | None) -> None:
    """Of addresses and numbers only; one that may stand in a value divides nothing."""
    assert find_separator(kind, cells) == separator
