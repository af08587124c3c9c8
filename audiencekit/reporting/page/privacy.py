"""Hide small counts on a page, so that they cannot be computed from the counts that are shown.

A count below FLOOR may point at single people. Sums would reveal it, such as the rows of the list or the values of a
kind. So the other counts are rounded, to tens or more, until each small count could have another value: until moving a
row or a value from one count to another changes nothing that the page shows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, TypeAlias

from audiencekit.reporting.page.page_parts import FLOOR, Cell, Document

Counts: TypeAlias = Mapping[str, int]  # by their places in the document
Move: TypeAlias = Mapping[str, int]  # a change of counts that keeps all sums that hold between them

_SMALL: Final = re.compile(
    rf"(?<![\d.,])[1-{FLOOR - 1}] (people|person|rows?|records?|values?|numbers?)\b(?: (is|has|was)\b)?"
)
_PLURAL: Final = {"person": "people", "is": "are", "has": "have", "was": "were"}


@dataclass(frozen=True, slots=True)
class Shown:
    """Counts as a page shows them: exact, or to a whole number of `step`s. Those `fixed` by other counts are exact."""

    step: int
    fixed: frozenset[str] = frozenset()

    def text(self, key: str, number: int) -> str:
        """Return the count, "about" the count, or that it is below a number."""
        least = max(FLOOR, self.step)
        if key in self.fixed or not number:
            return f"{number:,}"
        if number < least:
            return f"fewer than {least:,}"
        return f"{number:,}" if self.step == 1 else f"about {self.rounded(key, number):,}"

    def rounded(self, key: str, number: int) -> int:
        """Return the count for a picture or a share; 0 for one that is not shown."""
        if key in self.fixed:
            return number
        return 0 if number < max(FLOOR, self.step) else (number + self.step // 2) // self.step * self.step

    def cell(self, key: str, number: int) -> Cell:
        """Return the count for a table; only an exact one has its place in the document."""
        text = self.text(key, number)
        return Cell(text, key if text == f"{number:,}" else None)


def shown_counts(counts: Counts, moves: Sequence[Move], *, printed: Collection[int] = ()) -> Shown | None:
    """Return the finest way to show the counts that hides the small ones; None if there is none.

    `printed` are numbers in the texts of the page.
    """
    fixed = frozenset(counts.keys() - {key for move in moves for key in move})
    small = [key for key, number in counts.items() if 0 < number < FLOOR and key not in fixed]
    step, most = 1, 100 * max([FLOOR, *counts.values()])
    while step < most:
        shown = Shown(step, fixed)
        hidden: set[str] = set()
        for move in moves:
            if _is_unseen(move, 1, counts, shown, printed) or _is_unseen(move, -1, counts, shown, printed):
                hidden.update(move)
        if hidden.issuperset(small):
            return shown
        step *= 10
    return None


def _is_unseen(move: Move, sign: int, counts: Counts, shown: Shown, printed: Collection[int]) -> bool:
    """Whether the page would be the same after the move."""
    return all(
        counts[key] not in printed and shown.text(key, counts[key]) == shown.text(key, counts[key] + sign * change)
        for key, change in move.items()
    )


def list_counts(document: Document) -> dict[str, int]:
    """Return the counts of values and of rows by kind, by their places in the document."""
    counts = {f"rejections.{cause}": number for cause, number in document["rejections"].items()}
    for kind, numbers in document["identifiers"].items():
        counts |= {f"identifiers.{kind}.{name}": numbers[name] for name in ("present", "valid", "rejected")}
    counts |= {f"combinations.{place}.rows": each["rows"] for place, each in enumerate(_combined(document))}
    return counts


def list_moves(document: Document) -> list[Move]:
    """Return the moves to hide: a row with other kinds, a value more or less, a value with another cause of loss."""
    return [*_rows_moved(document), *_values_moved(document)]


def _rows_moved(document: Document) -> Iterator[Move]:
    for (place, one), (other_place, other) in combinations(enumerate(_combined(document)), 2):
        move = {f"combinations.{place}.rows": 1, f"combinations.{other_place}.rows": -1}
        changes = {kind: (kind in one["kinds"]) - (kind in other["kinds"]) for kind in document["identifiers"]}
        changes = {kind: change for kind, change in changes.items() if change}
        valid = {f"identifiers.{kind}.valid": change for kind, change in changes.items()}
        yield {**move, **valid, **{f"identifiers.{kind}.present": change for kind, change in changes.items()}}
        if len(changes) == 1:  # the value may be there all the same, and be lost
            ((kind, change),) = changes.items()
            for cause in document["rejections"]:
                yield {**move, **valid, f"identifiers.{kind}.rejected": -change, f"rejections.{cause}": -change}


def _values_moved(document: Document) -> Iterator[Move]:
    causes = [f"rejections.{cause}" for cause in document["rejections"]]
    for kind, numbers in document["identifiers"].items():
        if numbers["rejected"]:
            lost = {f"identifiers.{kind}.rejected": 1, f"identifiers.{kind}.present": 1}
            yield from ({**lost, cause: 1} for cause in causes)
        if not _combined(document):
            yield {f"identifiers.{kind}.valid": 1, f"identifiers.{kind}.present": 1}
    yield from ({one: 1, other: -1} for one, other in combinations(causes, 2))


def _combined(document: Document) -> Sequence[Mapping[str, Any]]:
    return document.get("combinations") or ()


def printed_numbers(document: Document) -> frozenset[int]:
    """Return the numbers in the texts about a list."""
    texts = [*document["notes"], *(each["message"] for each in (*document.get("warnings", ()), *document["problems"]))]
    return frozenset(int(each.replace(",", "")) for text in texts for each in re.findall(r"\d[\d,]*\b", masked(text)))


def masked(text: str) -> str:
    """Return a text without the small counts in it."""
    return _SMALL.sub(_mask, text)


def _mask(found: re.Match[str]) -> str:
    noun, verb = found[1], found[2]
    plural = _PLURAL.get(noun, noun if noun.endswith("s") or noun == "people" else f"{noun}s")
    return f"fewer than {FLOOR} {plural}" + (f" {_PLURAL[verb]}" if verb else "")
