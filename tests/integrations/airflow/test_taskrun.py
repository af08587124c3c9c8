"""Every try of a task gets the same run id, every other task another one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any

import pytest

from audiencekit.integrations.airflow.taskrun import run_id_of
from audiencekit.runs.store import check_chosen_run_id

WHEN = datetime(2026, 11, 21, 1, 30, tzinfo=UTC)


def _context(**changed: Any) -> dict[str, Any]:
    names = {"dag_id": "daily", "task_id": "upload", "run_id": "scheduled__1", "map_index": -1, "try_number": 1}
    return {"ti": SimpleNamespace(**names | changed), "dag_run": SimpleNamespace(run_after=WHEN)}


def test_it_is_an_id_that_a_run_may_have() -> None:
    """And sorts by the time of the DAG run, in UTC."""
    run_id = run_id_of(_context())
    check_chosen_run_id(run_id)
    assert run_id.startswith("20261121-013000-")


def test_another_try_has_the_same() -> None:
    """A task that was cleared is another try."""
    assert run_id_of(_context(try_number=2)) == run_id_of(_context())


@pytest.mark.parametrize(
    "changed",
    [{"dag_id": "weekly"}, {"task_id": "upload2"}, {"run_id": "scheduled__2"}, {"map_index": 0}, {"map_index": 1}],
    ids=str,
)
def test_another_task_has_another(changed: dict[str, Any]) -> None:
    """Mapped ones are others."""
    assert run_id_of(_context(**changed)) != run_id_of(_context())


def test_names_that_read_alike_in_a_row_are_told_apart() -> None:
    """Where one ends and the next begins counts."""
    assert run_id_of(_context(dag_id="a", task_id="bc")) != run_id_of(_context(dag_id="ab", task_id="c"))


def test_older_airflow_knows_the_logical_date_only() -> None:
    """It stands in for the time to run after."""
    local = WHEN.astimezone(timezone(timedelta(hours=9)))
    context = _context() | {"dag_run": SimpleNamespace(logical_date=local)}
    assert run_id_of(context) == run_id_of(_context())
