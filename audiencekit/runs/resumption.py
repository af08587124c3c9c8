"""Whether a run can be resumed, from what: its sources as they were, or the sealed spool that it kept of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from audiencekit.delivery.journal.facts import RunFacts
from audiencekit.delivery.keptspool import KeptSpool, destroy_spool
from audiencekit.errors import InputOutputFailed, ResumeRefused
from audiencekit.machine.keys import SubKey
from audiencekit.sources.standardinput import STANDARD_INPUT

KEPT: Final = "spool.sealed"


def has_kept_spool(facts: RunFacts, directory: Path, *, is_planned: bool) -> bool:
    """Whether the run goes on from its spool. One that was left before there was a plan is not whole."""
    return facts.keep_spool and is_planned and (directory / KEPT).exists()


def can_resume(facts: RunFacts, directory: Path, *, is_planned: bool) -> bool:
    """Whether there is something to read: whether it still is what it was shows then."""
    if STANDARD_INPUT in facts.keywords.get("suppress", ()):
        return False
    return STANDARD_INPUT not in facts.sources or has_kept_spool(facts, directory, is_planned=is_planned)


def refuse_what_came_once(facts: RunFacts, directory: Path, *, is_planned: bool) -> None:
    """Raises ResumeRefused for a run from standard input of which nothing was kept; half a spool is removed."""
    if can_resume(facts, directory, is_planned=is_planned):
        return
    if not is_planned:
        forget_spool(directory)
        raise ResumeRefused(
            "a source was standard input, and the run ended before it was read to its end: nothing was sent",
            reason="standard_input",
            hint="upload the same rows again",
        )
    raise ResumeRefused(
        "a source was standard input, which cannot be read again",
        reason="standard_input",
        hint="upload the same rows again with --plan-time of the run: a repeated Update or Delete changes nothing; "
        "--keep-spool keeps what a resumption needs",
    )


@contextmanager
def kept_spool(directory: Path, key: SubKey) -> Iterator[KeptSpool]:
    """The finished spool of the run. Raises ResumeRefused when it is not whole, or of another key."""
    refusal: ResumeRefused
    try:
        spool = KeptSpool.open(directory / KEPT, key)
    except InputOutputFailed as error:
        hint = "restore it; or remove it, and a source that can be read again will be"
        refusal = ResumeRefused(f"{error}: nothing was sent", reason="spool", hint=hint)
    else:
        with spool:
            yield spool
        return
    raise refusal


@contextmanager
def new_spool(directory: Path, key: SubKey) -> Iterator[KeptSpool]:
    """An empty spool in the place of one that was not finished. Raises InputOutputFailed."""
    forget_spool(directory)
    with KeptSpool.create(directory / KEPT, key) as spool:
        yield spool


def forget_spool(directory: Path) -> None:
    """Leave nothing of the spool, if there is one. Raises InputOutputFailed."""
    destroy_spool(directory / KEPT)
