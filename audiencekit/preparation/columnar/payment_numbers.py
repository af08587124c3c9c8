"""How many values of a column are written as numbers of payment cards and bank accounts, and how many of them check."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from audiencekit.identifiers.bare_numbers import MIN_LENGTH, PAYMENT_NUMBER, is_payment_number
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.preparation.columnar.checks import matches, trim_texts
from audiencekit.preparation.tally import PaymentNumbers

_WRITTEN: Final = rf"\A{PAYMENT_NUMBER}\z"
_LONGEST: Final = 44  # characters: 34 of an IBAN, with signs between groups of four and a few blanks
# Of a batch, evenly, since a share is wanted: so many of such lengths, and of those that are written so.
_TRIED: Final = 20_000
_LOOKED_AT: Final = 1_000


def count_payment_numbers(texts: Any) -> PaymentNumbers:
    """The counts of `texts` (pa.StringArray). Holds raw values: to be called from a guarded function only."""
    lengths = pc.binary_length(texts).to_numpy(zero_copy_only=False)
    fitting = _evenly(np.flatnonzero((lengths >= MIN_LENGTH) & (lengths <= _LONGEST)), _TRIED)
    likely = trim_texts(texts.take(arrow_array(fitting)))
    written = _evenly(np.flatnonzero(matches(likely, _WRITTEN)), _LOOKED_AT)
    looked_at = likely.take(arrow_array(written)).to_pylist()
    return PaymentNumbers(len(looked_at), sum(map(is_payment_number, looked_at)))


def _evenly(places: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    return places[:: max(1, -(-len(places) // most))]
