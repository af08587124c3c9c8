"""Runs that were started and have sent nothing."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from audiencekit.destinations.target import Target
from audiencekit.planning.options import Keywords, plain_keywords
from audiencekit.runs.beginning import start_run
from audiencekit.runs.keywords import RunOptions
from audiencekit.runs.run import Run, RunArguments
from audiencekit.runs.store import RunStore
from audiencekit.settings import Settings, load_settings

ACCOUNT, AUDIENCE = "18ce54d4x5t", Target.audience("1nmth")


def offline(tmp_path: Path) -> Settings:
    """Settings that lead nowhere."""
    given = {"AUDIENCEKIT_ACCOUNT_ID": ACCOUNT}
    return load_settings(given, directory=tmp_path, state_dir=tmp_path / "state")


def arguments(
    settings: Settings, *, source: str = "list.csv", operation: str | None = None, **more: Any
) -> RunArguments:
    """Those of a run on AUDIENCE, by itself an upload, with `more` options."""
    keywords = plain_keywords(Keywords(columns={"email": "mail"}))
    options = RunOptions.of(settings=settings, **more)
    return RunArguments(source=source, target=AUDIENCE, keywords=keywords, options=options, operation=operation)


def start(settings: Settings, stack: ExitStack, **more: Any) -> Run:
    """A run with these arguments."""
    return start_run(arguments(settings, **more), stack)


def create_begun(store: RunStore, run_id: str) -> Path:
    """The new directory of a run that is in the list of what was begun, although it has no journal."""
    directory = store.create(run_id)
    store.note_begun(run_id)
    return directory
