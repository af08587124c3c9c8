"""Letters are judged once, as the definition takes them wherever they stand."""

from __future__ import annotations

import sys
import unicodedata

import numpy as np
import pyarrow as pa
import pytest

from audiencekit.identifiers.email import normalize_email
from audiencekit.records.columns.domains import DOMAIN_LETTERS
from audiencekit.records.columns.letters import (
    CLASSES,
    CODE_POINTS,
    COMPOSED,
    COMPOSED_MARK,
    JOINING,
    JOINING_MARK,
    LETTER,
    MARK,
    KnownLetters,
    _kind_of_certain,
    composing,
    folding_table,
)
from tests.cases import each_case


def _known(*texts: str) -> KnownLetters:
    known = KnownLetters()
    known.learn(pa.array(texts, pa.string()))
    return known


@each_case(
    "letter, kind",
    [
        ("ა", LETTER),
        ("😀", LETTER),
        ("ก", LETTER),
        ("가", LETTER),
        ("\U00020bb7", LETTER),
        ("ö", COMPOSED),
        ("ế", COMPOSED),
        ("\u0e31", MARK),
        ("\u0ddd", COMPOSED_MARK),
        ("\u1161", JOINING),
        ("\u09be", JOINING_MARK),
        ("\u0e48", CLASSES + 107),  # its canonical combining class
        ("\u0301", CLASSES + 230),
        ("\u0338", CLASSES + 1),
        ("Ö", 0),
        ("\u0958", 0),
        ("\ufffd", 0),
        ("\u200b", 0),
        ("\u00a0", 0),
        ("Σ", 0),
    ],
)
def test_letters_have_their_kind(letter: str, kind: int) -> None:
    """By what lower case, NFC and the definition make of them."""
    known = _known(f"a{letter}a@larchpost.example")
    assert known.letters().local[ord(letter)] == kind


def test_letters_that_are_known_at_once_have_their_kind() -> None:
    """The same as when they are judged."""
    before = KnownLetters().letters().local
    known = np.flatnonzero(before[:0x4E00]).tolist()
    assert len(known) > 600
    assert before[known].tolist() == [_kind_of_certain(chr(code)) for code in known]


def test_letters_are_given_as_they_are_known() -> None:
    """A kernel that runs sees nothing of what is learned meanwhile: no mark without all the letters that it makes."""
    known = _known("e\u0301@larchpost.example")
    before = known.letters()
    assert known.letters() is before
    known.learn(pa.array(["e\u0323ო@larchpost.example"]))
    assert (before.local[0x323], before.local[ord("ო")]) == (0, 0)
    assert (known.letters().local[0x323], known.letters().local[ord("ო")]) == (CLASSES + 220, LETTER)


def test_lower_case_leaves_letters_and_their_parts_equivalent() -> None:
    """So each character of a text is put into lower case by itself, whatever NFC joins; marks have no case."""
    letters = [*map(chr, range(0x80, 0xD800)), *map(chr, range(0xE000, CODE_POINTS))]
    parts = {letter: unicodedata.normalize("NFD", letter) for letter in letters}
    differing = [
        letter
        for letter, of_it in parts.items()
        if of_it != letter and not _are_equivalent(letter.lower(), "".join(part.lower() for part in of_it))
    ]
    assert differing == []
    assert [letter for letter in letters if unicodedata.combining(letter) and letter.lower() != letter] == []


def _are_equivalent(one: str, other: str) -> bool:
    return unicodedata.normalize("NFD", one) == unicodedata.normalize("NFD", other)


def test_letters_are_judged_once() -> None:
    """The second text with a letter teaches nothing, nor does one of ASCII or a null."""
    known = KnownLetters()
    texts = pa.array(["გ@larchpost.example", None], pa.string())
    assert known.learn(texts)
    assert not known.learn(texts)
    assert not known.learn(pa.array(["anna@larchpost.example", ""]))


def test_letters_for_which_no_label_stands_are_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each mistyped label would have others."""
    judged: list[str] = []
    judge = KnownLetters._judge
    DOMAIN_LETTERS.class_of("\u2665")  # which a list had outside a label of xn-- before
    monkeypatch.setattr(KnownLetters, "_judge", lambda known, letter: (judged.append(letter), judge(known, letter)))
    known = _known(
        *(f"ada@xn--{label.encode('punycode').decode()}.example" for label in ("b\u2665", "b\u0378", "\u10d0"))
    )
    assert judged == ["\u10d0"]
    assert not known.learn(pa.array([f"ada@xn--{'b♞'.encode('punycode').decode()}.example"]))


def _folds(known: KnownLetters) -> dict[tuple[str, str], str]:
    mask = (1 << 21) - 1
    folds = filter(None, known.letters().folds.tolist())
    return {(chr(fold >> 42), chr(fold >> 21 & mask)): chr(fold & mask) for fold in folds}


def test_capitals_and_marks_fold_into_small_letters() -> None:
    """Each fold is what the definition makes of the two, in either case; several are in their order."""
    folds = _folds(_known("ÄÉŁİ\u0958@larchpost.example", "e\u0301o\u0308i\u0307@larchpost.example"))
    assert folds["Ä", "\0"] == "ä"
    assert folds["e", "\u0301"] == "é"
    assert (folds["İ", "\1"], folds["İ", "\2"]) == ("i", "\u0307")
    assert (folds["\u0958", "\1"], folds["\u0958", "\2"]) == ("\u0915", "\u093c")
    assert ("i", "\u0307") not in folds
    assert folds["\0", "\u0301"] == "\u0301"
    pairs = {pair: one for pair, one in folds.items() if pair[0] != "\0" and pair[1] not in "\1\2\3"}
    assert len(pairs) > 100
    for (first, second), folded in pairs.items():
        text = first + second.replace("\0", "")
        assert normalize_email(f"x{text}@example.com") == f"x{folded}@example.com"
        assert normalize_email(f"x{text}X@example.com") == f"x{folded}x@example.com"


def test_tables_have_every_fold_on_the_way_that_a_kernel_takes() -> None:
    """From the place that a product leads to, on to the first one that is free."""
    folds = {(chr(0x61 + place % 26), chr(0x300 + place)): chr(0xC0 + place) for place in range(500)}
    table = folding_table(folds)
    for (first, second), one in folds.items():
        key = ord(first) << 21 | ord(second)
        place = (key * 0x9E3779B97F4A7C15 % 2**64 >> 40) % len(table)
        way = [int(table[(place + step) % len(table)]) for step in range(len(table))]
        assert key << 21 | ord(one) in way[: way.index(0)]


def test_every_character_that_joins_another_is_known() -> None:
    """Every letter that NFC changes behind another letter is among those that compose."""
    letters = [chr(code) for code in range(0x300, 0x3100) if unicodedata.is_normalized("NFC", chr(code))]
    joining = {two for two in letters for one in "aeiouwyAEIOUΑαΙιИиのか" if _joins(one, two)}
    assert joining <= composing().keys()
    assert max(map(ord, composing())) < CODE_POINTS


@pytest.mark.slow
def test_every_letter_of_two_parts_is_looked_at() -> None:
    """Of all that Python knows the parts of, in any plane."""
    parts = {chr(code): unicodedata.decomposition(chr(code)) for code in range(sys.maxunicode + 1)}
    of_two = {letter for letter, both in parts.items() if both and "<" not in both and " " in both}
    looked_at = {composed for pairs in composing().values() for _, composed in pairs}
    assert {letter for letter in of_two if not "\uac00" <= letter <= "\ud7a3"} == looked_at


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


def test_letters_of_two_codes_fold() -> None:
    """Chinese characters for compatibility are others in NFC, some of them in another plane."""
    letters = [chr(code) for code in (*range(0xF900, 0xFAFF), 0x2126, 0x212B, 0x1D15E)]
    folds = _folds(_known(*(f"a{letter}@larchpost.example" for letter in letters)))
    folded = {first: one for (first, second), one in folds.items() if second == "\0"}
    assert folded["\uf900"] == "\u8c48"
    assert folded["\u2126"] == "\u03c9"
    assert folded["\ufad5"] == "\U00025249"
    assert all(
        normalize_email(f"a{one}@larchpost.example") == f"a{two}@larchpost.example" for one, two in folded.items()
    )
