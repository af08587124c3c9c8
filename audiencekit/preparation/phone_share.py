"""Which share of a column's bare digits are phone numbers of several countries.

A number of ten digits may well be a person's: nearly each is, in one large country or another. Of a whole list the
spread tells. Ids are counted or drawn, and so lie evenly between the least and the greatest; the numbers of people lie
where countries have given them out. The list is explained as a mixture of both, by expectation and maximisation: the
weights of the countries in it, and of ids, that make it most likely.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa

from audiencekit.preparation.columnar.bare_numbers import PLAIN, count_bare_numbers
from audiencekit.preparation.tally import BareNumbers

_FEW: Final = 0.01  # of a column's numbers: a size that so few have says nothing
_DRAWN: Final = 2_000  # numbers that are spread evenly, to be compared with
_GOLDEN: Final = (math.sqrt(5) - 1) / 2  # multiples of it leave the widest gaps between their fractions
_ROUNDS: Final = 60  # of the fit; more change no decision
_LEAST_SHARE: Final = 1 / _DRAWN
_LEAST_FIRST, _GREATEST_FIRST = 100, 999


@dataclass(frozen=True, slots=True)
class PhoneShare:
    """The likeliest share of phone numbers, and by how much (as a logarithm) they explain the list better than ids."""

    share: float
    evidence: float


def find_phone_share(numbers: BareNumbers) -> PhoneShare:
    """Of `numbers`, of which there are some. The sizes of very few of them count as ids."""
    by_size = _by_size(numbers)
    sizes = sorted(int(size) for size in by_size if not size.startswith("0"))
    phones, evidence = 0.0, 0.0
    for size, forms in by_size.items():
        if size.startswith("0"):  # a zero and what comes behind it is in the trunk prefix already
            phones += sum(count for form, count in forms.items() if PLAIN in form)
            continue
        low, high = numbers.reach[size]
        low = low if int(size) == sizes[0] else _LEAST_FIRST
        high = high if int(size) == sizes[-1] else _GREATEST_FIRST
        found = _fit(forms, _spread_evenly(int(size), low, high))
        phones += found.share * forms.total()
        evidence += found.evidence
    return PhoneShare(phones / numbers.seen, evidence)


def _by_size(numbers: BareNumbers) -> dict[str, Counter[frozenset[str]]]:
    """The forms of each number of digits that not very few have, as the names in them."""
    found: dict[str, Counter[frozenset[str]]] = {}
    for form, count in numbers.forms.items():
        size, *names = form.split(" ")
        found.setdefault(size, Counter())[frozenset(names)] += count
    return {size: forms for size, forms in found.items() if forms.total() >= numbers.seen * _FEW}


def _fit(forms: Counter[frozenset[str]], evenly: dict[str, float]) -> PhoneShare:
    """The mixture of ids, and of each name's numbers, that explains `forms` best; `evenly` has the share of ids that
    read as each."""
    names = sorted(frozenset().union(*forms))
    reads = np.array([[1.0, *(name in form for name in names)] for form in forms])
    densities = reads / np.array([1.0, *(max(evenly.get(name, 0.0), _LEAST_SHARE) for name in names)])
    counts = np.fromiter(forms.values(), np.float64, len(forms))
    weights = np.array([0.5, *(0.5 / len(names) for _ in names)])
    for _ in range(_ROUNDS):
        parts = densities * weights
        weights = counts @ (parts / parts.sum(axis=1, keepdims=True)) / counts.sum()
    evidence = float(counts @ np.log((densities * weights).sum(axis=1)))
    return PhoneShare(1.0 - float(weights[0]), evidence)


@lru_cache(maxsize=64)
def _spread_evenly(size: int, low: int, high: int) -> dict[str, float]:
    """The share of numbers of `size` digits, of which the first three are `low` to `high`, that read as each name."""
    first, span = low * 10 ** (size - 3), (high - low + 1) * 10 ** (size - 3)
    drawn = [str(first + int(place * _GOLDEN % 1 * span)) for place in range(1, _DRAWN + 1)]
    shares = Counter[str]()
    for form, count in count_bare_numbers(pa.array(drawn), None, None).forms.items():
        shares.update(dict.fromkeys(form.split(" ")[1:], count))
    return {name: count / _DRAWN for name, count in shares.items()}
