"""The record of processing: its sums are those of the reports, over any history of runs."""

from __future__ import annotations

import csv
import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from audiencekit.audiences.do_not_reach import do_not_reach_upload_async
from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.sync.sync import renew_async, sync_async
from audiencekit.audit.log import AuditLog
from audiencekit.audit.record import ProcessingRecord, make_record
from audiencekit.delivery.limiter import Unlimited
from audiencekit.emulator import Emulator
from audiencekit.emulator.faults.orders import read_faults
from audiencekit.errors import AudiencekitError, UsageError
from audiencekit.pipeline import resume_async, upload_async
from audiencekit.runs.store import RunStore
from audiencekit.settings import Settings, load_settings
from tests.shortened import shortened

PURPOSES = ("Spring sale", "Winter sale", "")
BASES = ("consent", "legitimate_interests", None)


def _record(settings: Settings, since: str | None = None, until: str | None = None) -> ProcessingRecord:
    log = AuditLog.existing(settings)
    entries = () if log is None else log.entries()
    return make_record(entries, since=since, until=until, begins_after=0, retention="as the test says")


async def _history(emulator: Emulator, directory: Path, draw: random.Random, steps: int) -> Settings:
    """Runs of every kind; some end early, and some of these are resumed."""
    source = directory / "list.csv"
    for _ in range(steps):
        settings = load_settings(
            emulator.env, directory=directory, state_dir=directory / "state",
            purpose=draw.choice(PURPOSES), basis=draw.choice(BASES),
        )  # fmt: skip
        people = draw.sample(range(30), draw.randint(1, 20))
        rows = [f"p{number}@canarymail.com" for number in people] + ["none"] * draw.randint(0, 2)
        source.write_text("email\n" + "\n".join(rows) + "\n")
        run: Any = {"settings": settings, "limiter": Unlimited()}
        lenient = {"max_rejected_share": 1.0, "max_rejected_column_share": 1.0}
        if draw.random() < 0.3:
            emulator.faults.replace(read_faults([{"fault": 22, "times": 1, "match": {"path": "*/users"}}]))
        audience = emulator.audience_id
        try:
            match draw.choice(("upload", "delete", "sync", "renew", "list", "forget", "resume", "refused")):
                case "upload":
                    await upload_async(source, audience=audience, **run, **lenient)
                case "delete":
                    await upload_async(source, audience=audience, operation="delete", **run, **lenient)
                case "sync":
                    await sync_async(source, audience=audience, allow_shrink=1.0, **run, **lenient)
                case "renew":
                    await renew_async(audience=audience, **run)
                case "list":
                    await do_not_reach_upload_async(source, **run, **lenient)
                case "forget":
                    await forget_async([f"p{people[0]}@canarymail.com"], **run)
                case "resume":
                    await resume_async("last", **run)
                case "refused":
                    source.write_text("email\nnone\n")
                    await upload_async(source, audience=audience, **run)
        except AudiencekitError:
            pass
        emulator.faults.replace([])
    return load_settings(emulator.env, directory=directory, state_dir=directory / "state")


def _sums_of_reports(settings: Settings) -> tuple[Counter[str], Counter[str]]:
    """Of all runs that may have sent something, by what the store has of them."""
    store, rows, counts = RunStore(settings.state_dir), Counter[str](), Counter[str]()
    for run_id in store.ids():
        report = store.read(run_id)
        if report["state"] != "refused":
            rows.update(report["rows"])
            counts.update(report["reconciliation"])
            counts[report["state"]] += 1
    return rows, counts


@pytest.mark.parametrize("seed", shortened(range(int(os.environ.get("AUDIT_HISTORIES", "10"))), 2))
async def test_the_sums_are_those_of_the_reports(seed: int, emulator: Emulator, tmp_path: Path) -> None:
    """Of runs that are complete, cut short, resumed and refused; of all purposes together."""
    settings = await _history(emulator, tmp_path, random.Random(seed), 8)
    rows, counts = _sums_of_reports(settings)
    found = [activity.to_json() for activity in _record(settings).activities]
    summed = {name: sum(each["rows"][name] for each in found) for name in found[0]["rows"]} if found else {}
    assert +Counter(summed) == +rows
    for name in ("records_sent", "success_count", "total_count"):
        assert sum(each[name] for each in found) == counts[name]
    for state in ("complete", "incomplete"):
        assert sum(each["runs"][state] for each in found) == counts[state]


ENTRIES: list[dict[str, Any]] = [
    {
        "command": "upload", "step": "begun", "of": "one", "at": "2026-01-31T23:59:59Z", "purpose": "=Sale",
        "basis": "consent", "service": "https://ads.example", "account": "a1",
        "target": {"kind": "audience", "id": "x1"}, "kinds": ["email"], "list": {"digest": "d1"},
        "planned": {"updates": 3, "deletes": 0}, "expires_at": "2027-01-01T00:00:00Z",
    },
    {
        "command": "upload", "step": "ended", "of": "one", "at": "2026-02-01T00:00:02Z", "state": "incomplete",
        "rows": {"read": 3, "sent": 1, "pending": 2}, "records_sent": 1, "success_count": 1, "total_count": 1,
    },
    {"command": "forget", "step": "begun", "of": "forget-1", "at": "2026-02-01T00:00:00Z", "identifiers": {"email": 2}},
    {
        "command": "forget", "step": "ended", "of": "forget-1", "at": "2026-02-01T00:00:05Z", "state": "complete",
        "audiences": {"confirmed": 4},
    },
    {"command": "audiences share", "step": "ended", "at": "2026-02-02T00:00:00Z"},
    {
        "command": "upload", "step": "resumed", "of": "one", "at": "2026-02-03T00:00:00Z",
    },
    {
        "command": "upload", "step": "ended", "of": "one", "at": "2026-02-03T00:00:02Z", "state": "complete",
        "rows": {"read": 3, "sent": 3, "pending": 0}, "records_sent": 3, "success_count": 3, "total_count": 3,
    },
]  # fmt: skip


def _made(since: str | None, until: str | None) -> ProcessingRecord:
    return make_record(ENTRIES, since=since, until=until, begins_after=0, retention="30 days")


def test_a_run_belongs_to_the_period_in_which_it_began() -> None:
    """With the counts of its last end, also after the period; an erasure and other changes likewise."""
    january, february = _made(None, "2026-02-01T00:00:00Z"), _made("2026-02-01T00:00:00Z", None)
    (activity,) = [each.to_json() for each in january.activities]
    assert (activity["runs"]["complete"], activity["rows"]["sent"], activity["rows"]["read"]) == (1, 3, 3)
    assert (january.erasures["begun"], dict(january.others)) == (0, {})
    assert february.activities == ()
    assert (february.erasures["complete"], february.erasures["identifiers"]) == (1, {"email": 2})
    assert (february.erasures["receipts"], dict(february.others)) == (["forget-1"], {"audiences share": 1})


def test_a_record_is_markdown_json_or_csv() -> None:
    """With the same counts; no text of a purpose becomes a formula of a spreadsheet."""
    record = _made(None, None)
    document = json.loads(json.dumps(record.to_json()))
    (line,) = csv.DictReader(record.to_csv().splitlines())
    (activity,) = document["activities"]
    assert (line["purpose"], activity["purpose"]) == ("'=Sale", "=Sale")
    assert int(line["rows_sent"]) == activity["rows"]["sent"] == 3
    text = record.to_markdown()
    for words in (
        "### =Sale",
        "account a1, audience x1",
        "sent 3",
        "receipts: forget-1",
        "audiences share 1",
        "30 days",
    ):
        assert words in text, words


async def test_a_purpose_can_be_demanded(emulator: Emulator, tmp_path: Path) -> None:
    """A run without it is refused before it sends anything, and the message names the cure."""
    source = tmp_path / "list.csv"
    source.write_text("email\np1@canarymail.com\n")
    given: dict[str, Any] = {"directory": tmp_path, "state_dir": tmp_path / "state", "require": "purpose, basis"}
    for missing, more in (("basis", {"purpose": "Sale"}), ("purpose", {"basis": "consent"})):
        settings = load_settings(emulator.env, **given, **more)
        with pytest.raises(UsageError, match=f"demands a {missing}: nothing was sent") as raised:
            await upload_async(source, audience=emulator.audience_id, settings=settings)
        assert f"`{missing}=`" in raised.value.hint
    settings = load_settings(emulator.env, **given, purpose="Sale", basis="consent")
    assert RunStore(settings.state_dir).ids() == []
    await upload_async(source, audience=emulator.audience_id, settings=settings)
    (activity,) = _record(settings).activities
    assert activity.channel[:2] == ("Sale", "consent")


@pytest.mark.parametrize("purpose", ["of ada@example.org", "call +49 151 12345678", "x" * 201, "a\nb"])
async def test_a_purpose_names_no_person(purpose: str, emulator: Emulator, tmp_path: Path) -> None:
    """It would stay in the log; nor does the message repeat it."""
    settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / "state", purpose=purpose)
    with pytest.raises(UsageError, match=r"the purpose .*: nothing was sent") as raised:
        await upload_async([{"email": "p1@canarymail.com"}], audience=emulator.audience_id, settings=settings)
    assert purpose not in f"{raised.value} {raised.value.hint}"
