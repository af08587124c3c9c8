"""The result of a setup: what became of each of its audiences, in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from audiencekit.audiences.setups.setup import AudienceSetup
from audiencekit.errors import AudiencekitError, NotFinished
from audiencekit.reporting.report import Plan, Report
from audiencekit.shown import shown

SetupState: TypeAlias = Literal["complete", "incomplete", "refused", "planned", "not begun"]

# From the worst to the best: first what no second try cures.
EXIT_CODES: Final = (1, 2, 3, 74, 77, 69, 75, 0)
_CHANGES: Final = {"additions": "put in", "renewals": "renewed", "removals": "taken out", "unchanged": "unchanged"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceResult:
    """One audience after its turn. One of `report`, `plan` and `error` is there, or none: then it was not begun."""

    setup: AudienceSetup
    account_id: str
    audience_id: str = ""
    report: Report | None = None
    plan: Plan | None = None
    error: AudiencekitError | None = None

    @property
    def state(self) -> SetupState:
        """The state of its run. A plan that would be refused is refused."""
        if self.report is not None:
            return self.report.state
        if self.plan is not None:
            return "refused" if self.plan.refusals else "planned"
        if self.error is None:
            return "not begun"
        return "refused" if self.error.state == "refused" else "incomplete"

    @property
    def exit_code(self) -> int:
        """The exit code of a command for this audience alone; 75 for one that was not begun."""
        if self.report is not None:
            return 0
        if self.plan is not None:
            return self.plan.exit_code
        return NotFinished.exit_code if self.error is None else self.error.exit_code

    @property
    def problem(self) -> str:
        """Why it is less than complete; empty when it is."""
        if self.plan is not None and self.plan.refusals:
            return str(self.plan.refusals[0])
        return "" if self.error is None else str(self.error)

    @property
    def document(self) -> Mapping[str, Any]:
        """The report or the plan as JSON, as far as there is one."""
        whole = self.report or self.plan
        return whole.to_json() if whole is not None else (self.error and self.error.document) or {}

    def to_json(self) -> dict[str, Any]:
        """The facts, and the whole report or plan."""
        setup = self.setup
        return {
            "name": setup.name,
            "command": setup.command,
            "operation": setup.operation,
            "account": setup.account,
            "account_id": self.account_id,
            "audience_id": self.audience_id or None,
            "state": self.state,
            "exit_code": self.exit_code,
            "problem": self.problem or None,
            "hint": (self.error.hint or None) if self.error is not None else None,
            "plan" if self.plan is not None else "report": dict(self.document) or None,
        }


@dataclass(frozen=True, slots=True)
class SetupReport:
    """The results of all audiences, in the order of the file."""

    results: tuple[AudienceResult, ...]

    @property
    def exit_code(self) -> int:
        """The worst exit code of the results: 0 when all are complete, or would be."""
        return min((result.exit_code for result in self.results), key=EXIT_CODES.index, default=0)

    @property
    def worst(self) -> AudienceResult | None:
        """The first result with the worst exit code; None when all are well."""
        if not self.exit_code:
            return None
        return next(result for result in self.results if result.exit_code == self.exit_code)

    @property
    def state(self) -> SetupState:
        """The state of all: complete, refused when nothing was sent, or incomplete when something is left to do."""
        states = {result.state for result in self.results}
        if states <= {"complete"} or states <= {"planned"}:
            return "planned" if "planned" in states else "complete"
        return "refused" if states <= {"refused", "planned"} else "incomplete"

    def to_json(self) -> dict[str, Any]:
        """Return the document that `run --json` prints."""
        audiences = [result.to_json() for result in self.results]
        return {"state": self.state, "exit_code": self.exit_code, "audiences": audiences}

    def __str__(self) -> str:
        return "\n".join([*self._lines(), "", f"state: {self.state}"])

    def _lines(self) -> Iterator[str]:
        width = max((len(result.setup.name) for result in self.results), default=0)
        for result in self.results:
            told = [result.state, *_counts(result.document)]
            yield f"{result.setup.name:<{width}}  {', '.join(told)}"
            if result.problem:
                yield f"{'':<{width}}  problem: {shown(result.problem)}"


def _counts(document: Mapping[str, Any]) -> Iterator[str]:
    """The changes in the audience, made or planned; of an upload the rows."""
    if (changes := document.get("changes")) and document.get("state", "complete") == "complete":
        yield from (f"{changes[name]:,} {words}" for name, words in _CHANGES.items() if changes.get(name))
        yield f"{changes['members_after']:,} members"
    elif rows := document.get("rows"):
        words = {"pending": "to send"} if "verdict" in document else {}
        yield from (f"{count:,} {words.get(name, name)}" for name, count in rows.items() if count and name != "read")
