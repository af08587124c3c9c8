"""Numbers of cards and accounts. The right ones are examples that issuers and the registry of IBANs publish."""

from __future__ import annotations

import pytest

from audiencekit.identifiers.payment_numbers import is_payment_number

RIGHT = [
    "4111111111111111", "4012 8888 8888 1881", "5555-5555-5555-4444", "2223003122003222", "378282246310005",
    "3782 822463 10005", "6011111111111117", "3530111333300000", "30569309025904", "36227206271667", "6200000000000005",
    "DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819", "gb29nwbk60161331926819",
    "FR1420041010050500013M02606", "NO9386011117947", "MT84MALT011000012345MTLCAST001S", "BE68 5390 0754 7034",
]  # fmt: skip
WRONG = [
    "4111111111111112", "9111111111111111", "41111111111111", "4111111111111111111", "DE88370400440532013000",
    "DE8937040044053201300", "XX89370400440532013000", "crm-4711", "", "490154203237518", "GB29NWBK6016133192681٩",
]  # fmt: skip


@pytest.mark.parametrize("text", RIGHT)
def test_right_numbers(text: str) -> None:
    """Of every issuer, in groups or not."""
    assert is_payment_number(text)


@pytest.mark.parametrize("text", WRONG)
def test_other_numbers(text: str) -> None:
    """A wrong check digit, prefix, length or country, and serial numbers of devices, which have check digits, too."""
    assert not is_payment_number(text)
