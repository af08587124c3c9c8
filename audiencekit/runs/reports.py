"""The stored reports of runs: written, read, and updated by their journals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from audiencekit.delivery.results import RefusedRow
from audiencekit.destinations.target import Target
from audiencekit.errors import AudienceBusy, AudiencekitError, InputOutputFailed, ResumeRefused, UsageError
from audiencekit.identifiers.kinds import Reason
from audiencekit.planning.plan import PlannedRun
from audiencekit.records.plan_times import format_time
from audiencekit.reporting.report import Report, RowCounts, State, combination_counts, identifier_counts, rows_among
from audiencekit.runs.events import read_events
from audiencekit.runs.journal.facts import RequestFacts, RunFacts, Sums, sums_of
from audiencekit.runs.journal.file import JOURNAL, JournalFile
from audiencekit.runs.run import Run
from audiencekit.runs.start import can_resume
from audiencekit.runs.store import SUCCESSOR, UNREADABLE, RunStore, at_work
from audiencekit.sources.files import FilePath, names_of
from audiencekit.state.keys import StateKey
from audiencekit.text import shown

# --- The stored reports of runs, updated by their journals, and whether they can be resumed ---

_MOST_LISTED: Final = 20  # runs in one message


def list_runs(state_dir: Path, key: StateKey | None = None) -> list[dict[str, Any]]:
    """Return a summary of every run, newest first, with `resumable`, and `running` for one that is at work now.

    `unknown_destination` is the name of a destination that is not installed; such a run cannot be resumed. The
    confirmed requests of the journal are counted. If the journal cannot be trusted, `journal` has the reason, and its
    counts are None. With `key` the journals are checked as `resume` does.
    """
    store = RunStore(state_dir)
    found = [summary_of(state_dir, run_id, key) for run_id in store.ids()]
    return [run for run in found if store.directory(run["run_id"]).is_dir()]  # and was not purged meanwhile


def summary_of(state_dir: Path, run_id: str, key: StateKey | None = None) -> dict[str, Any]:
    """Return the entry of `list_runs` for `run_id`."""
    store = RunStore(state_dir)
    return _with_prospects(store.summary(run_id), store, state_dir, key)


def find_resumable_run(found: Sequence[Mapping[str, Any]]) -> str:
    """Return the id of the run that `resume` without an id means, from the entries in the list of runs, newest first.

    It is the only run that can be resumed. If there is none, it is the newest one, unless that has ended: resuming it
    explains why it cannot continue. Raises UsageError when several can be resumed or all have ended, AudienceBusy when
    all unfinished ones are at work.
    """
    able = [run for run in found if run["resumable"]]
    if len(able) == 1:
        return str(able[0]["run_id"])
    if able:
        listed = ", ".join(f"{run['run_id']} ({_in_short(run)})" for run in able[:_MOST_LISTED])
        more = f" and {len(able) - _MOST_LISTED:,} more" if len(able) > _MOST_LISTED else ""
        raise UsageError(
            f"{len(able):,} runs can be resumed: {listed}{more}", hint="name one of them: `audiencekit resume RUN`"
        )
    for run in found:
        if run["running"]:
            message = f"run {run['run_id']} is at work, and no other can be resumed: nothing was sent"
            raise AudienceBusy(message, run_id=run["run_id"], hint="wait until it has ended")
    if found and found[0]["state"] in ("incomplete", UNREADABLE):
        return str(found[0]["run_id"])
    newest = f": the newest, {found[0]['run_id']}, is {found[0]['state']}" if found else ": there is none"
    raise UsageError(f"no run can be resumed{newest}", hint="`audiencekit runs` lists them")


def find_unfinished_run(state_dir: Path, kind: str, target_id: str | None, key: StateKey | None) -> str | None:
    """Return the id that finishes the newest run on a target, if that can be resumed; None otherwise.

    Without `target_id` any target of the `kind` counts. An older run is not looked at: the newer one overrules it.
    """
    run = find_newest_run(state_dir, kind, target_id, key)
    return run["run_id"].partition(SUCCESSOR)[0] if run is not None and run["resumable"] else None


def find_newest_run(state_dir: Path, kind: str, target_id: str | None, key: StateKey | None) -> dict[str, Any] | None:
    """Return the entry of `list_runs` for the newest run on a target, or on any of the `kind`; None for none."""
    store = RunStore(state_dir)
    for run_id in store.ids():
        target = store.summary(run_id).get("target") or {}
        if target.get("kind") == kind and target_id in (None, target.get("id")):
            return summary_of(state_dir, run_id, key)
    return None


def _in_short(run: Mapping[str, Any]) -> str:
    target = run.get("target") or {}
    return f"{run.get('operation', 'run')} {target.get('id', '')}".rstrip()


def read_report(state_dir: Path, run: str, key: StateKey | None = None) -> dict[str, Any]:
    """Return the report of `run`, which may be given as `Store.find` takes it.

    For a run that has not ended, or was killed, it has the present counts of its journal; with `key` the journal is
    checked as `resume` does. Raises InputOutputFailed when the report or the journal is missing or damaged, with the
    known facts as its document, in which None is an unknown count.
    """
    store = RunStore(state_dir)
    run_id = store.find(run)
    directory = store.directory(run_id)
    if not store.has_document(run_id):
        return _without_report(directory, key)
    failure: InputOutputFailed
    try:
        document = check_report(store.read(run_id))
    except InputOutputFailed as error:
        failure = error
        failure.document = _report_from_journal(directory, key)
        raise failure.bare() from None
    return document if document["state"] != "incomplete" else _up_to_date(document, directory, key)


def find_earlier_report(state_dir: Path, document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the report of the last complete run before that of `document`, of the same target and operation.

    None if there is none, or if it cannot be read.
    """
    store = RunStore(state_dir)
    ids = store.ids()
    before = ids[ids.index(document["run_id"]) + 1 :] if document["run_id"] in ids else ()
    for run_id in before:
        summary = store.summary(run_id)
        is_same = all(summary.get(name) == document[name] for name in ("target", "operation"))
        if is_same and summary["state"] == "complete":
            with suppress(InputOutputFailed):
                return check_report(store.read(run_id))
    return None


def find_repairs(store: RunStore, run_id: str, before: str | None = None) -> list[dict[str, Any]]:
    """Return the stored reports of the runs that sent rejected rows of `run_id`, the newest first.

    Only those that were begun before the run `before`, if it is given.
    """
    ids = store.ids()
    ids = ids[: ids.index(run_id)] if run_id in ids else ids
    found = []
    for later in ids[ids.index(before) + 1 :] if before in ids else ids:
        with suppress(InputOutputFailed):
            if store.has_document(later) and (document := store.read(later)).get("repair_of") is not None:
                found += [document] if document["repair_of"]["run"] == run_id else []
    return found


def with_repairs(state_dir: Path, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report `document` with the complete runs that sent its rejected rows after a repair."""
    found = find_repairs(RunStore(state_dir), document["run_id"])
    repairs = [
        {"run": each["run_id"], "rejected_rows": each["repair_of"]["rejected_rows"], "rows_sent": each["rows"]["sent"]}
        for each in reversed(found)
        if each["state"] == "complete"
    ]
    return {**document, "repairs": repairs}


def check_report(document: dict[str, Any]) -> dict[str, Any]:
    """Return `document` if it is a report. Raises InputOutputFailed for anything else."""
    try:
        Report.from_json(document)
    except (AudiencekitError, KeyError, TypeError, ValueError, AttributeError):
        raise InputOutputFailed("the report of the run is damaged", hint="restore it") from None
    return document


def known_of(store: RunStore, run_id: str) -> dict[str, Any]:
    """Return the known facts of a run whose journal cannot be trusted: its plan, if it has a report."""
    try:
        document = check_report(store.read(run_id))
    except InputOutputFailed:
        return {"state": "incomplete"}
    return document if document["state"] != "incomplete" else _unknown(document)


def paces_of(store: RunStore, run_id: str) -> tuple[dict[str, Any], ...]:
    """Return the paces of the parts of a run so far, if a report of it was stored."""
    with suppress(InputOutputFailed):
        report = Report.from_json(check_report(store.read(run_id)))
        return report.earlier_paces + ((report.pace,) if report.pace else ())
    return ()


def updated(document: Mapping[str, Any], sums: Sums) -> dict[str, Any]:
    """Return a report that was stored when its run was planned, with the requests confirmed since."""
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
        "miscounted": miscounts_for_report(sums),
    }


@contextmanager
def opened_journal(directory: Path, key: StateKey | None = None) -> Iterator[JournalFile]:
    """Open the journal in a run's directory for reading; check it if there is a key.

    Raises ResumeRefused for a missing or damaged one.
    """
    journal = JournalFile.open(directory / JOURNAL)
    try:
        if key is not None:
            journal.check_by(directory.name, key)
        yield journal
    finally:
        journal.close()


def _up_to_date(document: dict[str, Any], directory: Path, key: StateKey | None) -> dict[str, Any]:
    try:
        with opened_journal(directory, key) as journal:
            # Until there is a plan, the report says all there is.
            return document if journal.plan() is None else updated(document, journal.sums())
    except (ResumeRefused, InputOutputFailed) as error:
        failure = InputOutputFailed(f"{error}: what was confirmed is not known", hint=error.hint)
    failure.document = _unknown(document)
    raise failure


def _unknown(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report that was stored when its run was planned, without the counts that only its journal has."""
    if not document["requests"]["planned"]:
        return dict(document)
    return {
        **document,
        "rows": {**document["rows"], "sent": None, "rejected": None, "pending": None},
        "requests": {**document["requests"], "confirmed": None, "attempts": None},
        "reconciliation": dict.fromkeys(document["reconciliation"]),
        "miscounted": None,
    }


def _without_report(directory: Path, key: StateKey | None) -> dict[str, Any]:
    """Return the report of a run that was killed before it had one."""
    try:
        with opened_journal(directory, key) as journal:
            if journal.plan() is None and journal.ending() is None:
                return empty_report(journal.facts()).to_json()
    except (ResumeRefused, InputOutputFailed) as error:
        raise InputOutputFailed(f"the run has no report: {error}", hint=error.hint) from None
    failure = InputOutputFailed("the report of the run is gone", hint="restore it")
    failure.document = _report_from_journal(directory, key)
    raise failure


def _report_from_journal(directory: Path, key: StateKey | None) -> dict[str, Any] | None:
    """Return a report made of a journal alone; None when that cannot be trusted, either."""
    try:
        with opened_journal(directory, key) as journal:
            facts, plan, sums, ending = journal.facts(), journal.plan(), journal.sums(), journal.ending()
    except (ResumeRefused, InputOutputFailed):
        return None
    document = empty_report(facts).to_json()
    document["state"] = "incomplete" if ending is None else ending.state
    if plan is not None:
        left = {"rejected": plan.rows_rejected, "pending": plan.records, "read": plan.rows_read}
        document["rows"] = {**dict.fromkeys(document["rows"]), "sent": 0, **left}
        document["requests"]["planned"] = len(plan.requests)
        document["requests"]["bytes"] = sum(body.body_bytes for body in plan.requests)
        document |= {name: plan.rules.get(name) for name in ("plan_time", "expires_at", "effective_at")}
        document = updated(document, sums)
        if facts.repeat_command:  # which of the records were rows of the source, its report alone could tell
            document["rows"] = {**dict.fromkeys(document["rows"]), "read": plan.rows_read}
    return document


def empty_report(facts: RunFacts) -> Report:
    """Return the report of a run that has read nothing."""
    return Report(
        run_id=facts.run_id,
        state="incomplete",
        target=facts.target,
        source_names=names_of(facts.sources),
        operation=facts.operation,
        rows=RowCounts(read=0),
        started_at=facts.started_at,
    )


def _with_prospects(summary: dict[str, Any], store: RunStore, state_dir: Path, key: StateKey | None) -> dict[str, Any]:
    resumable = running = False
    run_id = summary["run_id"]
    directory = store.directory(run_id)
    if summary["state"] in ("incomplete", UNREADABLE):
        try:
            with opened_journal(directory, key) as journal:
                facts, plan, sums, ending = journal.facts(), journal.plan(), journal.sums(), journal.ending()
            if plan is not None and "rows" in summary:
                summary = summary | _counts_of(updated(check_report(store.read(run_id)), sums))
        except (ResumeRefused, InputOutputFailed) as error:
            known = _counts_of(known_of(store, run_id)) if "rows" in summary else {}
            why = error.reason if isinstance(error, ResumeRefused) else UNREADABLE
            return {**summary, **known, "journal": why, "resumable": False, "running": False}
        named = {
            "target": facts.target.to_json(),
            "audience_id": facts.target.audience_id,
            "audience_name": facts.target.known_name(state_dir, facts.account_id),
            "source_names": list(names_of(facts.sources)),
            "operation": facts.operation,
        }
        summary = {**named, **summary, "started_at": summary["started_at"] or facts.started_at}
        if ending is not None and summary["state"] == "incomplete":  # its report is gone
            summary["state"] = ending.state
        running = run_id in at_work(state_dir, {run_id})
        is_there = ending is None and can_resume(facts, directory, is_planned=plan is not None)
        resumable = not running and not facts.repeat_command and is_there and facts.target.is_known
    return {**summary, **_unknown_destination(summary), "resumable": resumable, "running": running}


def _unknown_destination(summary: Mapping[str, Any]) -> dict[str, str]:
    if "target" not in summary or (target := Target.from_json(summary["target"])).is_known:
        return {}
    return {"unknown_destination": target.destination.name}


def _counts_of(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: document[name] for name in ("rows", "requests") if name in document}


# --- The report of a run from its events alone ---


def report_from_events(events: FilePath, run: str | None = None) -> Report:
    """Return the report of the run with the id `run` from its events alone; without an id, of the last in the file.

    It is the report that `audiencekit report` shows, also of a run that was killed. Raises UsageError when the file has
    no such run, and InputOutputFailed when it cannot be read.
    """
    reports, requests, last = dict[str, dict[str, Any]](), dict[str, dict[int, RequestFacts]](), ""
    for event in read_events(Path(events)):
        if event["event"] == "erasure":  # which has a receipt, and no report
            continue
        last = event["run_id"]
        if "report" in event:
            reports[last] = event["report"]
        if event["event"] == "begun" and not event["resumed"]:
            requests[last] = {}
        if event["event"] == "request":
            facts = RequestFacts.from_json(event)
            requests.setdefault(last, {})[facts.number] = facts
    run_id = last if run is None else run
    if run_id not in reports:
        raise UsageError(
            f"{str(events)!r} has no events of a run {shown(run_id)}".rstrip(), hint="see its `run_id` keys"
        )
    document, found = check_report(reports[run_id]), requests.get(run_id, {}).values()
    is_unfinished = document["state"] == "incomplete" and document["requests"]["planned"]
    return Report.from_json(updated(document, sums_of(found)) if is_unfinished else document)


# --- The present report of a run: from its plan, its journal, and its end ---


def report_of(
    run: Run,
    planned: PlannedRun | None,
    state: State = "incomplete",
    sums: Sums | None = None,
    *,
    notes: tuple[str, ...] = (),
    rows_read: int | None = None,
    pace: dict[str, Any] | None = None,
    learned_size: dict[str, Any] | None = None,
) -> Report:
    """Return the present report. `notes`, `pace` and `learned_size` are those of the delivery."""
    sums = sums or run.earlier
    rows = RowCounts(read=rows_read or 0, pending=rows_read or 0)
    facts: dict[str, Any] = {"operation": run.facts.operation, "rows": rows}
    if run.facts.only_rejected is not None:
        rejected = None if planned is None else planned.rejected_before
        facts["repair_of"] = {"run": run.facts.only_rejected, "rejected_rows": rejected}
    if planned is not None:
        facts |= _facts_of(planned, sums)
        facts["notes"] += notes
    if state == "complete":
        facts["finished_at"] = time_of_end(run)
    return Report(
        run_id=run.facts.run_id,
        state=state,
        target=run.facts.target,
        requests_confirmed=sums.confirmed,
        attempts=sums.attempts,
        records_sent=sums.records_confirmed,
        success_count=sums.success_count,
        total_count=sums.total_count,
        miscounted=tuple(miscounts_for_report(sums)),
        started_at=run.facts.started_at,
        audience_name=run.facts.target.known_name(run.store.state_dir, run.facts.account_id),
        source_names=names_of(run.items),
        pace=pace or {},
        learned_size=learned_size,
        earlier_paces=run.earlier_paces,
        **facts,
    )


def present_report(run: Run) -> dict[str, Any]:
    """Return the report of a run that goes on, with the sums of its journal: as `read_report`, which opens that."""
    with suppress(InputOutputFailed):
        document = check_report(run.store.read(run.facts.run_id))
        is_unfinished = document["state"] == "incomplete" and run.plan is not None
        return updated(document, run.earlier) if is_unfinished else document
    return empty_report(run.facts).to_json()


def store_report(run: Run, report: Report) -> Report:
    """Write the report into the state directory, and return it. Raises InputOutputFailed."""
    run.store.write(run.facts.run_id, report.to_json())
    return report


def time_of_end(run: Run) -> str:
    """Return now, but not a time before the beginning of the run, even if the clock was set back."""
    return format_time(max(datetime.now(UTC), run.started_at))


def miscounts_for_report(sums: Sums) -> list[dict[str, int]]:
    """Return the requests that the service counted differently, with the records sent and both counts."""
    return [
        {
            "request": each.number,
            "records_sent": each.records_sent,
            "success_count": each.success_count,
            "total_count": each.total_count,
        }
        for each in sums.miscounted
    ]


def _facts_of(planned: PlannedRun, sums: Sums) -> dict[str, Any]:
    """Return the fields of a Report that come from its plan, and from its confirmed requests."""
    refused = sum(each.row <= planned.tally.rows_read for each in sums.refused)
    done = sums.records_confirmed + len(sums.refused) - refused  # who is taken out in a sync is no row of the source
    return {
        **({} if planned.changes else {"operation": planned.operation}),
        "rows": planned.row_counts(sent=done, refused=refused),
        "changes": planned.changes,
        "sources": tuple(part.to_json() for part in planned.source.parts),
        "columns": planned.mapping.names_by_kind(),
        "identifiers": identifier_counts(planned.tally, planned.mapping),
        "combinations": combination_counts(planned.tally),
        "rejections": dict(planned.tally.reasons + Counter({Reason.REFUSED_BY_SERVICE.value: refused})),
        "suppression": tuple(asdict(each) for each in planned.suppression),
        "requests_planned": len(planned.requests),
        "bytes": sum(request.body_bytes for request in planned.requests),
        "fill_ratio": planned.fill_ratio(),
        **planned.times.to_json(),
        "problems": tuple({"message": str(refusal), "hint": refusal.hint} for refusal in planned.refusals),
        "warnings": tuple(warning.to_json() for warning in planned.warnings),
        "notes": planned.notes + _words_for(sums.refused),
    }


def _words_for(refused: Iterable[RefusedRow]) -> tuple[str, ...]:
    codes = Counter(code for each in refused for code in each.codes or ("no code",))
    words = ", ".join(f"{code} {count:,}" for code, count in codes.most_common())
    return (f"rows that the service refused, by its codes: {words}",) if codes else ()
