"""The share of phone numbers in a list of digits."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from audiencekit.preparation.columnar.bare_numbers import count_bare_numbers
from audiencekit.preparation.phone_share import PhoneShare, find_phone_share
from tests.numberlists import IDS, PHONES


def _found(values: list[str]) -> PhoneShare:
    return find_phone_share(count_bare_numbers(pa.array(values), None, None))


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_the_share_is_found(share: float) -> None:
    """Of a list of which it is known, within a fifth: nearly each number of ten digits is one of some country."""
    chance = random.Random(4)
    phones = PHONES["American, British, Indian, Australian"](chance, int(2_000 * share))
    ids = IDS["random, 10 digits"](chance, 2_000 - len(phones))
    assert _found(phones + ids).share == pytest.approx(share, abs=0.2)


def test_evidence_grows_with_the_list() -> None:
    """And there is none of ids."""
    make = PHONES["German, British and French"]
    few, many = (_found(make(random.Random(1), size)).evidence for size in (50, 500))
    assert many > few > 10
    assert _found(IDS["random, 9 digits"](random.Random(1), 500)).evidence < 10
