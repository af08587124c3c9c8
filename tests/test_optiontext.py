"""Options in messages are Python's."""

from __future__ import annotations

import pytest

from audiencekit.optiontext import OPTION, option


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("country", None, "`country=`"),
        ("country", "US", "`country='US'`"),
        ("keep_spool", True, "`keep_spool=True`"),
        ("columns", {"email": "a`b"}, "`columns={'email': 'a\\x60b'}`"),
    ],
)
def test_an_option_is_spelled_as_a_keyword(name: str, value: object, expected: str) -> None:
    """Between backquotes, with its value as a literal."""
    assert option(name, value) == expected
    assert OPTION.fullmatch(expected)
