"""How a run ends: its stored report, the end in its journal, and the document of an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import AudiencekitError, InputOutputFailed, NotFinished, PlanRefused, ResumeRefused, UsageError
from audiencekit.runs.endings import complete, ended, fail, leave_untouched, untouched
from audiencekit.runs.journal.facts import Sums
from audiencekit.runs.reports import read_report, report_of, store_report
from audiencekit.runs.run import Run
from audiencekit.runs.start import KEPT
from audiencekit.state.spool import KeptSpool
from tests.runs.started import offline, start


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
    report = complete(run, report_of(run, None, "complete"))
    assert (report.state, run.journal.ending() is not None) == ("complete", True)
    assert _stored(run) == report.to_json()
    assert ended(run) == report
    assert not (run.directory / KEPT).exists()


def test_a_disk_that_fails_at_the_end_says_that_all_was_sent(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run stays as it is, to be resumed."""

    def refuse_to_write(*_: Any) -> None:
        raise InputOutputFailed("no space left")

    monkeypatch.setattr(type(run.journal), "finish", refuse_to_write)
    with pytest.raises(InputOutputFailed, match="no space left") as caught:
        complete(run, report_of(run, None, "complete"))
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
    failure = fail(run, error, report_of(run, None), sums)
    assert failure is error
    assert error.document is not None
    assert (error.document["state"], _stored(run)["state"]) == (state, state)
    assert (f"audiencekit resume {run.facts.run_id}" in error.hint) == (state == "incomplete")
    assert (run.directory / KEPT).exists() == (state == "incomplete")
    if state == "incomplete":
        assert ended(run) is None
        return
    with pytest.raises(ResumeRefused, match="the run was refused: no") as refused:
        ended(run)
    assert refused.value.reason == "refused"
    assert refused.value.document == error.document


def test_a_disk_that_fails_as_well_hides_no_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in the hint."""

    def refuse_to_write(*_: Any) -> None:
        raise InputOutputFailed("no space left")

    monkeypatch.setattr(type(run.store), "write", refuse_to_write)
    error = fail(run, NotFinished("over"), report_of(run, None), Sums())
    assert str(error) == "over"
    assert error.hint.endswith("and the report was not kept: no space left")


def test_an_error_before_a_resumed_run_was_touched_carries_its_facts(run: Run) -> None:
    """And nothing of the run is written; one that has a document keeps it."""
    store_report(run, report_of(run, None))
    before = (run.directory / "report.json").read_bytes()
    with pytest.raises(NotFinished) as caught, untouched(run):
        raise NotFinished("over")
    assert caught.value.document is not None
    assert caught.value.document["run_id"] == run.facts.run_id
    known = NotFinished("over")
    known.document = {"state": "known"}
    with pytest.raises(NotFinished) as caught, untouched(run):
        raise known
    assert caught.value.document == {"state": "known"}
    assert (run.directory / "report.json").read_bytes() == before


def test_an_error_before_there_is_a_report_carries_none(run: Run) -> None:
    """A kill came before it was written."""
    assert leave_untouched(run, NotFinished("over")).document is None
