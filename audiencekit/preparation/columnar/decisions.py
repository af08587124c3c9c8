"""The decisions of the columnar path on the values of one column, and the values left to the definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Reason
from audiencekit.preparation.columnar.buffers import arrow_array

__all__ = ["FEW_ROWS", "PENDING", "REASONS", "UNDECIDED", "VALID", "Codes", "Decisions", "code_of", "put"]

FEW_ROWS: Final = 100  # so many texts of a column are put between slices of it sooner than all are taken anew

UNDECIDED: Final = -1
PENDING: Final = -2  # while a column is decided only: what comes last decides all
VALID: Final = 0

# A code above zero is an index into this table; the place of VALID holds None.
REASONS: Final[tuple[Reason | None, ...]] = (None, *Reason)

Codes = npt.NDArray[np.int8]

_CODES: Final = {reason: code for code, reason in enumerate(REASONS) if reason is not None}


def code_of(reason: Reason) -> int:
    """The code of `reason` in `Decisions.reasons`: its index in REASONS."""
    return _CODES[reason]


def put(texts: Any, rows: npt.NDArray[np.int64], others: Any) -> Any:
    """`texts` with `others` at `rows`, which ascend."""
    if len(rows) <= FEW_ROWS:
        return pa.concat_arrays(_spliced(texts, rows.tolist(), others)) if len(rows) else texts
    places = np.arange(len(texts), dtype=np.int32)
    places[rows] = np.arange(len(texts), len(texts) + len(rows), dtype=np.int32)
    return pa.concat_arrays([texts, others]).take(arrow_array(places))


def _spliced(texts: Any, rows: list[int], others: Any) -> Iterator[Any]:
    begin = 0
    for place, row in enumerate(rows):
        yield texts.slice(begin, row - begin)
        yield others.slice(place, 1)
        begin = row + 1
    yield texts.slice(begin)


@dataclass(frozen=True, slots=True, repr=False)
class Decisions:
    """Normalised texts and codes of one column, both of the length of the input.

    `normalized`: pa.StringArray, null unless decided valid. `reasons`: pa.Int8Array without nulls: UNDECIDED, VALID,
    or the index of a Reason in REASONS. Blank cells (null, and what the definition calls EMPTY) are decided EMPTY.
    Holds raw values: the repr shows none, and it refuses to be pickled.
    """

    normalized: Any
    reasons: Any

    @classmethod
    def of(cls, normalized: Any, codes: Codes) -> Decisions:
        """Decisions whose `normalized` is null wherever `codes` is not VALID, whatever `normalized` holds there."""
        if codes.size and codes.min() < UNDECIDED:
            raise ValueError("a value was neither decided nor left to the definition")
        kept = pc.if_else(arrow_array(codes == VALID), normalized, pa.scalar(None, pa.string()))
        return cls(kept, arrow_array(codes))

    @property
    def codes(self) -> Codes:
        """`reasons` as numpy sees it, without a copy."""
        codes: Codes = self.reasons.to_numpy(zero_copy_only=True)
        return codes

    @property
    def undecided(self) -> npt.NDArray[np.int64]:
        """The indices of the values that the definition has to decide."""
        return np.flatnonzero(self.codes == UNDECIDED)

    def __len__(self) -> int:
        return len(self.reasons)

    def __repr__(self) -> str:
        return f"<Decisions: {len(self)} values>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("decisions hold personal data and are not pickled")
