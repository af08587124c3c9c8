"""Certain internationalised addresses agree with the definition on every letter and domain."""

from __future__ import annotations

import random
import re
import unicodedata

import pyarrow as pa
import pytest

from audiencekit.identifiers.email import normalize_email
from audiencekit.identifiers.kinds import Reason
from audiencekit.records.columns import international
from audiencekit.records.columns.arrays import UNDECIDED, VALID, code_of
from audiencekit.records.columns.checks import FEW
from audiencekit.records.columns.international import decide_international
from tests.cases import each_case
from tests.shortened import shortened


def _certain_letters() -> list[str]:
    listed = "".join(letter for first, last in international._ALPHABETS for letter in map(chr, range(first, last + 1)))
    pattern = re.compile(international._certain_form().replace(r"\z", r"\Z"))
    return [letter for letter in listed if pattern.search(f"{letter}@b.de")]


def test_certain_letters_stay_as_they_are() -> None:
    """Each letter of the alphabets that counts as certain is accepted by the definition and left alone."""
    letters = _certain_letters()
    assert {"ß", "ö", "ς", "и", "א", "ع", "の"} <= set(letters)
    assert not {"Ö", "Σ", "×", "÷", "ʼn", "\u0301", "٪"} & set(letters)
    assert [letter for letter in letters if normalize_email(f"x{letter}y@b.de") != f"x{letter}y@b.de"] == []


def test_ideographs_are_certain() -> None:
    """The ranges that are certain as a whole hold letters without case that NFC leaves alone, wherever they stand."""
    ranges = re.findall("(.)-(.)", international._IDEOGRAPHS)
    every = [chr(code) for first, last in ranges for code in range(ord(first), ord(last) + 1)]
    assert all(unicodedata.category(letter) == "Lo" for letter in every)
    assert unicodedata.is_normalized("NFC", "".join(random.Random(1).sample(every, len(every))))
    for letter in random.Random(2).sample(every, 300):
        assert normalize_email(f"{letter}@b.de") == f"{letter}@b.de"


@each_case(
    "address, expected",
    [
        ("a@bücher.de", "a@xn--bcher-kva.de"),
        ("ö@b.de", "ö@b.de"),
        ("a@ü.test", Reason.SPECIAL_USE_DOMAIN),
        ("a@ü-.de", Reason.INVALID_SYNTAX),
        ("a.@ü.de", None),
        ("a@b@ü.de", None),
        ("Ö@b.de", None),
        ("a@ü de", Reason.INVALID_SYNTAX),
        ("a" * 60 + "@ü.de", None),
        ("plain", None),
    ],
)
def test_decided(address: str, expected: str | Reason | None) -> None:
    """Addresses, reasons of their domains, and what is not certain."""
    addresses, codes = decide_international(pa.array([address]))
    if expected is None:
        assert codes.tolist() == [UNDECIDED]
    elif isinstance(expected, Reason):
        assert codes.tolist() == [code_of(expected)]
    else:
        assert (addresses.to_pylist(), codes.tolist()) == ([expected], [VALID])


@pytest.mark.parametrize("step", shortened([17, 1], 1))
@each_case("form", ["{}@b.de", "a.{}b@b.de", "a@{}.de", "a@b{}", "{}"])
def test_a_few_have_the_form_that_many_have(form: str, step: int) -> None:
    """Letter by letter and by a pattern of all of them the same is certain, for every character that there is."""
    codes = [*range(0x250), *range(0x250, 0xD800, step), *range(0xE000, 0x11000, step)]
    letters = [*map(chr, [*codes, 0x1D400, 0x20000, 0xE0020, 0x10FFFF])]
    texts = pa.array([form.format(letter) for letter in letters])
    assert len(texts) > FEW
    few = [international._has_certain_form(text) for text in texts.to_pylist()]
    assert few == international._are_certain(texts).tolist()
    assert international._are_certain(texts[:FEW]).tolist() == few[:FEW]
