"""Counting numbers of cards and accounts in bulk."""

from __future__ import annotations

import pyarrow as pa

from audiencekit.preparation.columnar.payment_numbers import count_payment_numbers
from audiencekit.preparation.tally import PaymentNumbers


def test_those_that_are_written_so_and_those_that_check() -> None:
    """With white space at their ends; other ids are not looked at."""
    texts = ["4111111111111111", " 4111 1111 1111 1111 ", "4111111111111112", "DE89370400440532013000", "crm-1", ""]
    assert count_payment_numbers(pa.array(texts)) == PaymentNumbers(looked_at=4, right=3)
    assert count_payment_numbers(pa.array([], pa.string())) == PaymentNumbers()


def test_of_many_a_thousand_are_looked_at() -> None:
    """Evenly over the batch, so that the share is that of all."""
    texts = ["4111111111111111"] * 5_000 + ["4111111111111112"] * 5_000
    assert count_payment_numbers(pa.array(texts)) == PaymentNumbers(looked_at=1_000, right=500)
