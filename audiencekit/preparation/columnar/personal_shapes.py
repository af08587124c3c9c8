"""How many values of a column are shaped like what no program writes as an id, and like what: of an even sample."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np

from audiencekit.identifiers.bare_numbers import KNOWN, readings_of
from audiencekit.identifiers.personal_shapes import number_behind_words, shape_of, words_in
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.preparation.recordbits import Indices
from audiencekit.preparation.tally import PersonalShapes

# Values of a batch, and of one of more than _MANY: a share is wanted, that of the whole list over many batches.
_LOOKED_AT, _LOOKED_AT_OF_MANY, _MANY = 128, 64, 10_000
_FIRST_TRIED: Final = 8  # numbers of many: to read one costs as much as to look at ten values
_REPEATED: Final = 0.3  # of the values have a word that is the column's own
_COUNTER_GAP: Final = 100_000  # between the numbers of a sample, and more: people's lie so far apart, counters do not
_TRUNKED: Final = 11  # digits: so many, behind a single zero, are hardly a counter
_FEW: Final = 3  # numbers, whose distances say nothing


def count_personal_shapes(texts: Any, countries: Any | None, default_country: str | None) -> PersonalShapes:
    """The counts of `texts` (pa.StringArray). `countries` (codes; None: no row names one) are those of the rows.

    Holds raw values: to be called from a guarded function only.
    """
    places = _evenly(len(texts), _LOOKED_AT_OF_MANY if len(texts) > _MANY else _LOOKED_AT)
    looked_at = texts.take(arrow_array(places)).to_pylist()
    with_word = Counter(word for text in looked_at for word in words_in(text))
    least = max(2, len(looked_at) * _REPEATED)
    repeated = {word for word, count in with_word.items() if count >= least}
    shapes = Counter(shape for text in looked_at if (shape := shape_of(text, repeated)))
    numbers = [number_behind_words(text) for text in looked_at]
    apart = np.flatnonzero(_lie_apart(numbers))
    # Behind words people have a number nearly always: of ids the first few show that the rest need no look.
    tried, readings = apart[:0], Counter[str]()
    for size in (len(apart),) if len(texts) <= _MANY else (_FIRST_TRIED, len(apart)):
        if len(tried) and max(readings.values(), default=0) + readings[KNOWN] < len(tried) - 1:
            break
        tried = apart[_evenly(len(apart), size)]
        regions = [None] * len(tried) if countries is None else countries.take(arrow_array(places[tried])).to_pylist()
        own = [region or default_country for region in regions]
        readings = Counter(
            name for n, c in zip(tried.tolist(), own, strict=True) for name in readings_of(numbers[n], c)
        )
    return PersonalShapes(len(looked_at), shapes, len(apart), len(tried), readings)


def _evenly(size: int, most: int) -> Indices:
    """Places among `size`, as many as `most`, evenly."""
    return np.arange(size) if size <= most else np.linspace(0, size - 1, most).astype(np.int64)


def _lie_apart(numbers: list[str]) -> list[bool]:
    """Which of `numbers` (empty: there is none) are no counter's; long ones behind a single zero never are."""
    by_size: dict[int, list[int]] = {}
    for digits in numbers:
        by_size.setdefault(len(digits), []).append(int(digits or 0))
    apart = {
        size: len(of_size) < _FEW or max(of_size) - min(of_size) > len(of_size) * _COUNTER_GAP
        for size, of_size in by_size.items()
    }
    return [bool(digits) and (apart[len(digits)] or _is_trunked(digits)) for digits in numbers]


def _is_trunked(digits: str) -> bool:
    return len(digits) >= _TRUNKED and digits[0] == "0" != digits[1]
