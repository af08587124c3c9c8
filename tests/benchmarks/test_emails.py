"""Invented addresses: every clean one is valid."""

from __future__ import annotations

from email_validator import validate_email

from benchmarks.draws import Draws
from benchmarks.emails import Emails


def test_every_clean_address_is_valid_as_it_stands() -> None:
    """In lower case, and in NFC, as email-validator normalises it."""
    addresses = Emails().clean(Draws(1, 0, 2_000)).to_pylist()
    assert [validate_email(address, check_deliverability=False).normalized for address in addresses] == addresses
    assert all(address == address.lower() for address in addresses)
