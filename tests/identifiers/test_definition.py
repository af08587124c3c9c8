"""The one door to all six rules."""

from __future__ import annotations

import random
import subprocess
import sys
from types import FrameType

from hypothesis import given, strategies as st

from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.kinds import Kind, Reason, Rules
from benchmarks.values.fragments import fill_cell
from tests.cases import each_case
from tests.examples import examples

ONE_OF_EACH = {
    Kind.EMAIL: (" Ada@Example.com", "ada@example.com"),
    Kind.PHONE_NUMBER: ("+49 1511 2345678", "+4915112345678"),
    Kind.DEVICE_ID: ("AF3802A465767E36", "af3802a465767e36"),
    Kind.HANDLE: ("@Ada", "ada"),
    Kind.PLATFORM_ID: ("00143567", "143567"),
    Kind.PARTNER_USER_ID: (" Puid1", " Puid1"),
}


@each_case("kind", Kind)
def test_each_kind_has_its_rule(kind: Kind) -> None:
    """Every kind normalises by its own rule."""
    text, expected = ONE_OF_EACH[kind]
    assert normalize_identifier(kind, text) == expected


@each_case("kind", Kind)
def test_nothing_is_empty_and_null_a_placeholder_for_every_kind(kind: Kind) -> None:
    """Cells without a value have the same reason everywhere."""
    assert normalize_identifier(kind, "") is Reason.EMPTY
    assert normalize_identifier(kind, "\ufeff \t") is Reason.EMPTY
    assert normalize_identifier(kind, " NULL ") is Reason.PLACEHOLDER
    assert normalize_identifier(kind, "#N/A") is Reason.PLACEHOLDER


@each_case("kind", [kind for kind in Kind if kind.is_hashed])
def test_a_hash_in_a_raw_column_is_never_hashed_again(kind: Kind) -> None:
    """A SHA-256 is refused by every kind that is hashed, in either case."""
    assert normalize_identifier(kind, "0a" * 32) is Reason.ALREADY_HASHED
    assert normalize_identifier(kind, " " + "0A" * 32) is Reason.ALREADY_HASHED


def test_country_and_rules_reach_the_rules() -> None:
    """Phone numbers see the row's country, and both switches are passed on."""
    rules = Rules(phone_form="digits", device_id_case="as_given")
    assert normalize_identifier(Kind.PHONE_NUMBER, "0151 12345678", country="Germany") == "+4915112345678"
    assert normalize_identifier(Kind.PHONE_NUMBER, "+4915112345678", rules=rules) == "4915112345678"
    assert normalize_identifier(Kind.DEVICE_ID, "AF3802A465767E36", rules=rules) == "AF3802A465767E36"


@given(st.sampled_from(Kind), st.text(st.characters(exclude_categories=())), st.none() | st.text(max_size=8))
def test_any_text_of_any_kind_gives_a_value_or_a_reason(kind: Kind, text: str, country: str | None) -> None:
    """Nothing raises, and a normalised value is a fixed point that UTF-8 can hold."""
    once = normalize_identifier(kind, text, country=country)
    if not isinstance(once, Reason):
        assert once.encode()
        assert normalize_identifier(kind, once) == once


@each_case("module", ["kinds", "countries", "texts"])
def test_light_modules_load_no_metadata(module: str) -> None:
    """Modules that the help of the command line imports load neither phonenumbers nor email-validator."""
    program = (
        f"import sys, audiencekit.identifiers.{module}\n"
        "sys.exit(bool({'phonenumbers', 'email_validator'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def _calls(kind: Kind, text: str) -> int:
    """How many calls of functions, in Python and C, one decision takes."""
    count = 0

    def note(frame: FrameType, event: str, function: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        normalize_identifier(kind, text)
    finally:
        sys.setprofile(None)
    return count


@each_case("kind", Kind)
def test_a_long_cell_takes_no_more_steps_than_a_short_one(kind: Kind) -> None:
    """Whatever is repeated: no rule goes through a long cell in Python, so the work of each call is one of C's.

    The generator knows no rule. What patterns take is measured by `python -m benchmarks.long_cells`.
    """
    for seed in range(examples(120)):
        short, long = (fill_cell(random.Random(seed), size) for size in (3_000, 30_000))
        normalize_identifier(kind, short)  # what is remembered, and what is made once
        assert _calls(kind, long) <= _calls(kind, short) + 2, seed
