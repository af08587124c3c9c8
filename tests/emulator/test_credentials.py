"""Ids and credentials that follow from a seed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from audiencekit.emulator.credentials import base36, make_origin


@given(st.integers(min_value=0, max_value=2**80))
def test_base36_is_read_back_by_int(number: int) -> None:
    """The digits are the ones that `int` knows."""
    text = base36(number)
    assert int(text, 36) == number
    assert text == text.lower()


def test_a_seed_fixes_everything() -> None:
    """The same seed gives the same emulator, another seed another one."""
    assert make_origin(7) == make_origin(7)
    first, second = make_origin(7), make_origin(8)
    assert first.account_id != second.account_id
    assert first.credentials.access_token_secret != second.credentials.access_token_secret


@pytest.mark.parametrize("seed", [0, 1, -5, 2**70])
def test_credentials_are_plainly_local(seed: int) -> None:
    """They are plainly no real ones, and secrets are not in their repr."""
    credentials = make_origin(seed).credentials
    assert credentials.consumer_key.startswith("local")
    assert credentials.consumer_secret.startswith("local")
    assert credentials.access_token_secret.startswith("local")
    assert re.fullmatch(r"[0-9]{10}-local[A-Za-z0-9]+", credentials.access_token)
    assert credentials.consumer_secret not in repr(credentials)
    assert credentials.access_token_secret not in repr(credentials)
