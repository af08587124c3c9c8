"""The people that an erasure is asked for: the keys of every form, and what could not be read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from audiencekit.audiences.erasure.forms import Forms
from audiencekit.audiences.erasure.keys import ErasureKeys, Key
from audiencekit.errors import PlanRefused
from audiencekit.identifiers.kinds import Kind, Reason
from audiencekit.limits import MAX_ERASURE_KEYS

_MOST_NAMED = 5  # rejections that a message names; the others are counted


class Rejected(NamedTuple):
    """A row, or a line, of which something names no one. Never a value; `column` is None for the whole row."""

    row: int
    column: str | None
    reason: str


@dataclass(slots=True, kw_only=True)
class Asked:
    """The result of reading lines or rows that name people. `rows` qualified, those with no identifier at all did not.

    `identifiers` counts the values that were understood, by kind.
    """

    rows: int = 0
    identifiers: Counter[str] = field(default_factory=Counter)
    rejected: list[Rejected] = field(default_factory=list)
    _keys: set[Key] = field(default_factory=set, repr=False)

    def add(self, kind: Kind, forms: Forms) -> None:
        """Take one identifier in. Raises PlanRefused beyond MAX_ERASURE_KEYS."""
        self.identifiers[kind.value] += 1
        self._keys.update((kind, form) for form in forms)
        if len(self._keys) > MAX_ERASURE_KEYS:
            raise PlanRefused(
                f"more than {MAX_ERASURE_KEYS:,} forms of identifiers: nothing was sent", hint="erase in several goes"
            )

    def reject(self, row: int, column: str | None, reason: str) -> None:
        """Note a line or row that names no one."""
        self.rejected.append(Rejected(row, column, str(reason)))

    @property
    def keys(self) -> ErasureKeys:
        """Every form of every identifier."""
        return ErasureKeys(frozenset(self._keys))

    def check(self, *, what: str, skip_rejected: bool) -> None:
        """Raises PlanRefused when no one is named, or a line cannot be read and that is not allowed."""
        if self.rejected and not skip_rejected:
            hint = f"correct such {what}s, or leave them out with `skip_rejected=True`"
            raise PlanRefused(f"{self.rejections_in_words(what)}: nothing was sent", hint=hint)
        if not self._keys:
            raise PlanRefused(
                "no one was named: nothing was sent", hint="give identifiers on stdin, or `source=SOURCE`"
            )

    def rejections_in_words(self, what: str) -> str:
        """Which rows or lines (`what`) name no one, and why; the first of them one by one."""
        named = [_in_words(one, what) for one in self.rejected[:_MOST_NAMED]]
        more = len(self.rejected) - len(named)
        return "; ".join(named) + (f"; and {more:,} more" if more else "")

    def reasons(self) -> dict[str, int]:
        """How often each reason was given."""
        return dict(Counter(one.reason for one in self.rejected))


def _in_words(rejected: Rejected, what: str) -> str:
    place = f", column {rejected.column}" if rejected.column else ""
    reason = (
        "its kind is not recognised" if rejected.reason == Reason.NO_IDENTIFIER and what == "line" else rejected.reason
    )
    return f"{what} {rejected.row}{place}: {reason}"
