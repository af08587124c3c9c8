"""Internationalised domains: the answers of the definition, most of them without asking it."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import islice

import idna
import pytest
from email_validator import SPECIAL_USE_DOMAIN_NAMES
from hypothesis import given, strategies as st
from idna.idnadata import codepoint_classes

from audiencekit.identifiers.email import ascii_domain, lower
from audiencekit.identifiers.kinds import Reason
from audiencekit.records.columns import domains
from audiencekit.records.columns.domains import (
    CERTAIN,
    CODE_POINTS,
    REFUSED,
    CertainLetters,
    accepted,
    domain_in_ascii,
    mapped,
)
from tests.cases import each_case
from tests.shortened import shortened

LETTERS = st.one_of(
    st.sampled_from("abz019"),
    st.sampled_from("äßçøłıœſʼǆǅаяёΣςσώのア漢字가ﬁªº"),
    st.sampled_from("אبي٣०\u0300\u0301\u093f\u30fb\u00b7\u0375\u05f3\u200c\u200d\u1100\u1161\u11a8"),
    st.characters(categories=("Ll", "Lo", "Lu", "Nd", "Mn", "Lm")),
)
LABELS = st.lists(st.one_of(st.text(LETTERS, min_size=1, max_size=6), st.just("-"))).map("".join)
TOPS = st.one_of(st.sampled_from(["com", "c", "example", "test", "xn--p1ai", "рф"]), LABELS)
DOMAINS = st.builds(lambda labels, top: ".".join([*labels, top]), st.lists(LABELS, min_size=1, max_size=3), TOPS)


def test_labels_stand_for_no_letter_that_is_called_unencoded() -> None:
    """By the tables of the library that the definition asks. It refuses what this Python knows no character for."""
    letters = CertainLetters()
    letters.survey("\xe9\U00010000\U00020000\U00030000")
    ranges = (codepoint_classes[name] for name in ("PVALID", "CONTEXTJ", "CONTEXTO"))
    valid = {chr(code) for one in ranges for both in one for code in range(max(0x80, both >> 32), both & 0xFFFFFFFF)}
    unencoded = set(filter(letters.is_unencoded, valid | set(map(chr, range(0x80, CODE_POINTS)))))
    assert {letter for letter in valid & unencoded if unicodedata.category(letter)[0] not in "CZ"} == set()
    assert len(set(map(chr, range(0x80, CODE_POINTS))) - unencoded - valid) < 1_000


_CODES = [chr(code) for code in range(0x80, CODE_POINTS) if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")]


@cache
def _remapped(letter: str) -> str | None:
    """By the tables of UTS 46 in the library that the definition asks; None where no domain has it."""
    try:
        return idna.uts46_remap(letter, std3_rules=False)
    except idna.IDNAError:
        return None


def test_letters_that_domains_have_others_for() -> None:
    """Most of those that UTS 46 maps, to what it maps them to; and of no other letter anything."""
    compatible = [letter for letter in _CODES if unicodedata.normalize("NFKC", letter) != letter]
    written = [letter for letter in (*compatible, "\u3002") if lower(letter) == letter]
    in_others = {letter: found for letter in written if (found := _remapped(letter)) not in (None, "", letter)}
    found = {letter: mapped(letter) for letter in written}
    assert {letter: parts for letter, parts in found.items() if parts and parts != in_others[letter]} == {}
    left = [letter for letter, parts in found.items() if not parts and letter in in_others]
    are_taken = {letter for letter in left if ascii_domain(f"q{letter}q.com") is not Reason.INVALID_SYNTAX}
    assert are_taken == {"\u0f77", "\u0f79"}  # marks of two parts
    assert sum(map(bool, found.values())) > 2_500


def test_no_domain_has_what_is_refused() -> None:
    """Whatever stands beside it: UTS 46 makes of it nothing that IDNA 2008 allows, and NFKC dots at its end only."""
    ranges = (codepoint_classes[name] for name in ("PVALID", "CONTEXTJ", "CONTEXTO"))
    valid = {chr(code) for one in ranges for both in one for code in range(both >> 32, both & 0xFFFFFFFF)} | {"."}
    letters = CertainLetters()
    compatible = [letter for letter in _CODES if unicodedata.normalize("NFKC", letter) != letter]
    refused = [letter for letter in compatible if letters.class_of(letter) == REFUSED]
    assert {"\u2026", "\xb4", "\u2011"} <= set(refused)
    for letter in refused:
        made = _remapped(letter)
        assert made is None or not set(made) <= valid or ".." in made
        assert "." not in unicodedata.normalize("NFKC", letter).rstrip(".")
        assert lower(f"q{letter}q") == f"q{letter}q"


@given(DOMAINS)
def test_same_as_the_definition(domain: str) -> None:
    """Letters of every script, marks, joiners, hyphens and tops of every kind."""
    assert domain_in_ascii(domain) == ascii_domain(lower(domain))


@each_case(
    "domain, in_ascii",
    [
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.Example", "xn--bcher-kva.example"),
        ("münchen.café.com", "xn--mnchen-3ya.xn--caf-dma.com"),
        ("straße.com", "xn--strae-oqa.com"),
        ("пример.com", "xn--e1afmkfd.com"),
        ("例え.com", "xn--r8jz45g.com"),
    ],
)
def test_letters_that_are_certain_are_not_asked_for_again(
    domain: str, in_ascii: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The definition hears of each letter once, and of no such domain."""
    domain_in_ascii.cache_clear()
    assert domain_in_ascii(domain) == in_ascii
    domain_in_ascii.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(domains, "ascii_domain", lambda _: pytest.fail("the definition was asked"))
        assert domain_in_ascii(domain) == in_ascii


@each_case(
    "domain",
    [
        *(f"bücher.{name}" for name in SPECIAL_USE_DOMAIN_NAMES if "." not in name),
        "bü--cher.com",
        "-bücher.com",
        "bücher-.com",
        "bücher.c",
        "bücher.рф",
        "אב.com",
        "l·l.com",
        "ü" * 60 + ".com",
        ".".join(["ü" * 20] * 12) + ".com",
        "bücher..com",
        "xn--bcher-kva.com",
    ],
)
def test_everything_else_is(domain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever hangs on more than single letters is for the definition to judge."""
    asked: list[str] = []

    def ask(domain: str) -> str:
        asked.append(domain)
        return "asked.example"

    domain_in_ascii(domain.replace("-", ""))  # its letters are known from here on
    domain_in_ascii.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(domains, "ascii_domain", ask)
        assert domain_in_ascii(domain) == "asked.example"
    domain_in_ascii.cache_clear()
    assert asked == [domain]


@pytest.mark.parametrize("step", shortened([13, 1], 1))
@each_case("letters", domains.IDEOGRAPHS)
def test_letters_that_are_not_asked_for_are_certain(letters: str, step: int) -> None:
    """The definition takes every one of them as it stands, twelve in a label."""
    codes = range(ord(letters[0]), ord(letters[1]) + 1)
    for begin in range(codes.start, codes.stop, 12 * step):
        label = "".join(map(chr, range(begin, min(begin + 12, codes.stop))))
        assert ascii_domain(f"{label}.com") == f"xn--{label.encode('punycode').decode()}.com"


def test_many_letters_at_once_are_judged_as_one() -> None:
    """Letters of both directions, marks, digits, capitals and signs."""
    letters = random.Random(7).sample([chr(code) for code in range(0xA0, 0x3400)], 600)
    bulk, singly = CertainLetters(), CertainLetters()
    bulk.learn(letters)
    classes = {letter: singly.class_of(letter) for letter in letters}
    assert {letter: bulk.class_of(letter) for letter in letters} == classes
    assert 100 < sum(found & CERTAIN for found in classes.values()) < 500


@pytest.mark.parametrize("step", shortened([6, 1], 1))
@each_case("direction", ["AL", "R", "L", "ON"])
def test_signs_that_are_refused_stand_in_no_label(direction: str, step: int) -> None:
    """Neither between letters from the left nor between some from the right; some signs are letters to IDNA."""
    letters = CertainLetters()
    signs = [sign for sign in map(chr, range(0xA0, 0x3400)) if unicodedata.bidirectional(sign) == direction]
    refused = list(islice((sign for sign in signs if letters.class_of(sign) == REFUSED), 0, 60, step))
    assert refused or direction == "R"
    labels = [f"{side}{sign}{side}" for sign in refused for side in ("q", "\u05d0", "\u0628", "\u30a2")]
    assert {ascii_domain(f"{label}.com") for label in labels} <= {Reason.INVALID_SYNTAX}


@given(st.sets(st.characters()), st.sets(st.characters()), st.integers(1, 9))
def test_those_that_are_taken(good: set[str], bad: set[str], at_once: int) -> None:
    """Wherever the refused ones stand among them."""
    letters = sorted(good | bad)
    assert list(accepted(letters, lambda some: bad.isdisjoint(some), at_once=at_once)) == sorted(good - bad)


@each_case("bad, questions", [("", 4), ("a", 4 + 2 * 4)])
def test_few_are_asked(bad: str, questions: int) -> None:
    """One question for many letters, and two for each halving around one that is refused."""
    asked = 0

    def takes(letters: Sequence[str]) -> bool:
        nonlocal asked
        asked += 1
        return bad not in letters if bad else True

    found = list(accepted([chr(code) for code in range(ord("a"), ord("a") + 64)], takes, at_once=16))
    assert (len(found), asked) == (64 - len(bad), questions)
