"""Every class of faults makes a wrong digest of some value, and none of a value that it says nothing of."""

from __future__ import annotations

import hashlib
from itertools import combinations

import pytest

from audiencekit.conformance.fault_classes import BY_CODE, CLASSES, FaultClass, Step, Value, add_up, digests
from audiencekit.identifiers.kinds import Kind

# Values of which at least one shows each fault.
RAW = {
    Kind.EMAIL: (
        *(" Ada.I+x@Example.com", "\xa0ada@example.com", "\u200bada@example.com", "\ufeffada@example.com"),
        *('"ada@example.com"', "'ada@example.com", "mailto:ada@example.com", "<ada@example.com>", "ada@example.com;"),
        *('=HYPERLINK("mailto:ada@example.com","ada@example.com")', "ada@bücher.example.com", "zoe\u0308@example.com"),
        *("a.b@googlemail.com", "zoë@example.com", "o'b@example.com", "ada@example.com, bo@example.com", "", "null"),
        *("a" * 63 + "1", "Ada <ada@example.com>", "ada@shop.test", "=A1", "a\u200bda@example.com", "ada"),
    ),
    Kind.PHONE_NUMBER: ("030 23125 017", "+49 (30) 23125-018", "+4930123456 x12", "+4911", "tel:+493023125019"),
    Kind.DEVICE_ID: ("{0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0}",),
    Kind.HANDLE: ("@Jun_Jarl", "https://x.com/jun_jarl"),
    Kind.PLATFORM_ID: ("0090000000007", "9007199254740993"),
}
VALUES = [Value(kind, raw, "DE" if raw[:1] == "0" else None) for kind, texts in RAW.items() for raw in texts]
VALUES.append(Value(Kind.PHONE_NUMBER, "030 23125 017"))


@pytest.mark.parametrize("fault", CLASSES, ids=lambda fault: fault.code)
def test_every_class_makes_a_wrong_digest(fault: FaultClass) -> None:
    """Of a value of one of its kinds."""
    made = {
        digest
        for value in VALUES
        if value.kind in fault.kinds
        for digest in digests(value, frozenset({fault}))
        if value.normalised is None or digest != hashlib.sha256(value.normalised.encode()).hexdigest()
    }
    assert made


def test_a_pipeline_without_faults_gives_the_right_digest_alone() -> None:
    """And none of a refused value."""
    for value in VALUES:
        right = [] if value.normalised is None else [hashlib.sha256(value.normalised.encode()).hexdigest()]
        assert list(digests(value, frozenset())) == right


def test_codes_are_distinct_and_each_class_has_its_line() -> None:
    """A report names them."""
    assert len(BY_CODE) == len(CLASSES) > 40
    assert all(one.message and one.remedy for one in CLASSES)


def test_faults_of_one_step_that_has_one_way_do_not_add_up() -> None:
    """A pipeline makes one digest, in one form."""
    for one, other in combinations(CLASSES, 2):
        is_single = one.step is other.step and one.step not in (Step.TAKE_OFF, Step.WRITE)
        assert add_up((one, other)) is not is_single


def test_a_long_value_is_passed_over() -> None:
    """Each class would look through it."""
    long = Value(Kind.EMAIL, "ada@example.com" + " " * 100_000)
    assert list(digests(long, frozenset({BY_CODE["white_space"]}))) == []
