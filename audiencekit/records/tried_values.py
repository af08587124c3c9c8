"""The rejected values of one column of a batch on which options were tried, and the people that each option saves.

A person is a row. It is lost when none of its values qualified, for every reason that one of them was rejected for: an
option that saves any of them saves the person.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow.compute as pc

from audiencekit.identifiers.kind_table import likely_kind
from audiencekit.identifiers.kinds import Reason
from audiencekit.records.columns.arrays import REASONS, Codes, arrow_array
from audiencekit.records.record_bits import Bools, Indices
from audiencekit.records.tally import ColumnTally, Trials


@dataclass(slots=True)
class TriedValues:
    """The places of values in a column: of those tried, by reason, and of those saved, by reason and option."""

    trials: Trials = field(default_factory=Trials)
    tried: dict[str, Indices] = field(default_factory=dict)
    saved: dict[tuple[str, str], Indices] = field(default_factory=dict)

    def add(self, reason: Reason, places: Indices) -> None:
        """Note values that were tried."""
        self.tried[reason] = places
        self.trials.tried[reason] += len(places)

    def save(self, reason: Reason, option: str, saved: Bools) -> None:
        """Note which of the values of `reason` an option saves."""
        if count := int(np.count_nonzero(saved)):
            self.trials.saved[reason, option] += count
            self.saved[reason, option] = self.tried[reason][saved]

    def count_people(self, is_lost: Bools, rejected: tuple[Indices, Codes], rows: Indices | None) -> None:
        """Count the rows that are lost, of the rejected values (their rows and codes), of those tried and those saved.

        `rows` are those of all values of the column; without them each row has one.
        """
        of_values = np.arange(len(is_lost)) if rows is None else rows
        rejected_rows, codes = rejected
        by_reason = {Reason(REASONS[code] or ""): rejected_rows[codes == code] for code in np.unique(codes).tolist()}
        _count(self.trials.people, by_reason, is_lost)
        _count(self.trials.people_tried, {key: of_values[at] for key, at in self.tried.items()}, is_lost)
        _count(self.trials.people_saved, {key: of_values[at] for key, at in self.saved.items()}, is_lost)


def _count(counts: Counter[Any], rows_of: Mapping[Any, Indices], is_lost: Bools) -> None:
    for key, rows in rows_of.items():
        if lost := int(np.count_nonzero(is_lost[np.unique(rows)])):
            counts[key] += lost


# Rejected values per column and batch that are asked which kind they look like, where so many were rejected that the
# column may be another's: when a whole source has too many, one of its batches has.
LOOKED_AT: Final = 50
_LOOKED_THROUGH: Final = 4_096  # bytes of a value; a longer one is a text, whatever stands in it

_OTHER_HASH: Final = re.compile("(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{128})")  # MD5, SHA-1, SHA-512


def count_lookalikes(tally: ColumnTally, texts: Any, countries: Any | None, rejected: Indices) -> None:
    """Count into `tally` what the first of the `rejected` values look like; each distinct one is judged once.

    Holds raw values: to be called from a guarded function only.
    """
    looked_at = arrow_array(rejected[:LOOKED_AT])
    places = looked_at.filter(pc.less_equal(pc.binary_length(texts.take(looked_at)), _LOOKED_THROUGH))
    where = countries.take(places).to_pylist() if countries is not None else [None] * len(places)
    for (text, country), count in Counter(zip(texts.take(places).to_pylist(), where, strict=True)).items():
        tally.other_hashes += count * (_OTHER_HASH.fullmatch(text.strip()) is not None)
        if (kind := likely_kind(text, country=country)) is not None:
            tally.likely[kind] += count
