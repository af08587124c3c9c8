"""The vectors are made forward, and the definition agrees with each."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections import Counter
from itertools import islice

import phonenumbers
import pytest

from audiencekit.conformance.rule_sets import RULE_SETS
from audiencekit.conformance.vectors import FILE, PLACES, Vector, read_vectors
from audiencekit.errors import UsageError
from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.kinds import Kind, Reason, accept_hashed
from generators.vectors import vectors
from tests.cases import each_case

# Reasons of rows, of files, of the service and of whole columns: no single value has them.
NOT_OF_VALUES = {
    *(Reason.NOT_TEXT, Reason.RAGGED, Reason.ENCODING, Reason.TOO_LARGE, Reason.UNKNOWN_OPERATION),
    *(Reason.NO_IDENTIFIER, Reason.SHARED, Reason.REFUSED_BY_SERVICE),
}


def _by_definition(vector: Vector) -> tuple[str | None, str | None]:
    """Digest (of a partner user id the text) and reason."""
    if vector.declared_hashed:
        ruling = accept_hashed(vector.input)
        return (None, ruling.value) if isinstance(ruling, Reason) else (ruling, None)
    decided = normalize_identifier(vector.kind, vector.input, country=vector.country)
    if isinstance(decided, Reason):
        return None, decided.value
    return hashlib.sha256(decided.encode()).hexdigest() if vector.kind.is_hashed else decided, None


@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_the_definition_agrees_with_each_vector(step: int, every_vector: list[Vector]) -> None:
    """Which was made without it."""
    own = every_vector[::step]
    assert {vector.kind for vector in own} == set(Kind)
    expected = {
        vector.id: (vector.digest if vector.kind.is_hashed else vector.normalised, vector.reason) for vector in own
    }
    assert {vector.id: _by_definition(vector) for vector in own} == expected


def test_there_are_vectors_of_each_reason_spelling_and_region(every_vector: list[Vector]) -> None:
    """And at least 20,000, each once."""
    assert len({vector.id for vector in every_vector}) == len(every_vector) >= 20_000
    assert {vector.reason for vector in every_vector} == {None, *(set(Reason) - NOT_OF_VALUES)}
    assert {vector.spelling for vector in every_vector} == set(PLACES)
    regions = Counter(
        phonenumbers.region_code_for_number(phonenumbers.parse(vector.normalised, None))
        for vector in every_vector
        if vector.kind is Kind.PHONE_NUMBER and vector.normalised
    )
    # To phonenumbers each number of Western Sahara is one of Morocco.
    assert set(regions) == set(phonenumbers.SUPPORTED_REGIONS) - {"EH"}


def test_no_address_is_a_persons(every_vector: list[Vector]) -> None:
    """Gmail's names have six letters at least; all other domains are reserved."""
    for vector in every_vector:
        if vector.kind is Kind.EMAIL and vector.normalised:
            local, _, domain = vector.normalised.rpartition("@")
            is_short = domain == "gmail.com" and len(re.sub(r"\+.*|\.", "", local)) < 6
            assert is_short or re.search(r"(^|\.)example\.(com|net|org)$", domain)


def test_the_stored_vectors_are_those_that_are_generated() -> None:
    """`python -m generators` writes them anew. Another version of phonenumbers may draw other numbers."""
    from importlib.resources import files

    stored = gzip.decompress((files("audiencekit.conformance") / FILE).read_bytes()).decode().splitlines()
    others = [line for line in map(json.loads, stored) if line[0] != "phone_number"]
    assert others == [list(line) for line in vectors() if line[0] != "phone_number"]


@each_case(
    "rule_set, text, expected",
    [
        ("uid2", "JaneSaoirse+Work@gmail.com", None),  # its name could be a person's: it is not among the vectors
        ("x", "ada@example.com", "ada@example.com"),
    ],
)
def test_a_rule_set_has_its_own_results(rule_set: str, text: str, expected: str | None) -> None:
    """Only of kinds and spellings of which its page speaks."""
    own = list(read_vectors(rule_set))
    assert {vector.kind for vector in own} <= RULE_SETS[rule_set].kinds
    assert not [vector for vector in own if vector.reason]
    assert [vector.normalised for vector in own if vector.input == text] == ([expected] if expected else [])


@each_case(
    "rule_set, kind, normalised, changed",
    [
        ("uid2", Kind.EMAIL, "janesaoirse@gmail.com", "JANE.SAOIRSE+Work@gmail.com"),
        ("uid2", Kind.EMAIL, "janesaoirse+work@example.com", "janesaoirse+work@example.com"),
        ("tiktok", Kind.EMAIL, "ada@example.com", "ada+news@example.com"),
        ("tiktok", Kind.PHONE_NUMBER, "16577770000", "+16577770000"),
        ("google", Kind.PHONE_NUMBER, "+16577770000", "+16577770000"),
    ],
)
def test_the_changes_of_a_rule_set_are_those_of_its_page(
    rule_set: str, kind: Kind, normalised: str, changed: str
) -> None:
    """By the examples of the pages, of which the specification's rule has already made lower case."""
    change = RULE_SETS[rule_set].changes.get(kind, str)
    assert change(changed.lower()) == normalised


def test_the_digest_of_uid2_is_base64() -> None:
    """Its page prints this one."""
    digest = hashlib.sha256(b"janesaoirse@gmail.com").hexdigest()
    assert RULE_SETS["uid2"].encode(digest) == "ku4mBX7Z3qJTXWyLFB1INzkyR2WZGW4ANSJUiW21iI8="


def test_a_disputed_kind_is_marked() -> None:
    """X's page has no rule for phone numbers."""
    for vector in islice(read_vectors("x"), 0, None, 97):
        assert vector.disputed == (vector.kind is Kind.PHONE_NUMBER)


def test_an_unknown_rule_set_is_refused() -> None:
    """The message names those that there are."""
    with pytest.raises(UsageError, match="rule set"):
        list(read_vectors("meta"))
