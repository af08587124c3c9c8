"""The kernels decide certain values of two kinds as the definition does."""

from __future__ import annotations

from audiencekit.identifiers.texts import WORDS
from tests.records.columns.certain import differing_addresses, differing_numbers, needs_kernels

pytestmark = needs_kernels


def test_words_are_those_of_the_definition() -> None:
    """Every word for a missing value is one, in capitals and with the letter of other code points, too."""
    texts = [text.replace("k", "\u212a") for word in sorted(WORDS) for text in (word, word.upper(), word.title())]
    assert differing_addresses([*texts, *WORDS]) == []
    assert differing_numbers([(text, None) for text in (*texts, *WORDS)]) == []
    assert not {
        letter for word in WORDS for letter in word if not letter.isascii() and letter.lower() != letter.upper()
    }
