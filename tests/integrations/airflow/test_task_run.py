"""The run of a task: its id is the same for each try, and a signal of Airflow drains its work."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from audiencekit.integrations.airflow.task_run import Drainage, run_id_of
from audiencekit.runs.store import check_chosen_run_id
from tests.cases import each_case

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


@each_case(
    "changed",
    [{"dag_id": "weekly"}, {"task_id": "upload2"}, {"run_id": "scheduled__2"}, {"map_index": 0}, {"map_index": 1}],
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


class TaskEnded(BaseException):
    """Raised by the signal handler of an older Airflow."""


@pytest.fixture
def ended_by_signal() -> Iterator[None]:
    """SIGUSR1 raises TaskEnded in the main thread."""

    def end(number: int, frame: FrameType | None) -> None:
        raise TaskEnded

    before = signal.signal(signal.SIGUSR1, end)
    yield
    signal.signal(signal.SIGUSR1, before)


def test_the_result_of_the_work_comes_back() -> None:
    """From another thread than the task's."""

    async def work() -> threading.Thread:
        return threading.current_thread()

    assert Drainage().run(work()) is not threading.current_thread()


def test_an_exception_of_the_work_is_raised() -> None:
    """As it is."""

    async def work() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Drainage().run(work())


def test_a_drain_cancels_once() -> None:
    """A second call is no second interruption: that would stop at once what is under way."""
    drainage, seen = Drainage(), []

    async def work() -> str:
        drainage.drain()
        drainage.drain()
        for _ in range(3):
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                seen.append("cancelled")
                drainage.drain()
        return "drained"

    assert drainage.run(work()) == "drained"
    assert seen == ["cancelled"]


def test_a_drain_before_the_work_begins_ends_it() -> None:
    """Nothing of it is done."""
    drainage = Drainage()
    drainage.drain()

    async def work() -> None:
        await asyncio.sleep(0)
        raise AssertionError("it went on")

    with pytest.raises(asyncio.CancelledError):
        drainage.run(work())


def test_a_drain_after_the_end_is_none() -> None:
    """The loop is closed by then."""
    drainage = Drainage()

    async def work() -> int:
        return 1

    assert drainage.run(work()) == 1
    drainage.drain()


def test_an_exception_of_a_signal_handler_waits_for_the_end(ended_by_signal: None) -> None:
    """It breaks into the wait, not into the work: what is under way is finished before it is raised."""
    steps: list[str] = []

    async def work() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            steps.append("finished")

    with pytest.raises(TaskEnded):
        Drainage().run(work())
    assert steps == ["finished"]
