"""The columnar path for e-mail addresses says what the definition says, or nothing."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from email_validator import SPECIAL_USE_DOMAIN_NAMES
from hypothesis import given, settings, strategies as st

from audiencekit.identifiers.email import CARRIERS, DRESSED, normalize_email
from audiencekit.identifiers.kinds import Reason
from audiencekit.records.columns import domains, international, odd_addresses, plain_emails as emails
from audiencekit.records.columns.arrays import UNDECIDED, VALID, code_of
from audiencekit.records.columns.checks import ENCODED, OPENING, SPACES
from audiencekit.records.columns.odd_addresses import decide_one, is_certain_letter, judge_letters
from audiencekit.records.columns.plain_emails import decide_emails
from benchmarks.values.emails import DOMAINS, LOCALS, ODD, PARTS, draw_address
from benchmarks.values.fragments import draw_cell
from benchmarks.values.spellings import EMAIL_SPELLINGS
from tests.cases import each_case
from tests.examples import examples
from tests.shortened import shortened


def _pairs() -> list[str]:
    return [f"{local}@{domain}" for local in LOCALS for domain in DOMAINS]


@pytest.fixture(scope="module")
def texts(assembled: Callable[..., list[str]]) -> list[str]:
    """Addresses and what people take for them."""
    return [*_pairs(), *ODD, *assembled(PARTS, 6_000)]


@pytest.fixture(scope="module")
def answers(texts: list[str]) -> list[Any]:
    """Return the answers of the definition for `texts`."""
    return [normalize_email(text) for text in texts]


def test_same_as_definition(texts: list[str], answers: list[Any], differing: Callable[..., list[int]]) -> None:
    """Whatever is decided equals the definition, text or reason."""
    assert differing(decide_emails(pa.array(texts)), answers) == []


@given(st.lists(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=6).map("".join), max_size=20))
@settings(max_examples=examples(150), deadline=None)
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
    """Of ASCII texts only these are left: what is written within others, what may be a hash, long or doubtful addresses
    with `xn--`, a spreadsheet's and a list's marks, and those of carriers that take any dots."""
    left = decide_emails(pa.array(texts)).undecided
    plain = [texts[index].lower() for index in left if texts[index].strip(SPACES).isascii()]
    assert plain
    expected = ("--", *CARRIERS)
    assert [
        text
        for text in plain
        if not any(part in text for part in expected)
        and not text.strip(SPACES).startswith(("'", "=", '"'))
        and not text.strip(SPACES).endswith((",", ";"))
        and not re.search(f"{DRESSED}|{ENCODED.pattern[2:-2]}", text.strip(SPACES))
    ] == []


def test_null_and_blank_are_empty() -> None:
    """Missing, blank and invisible cells are EMPTY."""
    decisions = decide_emails(pa.array([None, "", " \t", "\xa0\u2003", "\ufeff\u200b"]))
    assert set(decisions.reasons.to_pylist()) == {code_of(Reason.EMPTY)}
    assert decisions.normalized.null_count == 5


@each_case("count", [0, 1])
def test_short_columns(count: int) -> None:
    """Columns without values, and with nothing but null, give columns of their length."""
    decisions = decide_emails(pa.array([None] * count, pa.string()))
    assert len(decisions) == len(decisions.normalized) == count


def test_slices_of_a_column() -> None:
    """A slice is decided as the same values on their own."""
    column = pa.array(["x", None, "Anna@Example.com", "a@b", "n/a", "z"])
    assert decide_emails(column.slice(1, 4)).normalized.to_pylist() == [None, "anna@example.com", None, None]


def test_special_names_of_the_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that a host program puts on the library's list is refused; one with a dot is asked of the definition."""
    monkeypatch.setattr(emails, "SPECIAL_USE_DOMAIN_NAMES", ["alt", "example.net"])
    decisions = decide_emails(pa.array(["a@b.alt", "a@b.example.net", "a@b.test"]))
    assert decisions.reasons.to_pylist() == [code_of(Reason.SPECIAL_USE_DOMAIN), VALID, VALID]


def test_no_special_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an empty list no domain is special."""
    monkeypatch.setattr(emails, "SPECIAL_USE_DOMAIN_NAMES", [])
    assert decide_emails(pa.array(["a@b.test"])).reasons.to_pylist() == [VALID]


@each_case(
    "text, expected",
    [
        ("Anna@München.de", "anna@xn--mnchen-3ya.de"),
        ("anna@xn--mnchen-3ya.de", "anna@xn--mnchen-3ya.de"),
        ("jörg.99@example.com", "jörg.99@example.com"),
        ("花子@почта.example", "花子@xn--80a1acny.example"),
        ("anna@mün_chen.de", Reason.INVALID_SYNTAX),
        ("anna@mün chen.de", Reason.INVALID_SYNTAX),
        ("anna@mün.de\u200b.com", Reason.INVISIBLE_CHARACTER),
        ("\ufeffanna@example.com\u3000", "anna@example.com"),
        (f"{'ä' * 3_000}@example.com", Reason.TOO_LONG),
        ("anna@ü.test", Reason.SPECIAL_USE_DOMAIN),
    ],
)
def test_decided_beyond_plain_addresses(text: str, expected: str | Reason) -> None:
    """Internationalised domains, and certain letters in local parts are decided here."""
    decisions = decide_emails(pa.array([text]))
    assert normalize_email(text) == expected
    code = code_of(expected) if isinstance(expected, Reason) else VALID
    assert decisions.reasons.to_pylist() == [code]
    assert decisions.normalized.to_pylist() == [None if isinstance(expected, Reason) else expected]


@each_case("text", ["JÖRG@example.com", "a\u0308@example.com", "fake@ü.de", "b@b.de-ñu+x"])
def test_left_to_the_definition(text: str) -> None:
    """Capitals that are not ASCII, combining marks, hidden characters, white space, what may be a placeholder."""
    assert decide_emails(pa.array([text])).codes.tolist() == [UNDECIDED]


def test_a_domain_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many addresses of a batch share an internationalised domain, it is judged once."""
    asked: list[str] = []
    monkeypatch.setattr(international, "domain_in_ascii", lambda domain: asked.append(domain) or "asked.example")
    decisions = decide_emails(pa.array([f"a{number}@bücher.example" for number in range(300)] * 2))
    assert asked == ["bücher.example"]
    assert decisions.normalized[7].as_py() == "a7@asked.example"


BROKEN: list[tuple[str, str, Any]] = [
    ("any local part is plain", "_PLAIN", emails._PLAIN.replace(emails._PLAIN_LOCAL, "[^@]*")),
    ("an asterisk in plain local parts", "_PLAIN", emails._PLAIN.replace("_!#", "_*!#")),
    ("no address is masked whole", "_CROSSES", np.zeros_like(emails._CROSSES)),
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
    ("a hyphen at the top", "_TOP", "[a-z][a-z-]*[a-z]"),
    ("a digit at the top", "_TOP", "[a-z0-9]*[a-z]{2}"),
    ("tops of one letter", "_TOP", "[a-z]+"),
    ("longer local parts", "MAX_LOCAL_LENGTH", 65),
    ("shorter local parts", "MAX_LOCAL_LENGTH", 63),
    ("longer labels", "MAX_LABEL_LENGTH", 64),
    ("shorter labels", "MAX_LABEL_LENGTH", 62),
    ("longer addresses", "MAX_ADDRESS_BYTES", 255),
    ("shorter addresses", "MAX_ADDRESS_BYTES", 253),
    ("a beginning of placeholders forgotten", "_OPENINGS", emails._marked(["tes", "noe", "no-", "n/a", "not"], 3)),
    ("an end of special names forgotten", "_endings", lambda names: emails._marked(["st"], 2)),
    ("brackets anywhere", "_IN_BRACKETS", "<"),
    ("no brackets", "_IN_BRACKETS", r"\z."),
    ("a special name forgotten", "SPECIAL_USE_DOMAIN_NAMES", ["arpa", "invalid", "local", "localhost", "onion"]),
    ("a special name too many", "SPECIAL_USE_DOMAIN_NAMES", [*SPECIAL_USE_DOMAIN_NAMES, "de"]),
]


@pytest.mark.slow
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
    assert getattr(emails, attribute) is not broken
    monkeypatch.setattr(emails, attribute, broken)
    assert differing(decide_emails(pa.array(texts)), answers)


BROKEN_INTERNATIONAL: list[tuple[str, ModuleType, str, Any]] = [
    ("every letter is certain", international, "_is_certain", lambda letter: True),
    ("longer addresses", international, "MAX_ADDRESS_BYTES", 500),
    ("domains as they are", domains, "ascii_domain", lambda domain: domain),
    ("domains in their own case", domains, "lower", str),
    (
        "every letter of a domain is certain",
        domains,
        "DOMAIN_LETTERS",
        SimpleNamespace(class_of=lambda letter: domains.CERTAIN | domains.LEFT),
    ),
    ("no mask beside such a domain", emails, "_MAY_BE_MASKED", emails._OF_LIST),
    ("any label", domains, "_PLAIN", re.compile(r"(?:[^.]+\.)+(?P<top>[a-z]{2,})")),
    ("tops are never special", domains, "SPECIAL_USE_DOMAIN_NAMES", ()),
]


@pytest.mark.parametrize(
    ("module", "attribute", "broken"),
    [case[1:] for case in BROKEN_INTERNATIONAL],
    ids=[case[0] for case in BROKEN_INTERNATIONAL],
)
def test_broken_international_rules_are_found(
    module: ModuleType,
    attribute: str,
    broken: Any,
    texts: list[str],
    answers: list[Any],
    differing: Callable[..., list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The comparison fails when what makes a name or a domain certain is broken on purpose."""
    assert getattr(module, attribute) != broken
    monkeypatch.setattr(module, attribute, broken)
    _forget()
    try:
        assert differing(decide_emails(pa.array(texts)), answers)
    finally:
        _forget()


def _forget() -> None:
    domains.domain_in_ascii.cache_clear()
    international._certain_form.cache_clear()
    international.certain_letters.cache_clear()


@pytest.mark.slow
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


@pytest.mark.parametrize("position", [place for place, check in enumerate(OPENING) if check is not ENCODED])
def test_every_opening_check_is_needed(
    position: int,
    texts: list[str],
    answers: list[Any],
    differing: Callable[..., list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without any one of the checks that all rules begin with the comparison fails; a hash is left twice."""
    monkeypatch.setattr(emails, "OPENING", OPENING[:position] + OPENING[position + 1 :])
    assert differing(decide_emails(pa.array(texts)), answers)


NAMES = ["anna", "jörg.99", "JÖRG", "花子", "Иван.8", "a\u0308", "noemail", "fake", "a..b", "o'neil", ""]
HOSTS = [
    *("münchen.de", "ü.test", "почта.example", "例え28.EXAMPLE", "mün_chen.de", "fake.ü.de", "x.de\u200b"),
    *("b@ü.de", "ＡＢＣ.de"),
]


@each_case("host", HOSTS)
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


@pytest.mark.parametrize("count", shortened([600, 4_000], 1))
def test_drawn_ones_as_the_definition(count: int) -> None:
    """No answer is another one than the definition's, and most of the first have one."""
    texts = _drawn(count)
    found = {text: decide_one(text) for text in texts}
    assert {ascii(text) for text, answer in found.items() if answer not in (None, normalize_email(text))} == set()
    assert sum(found[text] is not None for text in texts[::4]) > count * 0.22


def test_a_wrong_letter_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison fails when every letter is taken for a certain one."""
    monkeypatch.setattr(odd_addresses, "is_certain_letter", lambda letter: True)
    assert any(decide_one(text) not in (None, normalize_email(text)) for text in _drawn(400))


@each_case(
    "text, expected",
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
    drawn = random.Random(6).sample(range(0xA0, 0x3400), 300)
    letters = [*map(chr, drawn), "\ufffd", "\U0001f600"]
    judge_letters(letters)
    forms = ("q{}q@larchpost.example", "q{}@larchpost.example", "q.{}q@larchpost.example")
    shown = {letter: [form.format(letter) for form in forms] for letter in letters}
    alone = {letter: [*map(normalize_email, addresses)] == addresses for letter, addresses in shown.items()}
    assert {letter: is_certain_letter(letter) for letter in letters} == alone
    assert {True, False} == set(alone.values())
