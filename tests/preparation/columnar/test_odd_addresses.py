"""Addresses one by one: the definition's answer, or none."""

from __future__ import annotations

import random

import pytest

from audiencekit.identifiers.email import normalize_email
from audiencekit.identifiers.kinds import Reason
from audiencekit.preparation.columnar import odd_addresses
from audiencekit.preparation.columnar.odd_addresses import decide_one, is_certain_letter, judge_letters
from benchmarks.values.emails import draw_address
from benchmarks.values.fragments import draw_cell
from benchmarks.values.spellings import EMAIL_SPELLINGS

NAMES = ["anna", "jörg.99", "JÖRG", "花子", "Иван.8", "a\u0308", "noemail", "fake", "a..b", "o'neil", ""]
HOSTS = [
    "münchen.de",
    "ü.test",
    "почта.example",
    "例え28.EXAMPLE",
    "mün_chen.de",
    "fake.ü.de",
    "x.de\u200b",
    "b@ü.de",
    "ＡＢＣ.de",
]


@pytest.mark.parametrize("host", HOSTS, ids=ascii)
def test_one_by_one_as_the_definition(host: str) -> None:
    """A certain text has the definition's answer; the rest is left."""
    texts = [f"{around}{name}@{host}{around}" for name in NAMES for around in ("", " ", "\xa0")]
    found = {text: decide_one(text) for text in texts if not text.isascii()}
    assert {text: answer for text, answer in found.items() if answer not in (None, normalize_email(text))} == {}


def test_one_by_one_most_is_certain() -> None:
    """Addresses at internationalised domains, and certain letters, whatever their case."""
    assert decide_one(" Anna@MÜNCHEN.de\n") == "anna@xn--mnchen-3ya.de"
    assert decide_one("jörg@larchpost.example") == "jörg@larchpost.example"
    assert decide_one("anna@ü.test") is Reason.SPECIAL_USE_DOMAIN
    assert decide_one("JÖRG@larchpost.example") == "jörg@larchpost.example"
    assert decide_one("a\u0308\u0323@larchpost.example") == "\u1ea1\u0308@larchpost.example"


def _drawn(count: int) -> list[str]:
    """Addresses in letters of every script, fragments on either side of an at sign, and usual ones."""
    chance = random.Random(5)
    spell = EMAIL_SPELLINGS["letters of any script"]
    made = (
        lambda: spell(chance),
        lambda: f"{draw_cell(chance, (1, 1, 2))}@larchpost.example",
        lambda: f"anna.{draw_cell(chance, (1, 1, 2))}@{draw_cell(chance, (1, 2))}.example",
        lambda: draw_address(chance),
    )
    return [made[place % len(made)]() for place in range(count)]


def test_drawn_ones_as_the_definition() -> None:
    """No answer is another one than the definition's, and most of the first have one."""
    texts = _drawn(4_000)
    found = {text: decide_one(text) for text in texts}
    assert {ascii(text) for text, answer in found.items() if answer not in (None, normalize_email(text))} == set()
    assert sum(found[text] is not None for text in texts[::4]) > 900


def test_a_wrong_letter_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison fails when every letter is taken for a certain one."""
    monkeypatch.setattr(odd_addresses, "is_certain_letter", lambda letter: True)
    assert any(decide_one(text) not in (None, normalize_email(text)) for text in _drawn(400))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\u0323a@larchpost.example", Reason.INVALID_SYNTAX),
        ("\u212b\u11ab@larchpost.example", "\u00e5\u11ab@larchpost.example"),
        ("\u00e9" * 65 + "@larchpost.example", Reason.TOO_LONG),
        (f"\u00e9@{'b' * 250}.example", Reason.TOO_LONG),
        ("Anna <\u00e9@larchpost.example>", None),
        ("mailto:\u00e9@larchpost.example", None),
        ("'\u00e9@larchpost.example", None),
        ("=\u0338\u00e9@larchpost.example", None),
        ("\u00e9\u200bb@larchpost.example", None),
        ("\ufffd@larchpost.example", None),
        ("\uf0e0anna@larchpost.example", Reason.INVALID_SYNTAX),
        ("anna\uffff@\u00fc.test", Reason.INVALID_SYNTAX),
        ("anna@docomo.ne.jp\u200b", None),
    ],
)
def test_cases(text: str, expected: str | Reason | None) -> None:
    """Reasons in the definition's order; what comes off or has another reason is left."""
    assert decide_one(text) == expected


def test_many_letters_at_once_are_judged_as_one() -> None:
    """Letters, marks, capitals, spaces and controls: alone in three places of an address, and beside others."""
    drawn = random.Random(6).sample(range(0xA0, 0x3400), 1_000)
    letters = [*map(chr, drawn), "\ufffd", "\U0001f600"]
    judge_letters(letters)
    forms = ("q{}q@larchpost.example", "q{}@larchpost.example", "q.{}q@larchpost.example")
    shown = {letter: [form.format(letter) for form in forms] for letter in letters}
    alone = {letter: [*map(normalize_email, addresses)] == addresses for letter, addresses in shown.items()}
    assert {letter: is_certain_letter(letter) for letter in letters} == alone
    assert {True, False} == set(alone.values())
