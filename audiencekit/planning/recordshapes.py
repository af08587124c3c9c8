"""The shapes of records: how many values of each kind they have, from which the length of a user follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.destinations.requests.requestplan import Sizes
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import SHA256_BYTES
from audiencekit.personal import HashedRecords
from audiencekit.preparation.columnar.buffers import arrow_array, hash_array, list_array
from audiencekit.preparation.recordbits import Indices
from audiencekit.preparation.records import RECORD_SCHEMA, VALUE_TYPES

Counts = npt.NDArray[np.int64]

_KIND_BITS: Final = 63 // len(Kind)  # of a number that stands for a shape


@dataclass(frozen=True, slots=True)
class Shapes:
    """The distinct lines of some counts, a column for each kind; which of them each line is, and how often it came."""

    distinct: Counts = field(repr=False)
    which: Indices = field(repr=False)
    records: Indices = field(repr=False)

    @classmethod
    def of(cls, counts: Counts) -> Self:
        """Those of `counts`. Few records have other shapes than most: to sort a number for each costs least."""
        if counts.max(initial=0) >= 2**_KIND_BITS:
            distinct, which, records = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
            return cls(distinct, which.reshape(-1), records)
        shifts = _KIND_BITS * np.arange(len(Kind))
        numbers, records = np.unique(found := counts @ (1 << shifts), return_counts=True)
        return cls(numbers[:, None] >> shifts & 2**_KIND_BITS - 1, np.searchsorted(numbers, found), records)

    def kinds(self) -> list[int]:
        """The kinds of each distinct shape, a bit for each in their order, as in `Tally.combinations`."""
        found: list[int] = ((self.distinct > 0) @ (1 << np.arange(len(Kind)))).tolist()
        return found


class LengthsOfShapes:
    """The bytes of users by their shapes: a hash is as long as any other. Each shape is measured once."""

    def __init__(self, measure: Callable[[HashedRecords], Sizes]) -> None:
        self._measure = measure
        self._known: dict[bytes, int] = {}

    def of(self, shapes: Shapes) -> Indices:
        """The bytes of each record of `shapes`, whose values are hashes."""
        keys = [shape.tobytes() for shape in shapes.distinct]
        unknown = [place for place, key in enumerate(keys) if key not in self._known]
        if unknown:
            measured = self._measure(_records_of(shapes.distinct[unknown]))
            self._known.update(zip((keys[place] for place in unknown), measured.tolist(), strict=True))
        return np.array([self._known[key] for key in keys], dtype=np.int64)[shapes.which]


def _records_of(shapes: Counts) -> HashedRecords:
    """A batch of records with so many values of each kind; which they are does not matter."""
    lists = []
    for counts, (kind, value_type) in zip(shapes.T, VALUE_TYPES.items(), strict=True):
        size = int(counts.sum())
        values = hash_array(np.zeros((size, SHA256_BYTES), dtype=np.uint8)) if kind.is_hashed else pa.repeat("x", size)
        lists.append(list_array(counts, values) if size else pa.nulls(len(shapes), pa.list_(value_type)))
    rows, deletes = np.arange(1, len(shapes) + 1), np.zeros(len(shapes), dtype=bool)
    return HashedRecords(pa.record_batch([arrow_array(rows), arrow_array(deletes), *lists], schema=RECORD_SCHEMA))
