"""The kinds and digests that rejected values look like."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa

from audiencekit.identifiers.kinds import Kind
from audiencekit.records.tally import ColumnTally
from audiencekit.records.tried_values import count_lookalikes
from tests.cases import each_case

EMAIL, NUMBER = "anna@larchpost.example", "(201) 555-0123"


def _count(texts: list[str], rejected: list[int], countries: Any = None) -> ColumnTally:
    tally = ColumnTally()
    count_lookalikes(tally, pa.array(texts), countries, np.array(rejected, dtype=np.int64))
    return tally


def test_rejected_values_are_counted_by_kind() -> None:
    """Each as often as it stands there; others are not looked at."""
    tally = _count([EMAIL, EMAIL, "bob@larchpost.example", "nothing"], [0, 1, 3])
    assert (tally.likely, tally.other_hashes) == (Counter({Kind.EMAIL: 2}), 0)


@each_case("digits, count", [(32, 1), (40, 1), (128, 1), (64, 0), (31, 0)])
def test_digests_that_the_service_does_not_take_are_counted(digits: int, count: int) -> None:
    """MD5, SHA-1 and SHA-512 by their lengths, in any case."""
    assert _count([f" {'aB0' * digits}"[: digits + 1]], [0]).other_hashes == count


def test_the_country_of_the_row_tells_a_number() -> None:
    """Without one these digits can be anything."""
    assert _count([NUMBER], [0]).likely == Counter()
    assert _count([NUMBER], [0], pa.array(["US"])).likely == Counter({Kind.PHONE_NUMBER: 1})


def test_long_texts_and_many_values_are_not_looked_through() -> None:
    """The first fifty are enough, and a page of text is no identifier."""
    assert _count([EMAIL] * 70, list(range(70))).likely == Counter({Kind.EMAIL: 50})
    assert _count([EMAIL + " " * 5_000], [0]).likely == Counter()
