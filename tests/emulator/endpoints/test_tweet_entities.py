"""Entities in the text of a tweet."""

from __future__ import annotations

from hypothesis import given, strategies as st

from audiencekit.emulator.endpoints.tweets import find_entities
from tests.cases import each_case


@each_case(
    "text, found",
    [
        ("", []),
        ("#one #two", [("hashtag", "one"), ("hashtag", "two")]),
        ("a#one b@two", []),
        ("me@shop.example", []),
        ("(@friend_1)", [("mention", "friend_1")]),
        ("#grün", [("hashtag", "grün")]),
        ("https://shop.example/#one", [("url", "https://shop.example/#one")]),
        ("# @ https://", []),
    ],
)
def test_entities_of_a_text(text: str, found: list[tuple[str, str]]) -> None:
    """Hashtags and mentions stand free; what is within an address is part of it."""
    assert [(entity.kind, entity.word) for entity in find_entities(text)] == found


@given(st.lists(st.sampled_from(["#tag", "@name", "https://shop.example", "word", "ß", "😀"])).map(" ".join))
def test_places_count_characters(text: str) -> None:
    """The characters at the indices are the word, with its sign."""
    for entity in find_entities(text):
        sign = {"hashtag": "#", "mention": "@", "url": ""}[entity.kind]
        assert text[entity.start : entity.end] == sign + entity.word
