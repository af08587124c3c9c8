"""`audiencekit.runs.runkeywords`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audiencekit.delivery.limiter import Unlimited
from audiencekit.reporting.progress import NoProgress
from audiencekit.runs.runkeywords import RUN_DEFAULTS, RunKeywords, RunOptions
from tests.runs.started import offline


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
