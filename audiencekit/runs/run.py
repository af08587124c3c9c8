"""One run from start to report: its id, its directory, its journal, and what is said of it when it ends early."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from audiencekit.destinations.target import Target
from audiencekit.errors import AudiencekitError, InputOutputFailed, MemoryRefused, Refused, ResumeRefused, UsageError
from audiencekit.limits import KEEP_SHARED
from audiencekit.machine.keys import SubKey
from audiencekit.planning.options import Keywords, plain_keywords
from audiencekit.planning.plannedrun import PlannedRun
from audiencekit.preparation.times import format_time, parse_time
from audiencekit.profile import Profile
from audiencekit.reporting.counts import RowCounts
from audiencekit.reporting.rejections import append_refused
from audiencekit.reporting.report import Report, State
from audiencekit.runs.arguments import REJECTIONS
from audiencekit.runs.failures import cannot_resume
from audiencekit.runs.journal.facts import Ending, PlanFacts, RunFacts, Sums
from audiencekit.runs.journal.file import JournalFile
from audiencekit.runs.planfacts import facts_for_journal, facts_for_report, miscounts_for_report
from audiencekit.runs.resumption import forget_spool
from audiencekit.runs.store import RUNS, RunStore
from audiencekit.runs.storedreports import check_report, updated
from audiencekit.settings import Settings
from audiencekit.sources.files import FilePath, Item, kept_path, names_of

E = TypeVar("E", bound=AudiencekitError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of a plan. It is in its journal before anything is read, and holds the lock of its target.

    `items` are its sources. `earlier` and `plan` are what the journal said when the run was resumed: sums, and the plan
    if there was one; `earlier_paces` are those of the parts before, as its report kept them. `note` is a line for
    people on what its start did, empty when that is nothing.
    """

    facts: RunFacts
    store: RunStore
    directory: Path
    journal: JournalFile
    key: SubKey = field(repr=False)
    spool_key: SubKey = field(repr=False)
    items: tuple[Item, ...] = ()
    earlier: Sums = field(default_factory=Sums)
    plan: PlanFacts | None = None
    earlier_paces: tuple[dict[str, Any], ...] = ()
    note: str = ""

    def ended(self) -> Report | None:
        """The report of a run that is complete, None while there is something to do.

        Raises ResumeRefused for one that was refused for good.
        """
        ending = self.journal.ending()
        if ending is None:
            return None
        forget_spool(self.directory)  # a kill may have come between the end and this
        document = check_report(self.store.read(self.facts.run_id))
        if ending.state == "complete":
            return Report.from_json(document)
        refusal = ResumeRefused(f"the run was refused: {ending.message}", reason="refused", hint=ending.hint)
        refusal.document = document
        raise refusal

    def is_as_asked(self, paths: tuple[FilePath, ...], target: Target, keywords: Keywords, settings: Settings) -> bool:
        """Whether it was begun with these arguments, for this account. What the source holds is not looked at."""
        return (
            self.facts.sources == [kept_path(path) for path in paths]
            and self.facts.target == target
            and self.facts.keywords == keywords
            and (self.facts.account_id, self.facts.profile) == (settings.account_id, settings.profile.name)
        )

    @property
    def started_at(self) -> datetime:
        """When it was begun, in whole seconds."""
        return parse_time(self.facts.started_at, "the start of the run")

    @property
    def rejections(self) -> Path:
        """Where they are listed: in the directory of the run, wherever that is by now, unless another file was named.

        Older versions kept the path that the directory had when the run was begun.
        """
        kept = Path(self.facts.rejections)
        is_default = kept.parts[-3:] == (RUNS, self.facts.run_id, REJECTIONS)
        return self.directory / (REJECTIONS if is_default else kept)

    @property
    def keywords(self) -> Keywords:
        """The keywords of `upload`, as `read_keywords` takes them."""
        return plain_keywords(cast("Keywords", {"shared_values": KEEP_SHARED, **self.facts.keywords}))

    # --- the plan ---

    def keep_plan(self, planned: PlannedRun, fingerprints: tuple[str, str], profile: Profile) -> None:
        """Put the plan into the journal; one that is there already must be the same, or ResumeRefused is raised."""
        plan = facts_for_journal(planned, fingerprints, profile)
        if self.plan is None:
            self.journal.keep_plan(plan, self.key)
        elif difference := self.plan.difference(plan):
            raise cannot_resume(*difference)

    # --- what is said of it ---

    def write(self, report: Report) -> Report:
        """Keep the report in the state directory, and give it back."""
        self.store.write(self.facts.run_id, report.to_json())
        return report

    def complete(self, report: Report) -> Report:
        """Keep the report of a complete run, end the journal, and give the report back."""
        failure: InputOutputFailed
        try:
            self.write(report)
            self.journal.finish(Ending(state="complete", exit_code=0), self.key)
            forget_spool(self.directory)
            return report
        except InputOutputFailed as error:
            failure = error
        failure.hint = f"everything was sent; {self._how_to_resume()} writes that down"
        failure.document = replace(report, state="incomplete").to_json()
        raise failure.bare()

    def refuse(self, error: AudiencekitError, planned: PlannedRun | None = None) -> AudiencekitError:
        """`error`, with the report of a run that ended before it sent anything in this process as its document."""
        if self.plan is None:
            return self.fail(error, self.report(planned, rows_read=getattr(error, "rows_read", None)), self.earlier)
        if isinstance(error, Refused) and not isinstance(error, (ResumeRefused, MemoryRefused)):
            error = cannot_resume("source", f"the source was sound and is not any more: {error}")
        return self.keep_out(error)

    def list_refused(self, sums: Sums, rows_read: int) -> None:
        """Put the rows that the service refused at the end of the rejections. Raises InputOutputFailed."""
        refused = [each.row for each in sums.refused if each.row <= rows_read]
        if refused:
            append_refused(self.rejections, refused)

    def keep_out(self, error: E) -> E:
        """`error`, with what is known of the run as its document; nothing of the run is touched."""
        with suppress(InputOutputFailed):  # killed before there was a report
            error.document = updated(check_report(self.store.read(self.facts.run_id)), self.earlier)
        return error

    @contextmanager
    def kept_out(self) -> Iterator[None]:
        """Errors raised inside, before the run was touched, carry the facts of the run as their document."""
        failure: AudiencekitError
        try:
            yield
            return
        except AudiencekitError as error:
            failure = error if error.document is not None else self.keep_out(error)
        raise failure

    def fail(self, error: E, report: Report, sums: Sums) -> E:
        """`error`, with `report` written and as its document; a disk that fails as well does not hide the error."""
        final = isinstance(error, Refused | UsageError) and not sums.is_touched
        state: State = "refused" if final else "incomplete"
        problems = report.problems or ({"message": str(error), "hint": error.hint},)
        report = replace(report, state=state, problems=problems, finished_at=self._now())
        if not final:
            error.hint = "; ".join(filter(None, (error.hint, f"{self._how_to_resume()} sends the rest")))
        error.document = report.to_json()
        try:
            self.write(report)
            if final:
                ending = Ending(state=state, exit_code=error.exit_code, message=str(error), hint=error.hint)
                self.journal.finish(ending, self.key)
                forget_spool(self.directory)
        except InputOutputFailed as failure:
            error.hint = f"{error.hint}; and the report was not kept: {failure}".lstrip("; ")
        return error

    def report(
        self,
        planned: PlannedRun | None,
        state: State = "incomplete",
        sums: Sums | None = None,
        *,
        notes: tuple[str, ...] = (),
        rows_read: int | None = None,
        pace: dict[str, Any] | None = None,
    ) -> Report:
        """The report as things stand. `notes` and `pace` are those of the delivery."""
        sums = sums or self.earlier
        rows = RowCounts(read=rows_read or 0, pending=rows_read or 0)
        facts: dict[str, Any] = {"operation": self.facts.operation, "rows": rows}
        if planned is not None:
            facts |= facts_for_report(planned, sums)
            facts["notes"] += notes
        if state == "complete":
            facts["finished_at"] = self._now()
        return Report(
            run_id=self.facts.run_id,
            state=state,
            target=self.facts.target,
            requests_confirmed=sums.confirmed,
            attempts=sums.attempts,
            records_sent=sums.records_confirmed,
            success_count=sums.success_count,
            total_count=sums.total_count,
            miscounted=tuple(miscounts_for_report(sums)),
            started_at=self.facts.started_at,
            audience_name=self.facts.target.known_name(self.store.state_dir, self.facts.account_id),
            source_names=names_of(self.items),
            pace=pace or {},
            earlier_paces=self.earlier_paces,
            **facts,
        )

    def _now(self) -> str:
        """The time of an end: not before that of the beginning, even when the clock was set back."""
        return format_time(max(datetime.now(UTC), self.started_at))

    def _how_to_resume(self) -> str:
        return self.facts.again or f"`audiencekit resume {self.facts.run_id}`"
