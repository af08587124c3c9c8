"""`audiencekit.runs.run`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiencekit.delivery.limiter import Unlimited
from audiencekit.destinations.target import Target
from audiencekit.planning.options import Keywords, plain_keywords
from audiencekit.reporting.progress import NoProgress
from audiencekit.runs.keywords import RUN_DEFAULTS, RunKeywords, RunOptions
from audiencekit.runs.run import Run
from audiencekit.settings import Settings
from tests.runs.journal.conftest import FACTS
from tests.runs.started import AUDIENCE, arguments, offline, start


def test_every_keyword_of_a_run_has_a_default() -> None:
    """By these names the keywords of a run are told from those of its source."""
    assert set(RUN_DEFAULTS) == RunKeywords.__optional_keys__


def test_keywords_are_split_by_what_they_are_about(tmp_path: Path) -> None:
    """Those of the run are options of it, the others are left as they are."""
    of_run: dict[str, Any] = {
        "settings": offline(tmp_path), "limiter": Unlimited(), "progress": NoProgress(), "run_id": "daily-1",
        "keep_spool": True, "rejections": "no.csv",
    }  # fmt: skip
    about_source: dict[str, Any] = {"columns": {"email": "mail"}, "country": None}
    options, rest = RunOptions.split({**of_run, **about_source})  # type: ignore[typeddict-item]
    assert rest == about_source
    assert {name: getattr(options, name) for name in of_run} == of_run


def test_options_that_are_not_given_have_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings are those of the environment; None is given by callers who pass on what they were not given."""
    monkeypatch.setenv("AUDIENCEKIT_ACCOUNT_ID", "18ce54d4x5t")
    given: list[dict[str, Any]] = [{}, {"settings": None, "progress": None}]
    for options in (RunOptions.of(**each) for each in given):
        assert options.settings.account_id == "18ce54d4x5t"
        options.progress.tell("a listener is there")
        assert (options.run_id, options.keep_spool, options.rejections, options.limiter) == (None, False, None, None)


# --- A run: the arguments that it was begun with, and the places of its files ---


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
