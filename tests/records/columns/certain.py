"""Values as the kernels decide them, and where that differs from the definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from audiencekit.identifiers.email import normalize_email
from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind, Rules
from audiencekit.identifiers.phone_number import normalize_phone_number
from audiencekit.kernels.library import find_library
from audiencekit.records.columns.arrays import Codes, Matrix
from benchmarks.differential import compare_plain
from benchmarks.values.kinds import decide_at_sight
from benchmarks.values.phone_numbers import Row

needs_kernels = pytest.mark.skipif(find_library() is None, reason="this installation has no kernels of this version")


def decided(texts: Any, kind: Kind, countries: Any = None, rules: Rules = DEFAULT_RULES) -> tuple[Codes, Matrix]:
    """Codes and hashes of `texts`."""
    found = decide_at_sight(texts, kind, countries, rules)
    assert found is not None
    return found


def differing_addresses(texts: Sequence[str]) -> list[int]:
    """The places of the addresses that the kernels decide otherwise than the definition."""
    found = decided(pa.array(list(texts), pa.string()), Kind.EMAIL)
    return compare_plain(*found, [normalize_email(text) for text in texts])


def decided_numbers(rows: Sequence[Row], rules: Rules = DEFAULT_RULES) -> tuple[Codes, Matrix]:
    """Codes and hashes of phone numbers, each with its country."""
    texts, countries = (pa.array(list(column), pa.string()) for column in zip(*rows, strict=True))
    return decided(texts, Kind.PHONE_NUMBER, countries, rules)


def differing_numbers(rows: Sequence[Row], rules: Rules = DEFAULT_RULES) -> list[int]:
    """The places of the phone numbers that the kernels decide otherwise than the definition."""
    answers = [normalize_phone_number(text, country=country, rules=rules) for text, country in rows]
    return compare_plain(*decided_numbers(rows, rules), answers)
