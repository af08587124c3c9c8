"""Runs that were started and have sent nothing."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from audiencekit.destinations.target import Target
from audiencekit.planning.options import Keywords, plain_keywords
from audiencekit.runs.arguments import RunArguments
from audiencekit.runs.beginning import start_run
from audiencekit.runs.run import Run
from audiencekit.settings import Settings, load_settings

ACCOUNT, AUDIENCE = "18ce54d4x5t", Target.audience("1nmth")


def offline(tmp_path: Path) -> Settings:
    """Settings that lead nowhere."""
    given = {"AUDIENCEKIT_ACCOUNT_ID": ACCOUNT}
    return load_settings(given, directory=tmp_path, state_dir=tmp_path / "state")


def arguments(**more: Any) -> RunArguments:
    """Those of an upload of `list.csv` to AUDIENCE."""
    keywords = plain_keywords(Keywords(columns={"email": "mail"}))
    return RunArguments(**({"source": "list.csv", "target": AUDIENCE, "keywords": keywords} | more))


def start(settings: Settings, stack: ExitStack, **more: Any) -> Run:
    """A run with these arguments."""
    return start_run(arguments(**more), settings, stack)
