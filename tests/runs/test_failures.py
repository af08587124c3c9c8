"""How a delivery ends, and with which exit code: never a better one than the truth."""

from __future__ import annotations

import asyncio
import csv
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiencekit.api.answers import Counts
from audiencekit.api.client import AdsClient
from audiencekit.delivery.limiter import Unlimited
from audiencekit.delivery.results import RequestResult
from audiencekit.delivery.retry import RetryPolicy, SystemClock
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.emulator.faults.orders import read_faults
from audiencekit.errors import (
    Bug,
    CertificateRefused,
    CountMismatch,
    CredentialsRefused,
    InputOutputFailed,
    LongWait,
    NotFinished,
    NotFound,
    RateLimited,
    Redirected,
    RequestRefused,
    TransportFailed,
    Unauthorized,
)
from audiencekit.pipeline import resume_async, upload_async
from audiencekit.planning import plan as plan_module, planner
from audiencekit.reporting.text import render_report
from audiencekit.runs import second_pass
from audiencekit.runs.failures import failure_of
from audiencekit.runs.journal.facts import Sums
from audiencekit.runs.journal.writer import RunJournal
from audiencekit.runs.reports import read_report
from audiencekit.settings import Settings, load_settings
from tests.cases import each_case
from tests.delivery.scripted import Upload, busy, interrupted, lost, plan
from tests.runs.begun import ROWS
from tests.virtualtime import VirtualClock, run_virtually

UNREACHED = TransportFailed("refused", sent=False)
REVOKED = Unauthorized("revoked", status=401, codes=("89",))
SKEWED = Unauthorized("clock", status=401, codes=("135",), hint="set the clock")
SHORT = CountMismatch(sent=10, success_count=9, total_count=10)
WRONG_CALL = RequestRefused("no", status=400)
LIMITED = RateLimited("wait", status=429)

ENDS: dict[str, tuple[int, Any, int]] = {
    "no answer": (1, UNREACHED, 69),
    "no answer any more": (3, UNREACHED, 75),
    "answers are lost": (1, lost(), 75),
    "unavailable from the first on": (1, busy(), 75),  # 503 does not say that nothing was applied
    "rate limited for ever": (1, LIMITED, 69),
    "rate limited for ever, midway": (3, LIMITED, 75),
    "counts never right": (1, SHORT, 75),
    "token wrong": (1, REVOKED, 77),
    "token revoked midway": (3, REVOKED, 77),
    "clock off": (1, SKEWED, 77),
    "password of the shared limiter wrong": (1, CredentialsRefused("Redis refuses our password"), 77),
    "no such audience": (1, NotFound("gone", status=404), 3),
    "audience deleted midway": (3, NotFound("gone", status=404), 75),
    "every record refused": (1, WRONG_CALL, 3),
    "every record of a later request refused": (3, WRONG_CALL, 75),
    "another address": (1, Redirected("elsewhere", status=307), 3),
    "certificate of another host": (1, CertificateRefused("not trusted"), 3),
    "disk full": (1, InputOutputFailed("no space left"), 74),
    "disk full midway": (3, InputOutputFailed("no space left"), 74),
    "a bug": (1, lambda clock: ValueError("ours"), 1),
}


@each_case("first, error, exit_code", ENDS.values())
def test_exit_code_of_every_end(first: int, error: Any, exit_code: int) -> None:
    """A fault that never ends from the `first` request on leads to the code; the message counts confirmed requests."""
    upload = Upload(VirtualClock(), plan(40), {number: [error] * 999 for number in range(first, 41)}, concurrency=1)
    delivered = run_virtually(upload.run())
    assert not delivered.is_complete
    assert delivered.confirmed == first - 1
    failure = failure_of(delivered, Sums().plus(delivered))
    assert failure.exit_code == exit_code
    if exit_code == 77:
        assert failure.hint


def test_interruption_is_not_finished() -> None:
    """75, whether or not something was sent."""
    for moment in (0.2, 3.0):
        clock = VirtualClock()
        delivered = run_virtually(interrupted(Upload(clock, plan(40), concurrency=1), moment))
        assert failure_of(delivered, Sums().plus(delivered)).exit_code == 75


@pytest.mark.parametrize(("first", "has_progress"), [(1, False), (3, True)])
def test_a_long_wait_can_be_resumed_after_it(first: int, has_progress: bool) -> None:
    """75, with the wait, and whether this process confirmed anything."""
    upload = Upload(VirtualClock(), plan(4), {first: [LIMITED]}, concurrency=1, longest_wait_seconds=5.0)
    delivered = run_virtually(upload.run())
    failure = failure_of(delivered, Sums(confirmed=7).plus(delivered))
    assert isinstance(failure, LongWait)
    assert (failure.exit_code, failure.has_progress) == (75, has_progress)
    assert 60 <= failure.seconds <= 62


def test_patience_of_a_run_is_a_policy_of_its_own() -> None:
    """Two runs of one process share no budget and no outage."""
    clock = VirtualClock()
    policies = [RetryPolicy(clock=clock, randomness=None) for _ in range(2)]  # type: ignore[arg-type]
    assert policies[0].quota is not policies[1].quota
    assert policies[0].outage is not policies[1].outage


async def test_a_refused_row_stops_no_other_row(
    tmp_path: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From file to report: one record is refused; its row is rejected with the code, all others are sent."""
    names = [f"person{number}" for number in range(300)]
    bad = hashlib.sha256(b"person123@example.com").hexdigest().encode()
    source = tmp_path / "people.csv"
    source.write_text("email\n" + "".join(f"{name}@example.com\n" for name in names) + "not an address\n")
    send_users = AdsClient.send_users

    async def picky(self: AdsClient, audience_id: str, body: Any, *, records: int) -> Counts:
        if bad in b"".join(bytes(piece) for piece in body.slices(1 << 20)):
            raise RequestRefused("no", status=400, codes=("INVALID_USER",))
        return await send_users(self, audience_id, body, records=records)

    monkeypatch.setattr(AdsClient, "send_users", picky)
    rejections = tmp_path / "why.csv"
    report = await upload_async(source, audience=emulator.audience_id, settings=settings, rejections=rejections)
    document = report.to_json()
    assert document["state"] == "complete"
    assert document["rows"] == {
        "read": 301, "sent": 299, "rejected": 2, "duplicate": 0, "superseded": 0, "suppressed": 0, "pending": 0,
    }  # fmt: skip
    assert document["rejections"] == {"invalid_syntax": 1, "refused_by_service": 1}
    assert document["reconciliation"] == {"records_sent": 299, "success_count": 299, "total_count": 299}
    assert any("INVALID_USER 1" in note for note in document["notes"])
    with rejections.open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["row", "column", "reason"],
            ["301", "email", "invalid_syntax"],
            ["124", "", "refused_by_service"],
        ]
    assert document["requests"]["confirmed"] == document["requests"]["planned"] == 1
    assert 2 < document["requests"]["attempts"] < 30


async def test_counts_that_do_not_agree_end_no_run_as_complete(
    tmp_path: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request was checked; should the sums differ all the same, the report says so, and it is a bug."""
    source = tmp_path / "list.csv"
    source.write_text("email\nada@example.com\nbo@example.com\n")
    conclude = RunJournal.conclude

    async def miscounting(journal: RunJournal, result: RequestResult) -> None:
        await conclude(journal, replace(result, total_count=result.total_count + 32))

    monkeypatch.setattr(RunJournal, "conclude", miscounting)
    with pytest.raises(Bug, match="2 records were sent, success_count is 2, total_count is 34") as caught:
        await upload_async(source, audience=emulator.audience_id, settings=settings)
    assert caught.value.document is not None
    assert caught.value.document["state"] == "incomplete"
    assert "total_count 34: THEY DIFFER" in render_report(caught.value.document)


@pytest.mark.usefixtures("small_requests")
@pytest.mark.parametrize(
    ("kind", "short_of_success", "short_of_total"),
    [("success_short", 1, 0), ("both_short", 1, 1), ("both_long", -1, -1)],
)
async def test_counts_of_the_service_that_are_not_ours_are_shown(
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    short_of_success: int,
    short_of_total: int,
) -> None:
    """Per request, in the report and as text, from then on until it is confirmed; the run is not complete."""

    async def at_once(clock: SystemClock, seconds: float) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr(SystemClock, "sleep", at_once)
    wrong: dict[str, Any] = {"fault": 17, "kind": kind, "match": {"path": "*/users"}}
    faults = read_faults([{**wrong, "nth": nth} for nth in range(2, 10)])  # the whole four times, and half of it
    async with Emulator(EmulatorOptions(faults=tuple(faults))) as emulator:
        given = {**emulator.env, "AUDIENCEKIT_CONCURRENCY": "1"}
        settings = load_settings(given, directory=tmp_path, state_dir=tmp_path / "state")
        with pytest.raises(NotFinished, match="the service counts") as caught:
            await upload_async(source, audience=emulator.audience_id, settings=settings, limiter=Unlimited())
        document = caught.value.document
        assert document is not None
        [said] = document["miscounted"]
        records = said["records_sent"]
        success_count, total_count = records - short_of_success, records - short_of_total
        assert 1 < records < ROWS
        assert said == {
            "request": 2, "records_sent": records, "success_count": success_count, "total_count": total_count
        }  # fmt: skip
        assert (document["state"], document["requests"]["confirmed"]) == ("incomplete", 1)
        assert set(document["reconciliation"].values()) == {document["rows"]["sent"]}
        assert read_report(settings.state_dir, "last")["miscounted"] == [said]
        words = (
            f"request 2: records sent {records}, success_count {success_count}, total_count {total_count}: THEY DIFFER"
        )
        assert words in render_report(document)
        done = await resume_async("last", settings=settings, limiter=Unlimited())
    assert (done.state, done.miscounted, done.rows.sent) == ("complete", (), ROWS)
    assert "THEY DIFFER" not in str(done)


async def test_no_memory_is_no_bug(
    tmp_path: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is kept, leaves with 74, and goes on where there is more."""
    source = tmp_path / "list.csv"
    source.write_text("email\nada@example.com\nbo@example.com\n")

    def exhausted(*_: Any, **__: Any) -> Any:
        raise MemoryError

    for module, name in ((planner, "open_source"), (plan_module, "pack_requests"), (second_pass, "deliver")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, exhausted)
            with pytest.raises(InputOutputFailed, match="not enough memory") as caught:
                await upload_async(source, audience=emulator.audience_id, settings=settings)
        assert caught.value.document is not None
        assert (caught.value.exit_code, caught.value.document["state"]) == (74, "incomplete")
        assert "audiencekit resume" in caught.value.hint
        assert (await resume_async("last", settings=settings)).rows.sent == 2
