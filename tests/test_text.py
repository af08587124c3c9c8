"""Options in messages are Python's."""

from __future__ import annotations

import json

from hypothesis import given, strategies as st

from audiencekit.errors import DefinitionRefused, UsageError
from audiencekit.text import OPTION, ascii_json, option, shown, shown_json, shown_lines
from tests.cases import each_case


@each_case(
    "name, value, expected",
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


CASES = [
    ("plain", "plain"),
    ("Müller 山田 😀", "Müller 山田 😀"),
    ("a\x1b]0;x\x07", r"a\x1b]0;x\x07"),
    ("\r\n\t", r"\r\n\t"),
    ("\x7f\x85\x9b", r"\x7f\x85\x9b"),
    ("\u202e\u2066\u200b\ufeff\u2028", r"\u202e\u2066\u200b\ufeff\u2028"),
    ("\ud83d", r"\ud83d"),
    (b"K\xfcnden\xff.csv".decode("utf-8", "surrogateescape"), r"K\xfcnden\xff.csv"),  # a name in Latin-1
    ("\U000e0041", r"\U000e0041"),
    ("back\\slash", "back\\slash"),
]


@each_case("text, expected", CASES)
def test_an_unprintable_character_is_escaped(text: str, expected: str) -> None:
    """As Python writes it; everything else stays."""
    assert shown(text) == expected


@given(st.text(st.characters(exclude_categories=())))
def test_nothing_acts(text: str) -> None:
    """Whatever the text, every character of it prints; in lines and in JSON but for the line ends of ours."""
    assert shown(text).isprintable()
    assert shown_lines(text).replace("\n", "").isprintable()
    document = json.dumps({"text": text}, ensure_ascii=False, indent=2)
    assert shown_json(document).replace("\n", "").isprintable()
    assert json.loads(shown_json(document)) == json.loads(document)
    assert ascii_json(document).isascii()
    assert json.loads(ascii_json(document)) == json.loads(document)


def test_errors_are_harmless_wherever_they_are_printed() -> None:
    """The message itself, since others than our commands may print it; problems of a file are lines of ours."""
    assert str(UsageError("no\x1b[2J\u202e")) == r"no\x1b[2J\u202e"
    forged = UsageError("no\nforged", hint="set\nforged")
    assert (str(forged), forged.hint) == (r"no\nforged", r"set\nforged")
    many = DefinitionRefused("f", [("a\nb", "x"), ("c", "y\r")])
    assert str(many) == "'f':\n  a\\nb: x\n  c: y\\r"
