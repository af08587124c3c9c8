"""Records -> the users of a body: which they are, and how long the entry of each will be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from audiencekit.destinations.requests.entries import Chosen, measure_entries
from audiencekit.personal import HashedRecords, Personal, guarded
from audiencekit.preparation.batches import ROW
from audiencekit.preparation.chunks import Counts
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.profile import Profile

# Fewer than one in so many records of a batch are taken out of it.
_FEW: Final = 8


class Entries(Personal[list[Chosen]]):
    """Records of some batches, whose entries follow one another."""


@dataclass(frozen=True, slots=True)
class EncodedUsers:
    """Some records as users of a body, in order, and their `rows` in the source."""

    rows: npt.NDArray[np.int64] = field(repr=False)
    entries: Entries

    @classmethod
    def joined(cls, parts: Iterable[EncodedUsers]) -> EncodedUsers:
        """All of `parts`, in order."""
        parts = list(parts)
        rows = [part.rows for part in parts] or [np.zeros(0, dtype=np.int64)]
        chosen = [chosen for part in parts for chosen in part.entries.unwrap()]
        return cls(np.concatenate(rows) if len(rows) > 1 else rows[0], Entries(chosen))


@guarded
def encode_users(records: HashedRecords, places: Counts, profile: Profile) -> EncodedUsers:
    """The records at `places` of a batch (RECORD_SCHEMA), in their order."""
    batch = records.unwrap()
    if 0 < len(places) < batch.num_rows // _FEW:
        # What is chosen holds its batch: of few records in each of many batches that would be all of them.
        batch, places = batch.take(arrow_array(places)), np.arange(len(places))
    return EncodedUsers(batch.column(ROW).to_numpy()[places], Entries([Chosen(batch, places, profile)]))


@guarded
def measure_users(records: HashedRecords, profile: Profile) -> npt.NDArray[np.int64]:
    """The bytes of each entry without its comma, as it will be written."""
    return measure_entries(records.unwrap(), profile)
