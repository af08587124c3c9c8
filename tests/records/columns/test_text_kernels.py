"""Columns of texts by the kernels: what is decided, what is left, and what is refused."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.errors import Bug
from audiencekit.identifiers.kinds import Reason
from audiencekit.kernels.layouts import Words
from audiencekit.records.columns.arrays import PENDING, VALID, code_of
from audiencekit.records.columns.checks import signs
from audiencekit.records.columns.text_kernels import MOST_DISTINCT, Letters, Plans, TextKernels
from tests.cases import each_case
from tests.kernels.installed import installed

EMPTY = code_of(Reason.EMPTY)
PLACEHOLDER = code_of(Reason.PLACEHOLDER)
INVALID = code_of(Reason.INVALID_SYNTAX)
INVISIBLE = code_of(Reason.INVISIBLE_CHARACTER)
MANGLED = code_of(Reason.EXCEL_MANGLED)
TOO_LONG = code_of(Reason.TOO_LONG)
HASHED = code_of(Reason.ALREADY_HASHED)
EXTENSION = code_of(Reason.EXTENSION)
DISPLAY_NAME = code_of(Reason.DISPLAY_NAME)
SPECIAL = code_of(Reason.SPECIAL_USE_DOMAIN)
NOT_POSSIBLE = code_of(Reason.NOT_POSSIBLE)
ADDRESS = b"anna@larchpost.example"

# Umlauts and the sharp s in a local part, the former alone in a domain; one capital.
DOMAIN = np.zeros(256, dtype=np.uint8)
DOMAIN[[0xE4, 0xF6, 0xFC, *b"abcdefghijklmnopqrstuvwxyz0123456789"]] = 1
DOMAIN[ord("-")] = 3
LOCAL = np.zeros(256, dtype=np.uint8)
LOCAL[[0xDF, 0xE4, 0xF6, 0xFC]] = 1
FOLDS = np.array([0xD6 << 42 | 0xF6], dtype=np.int64)
LETTERS = Letters(signs=signs(), local=LOCAL, domain=DOMAIN, folds=FOLDS)


@pytest.fixture
def compiled() -> TextKernels:
    """Those of this installation."""
    return installed(TextKernels)


def _encoded(label: str) -> str:
    return f"xn--{label.encode('punycode').decode()}"


def _decide(compiled: TextKernels, texts: Any) -> tuple[list[int], list[bytes]]:
    codes, digests = compiled.decide_emails(
        texts,
        words=Words.of(["n/a", "none"]),
        no_addresses=Words.of(["nomail"]),
        doubled=Words.of(["a"]),
        carriers=Words.of(["carrier.example"]),
        special_use=Words.of(["test", "local", "home.arpa"]),
        letters=LETTERS,
    )
    return codes.tolist(), [digest.tobytes() for digest in digests]


@each_case("size", [0, 1, 55, 56, 63, 64, 119, 120, 128, 1_000])
def test_texts_of_any_size_have_their_hash(compiled: TextKernels, size: int) -> None:
    """Around the ends of blocks, too, and beside others."""
    texts = ["a", "é" * (size // 2) + "x" * (size % 2), "b" * 70]
    found = compiled.hash(pa.array(texts))
    assert [digest.tobytes() for digest in found] == [hashlib.sha256(text.encode()).digest() for text in texts]


def test_addresses_are_trimmed_lowered_and_hashed(compiled: TextKernels) -> None:
    """A null and a blank are empty; a domain for special use is refused by its top, another one is left."""
    texts = [" Anna@Larchpost.EXAMPLE\n", None, "\t ", "a@b.test", "a@test.local", "a@home.arpa"]
    codes, digests = _decide(compiled, pa.array(texts))
    assert codes == [VALID, EMPTY, EMPTY, SPECIAL, SPECIAL, PENDING]
    assert digests[0] == hashlib.sha256(ADDRESS).digest()


@each_case(
    "text, code",
    [
        (" None", PLACEHOLDER),
        ("NoMail@larch.example", PLACEHOLDER),
        ("nomail@larch", PLACEHOLDER),
        ("a@a.example", PLACEHOLDER),
        ("a@a.co.example", PLACEHOLDER),
        ("a@a.b.co.example", VALID),
        ("b@b.example", VALID),
        ("anomail@larch.example", VALID),
        ("a@a..example", INVALID),
        ("anna", INVALID),
        ("anna@", INVALID),
        ("a@b@c.example", INVALID),
        ("a..b@larch.example", INVALID),
        ("a@larch..example", INVALID),
        ("a@larch.x", INVALID),
        ("a b@larch.example", INVALID),
        ("a@x--y.example", VALID),
        ("a@xy--z.example", INVALID),  # as an encoded domain, which it is not
        ("a@xn--bcher-kva.example", VALID),
        ("a@xn--zz.example", INVALID),  # a number that goes on
        (f"a@{_encoded(chr(0xDF))}.example", PENDING),  # a letter that is not known
        (f"a@{_encoded(chr(0x20AC))}.example", INVALID),  # one behind all that any label has
        ("a@xn--abc-.example", INVALID),
        *(
            (f"a@{_encoded(label)}.example", VALID)
            for label in ("\u00e4-b", "b-\u00e4", "1-\u00e4\u00f6-b", "\u00fc\u00fc")
        ),
        # Hyphens at an end and in a row, in what is meant; a delimiter behind nothing.
        *((f"a@{_encoded(label)}.example", PENDING) for label in ("\u00e4--b", "b--\u00e4")),
        *((f"a@{_encoded(label)}.example", INVALID) for label in ("-\u00e4", "\u00e4-", "bc--\u00e4")),
        ("a@xn---tda.example", INVALID),
        ("a@x--y.xn--tda.co-op.example", VALID),
        ("a@x--y.test", SPECIAL),
        ("a@a.x--y", PLACEHOLDER),
        (f"a@x--{'y' * 61}.example", TOO_LONG),
        (f"{'a' * 65}@x--y.example", TOO_LONG),
        *(
            (f"a@{domain}", INVALID)
            for domain in ("x--y..example", "x--y-.example", "x--.example", "x--y.e", "x--y.ex4")
        ),
        ("a@larch.ex4mple", INVALID),
        ("\ufeffa@larch.example\u200b", VALID),
        ("\u3000a@larch.example\xa0", VALID),
        ("a\u200b@larch.example", INVISIBLE),
        ("\ufeff", EMPTY),
        ("'a@larch.example", VALID),
        ("=a@larch.example", MANGLED),
        ('="a@larch.example"', VALID),
        ("'none", INVALID),
        ("a..b.@carrier.example", VALID),
        (".a@carrier.example", INVALID),
        ("a..b@sub.carrier.example", INVALID),
        (f"{'a' * 64}@larch.example", VALID),
        (f"{'a' * 65}@larch.example", TOO_LONG),
        (f"a@{'b' * 63}.example", VALID),
        (f"a@{'b' * 64}.example", TOO_LONG),
        (f"a@{'b' * 64}.test", SPECIAL),
        ("a@test", SPECIAL),
        (f"a@{'b' * 9_999}", TOO_LONG),
        (f"a@a.{'b' * 9_999}", PLACEHOLDER),
        (f"\u00e9@{'b' * 9_999}", TOO_LONG),
        (f"a@{'b.' * 130}example", TOO_LONG),
        ("Anna <a@larch.example>", DISPLAY_NAME),
        ("J\u00f6rg <a@larch.example>", DISPLAY_NAME),
        ("Anna <<\u0338a@larch.example>", PENDING),  # one sign in Unicode's normal form
        ("Anna <a@larch.example> x", INVALID),
        ("mailto:a@larch.example", DISPLAY_NAME),
        ("mailto:a@larch.example<>", INVALID),
        ("a..b@b\u00fccher.example", INVALID),
        ("\u00e9@larch.example", PENDING),
        ("a\uff20larch.example", INVALID),
        ("J\u00f6rg Birk", INVALID),
        ("\u2026", INVALID),
        ("un\u212anown", PENDING),  # a word, with a sign that is a letter of ASCII in lower case
        ("a\x00@larch.example", INVISIBLE),
        ("f" * 64, HASHED),
        ("x" * 64, INVALID),
    ],
)
def test_a_text_that_is_certainly_no_address_has_its_reason(compiled: TextKernels, text: str, code: int) -> None:
    """Words for a missing value, and a syntax that nothing makes right; other forms are left."""
    assert _decide(compiled, pa.array([text]))[0] == [code]


@each_case(
    "text, address",
    [
        (" J\u00f6rg@Larchpost.example", "j\u00f6rg@larchpost.example"),
        ("a.\u00df@b\u00fccher.example", "a.\u00df@xn--bcher-kva.example"),
        ("J\u00d6rg@larchpost.example", "j\u00f6rg@larchpost.example"),
        ("J\u00dcrg@larchpost.example", None),  # a capital that is not known
        ("a@\u00df.example", None),
        ("a@\u00e9.example", None),  # not seen before
        ("a@\U0001f600.example", None),
        ("nomail@b\u00fccher.example", None),
        ("a@b\u00fccher.home.arpa", None),
    ],
)
def test_addresses_of_certain_letters_are_decided(compiled: TextKernels, text: str, address: str | None) -> None:
    """Where each letter may stand; all others are left."""
    codes, digests = _decide(compiled, pa.array([text]))
    assert codes == [PENDING if address is None else VALID]
    assert address is None or digests[0] == hashlib.sha256(address.encode()).digest()


def test_a_domain_that_only_ends_like_a_special_one_is_plain(compiled: TextKernels) -> None:
    """It must be the whole label."""
    assert _decide(compiled, pa.array(["a@b.contest", "a@x.mylocal"]))[0] == [VALID, VALID]


def test_slices_are_decided_as_their_values(compiled: TextKernels) -> None:
    """A column that begins within its buffer, and one whose nulls hide bytes."""
    column = pa.array(["x", None, "anna@larchpost.example", "a@b", "z"])
    codes, digests = _decide(compiled, column.slice(1, 3))
    assert codes == [EMPTY, VALID, INVALID]
    assert digests[1] == hashlib.sha256(ADDRESS).digest()
    hidden = pa.StringArray.from_buffers(
        2, pa.py_buffer(np.array([0, 22, 44], dtype=np.int32)), pa.py_buffer(ADDRESS * 2), pa.py_buffer(b"\x02")
    )
    assert _decide(compiled, hidden)[0] == [EMPTY, VALID]


@each_case("count", [0, 1])
def test_short_columns(compiled: TextKernels, count: int) -> None:
    """Columns without values, and with nothing but null."""
    assert _decide(compiled, pa.array([None] * count, pa.string()))[0] == [EMPTY] * count


def _plans(**changes: Any) -> Plans:
    """One state that every number stays in, which says that nothing is known."""
    given: dict[str, Any] = {
        "following": np.zeros(16, dtype=np.int32),
        "readings": np.zeros(1, dtype=np.int64),
        "national": np.zeros(1, dtype=np.int32),
        "international": np.zeros(1000, dtype=np.int32),
        "calling_codes": np.full(1000, 49, dtype=np.int16),
        "outcomes": np.array([-1], dtype=np.int8),
        "placeholders": Words.of(["1234567"]),
        "words": Words.of(["none"]),
        "signs": signs(),
        "dialled": 5,
        "writes_plus": True,
        "decides_national": True,
    }
    return Plans(**{**given, **changes})


NUMBER = pa.array(["+49 30 1234568"])
REGION = np.zeros(1, dtype=np.int32)


def test_numbers_of_unknown_plans_are_left(compiled: TextKernels) -> None:
    """Numbers that the tables do not call valid are left to the definition."""
    codes, _ = compiled.decide_phone_numbers(NUMBER, regions=REGION, plans=_plans())
    assert codes.tolist() == [PENDING]


@each_case(
    "text, code",
    [
        ("None", PLACEHOLDER),
        ("123-4567", PLACEHOLDER),
        ("call the office", INVALID),
        ("#call", INVALID),
        ("##", MANGLED),
        ("tel:030 1234568", PENDING),  # its plan says that nothing is known
        ("tel: anna", INVALID),
        ("030\u200b1234568", INVISIBLE),
        ("\u200b\xa0", EMPTY),
        ("\u043d\u0435\u0442", INVALID),
        ("\u2026", INVALID),
        ("1" * 101, INVALID),
        ("1e6", MANGLED),
        ("call 5,0", MANGLED),
        ("030 123 4568 ext 4\u00a0", EXTENSION),
        ("030 123 ext 4\u00a0", INVALID),
        ("1~2", INVALID),
        ("(+12)", INVALID),
        ("0" * 64, HASHED),
    ],
)
def test_a_text_that_is_certainly_no_number_has_its_reason(compiled: TextKernels, text: str, code: int) -> None:
    """Words, counted digits, and phrases; what may be a number in another form is left."""
    codes, _ = compiled.decide_phone_numbers(pa.array([text]), regions=REGION, plans=_plans())
    assert codes.tolist() == [code]


@each_case(
    "text, code",
    [
        ("+49 30 123~4567", EXTENSION),
        ("+49 3~4567", NOT_POSSIBLE),  # a number of one digit is none
        ("+49~301234568", PENDING),  # its plan says that nothing is known
        ("030 123~4567", PENDING),
        ("004930~4567", EXTENSION),
        ("0049~4567", PENDING),
    ],
)
def test_a_tilde_begins_an_extension(compiled: TextKernels, text: str, code: int) -> None:
    """As phonenumbers sees it: behind a calling code and a number."""
    dialled = 5 | 2 << 8  # behind two digits the number goes on as behind a plus sign
    readings = np.array([dialled if text.startswith("00") else 0])
    outcomes = np.array([-1] * 6, dtype=np.int8)
    codes, _ = compiled.decide_phone_numbers(
        pa.array([text]), regions=REGION, plans=_plans(readings=readings, outcomes=outcomes)
    )
    assert codes.tolist() == [code]


def test_a_plus_without_a_calling_code_is_not_possible(compiled: TextKernels) -> None:
    """Unless the region would read an international prefix behind it."""
    no_codes = np.zeros(1000, dtype=np.int16)
    found = {
        outcome: compiled.decide_phone_numbers(
            NUMBER, regions=REGION, plans=_plans(calling_codes=no_codes, outcomes=np.array([outcome], dtype=np.int8))
        )[0].tolist()
        for outcome in (VALID, -1)
    }
    assert found == {VALID: [NOT_POSSIBLE], -1: [PENDING]}


@each_case(
    "broken",
    [
        {"following": np.full(16, 10_000, dtype=np.int32)},
        {"following": np.full(16, -16, dtype=np.int32)},
        {"readings": np.zeros(0, dtype=np.int64)},
        {"outcomes": np.zeros(0, dtype=np.int8)},
        {"international": np.zeros(3, dtype=np.int32)},
        {"readings": np.array([99 << 56], dtype=np.int64), "outcomes": np.array([VALID], dtype=np.int8)},
        {"readings": np.array([200 << 8], dtype=np.int64), "outcomes": np.array([VALID], dtype=np.int8)},
    ],
)
def test_tables_that_point_outside_are_a_bug(compiled: TextKernels, broken: dict[str, Any]) -> None:
    """No place is read that is not there, and the process goes on."""
    with pytest.raises(Bug, match="index out of range"):
        compiled.decide_phone_numbers(NUMBER, regions=REGION, plans=_plans(**broken))


@each_case("regions", [[], [1], [-1], [0, 0]])
def test_every_number_has_a_region(compiled: TextKernels, regions: list[int]) -> None:
    """As many as there are numbers, each of them known."""
    with pytest.raises(ValueError, match="every number has a region"):
        compiled.decide_phone_numbers(NUMBER, regions=np.array(regions, dtype=np.int32), plans=_plans())


def test_values_must_stand_one_behind_the_other(compiled: TextKernels) -> None:
    """Views with gaps, values of another size and values between the places of their size are refused."""
    gaps = np.zeros(2000, dtype=np.int32)[::2]
    larger = np.zeros(1000, dtype=np.int64)
    between = np.zeros(4001, dtype=np.uint8)[1:].view(np.int32)
    for international in (gaps, larger, between):
        with pytest.raises(ValueError, match="one behind the other"):
            compiled.decide_phone_numbers(NUMBER, regions=REGION, plans=_plans(international=international))


@each_case("dtype", [np.int8, np.int64])
def test_places_of_regions_have_one_size(compiled: TextKernels, dtype: Any) -> None:
    """Smaller ones would be read beyond their end, larger ones as the region of another row."""
    with pytest.raises(ValueError, match="one behind the other"):
        compiled.decide_phone_numbers(NUMBER, regions=REGION.astype(dtype), plans=_plans())


@each_case("kind", [pa.large_string(), pa.string_view()])
def test_texts_of_another_layout_are_refused(compiled: TextKernels, kind: Any) -> None:
    """Their offsets would be read as others."""
    with pytest.raises(ValueError, match="StringArray"):
        compiled.hash(pa.array(["anna@larchpost.example"], kind))


def test_digests_of_valid_values_are_kept(compiled: TextKernels) -> None:
    """In their order; of none and of all, too."""
    digests = np.arange(5 * 32, dtype=np.uint8).reshape(5, 32)
    for codes in ([VALID, EMPTY, PENDING, VALID, VALID], [EMPTY] * 5, [VALID] * 5):
        of_rows = np.array(codes, dtype=np.int8)
        kept = compiled.keep_valid(of_rows, digests.copy())
        assert kept.tolist() == digests[of_rows == VALID].tolist()


def test_every_code_has_a_digest(compiled: TextKernels) -> None:
    """Nothing is read or written beyond the digests."""
    with pytest.raises(ValueError, match="a digest for each code"):
        compiled.keep_valid(np.zeros(6, dtype=np.int8), np.zeros((5, 32), dtype=np.uint8))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=12) | st.sampled_from(["DE", "AT", "Bosnia and Herzegovina"])), st.integers(0, 3))
def test_distinct_texts_are_numbered_as_arrow_does(compiled: TextKernels, texts: list[str], start: int) -> None:
    """As they come, and of a part of a column, too."""
    column = pa.array(texts, pa.string()).slice(start)
    found = compiled.number(column)
    assert found is not None
    encoded = column.dictionary_encode()
    assert found[0].tolist() == encoded.indices.to_pylist()
    assert column.take(pa.array(found[1])).equals(encoded.dictionary)


def test_many_distinct_texts_are_not_numbered(compiled: TextKernels) -> None:
    """Nor a column with nulls; and nothing that is no text."""
    texts = [str(number) for number in range(MOST_DISTINCT)]
    assert compiled.number(pa.array([*texts, *texts])) is not None
    assert compiled.number(pa.array([*texts, ""])) is None
    assert compiled.number(pa.array(["a", None])) is None
    with pytest.raises(ValueError, match="StringArray"):
        compiled.number(pa.array([1, 2]))


def test_no_text_is_read_outside_to_be_numbered(compiled: TextKernels) -> None:
    """Invalid offsets are a bug."""
    offsets = np.array([0, 99, 4], dtype=np.int32)
    with pytest.raises(Bug, match="index out of range"):
        compiled.number(pa.StringArray.from_buffers(2, pa.py_buffer(offsets), pa.py_buffer(b"DEAT")))
