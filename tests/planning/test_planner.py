"""A plan that is only looked at."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audiencekit.emulator import Emulator
from audiencekit.errors import UsageError
from audiencekit.limits import MIN_TARGETABLE_PEOPLE
from audiencekit.pipeline import check, upload_async
from audiencekit.planning.options import read_keywords
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.planning.planner import plan_run, preview
from audiencekit.profile import find_profile
from audiencekit.reporting.progress import NoProgress
from audiencekit.settings import Settings, load_settings

# --- A plan that is only looked at ---

NOW = datetime(2026, 11, 21, 1, 30, tzinfo=UTC)


def test_a_preview_leaves_only_the_rejections(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The spool is gone, and all rows are counted."""
    spools = tmp_path / "spools"
    spools.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spools))
    source.write_text(source.read_text() + "nothing,,\n")
    profile, rejections = find_profile("spec"), tmp_path / "rejections.csv"
    terms = PlanTerms.pinned(read_keywords({"ignore": "marketing"}, profile), profile, now=NOW)
    plan = preview(source, terms, rejections=rejections, progress=NoProgress())
    assert (plan.rows.read, plan.records, plan.verdict) == (5, 4, "ready")
    assert rejections.read_text().splitlines()[1:] == ["5,email,invalid_syntax"]
    assert list(spools.iterdir()) == []


def test_rejections_are_not_written_over_the_source(source: Path) -> None:
    """The source is as it was."""
    profile, before = find_profile("spec"), source.read_bytes()
    terms = PlanTerms.pinned(read_keywords({}, profile), profile, now=NOW)
    with pytest.raises(UsageError):
        preview(source, terms, rejections=source, progress=NoProgress())
    assert source.read_bytes() == before


FEW = "too few"
PROFILE = find_profile("spec")


def _list(tmp_path: Path, people: int, *more: str, operation: str = "") -> Path:
    """A list of so many people and of `more` lines, each with `operation` in a column of its own when there is one."""
    cell = f",{operation}" if operation else ""
    lines = [f"person{number}@example.com{cell}" for number in range(people)]
    path = tmp_path / "list.csv"
    path.write_text("\n".join(["email,operation" if operation else "email", *lines, *more]) + "\n", encoding="utf-8")
    return path


def _notes(path: Path, tmp_path: Path, **keywords: Any) -> list[str]:
    plan = check(path, settings=load_settings({}, directory=tmp_path), **keywords)
    return [note for note in plan.notes if FEW in note]


@pytest.mark.parametrize(
    ("people", "words"),
    [
        (1, "1 person is"),
        (MIN_TARGETABLE_PEOPLE - 1, "99 people are"),
        (MIN_TARGETABLE_PEOPLE, None),
        (250, None),
    ],
)
def test_a_plan_of_too_few_people_says_so(tmp_path: Path, people: int, words: str | None) -> None:
    """It refuses nothing: others may be in the audience already."""
    notes = _notes(_list(tmp_path, people), tmp_path)
    assert len(notes) == (words is not None)
    assert all((words or "") in note and "100 matched people" in note for note in notes)


def test_only_what_is_sent_counts(tmp_path: Path) -> None:
    """Duplicates and rejected rows are no people."""
    twice = [f"person{number}@example.com" for number in range(60)]
    (note,) = _notes(_list(tmp_path, 60, *twice), tmp_path)
    assert "60 people are" in note


def test_people_who_are_taken_out_are_never_too_few(tmp_path: Path) -> None:
    """Nor is a list without people, which is refused for its own reason."""
    assert _notes(_list(tmp_path, 5), tmp_path, operation="delete") == []
    assert _notes(_list(tmp_path, 0, "null"), tmp_path) == []
    mixed = _list(tmp_path, 200, "ada@example.com,update", operation="delete")
    (note,) = _notes(mixed, tmp_path, operation_column="operation")
    assert "1 person is" in note


async def test_the_report_of_an_upload_says_so_too(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """Among its notes."""
    report = await upload_async(_list(tmp_path, 3), audience=emulator.audience_id, settings=settings)
    assert sum(FEW in note for note in report.notes) == 1


async def test_it_is_said_before_the_first_request(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """While there is time to think again."""
    told: list[str] = []

    class Listener:
        def step(self, stage: str, *_: Any, **__: Any) -> None:
            assert any(FEW in message for message in told) == (stage == "sending")

        def tell(self, message: str) -> None:
            assert not any(entry["path"].endswith("/users") for entry in emulator.store.requests.documents())
            told.append(message)

    await upload_async(_list(tmp_path, 3), audience=emulator.audience_id, settings=settings, progress=Listener())
    assert sum(FEW in message for message in told) == 1


def test_bodies_may_be_smaller_than_the_service_allows(tmp_path: Path) -> None:
    """Then there are more of them, each within what was asked for; what no body could keep to is refused."""
    source = tmp_path / "list.csv"
    source.write_text("email\n" + "".join(f"person{number}@example.com\n" for number in range(200)))
    with ExitStack() as stack:
        options = read_keywords({"max_body_bytes": 2_000}, PROFILE)
        planned = plan_run(
            source, PlanTerms.pinned(options, PROFILE, now=datetime.now(UTC)), PlanResources(stack=stack)
        )
        assert len(planned.requests) > 8
        assert max(request.body_bytes for request in planned.requests) <= 2_000
        options = read_keywords({"max_records_per_request": 30, "max_records_per_operation": 3}, PROFILE)
        planned = plan_run(
            source, PlanTerms.pinned(options, PROFILE, now=datetime.now(UTC)), PlanResources(stack=stack)
        )
        assert [request.records for request in planned.requests] == [30, 30, 30, 30, 30, 30, 20]
    for name in ("max_records_per_request", "max_records_per_operation"):
        for odd in (0, -1, True, 2.5, "10"):
            with pytest.raises(UsageError, match=name):
                read_keywords({name: odd}, PROFILE)  # type: ignore[misc]
    for wrong in (0, 1_999, 5_000_001, "2000"):
        with pytest.raises(UsageError, match="max_body_bytes"):
            read_keywords({"max_body_bytes": wrong}, PROFILE)  # type: ignore[typeddict-item]


class AllErased:
    """A memory that holds every key."""

    note = "people were erased"

    def holds(self, kind: Any, hashes: Any) -> Any:
        return np.ones(len(hashes), dtype=bool)


@pytest.mark.parametrize(("operation", "suppressed"), [("update", 3), ("delete", 0)])
def test_erased_people_are_told_of_where_they_are_kept_out(tmp_path: Path, operation: str, suppressed: int) -> None:
    """They may be taken out, and nothing is said then."""
    source = _list(tmp_path, 3)
    with ExitStack() as stack:
        options = read_keywords({"operation": operation, "allow_empty": True}, PROFILE)
        terms = PlanTerms.pinned(options, PROFILE, now=datetime.now(UTC), memories=(AllErased(),))
        planned = plan_run(source, terms, PlanResources(stack=stack))
    assert planned.selection.suppressed == suppressed
    assert (AllErased.note in planned.notes) == bool(suppressed)
