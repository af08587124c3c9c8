"""A plan that is only looked at."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from audiencekit.errors import UsageError
from audiencekit.planning.options import read_keywords
from audiencekit.planning.planinputs import Terms
from audiencekit.planning.preview import preview
from audiencekit.profile import find_profile
from audiencekit.reporting.progress import NoProgress

NOW = datetime(2026, 11, 21, 1, 30, tzinfo=UTC)


def test_a_preview_leaves_only_the_rejections(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The spool is gone, and all rows are counted."""
    spools = tmp_path / "spools"
    spools.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spools))
    source.write_text(source.read_text() + "nothing,,\n")
    profile, rejections = find_profile("spec"), tmp_path / "rejections.csv"
    terms = Terms.pinned(read_keywords({}, profile), profile, now=NOW)
    plan = preview(source, terms, rejections=rejections, progress=NoProgress())
    assert (plan.rows.read, plan.records, plan.verdict) == (5, 4, "ready")
    assert rejections.read_text().splitlines()[1:] == ["5,email,invalid_syntax"]
    assert list(spools.iterdir()) == []


def test_rejections_are_not_written_over_the_source(source: Path) -> None:
    """The source is as it was."""
    profile, before = find_profile("spec"), source.read_bytes()
    terms = Terms.pinned(read_keywords({}, profile), profile, now=NOW)
    with pytest.raises(UsageError):
        preview(source, terms, rejections=source, progress=NoProgress())
    assert source.read_bytes() == before
