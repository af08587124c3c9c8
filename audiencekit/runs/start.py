"""The checks before a run: its target, and whether a run can be resumed, and from what."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from audiencekit.api.opening import open_client
from audiencekit.audit.log import AuditLog
from audiencekit.audit.purposes import check_purpose
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.destinations.destination import Session
from audiencekit.destinations.known_audiences import KnownAudiences, find_audience_id, is_id_not_name
from audiencekit.destinations.target import INSTALL
from audiencekit.errors import NotFinished, ResumeRefused
from audiencekit.reporting.progress import Progress
from audiencekit.runs.events import check_events
from audiencekit.runs.journal.facts import RunFacts
from audiencekit.runs.run import RunClock
from audiencekit.runs.store import check_chosen_run_id
from audiencekit.settings import Settings
from audiencekit.sources.bytes.files import STANDARD_INPUT
from audiencekit.sources.databases.databases import DatabaseQuery
from audiencekit.sources.files import FilePath, absolute_path, stored_path
from audiencekit.sources.frames import Frame, OpenFile
from audiencekit.sources.remote.addresses import is_stored_whole
from audiencekit.state.keys import SubKey, refuse_lost_key
from audiencekit.state.spool import KeptSpool, SpoolDamaged, destroy_spool
from audiencekit.text import option

# --- The audience of a run, by its id or by a name that only one audience of the account has ---


async def audience_id_of(given: str, settings: Settings, notify: Callable[[str], None] | None = None) -> str:
    """Return the id of the audience `given`; the service is asked for a name. Raises as `find_audience_id`."""
    if is_id_not_name(given):
        return given
    policy = RunClock().retry_policy(settings)
    async with open_client(settings) as client:
        known = KnownAudiences(settings.state_dir, settings.account_id)
        return await find_audience_id(given, client, policy, known, notify)


# --- The settings of a run, checked before anything is asked of the service ---


def check_settings(settings: Settings, run_id: str | None = None) -> None:
    """Check what a run needs besides its source and its target, and the id that its caller chose; change nothing.

    These are the purpose and what is required, the state key and its place, the events and the audit log. Raises the
    error that would refuse the run later.
    """
    if run_id is not None:
        check_chosen_run_id(run_id)
    check_purpose(settings)
    settings.check_key_place()
    check_events(settings)
    refuse_lost_key(settings.state_dir, settings.key)
    if (log := AuditLog.existing(settings)) is not None:
        log.check()


# --- Whether a run can be resumed, and from what: its unchanged sources, or the spool that it kept of them ---

KEPT: Final = "spool.sealed"
# Sources that cannot be read again, in words, and the reason of the refusal.
_CAME_ONCE: Final = {
    STANDARD_INPUT: ("standard input", "standard_input"),
    Frame.mark: ("a data frame", "data_frame"),
    OpenFile.mark: ("an open file", "open_file"),
    DatabaseQuery.mark: ("a query to a database", "database"),
}

_SIGNED: Final = ("an address with a query, of which the query is not kept", "signed_address")


def has_kept_spool(facts: RunFacts, directory: Path, *, is_planned: bool) -> bool:
    """Whether the run continues from its spool. A spool without a plan is not complete."""
    return facts.keep_spool and is_planned and (directory / KEPT).exists()


def can_resume(facts: RunFacts, directory: Path, *, is_planned: bool) -> bool:
    """Whether there is something to read. Whether it is unchanged shows later."""
    return _missing_source(facts, facts.sources, directory, is_planned=is_planned) is None


def with_full_urls(kept: Sequence[str], given: Sequence[FilePath]) -> list[str]:
    """Return the `kept` sources of a run, with the full addresses of those that are `given` once more."""
    again = {stored_path(path): absolute_path(path) for path in given}
    return [again.get(source, source) for source in kept]


def refuse_unrepeatable(
    facts: RunFacts, directory: Path, *, is_planned: bool, sources: Sequence[str] | None = None
) -> None:
    """Raise ResumeRefused when a source cannot be read again and has no spool; an incomplete spool is removed.

    `sources` are those of the run, some of them with their full addresses.
    """
    gone = _missing_source(facts, facts.sources if sources is None else sources, directory, is_planned=is_planned)
    if gone is None:
        return
    name, reason = gone
    if not is_planned:
        forget_spool(directory)
        message = f"a source was {name}, and the run ended before it was read to its end: nothing was sent"
        raise ResumeRefused(message, reason=reason, hint="upload the same rows again")
    raise ResumeRefused(
        f"a source was {name}, which cannot be read again",
        reason=reason,
        hint="upload the same rows again with `plan_time=` of the run: a repeated Update or Delete changes nothing; "
        "`keep_spool=True` keeps what a resumption needs",
    )


def _missing_source(
    facts: RunFacts, sources: Sequence[str], directory: Path, *, is_planned: bool
) -> tuple[str, str] | None:
    """Return a source that is needed again and missing, in words, and the reason. A spool has no suppression source."""
    needed = tuple(facts.keywords.get("suppress", ()))
    if not has_kept_spool(facts, directory, is_planned=is_planned):
        needed += tuple(sources)
    return next((gone for source in needed if (gone := _gone(source)) is not None), None)


def _gone(source: str) -> tuple[str, str] | None:
    return _CAME_ONCE.get(source) if is_stored_whole(source) else _SIGNED


@contextmanager
def kept_spool(directory: Path, key: SubKey) -> Iterator[KeptSpool]:
    """Return the finished spool of the run. Raises ResumeRefused when it is incomplete, or has another key."""
    with whole_spool():
        spool = KeptSpool.open(directory / KEPT, key)
    with spool:
        yield spool


@contextmanager
def whole_spool() -> Iterator[None]:
    """Raise ResumeRefused when a kept spool turns out to be changed."""
    try:
        yield
    except SpoolDamaged as error:
        error.bare()  # the new one keeps it as its context
        hint = "restore it, or resume with the version of audiencekit that began the run; or remove it: the run then"
        hint += " reads its source again, if that is possible"
        raise ResumeRefused(f"{error}: nothing more was sent", reason="spool", hint=hint) from None


@contextmanager
def new_spool(directory: Path, key: SubKey) -> Iterator[KeptSpool]:
    """Return an empty spool, in place of an unfinished one. Raises InputOutputFailed."""
    forget_spool(directory)
    with KeptSpool.create(directory / KEPT, key) as spool:
        yield spool


def forget_spool(directory: Path) -> None:
    """Remove the spool, if there is one. Raises InputOutputFailed."""
    destroy_spool(directory / KEPT)


def refuse_unknown_destination(facts: RunFacts) -> None:
    """Raise ResumeRefused for a run whose destination is not installed."""
    if not facts.target.is_known:
        name = facts.target.destination.name
        raise ResumeRefused(
            f"run {facts.run_id} goes to the destination `{name}`, which this installation does not have: nothing more"
            " was sent",
            reason="destination",
            hint=f"{INSTALL}; then resume the run",
        )


def refuse_another_service(
    what: str, *, address: str, account_id: str, settings: Settings, new_address: bool = False
) -> None:
    """Raise ResumeRefused when `what` was begun at another account or `address` than those in `settings`.

    With `new_address` the service has moved.
    """
    if settings.account_id not in (None, "", account_id):
        raise ResumeRefused(
            f"{what} was begun for account {account_id}, and the settings name account {settings.account_id}: nothing"
            " more was sent",
            reason="account",
            hint=f"say that this is the account that you mean: {option('account_id', account_id)}",
        )
    if address != settings.address and not new_address:
        was, is_now = address or "no address", settings.address or "no address"
        raise ResumeRefused(
            f"{what} was begun at {was}, and the settings name {is_now}: nothing more was sent",
            reason="address",
            hint="set AUDIENCEKIT_ADS_URL to the address of then; if the service itself has moved, say"
            f" {option('new_address', True)}",
        )


def refuse_changes(facts: RunFacts) -> None:
    """Raise ResumeRefused for a run that sends the changes since an earlier one: it is repeated instead."""
    if facts.repeat_command:
        raise ResumeRefused(
            f"a {facts.operation} is not resumed: it begins again where this one was confirmed",
            reason="changes",
            hint=f"{facts.repeat_command}, with the list and the options of then, sends what is left",
        )


# --- The check of a target before a run is begun: a wrong target or secret is found before the source is read ---


async def look_at_target(session: Session, progress: Progress, policy: RetryPolicy) -> None:
    """Check that the target of `session` exists and may be written.

    Raises the error that refuses the run, and NotFinished for a cancellation. Nothing of the run is kept.
    """
    try:
        await session.look(policy=policy, notify=progress.tell)
        return
    except asyncio.CancelledError:
        interrupted = NotFinished("interrupted before the source was read: nothing was sent")
    raise interrupted
