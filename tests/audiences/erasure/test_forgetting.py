"""`forget` from what callers give to the receipt, on the emulator."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from jsonschema import Draft202012Validator

import audiencekit
from audiencekit.api import calls
from audiencekit.api.exchange import Body
from audiencekit.api.opening import open_client
from audiencekit.audiences.erasure.forgetting import forget_async, resume_erasure_async
from audiencekit.audiences.erasure.receipt import ErasureStore
from audiencekit.audiences.erasure.verification import verify_erasures
from audiencekit.delivery.limiter import Unlimited
from audiencekit.destinations.target import Target
from audiencekit.emulator import Emulator
from audiencekit.emulator.faults.orders import read_faults
from audiencekit.errors import (
    AudienceBusy,
    AudiencekitError,
    CredentialsRefused,
    InputOutputFailed,
    LongWait,
    MemoryRefused,
    NotFinished,
    PlanRefused,
    ResumeRefused,
    UsageError,
)
from audiencekit.limits import MAX_RATE_LIMIT_WAIT_SECONDS
from audiencekit.personal import Secret
from audiencekit.pipeline import check, prepare, resume_async, upload_async
from audiencekit.runs import events
from audiencekit.runs.store import TargetLock
from audiencekit.selection.erased_people import read_forgotten
from audiencekit.settings import Settings, load_settings
from tests.audiences.members import members_of


@pytest.fixture
async def audiences(emulator: Emulator, settings: Settings, tmp_path: Path) -> list[str]:
    """Two audiences with the same four people in them, and their list."""
    people = [(f"person{number}@example.org", f"+4915112345{number:03}") for number in range(4)]
    rows = [",".join(person) for person in people]
    (tmp_path / "people.csv").write_text("\n".join(["email,phone", *rows]) + "\n")
    users = [{"email": [_sha256(email)], "phone_number": [_sha256(phone)]} for email, phone in people]
    params = {"users": users, "expires_at": f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%dT%H:%M:%SZ}"}
    body = Body([json.dumps([{"operation_type": "Update", "params": params}]).encode()])
    async with open_client(settings) as client:
        other = (await client.create_custom_audience(name="Other")).data["id"]
        for audience_id in (emulator.audience_id, other):
            await client.send_users(audience_id, body, records=len(people))
    return [emulator.audience_id, other]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def test_people_leave_every_audience(emulator: Emulator, settings: Settings, audiences: list[str]) -> None:
    """One named by the address, one by a number in national form; the memory is there, nothing sealed is."""
    receipt = await forget_async(["Person1@Example.org", "0151 12345002"], country="DE", settings=settings)
    assert (receipt.state, receipt.asked, receipt.remembered) == ("complete", 2, True)
    assert receipt.forms == {"email": 1, "phone_number": 2}
    for audience_id in audiences:
        assert len(await members_of(emulator, audience_id)) == 2
    forgotten = read_forgotten(settings.state_dir, settings.key)
    assert forgotten is not None
    assert len(forgotten) == 3
    assert list(settings.state_dir.rglob("keys.sealed")) == []


async def test_a_stale_file_does_not_bring_them_back(
    emulator: Emulator, settings: Settings, audiences: list[str], tmp_path: Path
) -> None:
    """Whatever is planned from it leaves them out, counts them, and says so; in hashes, too. A Delete is sent."""
    await forget_async(["person1@example.org", "0151 12345002"], country="DE", settings=settings)
    source, hashed = tmp_path / "people.csv", tmp_path / "hashed.csv"
    digests = [_sha256(f"person{number}@example.org") for number in range(4)]
    hashed.write_text("\n".join(["email", *digests]) + "\n")
    plan = check(source, settings=settings)
    prepared = prepare(source, out=tmp_path / "out", settings=settings)
    report = await upload_async(source, audience=audiences[0], settings=settings)
    again = await upload_async(hashed, audience=audiences[0], hashed=["email"], settings=settings)
    assert [one.rows.suppressed for one in (plan, prepared, report, again)] == [2, 2, 2, 1]
    assert all(any("erased with `forget`" in note for note in one.notes) for one in (plan, prepared, report, again))
    keys = {key for member in await members_of(emulator, audiences[0]) for key in member["keys"].get("email", [])}
    assert keys == {digests[0], digests[2], digests[3]}
    deleted = await upload_async(source, audience=audiences[1], operation="delete", settings=settings)
    assert (deleted.rows.sent, deleted.rows.suppressed) == (4, 0)


async def test_a_memory_that_cannot_be_trusted_keeps_uploads_back(
    settings: Settings, audiences: list[str], tmp_path: Path
) -> None:
    """Nothing is sent without knowing who must not be."""
    await forget_async(["person1@example.org"], settings=settings)
    (settings.state_dir / "forgotten").write_bytes(b"")
    for work in (
        lambda: check(tmp_path / "people.csv", settings=settings),
        lambda: prepare(tmp_path / "people.csv", out=tmp_path / "out", settings=settings),
    ):
        with pytest.raises(MemoryRefused, match="erased people"):
            work()
    with pytest.raises(MemoryRefused, match="erased people"):
        await upload_async(tmp_path / "people.csv", audience=audiences[0], settings=settings)


async def test_an_upload_from_before_an_erasure_is_not_resumed(
    settings: Settings, audiences: list[str], tmp_path: Path
) -> None:
    """It would send people who were erased since."""
    calls = 0

    class Stopping(Unlimited):
        async def acquire(self) -> None:
            nonlocal calls
            calls += 1
            raise InputOutputFailed("the disk is full")

    with pytest.raises(AudiencekitError) as ended:
        await upload_async(tmp_path / "people.csv", audience=audiences[0], settings=settings, limiter=Stopping())
    assert calls
    assert ended.value.document is not None
    await forget_async(["person1@example.org"], settings=settings)
    with pytest.raises(ResumeRefused, match="the people to suppress are not those"):
        await resume_async(ended.value.document["run_id"], settings=settings)


async def test_a_person_who_was_never_sent_is_confirmed_as_well(
    emulator: Emulator, settings: Settings, audiences: list[str]
) -> None:
    """There is no read-back: the receipt says so, and no other member is deleted."""
    receipt = await forget_async(["stranger@example.org"], settings=settings)
    assert receipt.state == "complete"
    assert any("even if the person was never in the audience" in note for note in receipt.notes)
    assert len(await members_of(emulator, audiences[0])) == 4


async def test_people_of_a_source(emulator: Emulator, settings: Settings, audiences: list[str], tmp_path: Path) -> None:
    """In any format that uploads read."""
    source = tmp_path / "gone.jsonl"
    source.write_text('{"mail": "person0@example.org"}\n{"mail": "person3@example.org"}\n')
    receipt = await forget_async(source=source, columns={"email": "mail"}, settings=settings)
    assert (receipt.asked, receipt.identifiers) == (2, {"email": 2})
    assert len(await members_of(emulator, audiences[1])) == 2


async def test_an_erasure_that_ended_early_is_finished_by_the_same_input(
    emulator: Emulator, settings: Settings, audiences: list[str]
) -> None:
    """In any order; one audience was busy, and is not left out for good."""
    lines = ["person1@example.org", "person2@example.org"]
    held = TargetLock(settings.state_dir, settings.require_account(), Target.audience(audiences[1]), "20261121-1")
    with held, pytest.raises(NotFinished, match="1 of 2 audiences confirmed"):
        await forget_async(lines, settings=settings)
    assert len(await members_of(emulator, audiences[1])) == 4
    (erasure_id,) = ErasureStore(settings.state_dir).ids()
    receipt = await forget_async(lines[::-1], settings=settings)
    assert (receipt.erasure_id, receipt.state) == (erasure_id, "complete")
    assert len(await members_of(emulator, audiences[1])) == 2


async def test_an_erasure_that_ended_early_is_finished_without_its_input(
    emulator: Emulator, settings: Settings, audiences: list[str]
) -> None:
    """By its id, or the beginning of it; afterwards there is nothing left to do."""
    held = TargetLock(settings.state_dir, settings.require_account(), Target.audience(audiences[0]), "20261121-1")
    with held, pytest.raises(NotFinished):
        await forget_async(["person1@example.org"], settings=settings)
    receipt = await resume_erasure_async("forget-", settings=replace(settings, account_id=None))
    assert receipt.state == "complete"
    assert len(await members_of(emulator, audiences[0])) == 3
    assert await resume_erasure_async(receipt.erasure_id, settings=settings) == receipt


async def test_an_erasure_killed_before_its_last_word_is_complete(settings: Settings, audiences: list[str]) -> None:
    """Its keys were destroyed, which happens only when everything had confirmed."""
    receipt = await forget_async(["person1@example.org"], settings=settings)
    receipt.state = "incomplete"
    ErasureStore(settings.state_dir).store(receipt)
    assert (await resume_erasure_async("forget-", settings=settings)).state == "complete"


async def test_nothing_is_sent_before_everything_was_read(settings: Settings, audiences: list[str]) -> None:
    """A line that cannot be read keeps everything back, the memory included, unless it may be left out."""
    with pytest.raises(PlanRefused, match="line 2"):
        await forget_async(["person1@example.org", "?"], settings=settings)
    assert read_forgotten(settings.state_dir, settings.key) is None
    receipt = await forget_async(["person1@example.org", "?"], skip_rejected=True, settings=settings)
    assert receipt.rejected == {"no_identifier": 1}


@pytest.mark.parametrize("wrong", ["ACCESS_TOKEN_SECRET", "ACCOUNT_ID"])
async def test_people_who_cannot_be_erased_are_not_remembered(
    emulator: Emulator, settings: Settings, audiences: list[str], tmp_path: Path, wrong: str
) -> None:
    """Credentials or an account that the service refuses leave nothing behind."""
    refused = load_settings({**emulator.env, f"AUDIENCEKIT_{wrong}": "another"}, directory=tmp_path)
    with pytest.raises(CredentialsRefused, match="no one was remembered") as caught:
        await forget_async(["person1@example.org"], settings=replace(refused, state_dir=settings.state_dir))
    assert caught.value.document is None
    assert read_forgotten(settings.state_dir, settings.key) is None
    assert ErasureStore(settings.state_dir).ids() == []


async def test_people_are_remembered_although_the_service_is_away(
    emulator: Emulator, settings: Settings, audiences: list[str]
) -> None:
    """People to be erased are left out of uploads at once; the deletes follow."""
    emulator.faults.replace(read_faults([{"fault": 8, "match": {"path": "*/custom_audiences"}}]))
    receipt = await forget_async(["person1@example.org"], settings=settings)
    assert (receipt.state, receipt.remembered) == ("complete", True)


ASKED_TO_WAIT = {"fault": 4, "times": None, "reset": 600}
LONG_WAITS: dict[str, tuple[list[dict[str, Any]], int, float]] = {  # faults, audiences that are held, seconds
    "the list of audiences": (
        [{**ASKED_TO_WAIT, "match": {"path": "*/custom_audiences"}}],
        0,
        MAX_RATE_LIMIT_WAIT_SECONDS,
    ),
    "a Delete": ([{**ASKED_TO_WAIT, "match": {"path": "*/users"}}], 0, MAX_RATE_LIMIT_WAIT_SECONDS),
    "another run": ([], 1, 0),  # of which no end is known
}


@pytest.mark.parametrize("case", LONG_WAITS)
async def test_an_erasure_does_not_wait_for_longer_than_its_caller_does(
    emulator: Emulator, settings: Settings, audiences: list[str], case: str
) -> None:
    """It says for how long it would, and is finished by the next call."""
    faults, held, seconds = LONG_WAITS[case]
    emulator.faults.replace(read_faults(faults))
    account_id, impatient = settings.require_account(), replace(settings, longest_wait_seconds=5.0)
    with ExitStack() as stack:
        for audience in audiences[:held]:
            stack.enter_context(TargetLock(settings.state_dir, account_id, Target.audience(audience), "20261121-1"))
        with pytest.raises(LongWait) as caught:
            await forget_async(["person1@example.org"], settings=impatient)
    assert (caught.value.seconds, caught.value.has_progress) == (seconds, bool(held))
    assert caught.value.document is not None
    emulator.faults.replace(())
    shutil.rmtree(settings.state_dir / "limiter", ignore_errors=True)  # it holds the pause that the service asked for
    receipt = await resume_erasure_async(caught.value.document["erasure_id"], settings=settings)
    assert receipt.state == "complete"
    assert [len(await members_of(emulator, audience)) for audience in audiences] == [3, 3]


async def test_a_service_that_names_paths_leads_nowhere(
    emulator: Emulator, settings: Settings, audiences: list[str], tmp_path: Path
) -> None:
    """Ids of the list are checked before anything is made of them; a sound list that follows is heeded."""
    hostile = {"fault": 16, "kind": "hostile_ids", "match": {"path": "*/custom_audiences"}}
    emulator.faults.replace(read_faults([{**hostile, "nth": nth, "seed": nth} for nth in (2, 4)]))
    before = _everything(tmp_path, but=settings.state_dir)
    receipt = await forget_async(["person1@example.org"], settings=settings)
    assert [strike["fault"] for strike in emulator.faults.document()["fired"]] == [16, 16]
    assert _everything(tmp_path, but=settings.state_dir) == before
    assert sorted(one.id for one in receipt.audiences) == sorted(audiences)


def _everything(directory: Path, *, but: Path) -> dict[str, tuple[int, bytes]]:
    paths = [path for path in directory.rglob("*") if but not in (path, *path.parents)]
    return {str(path): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"") for path in paths}


@pytest.mark.parametrize(
    ("kind", "why"),
    [("endless_pages", "more than 5 pages"), ("circular_pages", "leads back"), ("same_page", "says the same")],
)
async def test_a_list_without_end_ends_an_erasure(
    emulator: Emulator,
    settings: Settings,
    audiences: list[str],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    why: str,
) -> None:
    """At once, and it can be finished when the service is sound."""
    monkeypatch.setattr(calls, "MAX_PAGES", 5)
    emulator.faults.replace(
        read_faults(
            [
                {
                    "fault": 16,
                    "where": "before_apply",
                    "kind": kind,
                    "times": None,
                    "match": {"path": "*/custom_audiences"},
                }
            ]
        )
    )
    with pytest.raises(NotFinished, match=why):
        await forget_async(["person1@example.org"], settings=settings)
    emulator.faults.replace(())
    assert (await resume_erasure_async("forget-", settings=settings)).state == "complete"


async def test_the_people_of_a_data_frame(emulator: Emulator, settings: Settings, audiences: list[str]) -> None:
    """As from a file."""
    frame = pa.table({"email": ["person1@example.org", "person2@example.org"]})
    assert (await forget_async(source=frame, settings=settings)).asked == 2
    assert len(await members_of(emulator, audiences[0])) == 2


async def test_an_interruption_while_people_are_read_sends_nothing(settings: Settings, audiences: list[str]) -> None:
    """And nothing is remembered."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def lines() -> Iterator[str]:
        loop.call_soon_threadsafe(task.cancel)
        yield "person1@example.org"

    with pytest.raises(asyncio.CancelledError) as caught:
        await forget_async(lines(), settings=settings)
    task.uncancel()
    assert isinstance(caught.value.__cause__, NotFinished)
    assert "nothing was sent" in str(caught.value.__cause__)
    assert read_forgotten(settings.state_dir, settings.key) is None


async def test_one_erasure_at_a_time(settings: Settings, audiences: list[str]) -> None:
    """The second is refused before it remembers any person."""
    with ErasureStore(settings.state_dir).locked(), pytest.raises(AudienceBusy):
        await forget_async(["person1@example.org"], settings=settings)
    assert read_forgotten(settings.state_dir, settings.key) is None


@pytest.mark.parametrize(
    ("given", "keywords"),
    [
        (None, {}),
        (["a@example.org"], {"source": "people.csv"}),
        ("a@example.org", {}),
        (["a@example.org"], {"delimiter": ";"}),
        (None, {"source": "people.csv", "operation": "update"}),
        (["a@example.org"], {"country": "Nowhere"}),
    ],
)
async def test_invalid_arguments_of_an_erasure_are_refused(
    given: Any, keywords: dict[str, Any], settings: Settings
) -> None:
    """People are named in one way, and every keyword is heeded or refused."""
    with pytest.raises(UsageError):
        await forget_async(given, settings=settings, **keywords)


async def test_no_file_shows_who_was_erased(settings: Settings, audiences: list[str]) -> None:
    """Neither the receipt nor the memory, nor what an unfinished erasure has sealed."""
    held = TargetLock(settings.state_dir, settings.require_account(), Target.audience(audiences[0]), "20261121-1")
    with held, pytest.raises(NotFinished) as unfinished:
        await forget_async(["canary.7391@example.org", "partner_user_id=canary-7391"], settings=settings)
    digest = hashlib.sha256(b"canary.7391@example.org")
    marks = [b"canary", digest.digest(), digest.hexdigest().encode(), digest.hexdigest().upper().encode()]
    for path in (path for path in settings.state_dir.rglob("*") if path.is_file()):
        assert not any(mark in path.read_bytes() for mark in marks), path.name
    assert "canary" not in json.dumps(unfinished.value.document)


async def test_another_state_key_than_then_is_refused(settings: Settings, audiences: list[str]) -> None:
    """Before anything is sent: the memory could not be trusted."""
    await forget_async(["person1@example.org"], settings=settings)
    with pytest.raises(audiencekit.AudiencekitError, match="another state key"):
        await forget_async(["person2@example.org"], settings=replace(settings, key=Secret("ab" * 32)))


async def test_sealed_rejections_are_removed(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """They may hold these people, and no one but their owner can see it. Those of later runs are not verified."""
    place = settings.state_dir / "rejections"
    place.mkdir(parents=True, mode=0o700)
    settings.state_dir.chmod(0o700)
    for name in ("a-run-of-ours.age", ".a-run-at-work.age.1.partial"):
        (place / name).write_bytes(b"sealed")
    receipt = await forget_async(["ada@example.com"], settings=settings)
    assert (receipt.sealed_rejections, list(place.iterdir())) == (2, [])
    assert ErasureStore(settings.state_dir).receipt(receipt.erasure_id).sealed_rejections == 2
    assert "2 files of sealed rejections removed" in receipt.to_text()
    assert verify_erasures(settings)["verified"]
    (place / "a-later-run.age").write_bytes(b"sealed")
    found = verify_erasures(settings)
    assert (found["verified"], found["files"][-1]["kind"]) == (False, "sealed_rejections")


async def test_each_step_of_an_erasure_is_an_event(
    emulator: Emulator, settings: Settings, audiences: list[str], tmp_path: Path
) -> None:
    """With its number and floored counts, also of one that fails; a file of something else is refused at once."""
    path = tmp_path / "events.jsonl"
    path.write_text("email\nada@example.com\n")
    recorded = replace(settings, events=path)
    with pytest.raises(UsageError, match="is not a file of events"):
        await forget_async(["person1@example.org"], settings=recorded)
    assert read_forgotten(settings.state_dir, settings.key) is None
    path.unlink()
    few = await forget_async(["person1@example.org"], settings=recorded)
    many = await forget_async([f"other{number}@example.org" for number in range(13)], settings=recorded)
    busy = TargetLock(settings.state_dir, settings.require_account(), Target.audience(audiences[0]), "run")
    with busy, pytest.raises(NotFinished) as caught:
        await forget_async(["person2@example.org"], settings=recorded)
    assert caught.value.document is not None
    schema = Draft202012Validator(json.loads(Path(events.__file__).with_name("events.schema.json").read_text()))
    found = list(events.read_events(path))
    for each in found:
        schema.validate(each)
        assert set(each) <= {
            "version",
            "event",
            "run_id",
            "at",
            "step",
            "state",
            "people",
            "audiences",
            "requests",
            "error",
            "exit_code",
        }
    assert [
        (each["run_id"], each["step"], each["state"], each["people"], each["audiences"]["confirmed"], each["requests"])
        for each in found
    ] == [
        (few.erasure_id, "begun", "incomplete", None, 0, 0),
        (few.erasure_id, "ended", "complete", None, 2, 2),
        (many.erasure_id, "begun", "incomplete", 10, 0, 0),
        (many.erasure_id, "ended", "complete", 10, 2, 2),
        (caught.value.document["erasure_id"], "begun", "incomplete", None, 0, 0),
        (caught.value.document["erasure_id"], "ended", "incomplete", None, 1, 1),
    ]
    assert [(each["error"], each["exit_code"]) for each in found if each["step"] == "ended"] == [
        *[(None, 0)] * 2,
        ("NotFinished", 75),
    ]
