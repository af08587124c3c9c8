"""The kinds and digests that rejected values look like, by which a column is noticed that is another's."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

import pyarrow.compute as pc

from audiencekit.identifiers.kind_table import likely_kind
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.preparation.recordbits import Indices
from audiencekit.preparation.tally import ColumnTally

# Rejected values per column and batch that are asked which kind they look like, where so many were rejected that the
# column may be another's: when a whole source has too many, one of its batches has.
_LOOKED_AT: Final = 50
_LOOKED_THROUGH: Final = 4_096  # bytes of a value; a longer one is a text, whatever stands in it

_OTHER_HASH: Final = re.compile("(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{128})")  # MD5, SHA-1, SHA-512


def count_lookalikes(tally: ColumnTally, texts: Any, countries: Any | None, rejected: Indices) -> None:
    """Count into `tally` what the first of the `rejected` values look like; each distinct one is judged once.

    Holds raw values: to be called from a guarded function only.
    """
    looked_at = arrow_array(rejected[:_LOOKED_AT])
    places = looked_at.filter(pc.less_equal(pc.binary_length(texts.take(looked_at)), _LOOKED_THROUGH))
    where = countries.take(places).to_pylist() if countries is not None else [None] * len(places)
    for (text, country), count in Counter(zip(texts.take(places).to_pylist(), where, strict=True)).items():
        tally.other_hashes += count * (_OTHER_HASH.fullmatch(text.strip()) is not None)
        if (kind := likely_kind(text, country=country)) is not None:
            tally.likely[kind] += count
