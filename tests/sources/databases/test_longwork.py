"""Queries that take long, and are not waited for any more."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest

import audiencekit
from audiencekit.emulator import Emulator
from audiencekit.errors import NotFinished
from audiencekit.settings import load_settings
from audiencekit.sources.databases.longwork import LongWork
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.patience import WAIT_ON
from audiencekit.sources.sourceopening import open_source
from tests.moments import PATIENCE_SECONDS

MINUTES = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000000)
    SELECT i || '@example.com' AS email FROM n WHERE i < 0"""


def test_the_result_or_the_exception_of_the_work_comes_back() -> None:
    """A timeout of its own among them. It is not cancelled."""
    cancelled: list[int] = []
    working = LongWork(lambda: cancelled.append(1))
    assert working.result(lambda: 7) == 7
    with pytest.raises(TimeoutError, match="its own"):
        working.result(_time_out)
    assert not cancelled


def _time_out() -> None:
    raise TimeoutError("its own")


def test_work_that_is_not_waited_for_is_cancelled() -> None:
    """From the thread that waits; its end is waited for."""
    ends, steps = threading.Event(), []

    def no_more() -> None:
        raise NotFinished("interrupted")

    def work() -> None:
        assert ends.wait(PATIENCE_SECONDS)
        steps.append("ended")

    before = WAIT_ON.set(no_more)
    working = LongWork(ends.set)
    WAIT_ON.reset(before)  # as in the thread that reads the rows
    with pytest.raises(NotFinished):
        working.result(work)
    assert steps == ["ended"]


async def test_a_cancelled_upload_leaves_a_query_of_sqlite(tmp_path: Path) -> None:
    """At once, not after its first row: it finds none."""
    path = tmp_path / "people.db"
    sqlite3.connect(path).close()
    async with Emulator() as emulator:
        settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / "state")
        query = audiencekit.from_sql(f"sqlite:///{path}", MINUTES)
        uploading = asyncio.create_task(
            audiencekit.upload_async(query, audience_id=emulator.audience_id, settings=settings)
        )
        while not uploading.done() and not any(
            each.name.startswith("audiencekit-query") for each in threading.enumerate()
        ):
            await asyncio.sleep(0.01)
        uploading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await uploading
    assert not any(each.name.startswith("audiencekit-query") for each in threading.enumerate())


@pytest.mark.services
@pytest.mark.parametrize("sql", ["SELECT 'a@example.com' AS email, pg_sleep(3600)::text", "slow rows"])
def test_a_query_of_postgresql_is_cancelled(sql: str, server: str) -> None:
    """Before its first row, and between rows."""
    if sql == "slow rows":
        sql = "SELECT 'a@example.com' AS email, pg_sleep(CASE WHEN i = 250000 THEN 3600 ELSE 0 END)::text"
        sql += " FROM generate_series(1, 300000) AS i"
    asked: list[int] = []

    def twice() -> None:
        asked.append(1)
        if len(asked) > 1:
            raise NotFinished("interrupted")

    WAIT_ON.set(twice)
    try:
        with pytest.raises(NotFinished):
            list(open_source(audiencekit.from_sql(server, sql), SourceOptions()).batches())
    finally:
        WAIT_ON.set(lambda: None)
