"""A run: what it was begun with, and what is said of it when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from audiencekit.destinations.target import Target
from audiencekit.emulator import Emulator
from audiencekit.errors import AudiencekitError, InputOutputFailed, NotFinished, PlanRefused, ResumeRefused, UsageError
from audiencekit.machine.keptspool import KeptSpool
from audiencekit.pipeline import upload_async
from audiencekit.planning.options import Keywords, plain_keywords
from audiencekit.runs import beginning, run as run_module
from audiencekit.runs.journal.facts import Sums
from audiencekit.runs.resumption import KEPT
from audiencekit.runs.run import Run
from audiencekit.runs.storedreports import read_report
from audiencekit.settings import Settings
from tests.runs.journal.conftest import FACTS
from tests.runs.started import AUDIENCE, arguments, offline, start


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """One that has kept a spool."""
    with ExitStack() as stack:
        run = start(offline(tmp_path), stack, keep_spool=True)
        with KeptSpool.create(run.directory / KEPT, run.spool_key) as spool:
            spool.finish()
        yield run


def _stored(run: Run) -> dict[str, Any]:
    return read_report(run.store.state_dir, run.facts.run_id)


def test_a_complete_run_has_a_report_an_end_and_no_spool(run: Run) -> None:
    """Its report is the one that was given."""
    report = run.complete(run.report(None, "complete"))
    assert (report.state, run.journal.ending() is not None) == ("complete", True)
    assert _stored(run) == report.to_json()
    assert run.ended() == report
    assert not (run.directory / KEPT).exists()


def test_a_disk_that_fails_at_the_end_says_that_all_was_sent(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run stays as it is, to be resumed."""

    def fail(*_: Any) -> None:
        raise InputOutputFailed("no space left")

    monkeypatch.setattr(type(run.journal), "finish", fail)
    with pytest.raises(InputOutputFailed, match="no space left") as caught:
        run.complete(run.report(None, "complete"))
    assert caught.value.hint.startswith("everything was sent")
    assert run.facts.run_id in caught.value.hint
    assert caught.value.document is not None
    assert caught.value.document["state"] == "incomplete"
    assert (run.journal.ending(), (run.directory / KEPT).exists()) == (None, True)


@pytest.mark.parametrize(
    ("error", "sums", "state"),
    [
        (PlanRefused("no"), Sums(), "refused"),
        (UsageError("no"), Sums(), "refused"),
        (NotFinished("no"), Sums(), "incomplete"),
        (PlanRefused("no"), Sums(confirmed=1), "incomplete"),
        (PlanRefused("no"), Sums(unknown=1), "incomplete"),
    ],
    ids=["refused", "invalid", "not finished", "refused after a request", "refused after a lost answer"],
)
def test_a_run_is_refused_for_good_only_before_anything_may_have_arrived(
    run: Run, error: AudiencekitError, sums: Sums, state: str
) -> None:
    """A run that may be resumed says how; the report is kept, and is the document of the error."""
    failure = run.fail(error, run.report(None), sums)
    assert failure is error
    assert error.document is not None
    assert (error.document["state"], _stored(run)["state"]) == (state, state)
    assert (f"audiencekit resume {run.facts.run_id}" in error.hint) == (state == "incomplete")
    assert (run.directory / KEPT).exists() == (state == "incomplete")
    if state == "incomplete":
        assert run.ended() is None
        return
    with pytest.raises(ResumeRefused, match="the run was refused: no") as refused:
        run.ended()
    assert refused.value.reason == "refused"
    assert refused.value.document == error.document


def test_a_disk_that_fails_as_well_hides_no_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in the hint."""

    def fail(*_: Any) -> None:
        raise InputOutputFailed("no space left")

    monkeypatch.setattr(type(run.store), "write", fail)
    error = run.fail(NotFinished("over"), run.report(None), Sums())
    assert str(error) == "over"
    assert error.hint.endswith("and the report was not kept: no space left")


def test_an_error_before_a_resumed_run_was_touched_carries_its_facts(run: Run) -> None:
    """And nothing of the run is written; one that has a document keeps it."""
    run.write(run.report(None))
    before = (run.directory / "report.json").read_bytes()
    with pytest.raises(NotFinished) as caught, run.kept_out():
        raise NotFinished("over")
    assert caught.value.document is not None
    assert caught.value.document["run_id"] == run.facts.run_id
    known = NotFinished("over")
    known.document = {"state": "known"}
    with pytest.raises(NotFinished) as caught, run.kept_out():
        raise known
    assert caught.value.document == {"state": "known"}
    assert (run.directory / "report.json").read_bytes() == before


def test_an_error_before_there_is_a_report_carries_none(run: Run) -> None:
    """A kill came before it was written."""
    assert run.keep_out(NotFinished("over")).document is None


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
    asked = {"paths": ("list.csv",), "target": AUDIENCE, "keywords": arguments().keywords, **change}
    settings_now = replace(settings, account_id=asked.pop("account_id", settings.account_id))
    with ExitStack() as stack:
        run = start(settings, stack)
        assert run.is_as_asked(**asked, settings=settings_now) == is_as_asked


def test_the_path_of_older_versions_is_known_by_its_shape(tmp_path: Path, settings: Settings) -> None:
    """One that was asked for is another."""
    run_id = "20261121-013000-1f3a9c"
    run = Run(facts=FACTS, store=None, directory=tmp_path, journal=None, key=None, spool_key=None)  # type: ignore[arg-type]
    for kept, meant in (
        ("rejections.csv", tmp_path / "rejections.csv"),
        (f"/old/place/runs/{run_id}/rejections.csv", tmp_path / "rejections.csv"),
        ("/old/place/runs/20261121-013000-000000/rejections.csv", None),
        ("/asked/for.csv", None),
    ):
        assert replace(run, facts=replace(FACTS, rejections=kept)).rejections == (meant or Path(kept))


def _set_clock(monkeypatch: pytest.MonkeyPatch, module: Any, time: str) -> None:
    """Have `module` read this time for ever."""

    class Fixed(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime.fromisoformat(time)

    monkeypatch.setattr(module, "datetime", Fixed)


async def test_a_run_never_ends_before_it_began(
    source: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock may be set back while it goes on."""
    _set_clock(monkeypatch, beginning, "2026-11-21T01:30:00Z")
    _set_clock(monkeypatch, run_module, "2026-11-20T01:30:00Z")
    report = await upload_async(source, audience_id=emulator.audience_id, settings=settings)
    assert report.started_at == report.finished_at == "2026-11-21T01:30:00Z"
