"""The result of a verification: how many digests of a pipeline are right, and by which faults the others came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from audiencekit.text import shown

_MOST_NAMED: Final = 3  # causes in the second line
_NOT_KNOWN: Final = frozenset({"unknown", "other_row"})  # codes without a line that would mend them


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFault:
    """One class of faults in a column: its stable `code`, how many `rows` have it, and the line that would mend it.

    `share` is that of all rows with a value in the column.
    """

    code: str
    column: str
    rows: int
    share: float
    message: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedColumn:
    """The counts of one column: rows with a value or a digest, right and wrong ones.

    `hashed_column` is the column of digests that it was compared with.
    """

    column: str
    hashed_column: str
    kind: str
    values: int
    right: int
    wrong: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verification:
    """The result of `verify`. `faults` are the classes of faults, those of the most rows first.

    `subject` is the unit that is counted: `people` of a list, or `vectors`. `right` and `wrong` count those with a
    value or a digest. `same_rows` says that each digest was compared with the value in its row; otherwise they were
    in any order.
    """

    subject: Literal["people", "vectors"]
    right: int
    wrong: int
    same_rows: bool
    columns: tuple[ComparedColumn, ...]
    faults: tuple[FoundFault, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Verification: {self.verdict}, {self.right:,} of {self.right + self.wrong:,} {self.subject} right>"

    def __str__(self) -> str:
        return self.to_text()

    @property
    def verdict(self) -> Literal["right", "wrong"]:
        """Whether all digests are right."""
        return "wrong" if self.wrong else "right"

    @property
    def exit_code(self) -> int:
        """The exit code of the command line: 0, or 3 when any digest is wrong."""
        return 3 if self.wrong else 0

    @property
    def remedy(self) -> str | None:
        """The line that would mend the most digests; None when all are right."""
        known = [fault for fault in self.faults if fault.code not in _NOT_KNOWN] or self.faults
        return known[0].remedy if known else None

    def to_json(self) -> dict[str, Any]:
        """The document that `verify --json` prints. It has counts, never a value or a digest."""
        return {
            "subject": self.subject,
            "right": self.right,
            "wrong": self.wrong,
            "same_rows": self.same_rows,
            "columns": [asdict(column) for column in self.columns],
            "faults": [asdict(fault) for fault in self.faults],
            "notes": list(self.notes),
            "remedy": self.remedy,
            "verdict": self.verdict,
        }

    def to_text(self) -> str:
        """The text of the command line: the result in three lines, each fault, and the verdict."""
        lines = [self._reached(), *self._lost()]
        if self.remedy is not None:
            lines.append(f"most would be mended so: {shown(self.remedy)}")
        lines += [f"  {_line(fault, several=self._has_several)}" for fault in self.faults]
        lines += [f"note: {shown(note)}" for note in self.notes]
        return "\n".join([*lines, "", f"verdict: {self.verdict}"])

    @property
    def _has_several(self) -> bool:
        """Whether faults are of more than one column: a person can be wrong in each."""
        return len({fault.column for fault in self.faults}) > 1

    def _reached(self) -> str:
        every = self.right + self.wrong
        share = f", {self.right / every:.1%}" if every else ""
        order = "" if self.same_rows else ", compared in any order"
        return f"{self.right:,} of {every:,} {self.subject} right{share}{order}"

    def _lost(self) -> Sequence[str]:
        if not self.wrong:
            return []
        causes = ", ".join(_cause(fault, several=self._has_several) for fault in self.faults[:_MOST_NAMED])
        more = len(self.faults) - _MOST_NAMED
        return [
            f"{self.wrong:,} {self.subject} wrong: {causes}"
            + (f", {more:,} more fault{'s' * (more > 1)}" if more > 0 else "")
        ]


def _cause(fault: FoundFault, *, several: bool) -> str:
    return f"{fault.rows:,} {fault.code.replace('_', ' ')}" + (f" in {shown(fault.column)}" if several else "")


def _line(fault: FoundFault, *, several: bool) -> str:
    where = f" of column {shown(fault.column)}" if several else ""
    return f"{fault.rows:,} ({fault.share:.1%}){where}: {shown(fault.message)}; {shown(fault.remedy)}"
