"""A run: the arguments that it was begun with, and the places of its files."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiencekit.destinations.target import Target
from audiencekit.planning.options import Keywords, plain_keywords
from audiencekit.runs.run import Run
from audiencekit.settings import Settings
from tests.runs.journal.conftest import FACTS
from tests.runs.started import AUDIENCE, arguments, offline, start


@pytest.mark.parametrize(
    ("change", "is_as_asked"),
    [
        ({}, True),
        ({"paths": ("other.csv",)}, False),
        ({"target": Target.audience("2other")}, False),
        ({"keywords": plain_keywords(Keywords(columns={"email": "other"}))}, False),
        ({"account_id": "18ce5other"}, False),
    ],
    ids=lambda change: "-".join(change) if isinstance(change, dict) else str(change),
)
def test_another_input_is_another_run(tmp_path: Path, change: dict[str, Any], is_as_asked: bool) -> None:
    """Of the source its path counts, and not what it holds."""
    settings = offline(tmp_path)
    asked = {"paths": ("list.csv",), "target": AUDIENCE, "keywords": arguments(settings).keywords, **change}
    settings_now = replace(settings, account_id=asked.pop("account_id", settings.account_id))
    with ExitStack() as stack:
        run = start(settings, stack)
        assert run.is_as_asked(**asked, settings=settings_now) == is_as_asked


def test_rejections_are_listed_where_the_run_is_now(tmp_path: Path, settings: Settings) -> None:
    """Unless another file was asked for."""
    run = Run(facts=FACTS, store=None, directory=tmp_path, journal=None, key=None, spool_key=None, settings=settings)  # type: ignore[arg-type]
    for kept, meant in (("rejections.csv", tmp_path / "rejections.csv"), ("/asked/for.csv", Path("/asked/for.csv"))):
        assert replace(run, facts=replace(FACTS, rejections=kept)).rejections == meant
