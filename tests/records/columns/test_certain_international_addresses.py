"""The kernels decide certain addresses beyond ASCII as the definition does."""

from __future__ import annotations

import random
import unicodedata
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from audiencekit.identifiers.email import NO_LETTERS, normalize_email
from audiencekit.identifiers.kinds import Kind, Reason
from audiencekit.records.columns import certain_values as plain, letters
from audiencekit.records.columns.arrays import PENDING, VALID, code_of
from audiencekit.records.columns.domains import BASIC_PLANE, CERTAIN, LEFT, STAYS
from audiencekit.records.columns.letters import LETTER, KnownLetters
from audiencekit.records.columns.odd_addresses import decide_one
from benchmarks.values.dirt import DIRTY_ADDRESSES
from tests.cases import each_case
from tests.records.columns.certain import decided, differing_addresses, needs_kernels
from tests.shortened import shortened

pytestmark = needs_kernels


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
    assert differing_addresses(texts) == []
    codes, _ = decided(pa.array(texts), Kind.EMAIL)
    assert (codes == VALID).sum() > 100


def test_signs_in_the_place_of_letters_are_refused_here() -> None:
    """The kernels know the definition's list of them."""
    texts = [f"a{sign}b@{domain}.example" for sign in sorted(NO_LETTERS) for domain in ("larchpost", "b\u00fc")]
    assert set(decided(pa.array(texts), Kind.EMAIL)[0].tolist()) == {code_of(Reason.INVALID_SYNTAX)}


def test_international_domains_for_special_use_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host program adds them as they stand in the name system; in letters they mean what they say."""
    texts = ["anna@\u00e4b.example", "anna@c.\u00e4b.example", "anna@c\u00e4b.example"]
    for text in texts:
        decide_one(text)
    assert decided(pa.array(texts), Kind.EMAIL)[0].tolist() == [VALID, VALID, VALID]
    monkeypatch.setattr(plain, "SPECIAL_USE_DOMAIN_NAMES", ["xn--b-zfa.example", "c\u00e4b.example"])
    assert decided(pa.array(texts), Kind.EMAIL)[0].tolist() == [PENDING, PENDING, VALID]


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


@pytest.mark.parametrize("seed", shortened(range(6), 1))
def test_marks_in_any_order_as_the_definition(seed: int) -> None:
    """On either side of the at sign; most are decided here."""
    chance = random.Random(seed)

    def part() -> str:
        return "".join(
            chance.choice(BASES) + "".join(chance.choices(MARKS, k=chance.choice((0, 0, 1, 1, 2, 3)))) for _ in range(2)
        )

    texts = [f"{part()}@{chance.choice(('larchpost', 'b' + part()))}.example" for _ in range(3_000)]
    assert differing_addresses(texts) == []
    codes, _ = decided(pa.array(texts), Kind.EMAIL)
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
    assert differing_addresses(_international())


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


@each_case("text", NO_LABELS)
def test_encodings_of_no_label_are_refused_at_once(text: str) -> None:
    """As the definition refuses it, which takes a hundred times as long."""
    assert normalize_email(text) is Reason.INVALID_SYNTAX
    codes, _ = decided(pa.array([text]), Kind.EMAIL)
    assert codes.tolist() == [code_of(Reason.INVALID_SYNTAX)]


@pytest.mark.parametrize("seed", shortened(range(4), 1))
def test_mistyped_labels_as_the_definition(seed: int) -> None:
    """One sign of a label in the form of the name system is another, and nearly all are decided here."""
    chance = random.Random(seed)
    domains = [DIRTY_ADDRESSES["no label behind xn--"](chance).partition("@")[2] for _ in range(1_000)]
    texts = [f"ada@{domain}" for domain in domains]
    assert differing_addresses(texts) == []
    codes, _ = decided(pa.array(texts), Kind.EMAIL)
    assert (codes == PENDING).sum() < 10


@each_case("text, expected", ORDERED)
def test_international_addresses_by_their_rules(text: str, expected: str | Reason) -> None:
    """As the RFCs and the definition say; each is decided here but for a reason that comes before being none."""
    assert normalize_email(text) == expected
    assert differing_addresses([text]) == []
    codes, _ = decided(pa.array([text]), Kind.EMAIL)
    is_first = expected in (Reason.SPECIAL_USE_DOMAIN, Reason.TOO_LONG)
    assert is_first or codes[0] != PENDING


# Letters that a domain has others for (UTS 46, section 4), and signs of which it can make none.
MAPPED = (
    ("ada@o\ufb03ce.example", "ada@office.example"),
    ("ada@b\xfccher\u3002example", "ada@xn--bcher-kva.example"),
    ("ada@B\xdcCHER\uff61example", "ada@xn--bcher-kva.example"),
    ("ada@\uff42\xfccher.example", "ada@xn--bcher-kva.example"),
    ("ada@fa\u212ae\xaa.example", "ada@fakea.example"),
    ("ada@\u33d1\U0001d41a.example", "ada@lna.example"),
    ("ada@\uff78\uff9e\uff70\uff78\uff9e\uff99.example", "ada@xn--qcka1pmc.example"),  # as Google writes itself
    ("ada@b\u2026example", Reason.INVALID_SYNTAX),
    ("ada@larchpost.example\u2026", Reason.INVALID_SYNTAX),
    ("ada@larchpost.example\xb4", Reason.INVALID_SYNTAX),
    ("ada@larch\u2011post.example", Reason.INVALID_SYNTAX),
)
# Of these the definition finds top-level domain and length in another form than that which is sent.
MAPPED_AND_LEFT = (
    ("ada@b\u2026test", Reason.SPECIAL_USE_DOMAIN),
    ("ada@b.\U0001d42d\U0001d41e\U0001d42c\U0001d42d", Reason.SPECIAL_USE_DOMAIN),
    ("ada@b.\U0001d413\U0001d404\U0001d412\U0001d413", Reason.INVALID_SYNTAX),
    ("ada@" + "\ufb03" * 22 + ".example", Reason.INVALID_SYNTAX),
)


@each_case("text, expected", [*MAPPED, *MAPPED_AND_LEFT])
def test_letters_that_domains_have_others_for(text: str, expected: str | Reason) -> None:
    """As the definition says, and decided here."""
    assert normalize_email(text) == expected
    assert differing_addresses([text]) == []
    codes, _ = decided(pa.array([text]), Kind.EMAIL)
    assert (PENDING in codes) is ((text, expected) in MAPPED_AND_LEFT)


def test_letters_of_decomposed_domains_are_known() -> None:
    """As many as a list has, each with its own letter, which no list wrote as one character before."""
    letters = "\u1e09\u1e15\u1e17\u1e1d\u1e2f\u1e39\u1e4d\u1e4f\u1e51\u1e53\u1e5d\u1e65\u1e67\u1e69\u1e79\u1e7b"
    domains = [
        unicodedata.normalize("NFD", f"{letter}{'b' * 20}{number}") for number in range(20) for letter in letters
    ]
    texts = [f"ada@{domain}.example" for domain in domains]
    assert differing_addresses(texts) == []
    assert PENDING not in decided(pa.array(texts), Kind.EMAIL)[0]


@each_case(
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
    assert differing_addresses([f"ada@{domain}"]) == []
    assert differing_addresses([f"ada@{domain.replace('2', '')}"]) == []


@each_case(
    "label, code",
    [
        ("2larch", code_of(Reason.INVALID_SYNTAX)),
        ("\u02b9b", code_of(Reason.INVALID_SYNTAX)),
        ("b\u02b9b", VALID),
        ("\u02c0\u02b9709", VALID),
        ("b\u02b9", PENDING),
    ],
)
def test_labels_beside_one_from_right_to_left_begin_with_a_direction(label: str, code: int) -> None:
    """Such a label ends with one, too, and between these may stand characters of none."""
    texts = [f"ada@{label}.\u05d0\u05d1"]
    assert differing_addresses(texts) == []
    assert decided(pa.array(texts), Kind.EMAIL)[0].tolist() == [code]


# Characters that make a label in some places only, and what stands around them.
MAPPED_PLACED = "a1-.\xfc\u0301\u05d0\ufb03\u3002\uff0e\u2026\xb4\u2011\xaa\xdf\u1e9e\u212a\uff78\uff9e\u2167\u03f2"
PLACED = "a1-.\u00fc\u093e\u0930\u05d0\u05b0\u0660\u03a3\u03c3\uff0e\uff21\u3002\u2665\ufffd\u00b7\u30fb\u02b9 _"


@pytest.mark.parametrize("seed", shortened(range(4), 1))
@each_case("placed", [PLACED, MAPPED_PLACED])
def test_characters_at_any_place_as_the_definition(seed: int, placed: str) -> None:
    """On either side of the at sign, in labels of up to five."""
    chance = random.Random(seed)

    def part() -> str:
        return "".join(chance.choices(placed, k=chance.randrange(1, 6)))

    tops = ("", ".test", ".example", ".\u05d0\u05d1", ".xn--4dbc", ".xn--4dbc.example")
    texts = [f"{chance.choice(('ada', part()))}@{part()}{chance.choice(tops)}" for _ in range(1_500)]
    assert differing_addresses(texts) == []
    assert (decided(pa.array(texts), Kind.EMAIL)[0] != PENDING).mean() > 0.25
