"""A fact that the uploader tells is on disk when it goes on: several in one commit, and none after a failure."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiencekit.delivery.results import Miscount, RefusedRow
from audiencekit.errors import Bug, InputOutputFailed, Outcome, ResumeRefused
from audiencekit.runs.journal.facts import Moment, Sums
from audiencekit.runs.journal.file import Entry, JournalFile
from audiencekit.runs.journal.writer import RunJournal
from tests.runs.journal.conftest import KEY, RUN_ID, packed, result_of

States = Callable[[], dict[int, str]]


async def test_an_intent_is_on_disk_before_anything_leaves(planned: JournalFile, states: States) -> None:
    """Then its end is."""
    async with RunJournal(planned, KEY) as journal:
        await journal.intend(packed(1))
        assert states() == {1: "intended", 2: "planned", 3: "planned"}
        await journal.conclude(result_of(1))
        assert states() == {1: "confirmed", 2: "planned", 3: "planned"}
    assert planned.sums() == Sums(
        confirmed=1, records_confirmed=10, body_bytes=1_000, success_count=10, total_count=10, attempts=1
    )


async def test_the_counts_of_the_service_are_kept(planned: JournalFile) -> None:
    """Not our own under their names: where they differed, the sums would."""
    async with RunJournal(planned, KEY) as journal:
        await journal.intend(packed(1))
        await journal.conclude(replace(result_of(1), success_count=9, total_count=11))
    sums = planned.sums()
    assert (sums.records_confirmed, sums.success_count, sums.total_count) == (10, 9, 11)
    assert not sums.is_reconciled


async def test_other_counts_are_kept_until_a_confirmation(planned: JournalFile) -> None:
    """The last ones of the whole request, through attempts that say nothing; they are in no sum."""
    said = Miscount(2, 10, 0, 0)
    unknown = result_of(2, Outcome.UNKNOWN)
    for results in ([replace(unknown, miscount=said)], [unknown]):
        async with RunJournal(planned, KEY) as journal:
            for result in results:
                await journal.intend(packed(2))
                await journal.conclude(result)
        assert planned.sums().miscounted == (said,)
        assert planned.sums().is_reconciled
        planned.check(RUN_ID, KEY)
    async with RunJournal(planned, KEY) as journal:
        await journal.intend(packed(2))
        await journal.conclude(result_of(2))
    assert planned.sums().miscounted == ()


async def test_rows_of_a_request_are_kept_as_a_range(planned: JournalFile, path: Path) -> None:
    """The first and the last, whatever their order in the body; and the digest says nothing of the body."""
    async with RunJournal(planned, KEY) as journal:
        await journal.intend(packed(2))
    connection = sqlite3.connect(path)
    (row,) = connection.execute("SELECT first_row, last_row, length(digest) FROM requests WHERE number = 2")
    connection.close()
    assert row == (20, 29, 16)
    assert b"body 2" not in path.read_bytes()


@pytest.mark.parametrize(
    ("outcome", "attempts", "state"),
    [
        (Outcome.CONFIRMED, 3, "confirmed"),
        (Outcome.REFUSED, 1, "refused"),
        (Outcome.UNKNOWN, 6, "unknown"),
        (None, 0, "planned"),
    ],
)
async def test_how_a_request_ended_is_kept(
    planned: JournalFile, states: States, outcome: Outcome | None, attempts: int, state: str
) -> None:
    """One that never left is as it was."""
    async with RunJournal(planned, KEY) as journal:
        await journal.intend(packed(1))
        await journal.conclude(result_of(1, outcome, attempts))
    assert states()[1] == state
    assert planned.sums().attempts == attempts
    assert planned.sums().unknown == (outcome is Outcome.UNKNOWN)


async def test_rows_that_the_service_refused_are_kept_with_its_words(planned: JournalFile) -> None:
    """They are no longer among the records that it took."""
    async with RunJournal(planned, KEY) as journal:
        for number in (2, 1):
            await journal.intend(packed(number))
            refused = (RefusedRow(number * 10 + 5, ("INVALID", "TOO_OLD")), RefusedRow(number * 10 + 1, ()))
            await journal.conclude(replace(result_of(number), records=8, refused=refused))
    sums = planned.sums()
    assert sums.refused == (
        RefusedRow(11, ()), RefusedRow(15, ("INVALID", "TOO_OLD")),
        RefusedRow(21, ()), RefusedRow(25, ("INVALID", "TOO_OLD")),
    )  # fmt: skip
    assert (sums.confirmed, sums.records_confirmed) == (2, 16)


async def test_a_request_without_an_intent_is_not_concluded(planned: JournalFile, states: States) -> None:
    """A request that waited for its wave when the run was stopped costs no write."""
    async with RunJournal(planned, KEY) as journal:
        await journal.conclude(result_of(1, None, 0))
    assert states()[1] == "planned"


async def test_a_doubt_of_earlier_ends_with_a_confirmation_only(planned: JournalFile, states: States) -> None:
    """A try that a crash cut short has been a try, and a later refusal does not undo what it may have done."""
    async with RunJournal(planned, KEY) as journal:
        await journal.intend(packed(1))
        await journal.intend(packed(2))
    assert planned.sums().attempts == planned.sums().unknown == 2
    async with RunJournal(planned, KEY) as journal:
        await journal.intend(packed(1))
        await journal.conclude(result_of(1, Outcome.REFUSED))
        await journal.intend(packed(2))
        await journal.conclude(result_of(2, None, 0))
    assert states() == {1: "unknown", 2: "unknown", 3: "planned"}
    assert planned.sums().attempts == 3
    async with RunJournal(planned, KEY) as journal:
        await journal.intend(packed(1))
        await journal.conclude(result_of(1))
    assert states()[1] == "confirmed"
    assert planned.confirmed_numbers() == {1}
    assert planned.sums().attempts == 4


async def test_other_bytes_are_refused_before_they_leave(planned: JournalFile, states: States) -> None:
    """And nothing is written after it."""
    async with RunJournal(planned, KEY) as journal:
        await journal.intend(packed(1))
    async with RunJournal(planned, KEY) as journal:
        with pytest.raises(ResumeRefused, match="request 1 would not be the bytes"):
            await journal.intend(packed(1, b"something else"))
        with pytest.raises(ResumeRefused):
            await journal.intend(packed(2))
    assert states() == {1: "intended", 2: "planned", 3: "planned"}


async def test_a_request_that_is_not_in_the_plan_is_refused(planned: JournalFile) -> None:
    """There is no line to write to."""
    async with RunJournal(planned, KEY) as journal:
        with pytest.raises(ResumeRefused):
            await journal.intend(packed(4))


async def test_writes_that_come_meanwhile_are_one_commit(planned: JournalFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three who ask at once wait for one or two writes, not for three."""
    groups: list[int] = []
    write = planned.write

    def counting(entries: Sequence[Entry]) -> None:
        groups.append(len(entries))
        write(entries)

    monkeypatch.setattr(planned, "write", counting)
    async with RunJournal(planned, KEY) as journal:
        await asyncio.gather(*(journal.intend(packed(number)) for number in (1, 2, 3)))
        await asyncio.gather(*(journal.conclude(result_of(number)) for number in (1, 2, 3)))
    assert sum(groups) == 6
    assert len(groups) == 2
    assert planned.sums().confirmed == 3


async def test_after_a_failure_nothing_is_written(
    planned: JournalFile, states: States, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All who wait are told, and so are later callers, though the disk may be well again."""

    def failing(entries: Sequence[Entry]) -> None:
        raise InputOutputFailed("the disk is full", hint="make space")

    async with RunJournal(planned, KEY) as journal:
        await journal.intend(packed(1))
        with monkeypatch.context() as patch:
            patch.setattr(planned, "write", failing)
            told = await asyncio.gather(
                journal.conclude(result_of(1)), journal.intend(packed(2)), return_exceptions=True
            )
        with pytest.raises(InputOutputFailed, match="disk is full") as caught:
            await journal.intend(packed(3))
    assert [str(error) for error in told] == ["the disk is full"] * 2
    assert told[0] is not told[1]
    assert caught.value.hint == "make space"
    assert states() == {1: "intended", 2: "planned", 3: "planned"}


async def test_a_cancelled_request_harms_no_other(planned: JournalFile, states: States) -> None:
    """The write goes on, and the other requests hear of it."""
    async with RunJournal(planned, KEY) as journal:
        impatient = asyncio.create_task(journal.intend(packed(1)))
        patient = asyncio.create_task(journal.intend(packed(2)))
        await asyncio.sleep(0)
        impatient.cancel()
        await patient
    assert impatient.cancelled()
    assert states() == {1: "intended", 2: "intended", 3: "planned"}


async def test_a_bug_shows_no_body(planned: JournalFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that cannot be digested is named by type and place."""
    broken: Any = packed(1)
    object.__setattr__(broken, "body", type("Odd", (), {"unwrap": lambda self: ["person"]})())
    async with RunJournal(planned, KEY) as journal:
        with pytest.raises(Bug, match="no values are shown") as caught:
            await journal.intend(broken)
    assert "person" not in str(caught.value)


async def test_an_attempt_that_may_come_late_is_remembered(planned: JournalFile) -> None:
    """When its bytes last left; of one that cannot, nothing."""
    seconds = iter(range(1, 100))
    async with RunJournal(planned, KEY, moment=lambda: Moment("one start", next(seconds))) as journal:
        await journal.intend(packed(1))
        assert planned.departures() == {1: Moment("one start", 1)}
        await journal.intend_again(1)
        assert planned.departures() == {1: Moment("one start", 2)}
        await journal.conclude(result_of(1))
        assert planned.departures() == {}
        await journal.intend(packed(2))
        await journal.intend_again(2)
        await journal.conclude(replace(result_of(2), is_doubtful=True))
        assert planned.departures() == {2: Moment("one start", 4)}


async def test_doubt_of_an_earlier_process_stays(planned: JournalFile) -> None:
    """An attempt that it left on its way is not settled by the confirmation of a later one."""
    async with RunJournal(planned, KEY, moment=lambda: Moment("first start", 50)) as journal:
        await journal.intend(packed(1))
        await journal.intend(packed(2))
        await journal.conclude(replace(result_of(2), is_doubtful=True))
    async with RunJournal(planned, KEY, moment=lambda: Moment("second start", 5)) as journal:
        await journal.intend(packed(1))
        await journal.conclude(result_of(1))
    assert planned.departures() == {1: Moment("second start", 5), 2: Moment("first start", 50)}
