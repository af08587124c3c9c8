"""The result of comparing lists and audiences: how many people are in several of them, and how many in one alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from audiencekit.reporting.page.privacy import FLOOR
from audiencekit.text import shown

_SPLIT_FROM: Final = 2 * FLOOR  # people, so that each part of a split can have as many as FLOOR


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPeople:
    """One list or audience: how many `people` it has, and how many of them are in no other.

    A number is rounded and may be None where the result is floored (see `Overlap`).
    """

    name: str
    source: Literal["list", "audience"]
    people: int
    only_here: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundByKind:
    """The people with an identifier of one kind, and how many of them are `found` by it."""

    kind: str
    people: int
    found: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPeople:
    """How many people `of` one list are `found` in another one, `within`, by any identifier; `kinds` by one kind."""

    of: str
    within: str
    people: int
    found: int | None
    kinds: tuple[FoundByKind, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Overlap:
    """The result of `overlap`. `found` has each list with each other one, in both directions.

    `in_all` are the people of the first list who are found in every other one. With a `floor`, counts are rounded to
    tens: 0 is fewer than ten, a part equal to its whole lacks fewer than ten, and no part of fewer than twenty people
    is counted (None). `floor` is 0 where all counts are exact.
    """

    lists: tuple[ComparedPeople, ...]
    found: tuple[FoundPeople, ...]
    in_all: int | None
    floor: int
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Overlap of {len(self.lists)} lists>"

    def __str__(self) -> str:
        return self.to_text()

    def to_json(self) -> dict[str, Any]:
        """The document that `overlap --json` prints. It has counts, never a value or a hash."""
        found = asdict(self)
        return found | {name: list(found[name]) for name in ("lists", "found", "notes")}

    def to_text(self) -> str:
        """The text of the command line: the result in three lines, each list in each other one, and the notes."""
        first = self.lists[0]
        lines = [self._headline(), f"only in one: {', '.join(map(self._only, self.lists))}"]
        if len(self.lists) > 2:
            lines.append(f"in all {len(self.lists)}: {self._part(self.in_all, first.people)} of {shown(first.name)}")
        else:
            lines.append(f"found by: {self._kinds(self.found[0])}")
        lines += [f"  {line}" for line in self._details()]
        lines += [f"note: {shown(note)}" for note in self.notes]
        return "\n".join(lines)

    def _headline(self) -> str:
        first = self.lists[0]
        if len(self.lists) == 2:
            one = self.found[0]
            return self._counted(one.found, one.people, f" of {shown(one.of)} are in {shown(one.within)}")
        others = None if first.only_here is None else first.people - first.only_here
        return self._counted(others, first.people, f" of {shown(first.name)} are in another list")

    def _details(self) -> Iterator[str]:
        for one in self.found:
            counted = self._counted(one.found, one.people)
            yield f"{shown(one.of)} in {shown(one.within)}: {counted}; {self._kinds(one)}"

    def _only(self, one: ComparedPeople) -> str:
        return f"{self._part(one.only_here, one.people)} of {shown(one.name)}"

    def _kinds(self, one: FoundPeople) -> str:
        counted = [each for each in one.kinds if each.found is not None]
        counts = (
            f"{each.kind} {self._part(each.found, each.people)} of {self._whole(each.people)}" for each in counted
        )
        return ", ".join(counts) or "no kind is counted"

    def _counted(self, part: int | None, whole: int, words: str = "") -> str:
        """Return a part of people, and behind the words for it its share, where both are shown as numbers."""
        counted = f"{self._part(part, whole)} of {self._whole(whole)} people{words}"
        if not part or not whole or (self.floor and part == whole):
            return counted
        return f"{counted}, {part / whole:.{0 if self.floor else 1}%}"

    def _whole(self, number: int) -> str:
        if not self.floor:
            return f"{number:,}"
        return f"about {number:,}" if number else f"fewer than {self.floor}"

    def _part(self, part: int | None, whole: int) -> str:
        if part is None:
            return "a hidden number"
        return f"all but fewer than {self.floor}" if self.floor and part and part == whole else self._whole(part)


def floored(number: int) -> int:
    """Return a number of people rounded to tens; 0 for fewer than FLOOR."""
    return 0 if number < FLOOR else (number + FLOOR // 2) // FLOOR * FLOOR


def floored_part(part: int, whole: int) -> int | None:
    """Return how many of `whole` people are in a `part`, so that neither it nor the rest shows single people.

    It is rounded to tens; 0 for fewer than FLOOR, the rounded whole where fewer than FLOOR are missing, and None where
    the whole is so small that a part of FLOOR could be all of it.
    """
    if whole < _SPLIT_FROM:
        return None
    return floored(whole) if whole - part < FLOOR else floored(part)
