"""Whether a run can be resumed, from what: its sources as they were, or the sealed spool that it kept of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from audiencekit.errors import ResumeRefused
from audiencekit.machine.keptspool import KeptSpool, destroy_spool
from audiencekit.machine.keys import SubKey
from audiencekit.machine.spool import SpoolDamaged
from audiencekit.runs.journal.facts import RunFacts
from audiencekit.sources.bytes.standardinput import STANDARD_INPUT
from audiencekit.sources.databases.databasequery import DatabaseQuery
from audiencekit.sources.frames.frames import Frame, OpenFile

KEPT: Final = "spool.sealed"
# What cannot be read again, in words, and the reason of a refusal.
_CAME_ONCE: Final = {
    STANDARD_INPUT: ("standard input", "standard_input"),
    Frame.mark: ("a data frame", "data_frame"),
    OpenFile.mark: ("an open file", "open_file"),
    DatabaseQuery.mark: ("a query to a database", "database"),
}


def has_kept_spool(facts: RunFacts, directory: Path, *, is_planned: bool) -> bool:
    """Whether the run goes on from its spool. One that was left before there was a plan is not whole."""
    return facts.keep_spool and is_planned and (directory / KEPT).exists()


def can_resume(facts: RunFacts, directory: Path, *, is_planned: bool) -> bool:
    """Whether there is something to read: whether it still is what it was shows then."""
    return _what_is_gone(facts, directory, is_planned=is_planned) is None


def refuse_what_came_once(facts: RunFacts, directory: Path, *, is_planned: bool) -> None:
    """Raises ResumeRefused when a source cannot be read again and nothing was kept of it; half a spool is removed."""
    gone = _what_is_gone(facts, directory, is_planned=is_planned)
    if gone is None:
        return
    name, reason = _CAME_ONCE[gone]
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


def _what_is_gone(facts: RunFacts, directory: Path, *, is_planned: bool) -> str | None:
    """One of the sources that can be read only once and is needed again. A spool holds no suppression source."""
    needed = tuple(facts.keywords.get("suppress", ()))
    if not has_kept_spool(facts, directory, is_planned=is_planned):
        needed += tuple(facts.sources)
    return next((source for source in needed if source in _CAME_ONCE), None)


@contextmanager
def kept_spool(directory: Path, key: SubKey) -> Iterator[KeptSpool]:
    """The finished spool of the run. Raises ResumeRefused when it is not whole, or of another key."""
    with whole_spool():
        spool = KeptSpool.open(directory / KEPT, key)
    with spool:
        yield spool


@contextmanager
def whole_spool() -> Iterator[None]:
    """Raises ResumeRefused when a kept spool turns out to be another one than was written."""
    try:
        yield
    except SpoolDamaged as error:
        error.bare()  # the new one keeps it as its context
        hint = "restore it; or remove it, and a source that can be read again will be"
        raise ResumeRefused(f"{error}: nothing more was sent", reason="spool", hint=hint) from None


@contextmanager
def new_spool(directory: Path, key: SubKey) -> Iterator[KeptSpool]:
    """An empty spool in the place of one that was not finished. Raises InputOutputFailed."""
    forget_spool(directory)
    with KeptSpool.create(directory / KEPT, key) as spool:
        yield spool


def forget_spool(directory: Path) -> None:
    """Leave nothing of the spool, if there is one. Raises InputOutputFailed."""
    destroy_spool(directory / KEPT)


def refuse_changes(facts: RunFacts) -> None:
    """Raises ResumeRefused for a run that sends the changes since an earlier one, which begins again instead."""
    if facts.again:
        raise ResumeRefused(
            f"a {facts.operation} is not resumed: it begins again where this one was confirmed",
            reason="changes",
            hint=f"{facts.again} sends what is left",
        )
