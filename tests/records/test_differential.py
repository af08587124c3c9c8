"""Two paths, one truth: 200,000 made-up values, and those of public corpora, decided by both (design 4.2)."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
import pytest

from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind, Reason
from audiencekit.records.batches import MappedColumn
from audiencekit.records.columns.arrays import REASONS
from audiencekit.records.records import normalize_column
from benchmarks.contacts import contact_blocks
from benchmarks.differential import BLOCK, compare, decide_block
from benchmarks.plain_loop import hash_email, hash_phone
from benchmarks.values.kinds import FRAGMENTS, KINDS, SPELLED, ValueKind
from tests.cases import each_case

# The definition takes its time over phone numbers, less over addresses, and hardly any over the rest.
COUNTS = {"email": 24_000, "phone_number": 10_000, "phone_number, possible": 2_000, "phone_number, digits": 2_000}
OTHERS = 34_000
SPELLINGS = 400  # of each: one block, and what is spelled so is left to the definition by one path or the other
MIXED = [kind for kind in KINDS if not kind.name.startswith((SPELLED, FRAGMENTS))]
SEED = 20_261_121


def _count(kind: ValueKind) -> int:
    return COUNTS.get(kind.name, OTHERS)


@pytest.mark.slow
@each_case("kind", MIXED)
def test_both_paths_say_the_same(kind: ValueKind) -> None:
    """No value of any kind is decided otherwise than by the definition."""
    blocks = [decide_block(kind.name, SEED, number) for number in range(_count(kind) // BLOCK)]
    differing = [index for block in blocks for index in block.differing]
    assert differing == [], f"python -m benchmarks.differential --show {kind.name!r} {SEED} INDEX shows the value"
    assert sum(block.decided for block in blocks) > _count(kind) // 10


def test_there_are_enough_values() -> None:
    """All kinds together are 200,000 values or more."""
    assert sum(map(_count, MIXED)) >= 200_000


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in MIXED], ids=lambda kind: kind.name)
def test_both_paths_say_the_same_of_each_category(kind: ValueKind) -> None:
    """Each spelling of real exports by its name, and cells of fragments that know of no kind."""
    found = decide_block(kind.name, SEED, 0, SPELLINGS)
    assert found.differing == (), f"python -m benchmarks.differential --show {kind.name!r} {SEED} INDEX shows the value"


@each_case("kind", MIXED)
def test_both_paths_say_the_same_of_public_corpora(kind: ValueKind, corpus_texts: list[str]) -> None:
    """The inputs of public test suites get the definition's answers, whatever kind they are mapped to."""
    texts, countries = pa.array(corpus_texts), pa.array([None] * len(corpus_texts), pa.string())
    assert compare(kind.decide(texts, countries), [kind.define(text, None) for text in corpus_texts]) == []


# Why a value that the plain loop hashes may get another answer here, or none: placeholders, and digits
# that are two valid numbers (identifiers/phone_number.py). Domains leave in ASCII here and not there.
REFUSED_BY_DESIGN = {Reason.PLACEHOLDER, Reason.NO_COUNTRY}
CONTACTS = 6_000


@pytest.fixture(scope="module")
def contacts() -> list[dict[str, str]]:
    """Rows of a generated contact list."""
    lines = io.StringIO("".join(block.decode() for block in contact_blocks(CONTACTS, SEED)), newline="")
    return list(csv.DictReader(lines, fieldnames=["email", "phone", "country"]))


def _hashed(kind: Kind, texts: list[str], countries: list[str] | None) -> dict[int, str | Reason]:
    """The hash in hex or the reason of each value, by row."""
    of_rows = pa.array(countries) if countries else None
    column = MappedColumn(kind=kind, position=0, name="values")
    found = normalize_column(pa.array(texts), column, countries=of_rows, rules=DEFAULT_RULES)
    hashes = [value.hex() for value in found.values.to_pylist()]
    answers: dict[int, str | Reason] = dict(zip(found.value_rows.tolist(), hashes, strict=True))
    for row, code in zip(found.rejected_rows.tolist(), found.rejected_codes.tolist(), strict=True):
        answers[row] = REASONS[code] or Reason.EMPTY
    return answers


def test_emails_have_the_hashes_of_the_plain_loop(contacts: list[dict[str, str]]) -> None:
    """Wherever the loop that people write accepts an address, and its domain is ASCII, the hash is the same."""
    texts = [row["email"] for row in contacts]
    ours, same = _hashed(Kind.EMAIL, texts, None), 0
    for row, text in enumerate(texts):
        theirs = hash_email(text)
        if theirs is not None and text.rpartition("@")[2].isascii() and ours[row] not in REFUSED_BY_DESIGN:
            assert ours[row] == theirs, row
            same += 1
    assert same > CONTACTS * 0.9


def test_phone_numbers_have_the_hashes_of_the_plain_loop(contacts: list[dict[str, str]]) -> None:
    """A number that the plain loop of most programs accepts has the same hash here, unless it is ambiguous."""
    texts, countries = [row["phone"] for row in contacts], [row["country"] for row in contacts]
    ours, same = _hashed(Kind.PHONE_NUMBER, texts, countries), 0
    for row, (text, country) in enumerate(zip(texts, countries, strict=True)):
        theirs = hash_phone(text, country)
        if theirs is not None and ours[row] not in REFUSED_BY_DESIGN:
            assert ours[row] == theirs, row
            same += 1
    assert same > CONTACTS * 0.5
