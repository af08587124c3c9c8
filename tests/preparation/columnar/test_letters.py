"""Letters are judged once, as the definition takes them wherever they stand."""

from __future__ import annotations

import unicodedata

import pyarrow as pa
import pytest

from audiencekit.identifiers.email import normalize_email
from audiencekit.preparation.columnar.letters import CERTAIN_LETTER, CERTAIN_MARK, CODE_POINTS, KnownLetters, composing


def _known(*texts: str) -> KnownLetters:
    known = KnownLetters()
    known.learn(pa.array(texts, pa.string()))
    return known


@pytest.mark.parametrize(
    ("letter", "kind"),
    [
        ("ა", CERTAIN_LETTER),
        ("😀", CERTAIN_LETTER),
        ("ก", CERTAIN_LETTER),
        ("\u0e31", CERTAIN_MARK),
        ("\u0e48", 107),  # its canonical combining class
        ("\u0301", 0),  # joins the letter before it
        ("\u1161", 0),
        ("\ufffd", 0),
        ("\u200b", 0),
        ("\u00a0", 0),
        ("Σ", 0),
    ],
)
def test_letters_have_their_kind(letter: str, kind: int) -> None:
    """By what lower case, NFC and the definition make of them."""
    known = _known(f"a{letter}a@larchpost.example")
    assert known.kinds[ord(letter)] == kind


def test_letters_are_judged_once() -> None:
    """The second text with a letter teaches nothing, nor does one of ASCII or a null."""
    known = KnownLetters()
    texts = pa.array(["გ@larchpost.example", None], pa.string())
    assert known.learn(texts)
    assert not known.learn(texts)
    assert not known.learn(pa.array(["anna@larchpost.example", ""]))


def test_capitals_and_marks_fold_into_small_letters() -> None:
    """Each fold is what the definition makes of the two, in either case."""
    known = _known("ÄÉŁİ@larchpost.example", "e\u0301o\u0308i\u0307@larchpost.example")
    mask = (1 << 21) - 1
    folds = {(chr(fold >> 42), chr(fold >> 21 & mask)): chr(fold & mask) for fold in known.folds.tolist()}
    assert folds["Ä", "\0"] == "ä"
    assert folds["e", "\u0301"] == "é"
    assert folds["i", "\u0307"] == "İ"
    for (first, second), folded in folds.items():
        text = first + second.replace("\0", "")
        expected = "i\u0307" if folded == "İ" else folded
        assert normalize_email(f"x{text}@example.com") == f"x{expected}@example.com"
        assert normalize_email(f"x{text}X@example.com") == f"x{expected}x@example.com"


def test_a_mark_that_stands_for_two_is_no_letter() -> None:
    """It may be composed of others, and is not in front of a local part all the same."""
    known = _known("a\u0dd9\u0dcab@larchpost.example")
    assert known.kinds[0x0DDA] == CERTAIN_MARK


def test_every_character_that_joins_another_is_known() -> None:
    """Every letter that NFC changes behind another letter is among those that compose."""
    letters = [chr(code) for code in range(0x300, 0x3100) if unicodedata.is_normalized("NFC", chr(code))]
    joining = {two for two in letters for one in "aeiouwyAEIOUΑαΙιИиのか" if _joins(one, two)}
    assert joining <= composing().keys()
    assert max(map(ord, composing())) < CODE_POINTS


def test_syllables_of_hangul_are_joined_by_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python tells their two or three parts from 3.14 on; no table of parts is made of them before or after."""
    parts, before = unicodedata.decomposition, composing()

    def as_later(letter: str) -> str:
        whole = unicodedata.normalize("NFD", letter)
        is_syllable = 0xAC00 <= ord(letter) <= 0xD7A3
        return " ".join(f"{ord(part):04X}" for part in whole) if is_syllable else parts(letter)

    monkeypatch.setattr(unicodedata, "decomposition", as_later)
    assert len(as_later("\uac01").split()) == 3
    assert composing.__wrapped__() == before


def _joins(one: str, two: str) -> bool:
    return len(unicodedata.normalize("NFC", one + two)) == 1


def test_letters_of_two_codes_fold_where_both_are_known() -> None:
    """Chinese characters for compatibility are others in NFC, some of them beyond the planes that are looked at."""
    letters = [chr(code) for code in (*range(0xF900, 0xFAFF), 0x2126, 0x212B, 0x1D15E)]
    known = _known(*(f"a{letter}@larchpost.example" for letter in letters))
    folded = {
        chr(fold >> 42): chr(fold & (1 << 21) - 1) for fold in known.folds.tolist() if not fold >> 21 & (1 << 21) - 1
    }
    assert folded["\uf900"] == "\u8c48"
    assert folded["\u2126"] == "\u03c9"
    assert "\ufad5" not in folded  # U+25249
    assert all(
        normalize_email(f"a{one}@larchpost.example") == f"a{two}@larchpost.example" for one, two in folded.items()
    )
