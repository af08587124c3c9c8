"""Why a journal cannot be trusted, and what to do then: with the plan time of the run, where its report tells it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from audiencekit.errors import InputOutputFailed, ResumeRefused
from audiencekit.optiontext import option
from audiencekit.runs.store import RUN_HOME, time_of

WHAT_WAS_SENT: Final = "whether anything was sent"
NOTHING_SENT: Final = frozenset({"no_journal", "not_begun"})  # reasons


def damaged(directory: Path, what: str = "the journal is damaged") -> ResumeRefused:
    """The refusal of a run in `directory` whose file is no sound journal."""
    return ResumeRefused(what, reason="damaged", hint=f"restore it; or {how_to_repeat(directory)}")


def another_key(directory: Path) -> ResumeRefused:
    """The refusal of a journal that this state key does not fit."""
    return ResumeRefused(
        "the journal was written under another state key, or was changed",
        reason="key",
        hint=f"give the AUDIENCEKIT_KEY, keyring or key file of that time; or {how_to_repeat(directory)}",
    )


def without_key(directory: Path) -> ResumeRefused:
    """The refusal of a run whose state key is not there, or is none: a new one would be of no use."""
    return ResumeRefused(
        "the state key that the journal was written under is gone, or cannot be read",
        reason="key",
        hint=f"give the AUDIENCEKIT_KEY, keyring or key file of that time; or {how_to_repeat(directory)}",
    )


def another_schema(directory: Path, version: int, known: int) -> ResumeRefused:
    """The refusal of a journal whose header names another schema than the one `known` to this version."""
    return ResumeRefused(
        f"the journal says that it has schema {version}, and this version reads schema {known} only",
        reason="schema",
        hint="resume with the version of audiencekit that began the run; if this one did, the journal is damaged: "
        f"{how_to_repeat(directory)}",
    )


def without_journal() -> ResumeRefused:
    """The refusal of a run that ended before it had a journal."""
    return ResumeRefused(
        "the run has no journal: nothing was sent", reason="no_journal", hint="upload the source again"
    )


def not_begun() -> ResumeRefused:
    """The refusal of a run that ended before its journal said anything."""
    return ResumeRefused(
        "the run ended before it began: nothing was sent", reason="not_begun", hint="upload the source again"
    )


def how_to_repeat(directory: Path) -> str:
    """The hint for a run in `directory` that cannot go on: upload the same once more, with the same times."""
    plan_time = _plan_time(directory)
    again = option("plan_time", plan_time) if plan_time else "`plan_time=` of the run"
    if plan_time is None and (begun_at := time_of(directory.name)) is not None:
        again = f"{option('plan_time', begun_at)}, or the one that it was given"
    return f"upload the source again with {again}: a repeated Update or Delete changes nothing"


def _plan_time(directory: Path) -> str | None:
    try:
        found = RUN_HOME.read(directory).get("plan_time")
    except InputOutputFailed:
        return None
    return found if isinstance(found, str) else None
