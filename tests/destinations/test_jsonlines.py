"""Another destination gets plan, journal, resumption and report for nothing: it is one file of tests."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from audiencekit.delivery.limiter import Unlimited
from audiencekit.destinations.target import Target
from audiencekit.errors import CredentialsRefused, MappingRefused, NotFinished, Refused
from audiencekit.pipeline import check, resume_async
from audiencekit.reporting.text import render_plan, render_report
from audiencekit.runs.storedreports import list_runs, read_report
from audiencekit.runs.uploads import upload_to
from audiencekit.settings import Settings, load_settings
from tests.destinations.jsonlines import LOST, REFUSED, REVOKED, JsonLines, Mailbox, registered

ROWS = 2_500


@pytest.fixture
def destination() -> Iterator[JsonLines]:
    with registered() as destination:
        yield destination


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """It needs no credentials, only an account."""
    return load_settings(
        {"AUDIENCEKIT_ACCOUNT_ID": "18ce54d4x5t"}, directory=tmp_path, state_dir=tmp_path / "state", concurrency=1
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "list.csv"
    people = "".join(f"person{number}@example.com\n" for number in range(ROWS))
    path.write_text("email\n" + people + "person7@example.com\n")
    return path


async def test_a_run_is_planned_sent_and_reported(destination: JsonLines, settings: Settings, source: Path) -> None:
    """1,000 people a request, none twice, and sums that close; nothing says when an entry expires."""
    target = Target(destination, "m1")
    report = await upload_to(target, source, settings=settings, limiter=Unlimited())
    mailbox = destination.mailbox
    assert mailbox.sizes == [1_000, 1_000, 500]
    assert len({person["email"][0] for person in mailbox.people}) == ROWS
    assert mailbox.said == ["look", "begin", "connected", "finish", "gone"]
    assert (report.state, report.rows.sent, report.rows.duplicate, report.success_count) == ("complete", ROWS, 1, ROWS)
    assert (report.expires_at, report.target) == (None, target)
    text = render_report(read_report(settings.state_dir, report.run_id))
    assert f"update mailbox {target.id}" in text
    assert "expires" not in text
    (listed,) = list_runs(settings.state_dir)
    assert (listed["state"], listed["target"]) == ("complete", {"kind": "json_lines", "id": "m1"})


def test_a_plan_heeds_what_it_takes(destination: JsonLines, settings: Settings, tmp_path: Path, source: Path) -> None:
    """Emails only; and its notes are told."""
    plan = check(source, settings=settings, destination=destination)
    assert (plan.requests, plan.records, plan.expires_at) == (3, ROWS, None)
    assert "a mailbox keeps all people" in render_plan(plan)
    phones = tmp_path / "phones.csv"
    phones.write_text("phone\n+12015550123\n")
    with pytest.raises(MappingRefused, match="a mailbox takes email only"):
        check(phones, settings=settings, destination=destination, columns={"phone_number": "phone"})


async def test_a_run_that_was_ended_early_is_resumed(destination: JsonLines, settings: Settings, source: Path) -> None:
    """Confirmed requests are not sent again; the end of the run is announced when all are confirmed."""
    destination.mailbox.script = [None, *[REVOKED] * 16]
    with pytest.raises(CredentialsRefused):
        await upload_to(Target(destination, "m1"), source, settings=settings, limiter=Unlimited())
    assert "finish" not in destination.mailbox.said
    destination.mailbox.script = []
    report = await resume_async("last", settings=settings, limiter=Unlimited())
    assert (report.state, report.rows.sent) == ("complete", ROWS)
    assert sorted(destination.mailbox.sizes) == [500, 1_000, 1_000]
    assert destination.mailbox.said.count("finish") == 1


async def test_a_request_that_is_sent_again_is_written_once(
    destination: JsonLines, settings: Settings, source: Path
) -> None:
    """Its key and its number tell it from a new one; another run under the same id has another key."""
    mailbox, target = destination.mailbox, Target(destination, "m1")
    mailbox.lost = [LOST] * 2
    report = await upload_to(target, source, settings=settings, limiter=Unlimited(), run_id="a-run-of-ours")
    assert (report.state, report.rows.sent, mailbox.sizes) == ("complete", ROWS, [1_000, 1_000, 500])
    shutil.rmtree(settings.state_dir / "runs")
    await upload_to(target, source, settings=settings, limiter=Unlimited(), run_id="a-run-of-ours")
    assert mailbox.sizes == [1_000, 1_000, 500] * 2


@pytest.mark.parametrize("point", ["between lines", "after send"])
def test_a_killed_run_writes_no_person_twice(tmp_path: Path, source: Path, point: str) -> None:
    """In a process that dies while it writes, or before the journal says that it did."""
    job = {"directory": str(tmp_path), "source": str(source), "kill": {"point": point, "nth": 2}}
    assert subprocess.run([sys.executable, "-m", "tests.destinations.killedlines", json.dumps(job)]).returncode == -9
    before = (tmp_path / "mailbox").read_bytes().count(b'"request"')
    job |= {"kill": None}
    subprocess.run([sys.executable, "-m", "tests.destinations.killedlines", json.dumps(job)], check=True)
    with (tmp_path / "mailbox").open("rb") as file:
        mailbox = Mailbox(file)
        assert (before, mailbox.sizes) == (1 if point == "between lines" else 2, [1_000, 1_000, 500])
        assert len({person["email"][0] for person in mailbox.people}) == len(mailbox.people) == ROWS


async def test_a_request_without_parts_is_refused_as_a_whole(
    destination: JsonLines, settings: Settings, source: Path
) -> None:
    """Nothing is cut up, and the run ends."""
    destination.mailbox.script = [REFUSED] * 1_000
    with pytest.raises((NotFinished, Refused)):
        await upload_to(Target(destination, "m1"), source, settings=settings, limiter=Unlimited())
    assert destination.mailbox.people == []


async def test_an_end_that_is_not_confirmed_is_announced_again(
    destination: JsonLines, settings: Settings, source: Path
) -> None:
    """The run is not complete until then, and nothing is sent twice."""
    destination.mailbox.is_unfinished = True
    with pytest.raises(NotFinished, match="the end of the run is not confirmed"):
        await upload_to(Target(destination, "m1"), source, settings=settings, limiter=Unlimited())
    (listed,) = list_runs(settings.state_dir)
    assert (listed["state"], listed["resumable"]) == ("incomplete", True)
    destination.mailbox.is_unfinished = False
    report = await resume_async("last", settings=settings, limiter=Unlimited())
    assert (report.state, report.rows.sent) == ("complete", ROWS)
    assert destination.mailbox.said.count("finish") == 2
    assert destination.mailbox.sizes == [1_000, 1_000, 500]
