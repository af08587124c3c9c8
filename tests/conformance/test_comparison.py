"""Faults that are seeded into a right pipeline are named.

FAULT_COPIES sets how often the ten people of a list are in it (1), each time with another address, such as 100000.
"""

from __future__ import annotations

import hashlib
import os
from typing import Final

import pyarrow as pa
import pytest

from audiencekit.conformance.comparison import Pairs, compare
from audiencekit.conformance.verifying import verify
from audiencekit.identifiers.kinds import Kind
from tests.conformance.pipelines import FAULTS, made, people, random_pairs, refused
from tests.shortened import shortened

COPIES: Final = int(os.environ.get("FAULT_COPIES", "1"))


def _found(faults: tuple[str, ...]) -> set[str]:
    raw = pa.concat_tables([people(COPIES), refused(faults, COPIES)])
    verification = verify(raw, made(faults, COPIES))
    return {fault.code for fault in verification.faults}


def test_at_least_forty_faults_are_seeded() -> None:
    """The number that the page names."""
    assert len(FAULTS) >= 40


@pytest.mark.parametrize("copies", [COPIES, pytest.param(2_000, marks=pytest.mark.slow)])
def test_a_right_pipeline_has_no_fault(copies: int) -> None:
    """Nor is there one in another order."""
    right = made((), copies)
    for digests in (right, right.take(pa.array(range(right.num_rows - 1, -1, -1)))):
        verification = verify(people(copies), digests)
        assert (verification.verdict, verification.faults) == ("right", ())
        assert verification.right == 10 * copies


@pytest.mark.parametrize("step", shortened([3, 1], 1))
def test_a_single_fault_is_named_alone(step: int) -> None:
    faults = list(FAULTS)[::step]
    assert {fault: _found((fault,)) for fault in faults} == {fault: {fault} for fault in faults}


@pytest.mark.parametrize(("fault", "other"), shortened(random_pairs(200, seed=49), 10))
def test_both_faults_of_a_pair_are_named(fault: str, other: str) -> None:
    assert _found((fault, other)) == {fault, other}


@pytest.mark.parametrize(("counted", "is_estimate"), [(100, True), (200, False)])
def test_faults_of_many_values_are_counted_in_a_part(counted: int, is_estimate: bool) -> None:
    """Every other one has one of two: the counts are those of all values, and near by where a part was counted."""
    texts = [f"P{number}@example.com" for number in range(200)]
    digests = [
        hashlib.md5(text.lower().encode(), usedforsecurity=False).hexdigest()
        if number % 2
        else hashlib.sha256(text.encode()).hexdigest()
        for number, text in enumerate(texts)
    ]
    found = compare(Pairs(kind=Kind.EMAIL, texts=pa.array(texts), actual=pa.array(digests), counted=counted),
                    same_rows=True)  # fmt: skip
    assert set(found.counts) == {"case", "md5"}
    assert found.is_estimate == is_estimate
    assert all(abs(count - 100) <= (25 if is_estimate else 0) for count in found.counts.values())
