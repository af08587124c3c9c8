"""Cells of fragments that repeat: made of Unicode's classes, and of no rule of any kind."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence
from functools import cache
from typing import Final

from benchmarks.values.spellings import of_category

_TIMES: Final = (1, 1, 1, 2, 3, 7, 40)
_MOST_FRAGMENTS: Final = 6
_LONGEST_FRAGMENT: Final = 4  # characters


@cache
def _classes() -> tuple[str, ...]:
    """Each class as often as it is to be drawn."""
    controls, tags = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0)))), "".join(map(chr, range(0xE0000, 0xE0100)))
    often = (string.digits, string.ascii_letters, string.punctuation, string.printable)
    names = (*("Lu", "Ll", "Lo", "Lm", "Mn", "Mc", "Nd", "No", "Nl", "Cf", "Zs", "Zl"), *("Pd", "Ps", "Po", "Sm", "So"))
    return (*often * 8, controls, tags, *map(of_category, names))


def _fragments(chance: random.Random) -> list[str]:
    """A few short texts, each of one class or two."""
    found = []
    for _ in range(chance.randrange(1, _MOST_FRAGMENTS)):
        letters = "".join(chance.choices(_classes(), k=chance.randrange(1, 3)))
        found.append("".join(chance.choices(letters, k=chance.randrange(1, _LONGEST_FRAGMENT))))
    return found


def draw_cell(chance: random.Random, times: Sequence[int] = _TIMES) -> str:
    """Fragments in a row, each of them so many times."""
    return "".join(fragment * chance.choice(times) for fragment in _fragments(chance))


def fill_cell(chance: random.Random, size: int) -> str:
    """At least so many bytes: what `draw_cell` gives, over and over, or with one fragment as often as it takes."""
    fragments = _fragments(chance)
    repeated = chance.randrange(len(fragments))
    if chance.randrange(2):
        fragments, repeated = ["".join(fragments)], 0
    unit = fragments[repeated]
    fragments[repeated] = unit * (size // len(unit.encode()) + 1)
    return "".join(fragments)
