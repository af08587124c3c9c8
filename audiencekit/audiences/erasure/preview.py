"""An erasure that is not begun: who is named, and which audiences would be asked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from audiencekit.audiences.erasure.receipt import counted
from audiencekit.shown import shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """An erasure that was not begun: lines or rows that name a person, identifiers and forms by kind, and audiences.

    `audiences` and `skipped` are pairs of id and name.
    """

    asked: int
    identifiers: dict[str, int]
    forms: dict[str, int]
    audiences: list[tuple[str, str]]
    skipped: list[tuple[str, str]]

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        return asdict(self)

    def to_text(self) -> str:
        """The same for people."""
        named = [f"  {shown(one)}  {name!r}" for one, name in self.audiences]
        left_out = [f"  {shown(one)}  {name!r}: takes no Deletes" for one, name in self.skipped]
        people = f"{counted(sum(self.identifiers.values()), 'identifier')}, {counted(sum(self.forms.values()), 'form')}"
        head = f"would forget {people}, in {counted(len(self.audiences), 'audience')}"
        return "\n".join([head, *named, *left_out])
