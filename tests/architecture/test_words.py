"""One word a thing, and plain sentences."""

from __future__ import annotations

from tests.architecture.words import ROOT, SWEPT, files_of, places
from tests.cases import each_case


@each_case("room", SWEPT)
def test_a_swept_room_stays_so(room: str) -> None:
    """The glossary has better words."""
    paths = files_of(room)
    assert paths
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word}"
        for path in paths
        for number, word in places(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@each_case(
    "line, words",
    [
        ("# Whoever holds it waits.", ["Whoever"]),
        ('raise UsageError("nobody is left")', ["nobody"]),
        ('    """What came of it."""', ["What"]),
        ('    """The result."""', []),
        ("# What is left stays.", ["What"]),
        ("    /// Who comes first.", ["Who"]),
        ("## What it costs", []),
        ("def test_what_is_left_stays() -> None:", ["test_what_is_left_stays"]),
        ("    fn who_comes_first() {", ["who_comes_first"]),
        ("refusals += nobody_left(selection)", ["nobody"]),
        ('    """An option that cannot be."""', ["that cannot be"]),
        ("files that cannot be read", []),
        ("a loss of ten at the least; entries lapse", ["at the least", "lapse"]),
        ("counts = found.lapsed", []),
    ],
)
def test_words_are_found(line: str, words: list[str]) -> None:
    """In comments, messages, docstrings and names."""
    assert [word for _, word in places(line)] == words
