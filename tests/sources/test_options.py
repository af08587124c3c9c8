"""Separators between the values of a cell, and characters that only look like one."""

from __future__ import annotations

from typing import Any

import pytest

from audiencekit.errors import UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.options import SEPARATORS, SourceOptions, is_one_value, show_separator
from tests.cases import each_case


@each_case(
    "cell, is_one",
    [
        ("+493012345601;ext=12", True),
        ("+493012345601; phone-context=example.com", True),
        ('"an;n"@example.com', True),
        ("+493012345601;+493012345602", False),
        ("ann@example.com;bob=b@example.com", True),
    ],
)
def test_a_semicolon_may_be_of_a_value(cell: str, is_one: bool) -> None:
    """When in doubt nothing is divided: the cell is rejected as a whole."""
    assert is_one_value(cell, ";") is is_one
    assert not is_one_value(cell, "\n")


def test_a_line_break_is_told_in_words() -> None:
    """The others as they stand."""
    assert [show_separator(separator) for separator in SEPARATORS] == ["' ::: '", "';'", "line breaks"]


@each_case(
    "given, kept",
    [
        ({"country": "DE"}, {"country": "DE"}),
        ({"country": "germany"}, {"country": "DE"}),
        ({"encoding": "UTF8"}, {"encoding": "utf-8"}),
        ({"encoding": "windows-1252"}, {"encoding": "cp1252"}),
        ({"delimiter": "tab"}, {"delimiter": "\t"}),
        ({"delimiter": "\\t"}, {"delimiter": "\t"}),
        ({"delimiter": "^"}, {"delimiter": "^"}),
        ({"split_cells": ";"}, {"split_cells": ";"}),
        ({}, {"country": None, "header": None, "columns": (), "hashed": frozenset()}),
    ],
)
def test_options_are_kept_in_one_form(given: dict[str, Any], kept: dict[str, Any]) -> None:
    """Countries become codes, encodings the codec's name, words for a tab the tab."""
    options = SourceOptions(**given)
    assert {name: getattr(options, name) for name in kept} == kept


@each_case(
    "given",
    [
        {"country": "Atlantis"},
        {"country": "49"},
        {"encoding": "no-such-encoding"},
        {"encoding": "rot13"},
        {"encoding": "base64"},
        {"encoding": "punycode"},
        {"encoding": "unicode_escape"},
        {"delimiter": ""},
        {"delimiter": "::"},
        {"delimiter": '"'},
        {"delimiter": "\n"},
        {"delimiter": "é"},
        {"split_cells": "\r"},
        {"delimiter": ";", "split_cells": ";"},
        {"hashed": frozenset({Kind.PARTNER_USER_ID})},
        {"columns": ((Kind.EMAIL, "  "),)},
        {"ignore": (" ",)},
    ],
)
def test_impossible_options_are_usage_errors(given: dict[str, Any]) -> None:
    """Invalid values are refused at construction."""
    with pytest.raises(UsageError):
        SourceOptions(**given)


def test_wanted_names_are_all_that_the_user_gave() -> None:
    """Mapped columns, the country's, the operation's, and those that are left out."""
    options = SourceOptions(
        columns=((Kind.EMAIL, "Mail"),), country_column="Land", operation_column="what", ignore=("Fax",)
    )
    assert options.wanted_names == ("Mail", "Land", "what", "Fax")
