"""Partner user ids that look like personal data are refused by the numbers of their column."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from audiencekit.identifiers.kinds import Kind
from audiencekit.preparation.batches import MappedColumn
from audiencekit.preparation.columnar.bare_numbers import count_bare_numbers
from audiencekit.preparation.partner_ids import judge_partner_ids
from audiencekit.preparation.tally import ColumnTally, PaymentNumbers
from tests.numberlists import IDS, PHONES

COLUMN = MappedColumn(kind=Kind.PARTNER_USER_ID, position=0, name="id")


def _is_refused(numbers: list[str], others: int = 0) -> bool:
    counted = count_bare_numbers(pa.array(numbers), None, None)
    return bool(judge_partner_ids(COLUMN, ColumnTally(valid=len(numbers) + others, bare_numbers=counted)))


def test_a_few_numbers_among_other_ids_are_chance() -> None:
    """Of hexadecimal ids some have no letter; hundreds that are all of one country are no chance."""
    american = PHONES["American and Indian"](random.Random(1), 200)
    assert _is_refused(american, others=100_000)
    assert not _is_refused(american[:3], others=400)
    assert _is_refused(american[:3])


@pytest.mark.parametrize(("looked_at", "right", "valid", "expected"), [
    (100, 60, 100, True), (100, 50, 100, False), (3, 3, 3, True), (3, 3, 100, False), (30, 20, 9_000, True),
])  # fmt: skip
def test_accounts_by_their_share(looked_at: int, right: int, valid: int, expected: bool) -> None:
    """Of what is written so, and ten at least, or most of the column."""
    seen = ColumnTally(valid=valid, payment_numbers=PaymentNumbers(looked_at, right))
    assert bool(judge_partner_ids(COLUMN, seen)) is expected


def test_batches_are_judged_together() -> None:
    """The counts of two add up to those of the whole."""
    values = PHONES["of the world"](random.Random(2), 400) + IDS["random, 9 digits"](random.Random(2), 400)
    whole = count_bare_numbers(pa.array(values), None, None)
    added = count_bare_numbers(pa.array(values[:100]), None, None)
    added.add(count_bare_numbers(pa.array(values[100:]), None, None))
    assert added == whole


def test_times_are_not_of_bangladesh() -> None:
    """A third of its numbers begin later than any time does."""
    assert not _is_refused(IDS["Unix times"](random.Random(1), 300))
    numbers = [f"1{start}{n:08}" for n in range(1_000_000, 1_000_060) for start in "35789"]
    assert _is_refused(numbers)
