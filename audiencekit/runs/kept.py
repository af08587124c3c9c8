"""What is kept of runs: their reports, brought up to date with their journals, and whether they can be resumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from audiencekit.delivery.journal.facts import RunFacts, Sums
from audiencekit.delivery.journal.file import JournalFile
from audiencekit.delivery.journal.schema import JOURNAL
from audiencekit.delivery.locks import is_running
from audiencekit.delivery.runs import REPORT, RunStore
from audiencekit.errors import InputOutputFailed, ResumeRefused
from audiencekit.identifiers.reasons import Reason
from audiencekit.reporting.counts import RowCounts, rows_among
from audiencekit.reporting.report import Report
from audiencekit.runs.resumption import can_resume


def list_runs(state_dir: Path) -> list[dict[str, Any]]:
    """Every run, newest first: what sums it up, `resumable`, and `running` for one that is at work now."""
    store = RunStore(state_dir)
    return [_with_prospects(summary, store, state_dir) for summary in store.list_runs()]


def read_report(state_dir: Path, run: str) -> dict[str, Any]:
    """The report of `run`, which may be given as `RunStore.find` takes it.

    That of a run which has not ended, or was killed, counts what its journal says by now. Raises InputOutputFailed for
    a run that has none.
    """
    store = RunStore(state_dir)
    run_id = store.find(run)
    directory = store.directory(run_id)
    if (directory / REPORT).exists():
        document = store.read_report(run_id)
        return document if document.get("state") != "incomplete" else _up_to_date(document, directory)
    try:
        with opened_journal(directory) as journal:
            return _empty_report(journal.facts()).to_json()
    except ResumeRefused:
        return store.read_report(run_id)  # which says that there is none


def updated(document: Mapping[str, Any], sums: Sums) -> dict[str, Any]:
    """A report that was kept when its run was planned, with what the journal has confirmed since."""
    rows, rejections, refused = dict(document["rows"]), dict(document["rejections"]), len(sums.refused)
    before = rejections.pop(Reason.REFUSED_BY_SERVICE, 0)
    left = rows["sent"] + rows["pending"] + before
    sent = sums.records_confirmed
    if waves := document.get("changes", {}).get("waves"):
        sent = rows_among(waves, sums.records_confirmed + refused) - refused
    rows["rejected"] += refused - before
    rows["sent"], rows["pending"] = sent, left - sent - refused
    return {
        **document,
        "rows": rows,
        "rejections": {**rejections, **({Reason.REFUSED_BY_SERVICE.value: refused} if refused else {})},
        "requests": {**document["requests"], "confirmed": sums.confirmed, "attempts": sums.attempts},
        "reconciliation": {
            "records_sent": sums.records_confirmed,
            "success_count": sums.success_count,
            "total_count": sums.total_count,
        },
    }


@contextmanager
def opened_journal(directory: Path) -> Iterator[JournalFile]:
    """The journal of a run's directory, to be looked at. Raises ResumeRefused for what is none."""
    journal = JournalFile.open(directory / JOURNAL)
    try:
        yield journal
    finally:
        journal.close()


def _up_to_date(document: dict[str, Any], directory: Path) -> dict[str, Any]:
    try:
        with opened_journal(directory) as journal:
            # Until there is a plan, the report says all there is.
            return document if journal.plan() is None else updated(document, journal.sums())
    except (ResumeRefused, InputOutputFailed, KeyError):
        return document


def _empty_report(facts: RunFacts) -> Report:
    return Report(
        run_id=facts.run_id,
        state="incomplete",
        target=facts.target,
        operation=facts.operation,
        rows=RowCounts(read=0),
        started_at=facts.started_at,
    )


def _with_prospects(summary: dict[str, Any], store: RunStore, state_dir: Path) -> dict[str, Any]:
    resumable = running = False
    run_id = summary["run_id"]
    if summary["state"] == "incomplete":
        try:
            with opened_journal(store.directory(run_id)) as journal:
                facts, is_planned = journal.facts(), journal.plan() is not None
        except (ResumeRefused, InputOutputFailed):
            return {**summary, "resumable": False, "running": False}
        named = {"target": facts.target.to_json(), "audience_id": facts.target.audience_id}
        summary = {**named, **summary, "started_at": summary["started_at"] or facts.started_at}
        running = is_running(state_dir, facts.account_id, facts.target, run_id)
        is_there = can_resume(facts, store.directory(run_id), is_planned=is_planned)
        resumable = not running and not facts.again and is_there
    return {**summary, "resumable": resumable, "running": running}
