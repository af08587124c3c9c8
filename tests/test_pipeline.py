"""The main job from file to membership, over real sockets, against an independent computation."""

from __future__ import annotations

import csv
import hashlib
import json
from calendar import isleap
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import phonenumbers
import pytest

from audiencekit.audiences.sync.sync import sync_async
from audiencekit.emulator import Emulator
from audiencekit.errors import CredentialsRefused, MappingRefused, NotFinished, PlanRefused, Refused, UsageError
from audiencekit.pipeline import check, prepare, upload_async
from audiencekit.reporting.report import Report
from audiencekit.runs.reports import list_runs
from audiencekit.settings import Settings, load_settings
from tests.moments import TODAY

Entry = frozenset[tuple[str, str]]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def _log(emulator: Emulator) -> list[dict[str, Any]]:
    async with aiohttp.ClientSession() as session, session.get(f"{emulator.ads_url}/__log") as answer:
        return [json.loads(line) for line in (await answer.text()).splitlines()]


async def _users_requests(emulator: Emulator) -> list[dict[str, Any]]:
    async with aiohttp.ClientSession() as session, session.get(f"{emulator.ads_url}/__requests") as answer:
        return [entry for entry in await answer.json() if entry["path"].endswith("/users")]


def _entries(users: Iterable[dict[str, list[str]]]) -> list[Entry]:
    return [frozenset((kind, value) for kind, values in user.items() for value in values) for user in users]


def _members(log: list[dict[str, Any]]) -> set[Entry]:
    """Return the members after the log: an Update adds its key sets, a Delete removes all that hold any key."""
    members: set[Entry] = set()
    for line in log:
        entries = _entries(line["users"])
        if line["operation_type"] == "Update":
            members |= set(entries)
        else:
            keys = frozenset().union(*entries)
            members = {entry for entry in members if not entry & keys}
    return members


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


async def test_membership_of_a_real_list_equals_an_independent_computation(
    shared: Path, emulator: Emulator, settings: Settings
) -> None:
    """ca-500: every email and both phones of every row, hashed, and nothing else."""
    (path,) = (shared / "corpora/csv/contacts").glob("*ca-500.csv")
    expected: set[Entry] = set()
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            keys = {("email", _sha256(row["email"].strip().lower()))}
            for name in ("phone1", "phone2"):
                number = phonenumbers.parse(row[name], "CA")
                if phonenumbers.is_valid_number(number):
                    keys.add(("phone_number", _sha256(f"+{number.country_code}{number.national_number}")))
            expected.add(frozenset(keys))
    report = await upload_async(path, audience=emulator.audience_id, settings=settings, country="Canada")
    assert _members(await _log(emulator)) == expected
    assert (report.state, report.rows.read, report.rows.sent) == ("complete", 500, 500)
    assert report.records_sent == report.success_count == report.total_count == 500


@pytest.mark.slow
async def test_a_hundred_thousand_emails_leave_in_two_requests(
    tmp_path: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first within 1 % of full, none over a limit, every person in the audience."""
    lines = "".join(f"person{number}@example.com\n" for number in range(100_000))
    path = _write(tmp_path / "list.csv", f"email\n{lines}")
    report = await upload_async(path, audience=emulator.audience_id, settings=settings)
    first, second = await _users_requests(emulator)
    assert 4_950_000 <= first["bytes"] <= 5_000_000
    assert second["bytes"] < first["bytes"]
    assert report.requests_confirmed == report.requests_planned == 2
    assert report.fill_ratio == first["bytes"] / 5_000_000
    members = _members(await _log(emulator))
    assert len(members) == 100_000
    assert frozenset({("email", _sha256("person99999@example.com"))}) in members


async def test_every_row_is_accounted_for(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """Sent, rejected, duplicate; rejections.csv says row, column and reason."""
    path = _write(
        tmp_path / "list.csv",
        "Email,Phone,Country\n"
        "ada@example.com,,\n"
        "ADA@example.com,,\n"
        "nonsense,(201) 555-0123,USA\n"
        "\n"
        "bo@example.com,12,US\n"
        ",,DE\n"
        "test@test.com,,\n"
        "cy@example.com\n"
        "eve@example.com,,\n",
    )
    rejections = tmp_path / "rejections.csv"
    report = await upload_async(path, audience=emulator.audience_id, settings=settings, rejections=str(rejections))
    assert report.rows.to_json() == {
        "read": 8, "sent": 4, "rejected": 3, "duplicate": 1, "superseded": 0, "suppressed": 0, "pending": 0,
    }  # fmt: skip
    assert rejections.read_text() == (
        "row,column,reason\n"
        "3,Email,invalid_syntax\n"
        "4,Phone,not_possible\n"
        "5,,no_identifier\n"
        "6,Email,placeholder\n"
        "7,,ragged\n"
    )
    assert rejections.stat().st_mode & 0o077 == 0
    assert _members(await _log(emulator)) == {
        frozenset({("email", _sha256("ada@example.com"))}),
        frozenset({("phone_number", _sha256("+12015550123"))}),
        frozenset({("email", _sha256("bo@example.com"))}),
        frozenset({("email", _sha256("eve@example.com"))}),
    }


async def test_updates_and_deletes_of_one_file_end_as_in_row_order(
    tmp_path: Path, emulator: Emulator, settings: Settings
) -> None:
    """The later word is sent after the earlier is confirmed."""
    path = _write(
        tmp_path / "list.csv",
        "email,handle,what\n"
        "ada@example.com,ada,update\n"
        "bo@example.com,,update\n"
        ",ada,delete\n"
        "cy@example.com,,delete\n"
        "cy@example.com,,update\n",
    )
    report = await upload_async(
        path, audience=emulator.audience_id, settings=settings, operation_column="what", columns={
            "email": "email", "handle": "handle"
        },
    )  # fmt: skip
    assert (report.rows.sent, report.rows.superseded) == (4, 1)
    assert _members(await _log(emulator)) == {
        frozenset({("email", _sha256("bo@example.com"))}),
        frozenset({("email", _sha256("cy@example.com"))}),
    }


async def test_prepare_writes_the_bodies_that_upload_sends(
    tmp_path: Path, emulator: Emulator, settings: Settings
) -> None:
    """Byte for byte, when the plan time is the same."""
    lines = "".join(f"person{number % 900}@example.com\n" for number in range(1_000))
    path = _write(tmp_path / "list.csv", f"email\n{lines}")
    plan = prepare(path, out=tmp_path / "out", requests=True, plan_time=TODAY, settings=settings)
    await upload_async(path, audience=emulator.audience_id, settings=settings, plan_time=TODAY)
    (body,) = sorted((tmp_path / "out/requests").iterdir())
    written = json.loads(body.read_bytes())
    assert plan.records == 900
    assert len(body.read_bytes()) == plan.bytes == (await _users_requests(emulator))[0]["bytes"]
    sent = [entry for line in await _log(emulator) for entry in _entries(line["users"])]
    assert [entry for operation in written for entry in _entries(operation["params"]["users"])] == sent


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("email\n", PlanRefused),
        ("email\nnonsense\nrubbish\n", Refused),
        ("email\nnull\n", PlanRefused),
        ("name,age\nAda,36\n", MappingRefused),
    ],
)
async def test_a_run_that_would_send_nothing_is_refused(
    tmp_path: Path, emulator: Emulator, settings: Settings, text: str, error: type[Refused]
) -> None:
    """No request is made, and the refusal carries a report whose sums close."""
    with pytest.raises(error) as caught:
        await upload_async(_write(tmp_path / "list.csv", text), audience=emulator.audience_id, settings=settings)
    assert caught.value.exit_code == 3
    assert caught.value.document is not None
    assert caught.value.document["state"] == "refused"
    assert caught.value.document["finished_at"] is not None
    assert await _users_requests(emulator) == []


async def test_an_expected_empty_source_is_complete(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """--allow-empty: nothing to send is no failure."""
    path = _write(tmp_path / "list.csv", "email\n")
    report = await upload_async(path, audience=emulator.audience_id, settings=settings, allow_empty=True)
    assert (report.state, report.rows.read, report.requests_planned) == ("complete", 0, 0)


async def test_wrong_credentials_stop_the_run(tmp_path: Path, emulator: Emulator) -> None:
    """Exit code 77; nothing is read, sent, or kept of it."""
    environment = {**emulator.env, "AUDIENCEKIT_ACCESS_TOKEN_SECRET": "invented"}
    settings = load_settings(environment, directory=tmp_path, state_dir=tmp_path / "state")
    path = _write(tmp_path / "list.csv", "email\nada@example.com\n")
    with pytest.raises(CredentialsRefused) as caught:
        await upload_async(path, audience=emulator.audience_id, settings=settings)
    assert (caught.value.exit_code, caught.value.document, list_runs(settings.state_dir)) == (77, None, [])
    assert _members(await _log(emulator)) == set()


@pytest.mark.parametrize("work", [upload_async, sync_async])
async def test_an_audience_is_given_by_its_name(
    tmp_path: Path, emulator: Emulator, settings: Settings, work: Callable[..., Awaitable[Report]]
) -> None:
    """The name of exactly one; any other is refused with what to do, before the list is read."""
    path = _write(tmp_path / "list.csv", "email\nada@example.com\n")
    made = emulator.store.make_audience(emulator.store.accounts[emulator.account_id], "Spring customers", None, 0.0)
    report = await work(path, audience="Spring customers", settings=settings)
    assert (report.target.id, report.rows.sent) == (made.id, 1)
    with pytest.raises(UsageError, match="no audience is called 'Spring'") as caught:
        await work(tmp_path / "none.csv", audience="Spring", settings=settings)
    assert made.id in caught.value.hint
    for given in ("", " ", None, "x" * 256):
        with pytest.raises(UsageError, match="by its id or its name"):
            await work(tmp_path / "none.csv", audience=given, settings=settings)


async def test_an_audience_that_is_not_there_refuses_the_run(
    tmp_path: Path, emulator: Emulator, settings: Settings
) -> None:
    """Nothing was sent, so it is a refusal and not an unfinished run."""
    path = _write(tmp_path / "list.csv", "email\nada@example.com\n")
    with pytest.raises(Refused) as caught:
        await upload_async(path, audience="zzzz", settings=settings)
    assert not isinstance(caught.value, NotFinished)
    assert list_runs(settings.state_dir) == []


def test_check_needs_no_credentials_and_sends_nothing(tmp_path: Path) -> None:
    """The plan closes: everything is to be sent, rejected or duplicate. Thirteen months after January is February."""
    year = (datetime.now(UTC) - timedelta(days=31)).year  # whose January is over
    path = _write(tmp_path / "list.csv", "mail\nada@example.com\nada@example.com\nnonsense\n")
    plan = check(path, settings=load_settings({}, directory=tmp_path), plan_time=f"{year}-01-31")
    document = plan.to_json()
    assert document["rows"] == {
        "read": 3, "sent": 0, "rejected": 1, "duplicate": 1, "superseded": 0, "suppressed": 0, "pending": 1,
    }  # fmt: skip
    assert document["columns"] == {"email": ["mail"]}
    assert document["plan"]["expires_at"] == f"{year + 1}-02-{28 + isleap(year + 1)}T00:00:00Z"
    assert document["verdict"] == "ready"


CONTACTS = [
    # file, country as a person would give it, rows, sent, rejected values by reason
    ("12b07e7c-audience_members_1.csv", None, 4, 4, {}),
    ("3ec4ae8a-data-orginal.csv", "United Kingdom", 500, 500, {"not_valid": 191}),
    ("496ae1d2-fakeleaddata.csv", None, 54, 50, {"too_long": 10, "no_identifier": 4}),
    ("54385c16-uk-500.csv", "GB", 500, 500, {"not_valid": 191}),
    ("56e59b9f-subs-domain-blocklist.csv", None, 4, 4, {}),
    ("64c98321-subs.csv", None, 100, 100, {}),
    ("880b9b7c-uk-500.csv", "GB", 2, 2, {"not_valid": 1}),
    ("a6363450-ca-500.csv", "CA", 500, 500, {}),
    ("b7eb29c2-contacts_export.csv", "US", 2, 2, {"not_valid": 1}),
    ("f3c167f4-uk-500.csv", "UK", 500, 500, {"not_valid": 191}),
]


@pytest.mark.parametrize(("name", "country", "rows", "sent", "rejections"), CONTACTS, ids=[c[0] for c in CONTACTS])
async def test_lists_that_people_exchange_are_uploaded(
    shared: Path,
    emulator: Emulator,
    settings: Settings,
    name: str,
    country: str | None,
    rows: int,
    sent: int,
    rejections: dict[str, int],
) -> None:
    """With no more than a country said: every row is accounted for, and the members are those that were sent.

    Some of the invented numbers use area codes that do not exist; handles have at most 15 letters; four rows are blank
    but for an address.
    """
    path = shared / "corpora/csv/contacts" / name
    report = await upload_async(path, audience=emulator.audience_id, settings=settings, country=country)
    assert (report.state, report.rows.read, report.rows.sent) == ("complete", rows, sent)
    assert report.rejections == rejections
    assert sum(len(line["users"]) for line in await _log(emulator)) == sent
