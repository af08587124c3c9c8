"""The beginning of a run in a process: a new run is started, or an earlier one is opened again."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from audiencekit.destinations.target import Target
from audiencekit.errors import (
    CONTINUE_WITH,
    AudienceBusy,
    AudiencekitError,
    InputOutputFailed,
    ResumeRefused,
    UsageError,
)
from audiencekit.runs.audited import RunAudit
from audiencekit.runs.events import open_events
from audiencekit.runs.journal.file import JOURNAL, NOTHING_SENT, JournalFile, without_key
from audiencekit.runs.purge import purge_expired, remove
from audiencekit.runs.reports import empty_report, known_of, paces_of, present_report, read_report
from audiencekit.runs.run import Run, RunArguments, settings_of
from audiencekit.runs.start import (
    check_settings,
    refuse_another_service,
    refuse_changes,
    refuse_unknown_destination,
    refuse_unrepeatable,
    with_full_urls,
)
from audiencekit.runs.store import RunOrder, RunStore, TargetLock, new_run_id
from audiencekit.runs.watched import watch
from audiencekit.settings import Settings
from audiencekit.sources.files import FilePath
from audiencekit.state.keys import SPOOL, existing_state_key, find_state_key


def start_run(arguments: RunArguments, stack: ExitStack) -> Run:
    """Start a new run, under the given id or a new one; `stack` releases its lock and closes its journal.

    Runs past the retention are purged first. When `stack` ends with a UsageError, nothing of the run is kept. Raises
    AudienceBusy, and InputOutputFailed when the state directory cannot be written.
    """
    target, now, settings = arguments.target, datetime.now(UTC), arguments.options.settings
    check_settings(settings)
    run_id, store = arguments.options.run_id or new_run_id(now.timestamp()), RunStore(settings.state_dir)
    events = open_events(settings, run_id, stack)
    note = purge_expired(settings.state_dir, settings.retention, now=now)
    stack.enter_context(TargetLock(settings.state_dir, settings.require_account(), target, run_id))
    state_key = find_state_key(settings.state_dir, settings.key)
    directory = store.create(run_id)
    stack.push(partial(_leave_nothing_of, directory))
    if settings.watch is not None:
        watch(directory, settings.watch)
    facts = arguments.facts(run_id, now)
    key = facts.key(state_key)
    journal = JournalFile.begin(directory / JOURNAL, facts, key)
    stack.callback(journal.close)
    try:
        store.note_begun(run_id)
    except InputOutputFailed:
        journal.close()
        remove(directory, lambda _: None)
        raise
    events.begun(empty_report(facts).to_json(), is_resumed=False)
    return Run(
        facts=facts, store=store, directory=directory, journal=journal, key=key,
        spool_key=state_key.derive(SPOOL, run_id), settings=settings, items=arguments.items, note=note, events=events,
        audit=RunAudit(settings, facts, arguments.items),
    )  # fmt: skip


def _leave_nothing_of(
    directory: Path, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
) -> None:
    """Remove the new run in `directory` after a UsageError: such a run cannot be resumed."""
    if not isinstance(error, UsageError):
        return
    error.document = None
    try:
        remove(directory, RunOrder(directory.parents[1]).forget)
    except InputOutputFailed as failure:
        error.hint = "; ".join(filter(None, (error.hint, str(failure))))


def reopen_run(run_id: str, settings: Settings, stack: ExitStack, given: tuple[FilePath, ...] = ()) -> Run:
    """Open a run that was begun before, and check its journal. Raises ResumeRefused, AudienceBusy, InputOutputFailed.

    `given` are its sources once more, for addresses that the journal does not store completely. The known facts of a
    run that may have sent something are the document of the error.
    """
    store = RunStore(settings.state_dir)
    failure: AudiencekitError
    try:
        return _reopened(run_id, store, settings, stack, given)
    except AudiencekitError as error:
        failure = error
    if isinstance(failure, AudienceBusy):
        failure.document = {"state": "incomplete"}
    elif getattr(failure, "reason", "") not in NOTHING_SENT:
        failure.document = _known_report(store, run_id, settings)
    if failure.document is not None and not isinstance(failure, ResumeRefused):
        failure.document |= {CONTINUE_WITH: f"audiencekit resume {run_id}"}
    raise failure.bare()


def _known_report(store: RunStore, run_id: str, settings: Settings) -> dict[str, Any]:
    """Return the report of a run with the facts of its journal, if that can be trusted."""
    with suppress(AudiencekitError):
        if state_key := existing_state_key(settings.state_dir, settings.key):
            return read_report(settings.state_dir, run_id, state_key)
    return known_of(store, run_id)


def _reopened(run_id: str, store: RunStore, settings: Settings, stack: ExitStack, given: tuple[FilePath, ...]) -> Run:
    directory = store.directory(run_id)
    journal = JournalFile.open(directory / JOURNAL)
    stack.callback(journal.close)
    state_key = existing_state_key(settings.state_dir, settings.key)
    if state_key is None:
        raise without_key(directory)
    facts = journal.facts()
    sources, audit = facts.sources, None
    key = journal.check_by(run_id, state_key)
    if journal.ending() is None:
        refuse_unknown_destination(facts)
        refuse_changes(facts)
        settings = settings_of(facts, settings)
        # How far it came is looked at under the lock only: until then another process may be writing.
        stack.enter_context(TargetLock(settings.state_dir, facts.account_id, facts.target, run_id))
        sources = with_full_urls(facts.sources, given)
        refuse_unrepeatable(facts, directory, is_planned=journal.plan() is not None, sources=sources)
        store.note_resumed(run_id)
        audit = RunAudit(settings, facts, tuple(sources), is_resumed=True)
        if settings.watch is not None:
            watch(directory, settings.watch)
    events = open_events(settings, run_id, stack)
    run = Run(
        facts=facts, store=store, directory=directory, journal=journal, key=key,
        spool_key=state_key.derive(SPOOL, run_id), settings=settings, items=tuple(sources),
        earlier=journal.sums(), plan=journal.plan(), earlier_paces=paces_of(store, run_id), events=events,
        audit=audit,
    )  # fmt: skip
    if events.is_on:
        events.begun(present_report(run), is_resumed=True, requests=journal.requests())
    return run


def refuse_other_settings(run: Run, settings: Settings, *, new_address: bool = False) -> None:
    """Raise ResumeRefused when `settings` name another account or address than those at which `run` was begun."""
    facts = run.facts
    named = replace(settings, profile=run.settings.profile)
    refuse_another_service(
        f"run {facts.run_id}", address=facts.address, account_id=facts.account_id, settings=named,
        new_address=new_address,
    )  # fmt: skip


def hold_target(target: Target, settings: Settings, stack: ExitStack, now: datetime) -> None:
    """Keep runs off `target`, for a plan that is only shown. Raises AudienceBusy while one is at work on it."""
    run_id = new_run_id(now.timestamp())
    stack.enter_context(TargetLock(settings.state_dir, settings.require_account(), target, run_id))
