"""The effects of shared values that were left out of records, in words: notes, and refusals to send."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from audiencekit.errors import PlanRefused, Refused
from audiencekit.identifiers.kinds import Kind
from audiencekit.planning.options import Options

_ALL_OR_NONE: Final = (
    "say `shared_suppression='all'` to keep all of them out, or"
    " `shared_suppression='none'` if such a value is to keep no one out; the answer holds for every run"
    " that is given it"
)


@dataclass(slots=True)
class SharedOutcome:
    """The effects of the values that more people share than are few.

    `left_out` counts by kind, in records; `kept_in` are rows that had nothing else, and whose people were to be taken
    out, or kept out. `unidentified` and `refusing` rows of suppression sources, and `remembered` values of
    erased people, say no other person than all who share the value.
    """

    values: int
    people: int
    left_out: Counter[Kind] = field(default_factory=Counter)
    kept_in: int = 0
    unidentified: int = 0
    refusing: int = 0
    remembered: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """The effect in words."""
        values = "1 value is" if self.values == 1 else f"{self.values:,} values are"
        counts = " and ".join(f"{count:,} of {kind}" for kind, count in self.left_out.items())
        what = f"{values} shared by more people than one household, the most by {self.people:,}: left out of records"
        return (f"{what} ({counts}); `shared_values='keep'` sends them",)

    def refusals(self, options: Options) -> list[Refused]:
        """Refusals to send although the values were left out."""
        found: list[Refused] = []
        shared = f"values that more than {options.shared_people} people of the source share"
        if self.kept_in:
            what = f"{_rows(self.kept_in)} to take people out, with nothing but {shared}"
            hint = "say `shared_values='keep'` to take out all who have such a value; or give these rows another"
            hint += " identifier"
            found.append(PlanRefused(f"{what}: each would take out all of them", hint=hint))
        if self.unidentified or self.refusing:
            what = f"{_rows(self.unidentified + self.refusing)} of people to keep out match the source only by {shared}"
            found.append(PlanRefused(f"{what}: they may be any of them", hint=_ALL_OR_NONE))
        if self.remembered:
            what = f"people who were erased by `forget` had {shared}"
            found.append(PlanRefused(f"{what}: they may be any of them", hint=_ALL_OR_NONE))
        return found


def _rows(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"
