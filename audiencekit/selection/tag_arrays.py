"""Tags, entries and slots as arrays, which both implementations of `TAG_LOOPS` take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

TAG: Final = np.dtype([("high", "<u8"), ("low", "<u8")])
# A tag and its record, counted from 0 over the whole run. Nothing stands between: all of them are put aside and read
# again, and that takes longer than anything else that is done with them.
ENTRY: Final = np.dtype([("high", "<u8"), ("low", "<u8"), ("record", "<u4")])
HALF_BYTES: Final = 16  # of a hash, that a tag is made of

Tags: TypeAlias = npt.NDArray[np.void]
Entries: TypeAlias = npt.NDArray[np.void]
Places: TypeAlias = npt.NDArray[np.int64]
Offsets: TypeAlias = npt.NDArray[np.int32]
Slots: TypeAlias = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class OrderedTags:
    """Tags and their records, counted from the first of their batch; without `records` each tag has one of its own.

    `order` is that of their parts, and within a part as they came; `ends` of each part.
    """

    tags: Tags = field(repr=False)
    records: Places | None = field(repr=False)
    order: npt.NDArray[np.uint32] = field(repr=False)
    ends: Places = field(repr=False)


class PartOfSlots(NamedTuple):
    """A part of all slots: those of which so many first bits are this number."""

    bits: int
    number: int
