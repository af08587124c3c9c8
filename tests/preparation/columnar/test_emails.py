"""The columnar path for e-mail addresses says what the definition says, or nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from email_validator import SPECIAL_USE_DOMAIN_NAMES
from hypothesis import given, settings
from hypothesis import strategies as st

from audiencekit.identifiers.email import normalize_email
from audiencekit.identifiers.placeholders import WORDS
from audiencekit.identifiers.reasons import Reason
from audiencekit.preparation.columnar import emails
from audiencekit.preparation.columnar.checks import OPENING, SPACES
from audiencekit.preparation.columnar.decisions import UNDECIDED, VALID, code_of
from audiencekit.preparation.columnar.emails import decide_emails

LOCALS = ["a", "anna", "Anna.Muster", "a+b", "o'neil", "-", ".", "a..b", ".a", "a.", "a b", "a\tb", "a\x00b", "a\x7fb"]
LOCALS += ["test", "noemail", "no-mail", "no.e-mail_provided", "n/a", "xx", "x", "x.x", '"a"', "(a)", "a,b", "mailto:a"]
LOCALS += [
    "e" * 63,
    "e" * 64,
    "e" * 65,
    "änna",
    "a\u0301",
    "İ",
    "K",
    "名",
    "a\ufffd",
    "a\u200b",
    "",
    "`",
    "/",
    "Anna <a",
]
DOMAINS = [
    "example.com",
    "Example.ORG",
    "b",
    "b.",
    ".b",
    "b..de",
    "b.d",
    "b.d1",
    "b.1d",
    "b.11",
    "b.d-e",
    "b.-de",
    "b.de-",
]
DOMAINS += [
    "b-.de",
    "-b.de",
    "b--c.de",
    "bc--d.de",
    "a.bc--d.de",
    "xn--mnchen-3ya.de",
    "xn--zz.de",
    "b.xn--p1ai",
    "b_c.de",
]
DOMAINS += [
    "test.com",
    "test.co.uk",
    "test.a.b.c",
    "x.com",
    "xx.com",
    "x",
    "x.\v",
    "test",
    "b.test",
    "a.b.local",
    "localhost",
]
DOMAINS += [
    "b.arpa",
    "btest",
    "onion",
    ".onion",
    "b.onion.de",
    "[1.2.3.4]",
    "münchen.de",
    "b。de",
    "b.ｄｅ",
    "b c.de",
    "b.de>",
]
DOMAINS += [f"{'d' * size}.de" for size in (62, 63, 64)]
DOMAINS += [".".join(["d" * 60] * 3 + ["e" * size, "de"]) for size in (2, 3, 4, 59, 60)]
ODD = [
    "",
    "@",
    "@@",
    "a@b@c.de",
    "Anna <anna@example.com>",
    "<a@b>",
    "mailto:a@b.de",
    "mailto:a",
    "mailto:x@y<>",
    "a" * 64,
]
ODD += [
    "F" * 64,
    "a" * 300 + "@b.de",
    "no email",
    "Name <>",
    "b <c> a@d.de",
    "a@b.de\n",
    "\xa0",
    "\u200b\u2003",
    "a\n@b.de",
]
ODD += sorted(WORDS)
PARTS = [*LOCALS, *DOMAINS, "@", "@", "@", "@", "@", ".", ".", "-", "<", ">", " ", ".com", ".de", "@example.com"]


def _pairs() -> list[str]:
    return [f"{local}@{domain}" for local in LOCALS for domain in DOMAINS]


@pytest.fixture(scope="module")
def texts(assembled: Callable[..., list[str]]) -> list[str]:
    """Addresses and what people take for them."""
    return [*_pairs(), *ODD, *assembled(PARTS, 6_000)]


@pytest.fixture(scope="module")
def answers(texts: list[str]) -> list[Any]:
    """What the definition says of `texts`."""
    return [normalize_email(text) for text in texts]


def test_same_as_definition(texts: list[str], answers: list[Any], differing: Callable[..., list[int]]) -> None:
    """Whatever is decided equals the definition, text or reason."""
    assert differing(decide_emails(pa.array(texts)), answers) == []


@given(st.lists(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=6).map("".join), max_size=20))
@settings(max_examples=150, deadline=None)
def test_same_as_definition_for_any_text(differing: Callable[..., list[int]], texts: list[str]) -> None:
    """No text makes the two differ."""
    decisions = decide_emails(pa.array(texts, pa.string()))
    assert differing(decisions, [normalize_email(text) for text in texts]) == []


def test_same_as_definition_in_public_corpora(corpus_texts: list[str], differing: Callable[..., list[int]]) -> None:
    """The inputs of public test suites get the definition's answers."""
    assert differing(decide_emails(pa.array(corpus_texts)), [normalize_email(text) for text in corpus_texts]) == []


def test_every_ascii_character_at_every_place(differing: Callable[..., list[int]]) -> None:
    """One foreign ASCII character at any place of an address is judged as the definition does."""
    address = "ab.c@de-f.gh"
    texts = [address[:at] + chr(code) + address[at:] for at in range(len(address) + 1) for code in range(128)]
    assert differing(decide_emails(pa.array(texts)), [normalize_email(text) for text in texts]) == []


def test_clean_lists_are_decided() -> None:
    """Of a list of ordinary addresses nothing is left to the definition."""
    chance = random.Random(7)
    names = [f"{chance.choice('ABCdef')}nna{chance.choice(['.', '_', '-', '+', ''])}x{n}" for n in range(5_000)]
    hosts = ["example.com", "Mail.Example.org", "a-b.co.uk", "shop.museum", "3com.example.info"]
    clean = [f"{chance.choice(['', ' '])}{name}@{chance.choice(hosts)}" for name in names]
    decisions = decide_emails(pa.array(clean))
    assert (decisions.codes == VALID).mean() >= 0.995


def test_ascii_is_left_only_for_its_stated_reasons(texts: list[str]) -> None:
    """Of ASCII texts only those with `mailto:` or hyphens in third and fourth place of a label are left undecided."""
    left = decide_emails(pa.array(texts)).undecided
    plain = [texts[index] for index in left if texts[index].strip(SPACES).isascii()]
    assert plain
    assert all("--" in text or "mailto:" in text.lower() for text in plain)


def test_null_and_blank_are_empty() -> None:
    """Missing, blank and invisible cells are EMPTY."""
    decisions = decide_emails(pa.array([None, "", " \t", "\xa0\u2003", "\ufeff\u200b"]))
    assert set(decisions.reasons.to_pylist()) == {code_of(Reason.EMPTY)}
    assert decisions.normalized.null_count == 5


@pytest.mark.parametrize("count", [0, 1])
def test_short_columns(count: int) -> None:
    """Columns without values, and with nothing but null, give columns of their length."""
    decisions = decide_emails(pa.array([None] * count, pa.string()))
    assert len(decisions) == len(decisions.normalized) == count


def test_slices_of_a_column() -> None:
    """A slice is decided as the same values on their own."""
    column = pa.array(["x", None, "Anna@Example.com", "a@b", "n/a", "z"])
    assert decide_emails(column.slice(1, 4)).normalized.to_pylist() == [None, "anna@example.com", None, None]


def test_special_names_of_the_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that a host program puts on the library's list is refused; one with a dot is left to the definition."""
    monkeypatch.setattr(emails, "SPECIAL_USE_DOMAIN_NAMES", ["alt", "example.net"])
    decisions = decide_emails(pa.array(["a@b.alt", "a@b.example.net", "a@b.test"]))
    assert decisions.reasons.to_pylist() == [code_of(Reason.SPECIAL_USE_DOMAIN), UNDECIDED, VALID]


def test_no_special_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an empty list no domain is special."""
    monkeypatch.setattr(emails, "SPECIAL_USE_DOMAIN_NAMES", [])
    assert decide_emails(pa.array(["a@b.test"])).reasons.to_pylist() == [VALID]


BROKEN: list[tuple[str, str, Any]] = [
    ("any local part is plain", "_PLAIN", emails._PLAIN.replace(emails._LOCAL, "[^@]*")),
    ("space in plain local parts", "_PLAIN", emails._PLAIN.replace("_!#", "_ !#")),
    ("hyphen at a label's end", "_PLAIN", emails._PLAIN.replace(emails._PLAIN_LABEL, "[a-z0-9-]+")),
    ("one letter at the top", "_PLAIN", emails._PLAIN.replace("[a-z][a-z]+", "[a-z]+")),
    ("digit at the top", "_PLAIN", emails._PLAIN.replace("[a-z][a-z]+", "[a-z0-9]{2,}")),
    ("no dot needed", "_PLAIN", emails._PLAIN.replace(r"\.)+", r"\.)*")),
    ("any end", "_PLAIN", emails._PLAIN.removesuffix(r"\z")),
    ("longer plain addresses", "_PLAIN_BYTES", 300),
    ("no placeholders", "_PLACEHOLDER", r"\z."),
    ("placeholders at any end", "_PLACEHOLDER", emails._PLACEHOLDER.replace("{1,2}", "+")),
    ("a placeholder forgotten", "_PLACEHOLDER", emails._PLACEHOLDER.replace("xx@xx|", "")),
    ("a character of local parts forgotten", "_LOCAL", emails._LOCAL.replace("'", "")),
    ("labels with underscore", "_LABEL", "[a-z0-9_-]+"),
    ("tops of letters only", "_TOP", "[a-z]{2,}"),
    ("tops of one character", "_TOP", "[a-z0-9-]*[a-z]"),
    ("longer local parts", "MAX_LOCAL_LENGTH", 65),
    ("shorter local parts", "MAX_LOCAL_LENGTH", 63),
    ("longer labels", "MAX_LABEL_LENGTH", 64),
    ("shorter labels", "MAX_LABEL_LENGTH", 62),
    ("longer addresses", "MAX_ADDRESS_BYTES", 255),
    ("shorter addresses", "MAX_ADDRESS_BYTES", 253),
    ("brackets anywhere", "_IN_BRACKETS", "<"),
    ("no brackets", "_IN_BRACKETS", r"\z."),
    ("a special name forgotten", "SPECIAL_USE_DOMAIN_NAMES", ["arpa", "invalid", "local", "localhost", "onion"]),
    ("a special name too many", "SPECIAL_USE_DOMAIN_NAMES", [*SPECIAL_USE_DOMAIN_NAMES, "de"]),
]


@pytest.mark.parametrize(("attribute", "broken"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_broken_patterns_are_found(
    attribute: str,
    broken: Any,
    texts: list[str],
    answers: list[Any],
    differing: Callable[..., list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The comparison fails for every pattern or bound that is broken on purpose."""
    assert getattr(emails, attribute) != broken
    monkeypatch.setattr(emails, attribute, broken)
    assert differing(decide_emails(pa.array(texts)), answers)


@pytest.mark.parametrize("position", range(len(emails._checks()) - 1))
def test_every_check_is_needed(
    position: int,
    texts: list[str],
    answers: list[Any],
    differing: Callable[..., list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without any one of the checks the comparison fails, or less is decided."""
    whole = decide_emails(pa.array(texts))
    checks = emails._checks()
    monkeypatch.setattr(emails, "_checks", lambda: checks[:position] + checks[position + 1 :])
    lacking = decide_emails(pa.array(texts))
    assert differing(lacking, answers) or len(lacking.undecided) > len(whole.undecided)


@pytest.mark.parametrize("position", range(len(OPENING)))
def test_every_opening_check_is_needed(
    position: int,
    texts: list[str],
    answers: list[Any],
    differing: Callable[..., list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without any one of the checks that all rules begin with the comparison fails."""
    monkeypatch.setattr(emails, "OPENING", OPENING[:position] + OPENING[position + 1 :])
    assert differing(decide_emails(pa.array(texts)), answers)
