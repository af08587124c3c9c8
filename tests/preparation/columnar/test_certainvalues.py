"""The kernels decide certain values as the definition does."""

from __future__ import annotations

import dataclasses
import hashlib
import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import phonenumbers
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.identifiers.email import normalize_email
from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.phone_number import normalize_phone_number
from audiencekit.identifiers.placeholders import NO_ADDRESS, WORDS
from audiencekit.identifiers.reasons import Reason
from audiencekit.identifiers.rules import DEFAULT_RULES, Rules
from audiencekit.kernels.layouts import Words
from audiencekit.kernels.library import find_library
from audiencekit.preparation.columnar import certainvalues as plain, letters
from audiencekit.preparation.columnar.buffers import Matrix
from audiencekit.preparation.columnar.certainvalues import NO_ADDRESSES, decide_plain
from audiencekit.preparation.columnar.decisions import PENDING, VALID, Codes, code_of
from audiencekit.preparation.columnar.domains import BASIC_PLANE, CERTAIN, LEFT, STAYS
from audiencekit.preparation.columnar.letters import LETTER, KnownLetters
from audiencekit.preparation.columnar.odd_addresses import decide_one
from audiencekit.preparation.columnar.phones.numbers import decide_phone_numbers
from audiencekit.preparation.columnar.phones.tables import phone_tables
from benchmarks.differential import compare_plain
from benchmarks.values.dirt import DIRTY_ADDRESSES
from benchmarks.values.emails import DOMAINS, LOCALS, ODD, PARTS
from benchmarks.values.phone_numbers import FEW, ODD as ODD_NUMBERS, REGIONS, Numbers, Row

pytestmark = pytest.mark.skipif(find_library() is None, reason="this installation has no kernels of this version")


def _decided(texts: Any, kind: Kind, countries: Any = None, rules: Rules = DEFAULT_RULES) -> tuple[Codes, Matrix]:
    found = decide_plain(texts, kind, countries, rules)
    assert found is not None
    return found


def _differing_emails(texts: Sequence[str]) -> list[int]:
    found = _decided(pa.array(list(texts), pa.string()), Kind.EMAIL)
    return compare_plain(*found, [normalize_email(text) for text in texts])


def _numbers(rows: Sequence[Row], rules: Rules = DEFAULT_RULES) -> tuple[Codes, Matrix]:
    texts, countries = (pa.array(list(column), pa.string()) for column in zip(*rows, strict=True))
    decide_phone_numbers(texts, countries, rules)  # compiles the plans, which the kernel only reads
    return _decided(texts, Kind.PHONE_NUMBER, countries, rules)


def _differing_numbers(rows: Sequence[Row], rules: Rules = DEFAULT_RULES) -> list[int]:
    answers = [normalize_phone_number(text, country=country, rules=rules) for text, country in rows]
    return compare_plain(*_numbers(rows, rules), answers)


def _addresses() -> list[str]:
    return [*(f"{local}@{domain}" for local in LOCALS for domain in DOMAINS), *ODD]


def test_addresses_as_the_definition() -> None:
    """Whatever a kernel decides has the definition's hash."""
    assert _differing_emails(_addresses()) == []


@given(st.lists(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=6).map("".join), max_size=20))
@settings(max_examples=100, deadline=None)
def test_any_text_as_the_definition(texts: list[str]) -> None:
    """No text makes them differ."""
    assert _differing_emails(texts) == []


def test_words_are_those_of_the_definition() -> None:
    """Every word for a missing value is one, in capitals and with the letter of other code points, too."""
    texts = [text.replace("k", "\u212a") for word in sorted(WORDS) for text in (word, word.upper(), word.title())]
    assert _differing_emails([*texts, *WORDS]) == []
    assert _differing_numbers([(text, None) for text in (*texts, *WORDS)]) == []
    assert not {
        letter for word in WORDS for letter in word if not letter.isascii() and letter.lower() != letter.upper()
    }


def test_every_ascii_character_at_every_place_of_an_address() -> None:
    """One foreign character anywhere."""
    address = "ab.c@de-f.gh"
    texts = [address[:at] + chr(code) + address[at:] for at in range(len(address) + 1) for code in range(128)]
    assert _differing_emails(texts) == []


@pytest.mark.parametrize("size", [62, 63, 64, 65, 66, 254, 255])
def test_long_addresses(size: int) -> None:
    """Around the bounds of parts and of the whole."""
    local, domain = "a" * (size - len("@b.example")), "b" * (size - len("a@.example"))
    assert _differing_emails([f"{local}@b.example", f"a@{domain}.example", f" {local}@b.example "]) == []


def test_placeholders_are_those_of_the_definition() -> None:
    """Every text of the list is a local part that says that there is no address."""
    assert all(NO_ADDRESS.fullmatch(text) for text in NO_ADDRESSES)
    assert _differing_emails([f"{text}@larchpost.example" for text in sorted(NO_ADDRESSES)]) == []


@given(st.from_regex(NO_ADDRESS, fullmatch=True))
def test_the_list_has_every_placeholder_of_the_definition(text: str) -> None:
    """And there are no others."""
    assert text in NO_ADDRESSES


def test_most_addresses_are_plain() -> None:
    """Of ordinary addresses none is left, whatever the case and the white space around."""
    texts = [
        f" {name}{number}@Mail.Larch-Post.example\n" for number in range(50) for name in ("anna.b", "NOAH", "o'k+x")
    ]
    assert set(_decided(pa.array(texts), Kind.EMAIL)[0].tolist()) == {VALID}


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Numbers of every region, and odd texts."""
    odd = [(text, country) for text in ODD_NUMBERS for country in (None, "DE", "US")]
    return [*Numbers(random.Random(11), REGIONS).rows(2_500), *odd]


def test_numbers_as_the_definition(rows: list[Row]) -> None:
    """Whatever a kernel decides has the definition's hash."""
    assert _differing_numbers(rows) == []


@pytest.mark.parametrize(
    "rules",
    [
        Rules(phone_form="digits"),
        Rules(default_country="DE"),
        Rules(default_country="AQ"),
        Rules(phone_validity="possible", default_country="US"),
    ],
)
def test_numbers_under_other_rules(rules: Rules) -> None:
    """The rules of the run mean the same."""
    rows = [*Numbers(random.Random(12), FEW).rows(800), *((text, None) for text in ODD_NUMBERS)]
    assert _differing_numbers(rows, rules) == []


@pytest.mark.parametrize("size", [pa.int8(), pa.uint16(), pa.int64()], ids=str)
def test_countries_of_any_dictionary(size: Any, rows: list[Row]) -> None:
    """The places in a dictionary of countries may be numbers of any size."""
    few = [(text, "DE" if number % 3 else None) for number, (text, _) in enumerate(rows)]
    texts, countries = (pa.array(list(column), pa.string()) for column in zip(*few, strict=True))
    encoded = countries.dictionary_encode()
    sized = pa.DictionaryArray.from_arrays(encoded.indices.cast(size), encoded.dictionary)
    expected_codes, expected_hashes = _numbers(few)  # at first: it has the plans compiled
    codes, hashes = _decided(texts, Kind.PHONE_NUMBER, sized)
    assert codes.tolist() == expected_codes.tolist()
    assert (hashes == expected_hashes)[codes == VALID].all()


@pytest.mark.parametrize("sign", [" ", "/"])
def test_two_numbers_in_a_cell_as_the_definition(sign: str) -> None:
    """Around the sizes from which two groups of digits are two numbers."""
    sizes = [(first, second) for first in range(5, 12) for second in range(5, 12)]
    cells = [f"{'0301234567'[:first]:7<{first}}{sign}{'7012345689'[:second]:7<{second}}" for first, second in sizes]
    assert _differing_numbers([(cell, country) for cell in cells for country in ("DE", "US", None)]) == []


@pytest.mark.parametrize("sign", ["\n", "\r\n", "\t", "\x85", "\u2028", " \n "])
def test_cells_of_several_lines_are_decided(sign: str) -> None:
    """As the definition does, whatever stands in the lines."""
    parts = [
        "+14155550132",
        "0151 1234567",
        "'",
        "=",
        '="',
        '"',
        "tel:",
        "P: ",
        "x1",
        ".0",
        "-1,0",
        "##",
        "n/a",
        "é",
        "١.٠",
    ]
    cells = [before + sign + behind for before in parts for behind in parts]
    cells += [f"{front}{cell}" for cell in cells for front in ("'", "tel:", "=")]
    assert _differing_numbers([(cell, "DE") for cell in cells]) == []
    numbers = [before + sign + behind for before in parts[:2] for behind in (*parts[:2], "x1")]
    assert PENDING not in _numbers([(number, "DE") for number in numbers])[0]


def test_one_digit_over_and_over_as_the_definition() -> None:
    """Behind the calling code it is a placeholder, also where the plan knows such numbers."""
    numbers = [
        (code, digit * size) for code in ("39", "49", "46", "1") for digit in "0123456789" for size in range(1, 34)
    ]
    rows = [(f"{front}{number}", "IT") for code, number in numbers for front in (f"+{code} ", f"00{code}", code, "")]
    assert _differing_numbers(rows) == []


def test_doubts_behind_two_zeros_are_left() -> None:
    """Where a plan changes numbers as it reads them, the reason without a plus is not the last word."""
    fronts = {"00261": ("2123456", "212345678"), "00672": ("81234", "06609", "22123")}
    texts = [f"{front}{number}" for front, numbers in fronts.items() for number in numbers]
    assert _differing_numbers([(text, country) for text in texts for country in ("AU", "BR", "JP", "US", None)]) == []


PIECES = [
    "+",
    "~",
    "00",
    "0",
    "1",
    "49",
    "44",
    "7911",
    "151",
    "415",
    "123456",
    "555",
    "0132",
    " ",
    "-",
    "(",
    ")",
    ".",
    "/",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=7).map("".join)


@given(st.lists(st.tuples(TEXTS, st.sampled_from([*FEW, None, "ZZ", "", "Germany"])), min_size=1, max_size=20))
@settings(max_examples=100, deadline=None)
def test_any_number_as_the_definition(rows: list[Row]) -> None:
    """No text makes them differ."""
    assert _differing_numbers(rows) == []


@pytest.mark.parametrize("number", ["+14155550132", "(0301) 23.45-6", "00491511234567"])
def test_every_character_at_every_place_of_a_number(number: str) -> None:
    """One foreign character anywhere."""
    signs = [*map(chr, range(128)), *"\xa0\u2010\u3000＋９"]
    assert _differing_numbers([(number[:at] + sign + number[at:], "DE") for at in range(15) for sign in signs]) == []


def test_most_numbers_are_plain() -> None:
    """The usual spellings, with and without a calling code, behind the prefix of a region and behind zeros."""
    written = [
        ("+49 30 901820", None),
        ("030/901820", "DE"),
        ("0044 20 7946 0958", "DE"),
        ("011 44 20 7946 0958", "US"),
    ]
    codes, _ = _numbers([*written, ("0044 20 7946 0958", None), ("(415) 555-0132", "US")])
    assert codes.tolist() == [VALID] * 6


def test_numbers_of_a_region_not_compiled_are_left() -> None:
    """The plan of a region that was not asked for is not compiled here."""
    names = plain._plans(
        dataclasses.replace(plain.phone_tables().compiled, national={"FR": 16}), ["FR", "AQ", None], DEFAULT_RULES
    )
    assert names.national.tolist() == [16, plain._NOT_YET, plain._NO_REGION]


def test_other_kinds_have_no_kernel() -> None:
    """They are for the columnar rules."""
    assert decide_plain(pa.array(["x"]), Kind.HANDLE, None, DEFAULT_RULES) is None


def _without_run(plans: Any) -> Any:
    following = plans.following.reshape(-1, 16).copy()
    following[:, [3, 4]] = following[:, [4, 3]]
    return dataclasses.replace(plans, following=following.ravel())


def _dropping_less(readings: Any) -> Any:
    return np.where(readings >> 8 & 255, readings - 256, readings)


REWRITTEN = [
    ("011 15-2314-5078", "AR", "+5491123145078"),
    ("02901 15-523456", "AR", "+5492901523456"),
    ("+54 011 15-2314-5078", "AR", "+5491123145078"),
    ("0 15 (11) 96123-4567", "BR", "+5511961234567"),
    ("90 31 21 2345-6789", "BR", "+552123456789"),
    ("460-1234", "AG", "+12684601234"),
    ("256789", "GG", "+441481256789"),
    ("886377", "SM", "+3780549886377"),
]


@pytest.mark.parametrize(("text", "country", "number"), REWRITTEN, ids=range(len(REWRITTEN)))
def test_prefixes_that_are_rewritten_are_certain(text: str, country: str, number: str) -> None:
    """Behind Argentina's mobile prefix and Brazil's codes of carriers, and where an area has local numbers only."""
    phone_tables().covering([country], [phonenumbers.country_code_for_region(country)])
    found = decide_plain(pa.array([text]), Kind.PHONE_NUMBER, pa.array([country]), DEFAULT_RULES)
    assert found is not None
    codes, hashes = found
    assert (codes.tolist(), hashes[0].tobytes()) == ([VALID], hashlib.sha256(number.encode()).digest())


BROKEN_PLANS = {
    "two digits swapped": _without_run,
    "another code": lambda plans: dataclasses.replace(plans, readings=plans.readings + (1 << 16)),
    "a digit too few dropped": lambda plans: dataclasses.replace(plans, readings=_dropping_less(plans.readings)),
    "nothing is rewritten": lambda plans: dataclasses.replace(plans, readings=plans.readings & 0xFFFFFFFF),
    "counts are numbers": lambda plans: dataclasses.replace(plans, placeholders=Words.of([])),
    "all is valid": lambda plans: dataclasses.replace(plans, outcomes=np.zeros_like(plans.outcomes)),
    "no plus": lambda plans: dataclasses.replace(plans, writes_plus=False),
}


@pytest.mark.parametrize("broken", BROKEN_PLANS.values(), ids=BROKEN_PLANS.keys())
def test_broken_plans_are_found(broken: Any, rows: list[Row], monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison fails for every table that is broken on purpose."""
    laid_out = plain._plans
    counted = [("1234567", "US"), ("0123456789", "IT"), *((f"+1 234 567 {number}", None) for number in range(99))]
    monkeypatch.setattr(plain, "_plans", lambda *given: broken(laid_out(*given)))
    assert _differing_numbers([*rows, *counted, *((text, country) for text, country, _ in REWRITTEN)])


@pytest.mark.parametrize(
    ("attribute", "broken"),
    [
        ("_NO_ADDRESSES", Words.of(["n/a"])),
        ("_DOUBLED", Words.of(["test"])),
        ("_WORDS", Words.of([])),
        ("SPECIAL_USE_DOMAIN_NAMES", ["test"]),
    ],
)
def test_broken_doubts_are_found(attribute: str, broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison fails when a stem or a special name is forgotten."""
    monkeypatch.setattr(plain, attribute, broken)
    assert _differing_emails([*_addresses(), "nomail@larchpost.example", "user@user.example", "a@b.local", "unknown"])


LETTERS = "\u00e4\u00df\u0130\u017f\u03c2\u0131\u05d0\u4e2d\uac00\u00c4\u0301\u1100"


def _international() -> list[str]:
    """Addresses with each of LETTERS on either side, and with pairs of them."""
    parts = [*LETTERS, *(one + other for one in LETTERS for other in LETTERS)]
    forms = ("anna{}@larchpost.example", "anna@{}b.example", "anna@x-{}.example")
    return [form.format(part) for part in parts for form in forms]


def test_international_addresses_as_the_definition() -> None:
    """Once the letters are known, most are decided here, and as the definition says."""
    texts = _international()
    for text in texts:
        decide_one(text)
    assert _differing_emails(texts) == []
    codes, _ = _decided(pa.array(texts), Kind.EMAIL)
    assert (codes == VALID).sum() > 100


def test_international_domains_for_special_use_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host program adds them as they stand in the name system; in letters they mean what they say."""
    texts = ["anna@\u00e4b.example", "anna@c.\u00e4b.example", "anna@c\u00e4b.example"]
    for text in texts:
        decide_one(text)
    assert _decided(pa.array(texts), Kind.EMAIL)[0].tolist() == [VALID, VALID, VALID]
    monkeypatch.setattr(plain, "SPECIAL_USE_DOMAIN_NAMES", ["xn--b-zfa.example", "c\u00e4b.example"])
    assert _decided(pa.array(texts), Kind.EMAIL)[0].tolist() == [PENDING, PENDING, VALID]


# Letters that marks join, some of them with a mark of their own, and signs that stand beside them.
BASES = (
    "aeiqz7=.\u00e9\u00dc\u1ec7\u0130\u212a\u212b\u0958\u1100\uac00\uac01\u304b\u09c7\u0dd9\u0ddd\u1025\u4e2d"
    "\u05e9\u03b9\u03a9\u1fa7\U0002f800"
)
# And marks of several classes, in no order.
MARKS = (
    "\u0300\u0301\u0308\u0307\u031b\u0323\u0327\u0331\u0338\u0341\u0344\u0345\u0316\u05b4\u05bc\u05c1\u064b\u0651"
    "\u093c\u094d\u09be\u0dca\u0dcf\u0f71\u0f72\u0f73\u102e\u1161\u11a7\u11a8\u3099\u0e38\u0e48"
)


@pytest.mark.parametrize("seed", range(8))
def test_marks_in_any_order_as_the_definition(seed: int) -> None:
    """On either side of the at sign; most are decided here."""
    chance = random.Random(seed)

    def part() -> str:
        return "".join(
            chance.choice(BASES) + "".join(chance.choices(MARKS, k=chance.choice((0, 0, 1, 1, 2, 3)))) for _ in range(2)
        )

    texts = [f"{part()}@{chance.choice(('larchpost', 'b' + part()))}.example" for _ in range(3_000)]
    assert _differing_emails(texts) == []
    codes, _ = _decided(pa.array(texts), Kind.EMAIL)
    assert (codes == VALID).sum() > 600
    assert (codes != PENDING).sum() > 1_000


@pytest.mark.parametrize("part", ["local", "domain"])
def test_broken_letters_are_found(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison fails when every letter is taken for a certain one."""
    known = KnownLetters()
    if part == "domain":
        every = np.full(BASIC_PLANE, CERTAIN | LEFT | STAYS, dtype=np.uint8)
        domain_letters = SimpleNamespace(
            classes=lambda **kinds: every,
            class_of=lambda letter: 0,
            learn=lambda letters: None,
            survey=lambda letters: False,
            is_unencoded=lambda letter: False,
        )
        monkeypatch.setattr(letters, "DOMAIN_LETTERS", domain_letters)
    else:
        known._kinds[:] = LETTER
    monkeypatch.setattr(plain, "KNOWN", known)
    assert _differing_emails(_international())


def _in_ascii(label: str) -> str:
    return f"ada@xn--{label.encode('punycode').decode()}.example"


# Domains by the rules of RFC 5891 to 5893: marks, letters from right to left, signs as wide as Chinese characters, and
# both small letters of a capital.
ORDERED = (
    ("ada@\u092d\u093e\u0930\u0924.\u092d\u093e\u0930\u0924", "ada@xn--h2brj9c.xn--h2brj9c"),
    ("ada@xn--h2brj9c.example", "ada@xn--h2brj9c.example"),
    ("ada@a-\u093e.example", _in_ascii("a-\u093e")),
    ("ada@\u05d0\u05b0-1\u05d1.example", _in_ascii("\u05d0\u05b0-1\u05d1")),
    ("ada@\u30b5\u30fc\u30d0\u30fc.example", _in_ascii("\u30b5\u30fc\u30d0\u30fc")),
    ("ada@\u0130b.example", _in_ascii("i\u0307b")),
    ("ada@\u03a3\u03a3-1.example", _in_ascii("\u03c3\u03c2-1")),
    ("\u039f\u03a3.\u03a3@larch.example", "\u03bf\u03c3.\u03c2@larch.example"),
    ("\u039f\u03a31@larch.example", "\u03bf\u03c21@larch.example"),
    ("ada@\uff2c\uff41rch\u3002example", "ada@larch.example"),
    ("ada@larch\uff61test", Reason.SPECIAL_USE_DOMAIN),
    ("ada@col\u00b7legi.example", _in_ascii("col\u00b7legi")),
    (_in_ascii("col\u00b7legi"), _in_ascii("col\u00b7legi")),
    ("ada@\u30a2\u30fb\u4e2d.example", _in_ascii("\u30a2\u30fb\u4e2d")),
    (_in_ascii("\u30fb\u4e2d"), _in_ascii("\u30fb\u4e2d")),
    ("ada@\u093e\u0930.example", Reason.INVALID_SYNTAX),
    ("ada@a\u05d0.example", Reason.INVALID_SYNTAX),
    ("ada@1\u05d0.example", Reason.INVALID_SYNTAX),
    ("ada@\u05d0\u093e.example", Reason.INVALID_SYNTAX),
    ("ada@larch.\u05d0\u05d1", "ada@larch.xn--4dbc"),
    ("ada@\u0930\u093e-\u0930\u0947.\u05d0\u05d1.example", "ada@xn----dwdb8c5b.xn--4dbc.example"),
    ("ada@b\u2665.example", Reason.INVALID_SYNTAX),
    ("ada@b\u2665.test", Reason.SPECIAL_USE_DOMAIN),
    ("ada@" + "\u00fc" * 60 + ".example.", Reason.TOO_LONG),
    ("j\u00f6rg@larch", Reason.INVALID_SYNTAX),
    ("j\u00f6rg@localhost", Reason.SPECIAL_USE_DOMAIN),
    ("j\u00f6rg ahl@larch.example", Reason.INVALID_SYNTAX),
    ("j\ufffdrg@larch.example", Reason.INVALID_SYNTAX),
    ("ada@xn--b\u00fccher.example", Reason.INVALID_SYNTAX),
    ("ada@b\u00fccher.e", Reason.INVALID_SYNTAX),
)


# Behind `xn--`: capitals, symbols, private and unassigned letters, letters that NFC joins, marks and hyphens in wrong
# places, two directions, a numeral of no letter, a form of another encoding, and what is cut.
NO_LABELS = (
    *map(_in_ascii, ("b\xc9", "b\u2665", "b\ue000", "b\u0378", "b\U000f0000", "be\u0301", "\u093e\u0930", "-\xe9")),
    *map(_in_ascii, ("\xe9-", "ab--\u0930\u093e", "\u05d0b", "b\u05d0", "\u2167", "b\uff42", "b\U0001d41a")),
    *(f"ada@xn--{encoded}.example" for encoded in ("-tda", "bcher-kv", "99999999", "a--x")),
)


@pytest.mark.parametrize("text", NO_LABELS, ids=range(len(NO_LABELS)))
def test_encodings_of_no_label_are_refused_at_once(text: str) -> None:
    """As the definition refuses it, which takes a hundred times as long."""
    assert normalize_email(text) is Reason.INVALID_SYNTAX
    codes, _ = _decided(pa.array([text]), Kind.EMAIL)
    assert codes.tolist() == [code_of(Reason.INVALID_SYNTAX)]


@pytest.mark.parametrize("seed", range(4))
def test_mistyped_labels_as_the_definition(seed: int) -> None:
    """One sign of a label in the form of the name system is another, and nearly all are decided here."""
    chance = random.Random(seed)
    domains = [DIRTY_ADDRESSES["no label behind xn--"](chance).partition("@")[2] for _ in range(1_500)]
    texts = [f"ada@{domain}" for domain in domains]
    assert _differing_emails(texts) == []
    codes, _ = _decided(pa.array(texts), Kind.EMAIL)
    assert (codes == PENDING).sum() < 15


@pytest.mark.parametrize(("text", "expected"), ORDERED, ids=range(len(ORDERED)))
def test_international_addresses_by_their_rules(text: str, expected: str | Reason) -> None:
    """As the RFCs and the definition say; each is decided here but for a reason that comes before being none."""
    assert normalize_email(text) == expected
    assert _differing_emails([text]) == []
    codes, _ = _decided(pa.array([text]), Kind.EMAIL)
    is_first = expected in (Reason.SPECIAL_USE_DOMAIN, Reason.TOO_LONG)
    assert is_first or codes[0] != PENDING


@pytest.mark.parametrize(
    "domain",
    [
        "2larch.\u05d0\u05d1",
        "2larch.xn--4dbc.example",
        "\u02b9b.xn--4dbc",
        "b-\u02b9.\u05d0\u05d1",
        "\u30a2\u30fb.\u05d0\u05d1",
    ],
)
def test_labels_beside_one_from_right_to_left_are_not_certain(domain: str) -> None:
    """RFC 5893 makes other demands of each label of such a domain."""
    assert _differing_emails([f"ada@{domain}"]) == []
    assert _differing_emails([f"ada@{domain.replace('2', '')}"]) == []


# Characters that make a label in some places only, and what stands around them.
PLACED = "a1-.\u00fc\u093e\u0930\u05d0\u05b0\u0660\u03a3\u03c3\uff0e\uff21\u3002\u2665\ufffd\u00b7\u30fb\u02b9 _"


@pytest.mark.parametrize("seed", range(4))
def test_characters_at_any_place_as_the_definition(seed: int) -> None:
    """On either side of the at sign, in labels of up to five."""
    chance = random.Random(seed)

    def part() -> str:
        return "".join(chance.choices(PLACED, k=chance.randrange(1, 6)))

    tops = ("", ".test", ".example", ".\u05d0\u05d1", ".xn--4dbc", ".xn--4dbc.example")
    texts = [f"{chance.choice(('ada', part()))}@{part()}{chance.choice(tops)}" for _ in range(2_000)]
    assert _differing_emails(texts) == []
    assert (_decided(pa.array(texts), Kind.EMAIL)[0] != PENDING).mean() > 0.3
