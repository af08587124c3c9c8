"""Another destination gets plan, journal, resumption and report for nothing: it is one file of tests."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from audiencekit.delivery.limiter import Unlimited
from audiencekit.destinations.target import Target
from audiencekit.errors import (
    AudienceBusy,
    Bug,
    CredentialsRefused,
    MappingRefused,
    NotFinished,
    NotFound,
    Outcome,
    Refused,
    UsageError,
)
from audiencekit.pipeline import check, resume_async
from audiencekit.reporting.page.page import plan_page, report_page
from audiencekit.reporting.progress import LineProgress
from audiencekit.reporting.text import render_report
from audiencekit.runs.reports import list_runs, read_report
from audiencekit.runs.store import TargetLock
from audiencekit.runs.uploads import upload_to
from audiencekit.settings import Settings, load_settings
from tests.destinations.jsonlines import LOST, REFUSED, REVOKED, JsonLines, Mailbox, registered
from tests.shortened import shortened

ROWS = 2_500
GONE = NotFound("there is no such thing", status=404, outcome=Outcome.REFUSED)


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


async def test_a_form_that_leaves_records_out_sends_nothing(
    destination: JsonLines, settings: Settings, source: Path
) -> None:
    """This one knows no Deletes: a run without its people is not complete, and not begun."""
    with pytest.raises(Bug, match=r"hold 0 records, and 2,500 are chosen"):
        await upload_to(Target(destination, "m1"), source, settings=settings, limiter=Unlimited(), operation="delete")
    assert destination.mailbox.sizes == []


# Of the ads API, and of no other destination.
ADS_WORDS = re.compile(
    r"audience|operation|success_count|total_count|do-not-reach|account|expire|13 months|full|minute"
    r"|reach before|matched|which of them it knows"
)


async def test_its_own_words_are_read(destination: JsonLines, settings: Settings, tmp_path: Path) -> None:
    """In plan, report, pages, progress and messages: no word of the ads API stands there."""
    source, told = tmp_path / "few.csv", io.StringIO()
    source.write_text("email\n" + "".join(f"p{number}@example.com\n" for number in range(9)))
    settings = replace(settings, few_people="tell")
    with mock.patch("tests.destinations.jsonlines.MOST_PEOPLE", 5):
        plan = check(source, settings=settings, destination=destination)
        report = await upload_to(
            Target(destination, "m1"), source, settings=settings, limiter=Unlimited(), progress=LineProgress(told)
        )
        destination.mailbox.script = [GONE] * 40
        with pytest.raises(Refused) as gone:
            await upload_to(Target(destination, "m2"), source, settings=settings, limiter=Unlimited())
    assert "  9 records in 2 requests" in plan.to_text(details=True).splitlines()
    assert (plan.minutes, plan.fill_ratio, plan.operations) == (None, None, 0)
    assert "  records sent 9 = accepted 9 = received 9" in report.to_text(details=True).splitlines()
    assert "note: this changes 9 people" in report.to_text(details=True).splitlines()
    assert "there is no mailbox m2" in gone.value.hint
    busy = TargetLock(settings.state_dir, "18ce54d4x5t", Target(destination, "m1"), "another-run")
    with busy, pytest.raises(AudienceBusy, match="at work on this mailbox") as refused:
        await upload_to(Target(destination, "m1"), source, settings=settings, limiter=Unlimited())
    pages = plan_page(plan.to_json()) + report_page(report.to_json())
    shown = re.sub(r"<(style|svg).*?</\1>|<[^>]+>", "", pages, flags=re.S)
    for text in (
        plan.to_text(details=True),
        report.to_text(details=True),
        told.getvalue(),
        shown,
        str(gone.value),
        str(refused.value),
    ):
        assert text
        assert not ADS_WORDS.search(text), ADS_WORDS.findall(text)


def test_a_plan_heeds_what_it_takes(destination: JsonLines, settings: Settings, tmp_path: Path, source: Path) -> None:
    """Emails only; and its notes are told."""
    plan = check(source, settings=settings, destination=destination)
    assert (plan.requests, plan.records, plan.expires_at) == (3, ROWS, None)
    assert "a mailbox keeps all people" in plan.to_text(details=True)
    phones = tmp_path / "phones.csv"
    phones.write_text("phone\n+12015550123\n")
    with pytest.raises(UsageError, match="`ttl_days=` has no meaning for it"):
        check(source, settings=settings, destination=destination, ttl_days=3)
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
    mailbox.lost = [LOST]
    report = await upload_to(target, source, settings=settings, limiter=Unlimited(), run_id="a-run-of-ours")
    assert (report.state, report.rows.sent, mailbox.sizes) == ("complete", ROWS, [1_000, 1_000, 500])
    shutil.rmtree(settings.state_dir / "runs")
    await upload_to(target, source, settings=settings, limiter=Unlimited(), run_id="a-run-of-ours")
    assert mailbox.sizes == [1_000, 1_000, 500] * 2


@pytest.mark.slow
@pytest.mark.parametrize("point", shortened(["between lines", "after send"], 1))
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
