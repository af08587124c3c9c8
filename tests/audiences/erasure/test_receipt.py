"""Receipts as people and programs read them."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audiencekit.audiences.erasure.forms import ErasureKeys, to_records
from audiencekit.audiences.erasure.receipt import (
    NO_AUDIENCE,
    NO_READ_BACK,
    SEALED,
    ErasureStore,
    Receipt,
    ReceiptState,
    Skipped,
    TargetReceipt,
    counted,
    find_erasures,
)
from audiencekit.errors import AudienceBusy, InputOutputFailed, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.selection.erased_people import RECEIPT
from audiencekit.state.files import encode_checked, replace_file
from audiencekit.state.keys import StateKey
from tests.cases import each_case
from tests.runs.state import NOW, set_age

RECEIPT_RECEIPT = Receipt(
    erasure_id="forget-20261121-120000-abcdef00", account_id="18ce54d4x5t", profile="spec",
    started_at="2026-11-21T12:00:00Z", asked=2, identifiers={"email": 2}, forms={"email": 2, "handle": 1},
    rejected={"no_country": 1}, remembered=True, do_not_reach_until="2027-12-20T12:00:00Z", fingerprint="secret",
    audiences=[
        TargetReceipt(
            id="1a", name="VIP", state="confirmed", requests=1, records=3, confirmed_at="2026-11-21T12:00:09Z"
        ),
        TargetReceipt(id="1b", name="Newsletter", state="busy", why="run 2026 is at work"),
    ],
    skipped=[Skipped(id="1c", name="Both", why="it follows others")],
    do_not_reach=TargetReceipt(id="9z", name="do-not-reach list"),
)  # fmt: skip


# --- Receipts as people and programs read them ---


def test_programs_get_everything_but_the_fingerprint() -> None:
    """And notes in words."""
    document = RECEIPT_RECEIPT.to_json()
    assert "fingerprint" not in document
    assert NO_READ_BACK in document["notes"]
    assert Receipt.from_json(document) == Receipt.from_json({**RECEIPT_RECEIPT.to_kept(), "fingerprint": ""})


@pytest.mark.parametrize(("state", "expected"), [("incomplete", ()), ("complete", (NO_AUDIENCE,))])
def test_only_a_whole_listing_shows_that_there_is_no_audience(state: ReceiptState, expected: tuple[str, ...]) -> None:
    """An erasure that ended before the listing does not know it."""
    assert replace(RECEIPT_RECEIPT, audiences=[], state=state).notes == expected


def test_people_get_a_line_for_each_audience() -> None:
    """Each line says whether the audience was confirmed, failed or left out, and why."""
    text = RECEIPT_RECEIPT.to_text(details=True)
    for part in (
        "erasure forget-20261121-120000-abcdef00: incomplete",
        "2 identifiers: email 2",
        "3 forms: email 2, handle 1",
        "left out    no_country 1",
        "1 of 2 done",
        "1a  confirmed  'VIP': 3 records in 1 request, 2026-11-21T12:00:09Z",
        "1b  busy       'Newsletter': run 2026 is at work",
        "1c  skipped    'Both': it follows others",
        "do not reach until 2027-12-20T12:00:00Z",
        "9z  pending    'do-not-reach list'",
        "remembered",
    ):
        assert part in text
    assert "secret" not in text


def test_a_short_receipt_names_what_is_left() -> None:
    """Audiences that confirmed are counted only."""
    lines = RECEIPT_RECEIPT.to_text().splitlines()
    assert lines == [
        "erasure forget-20261121-120000-abcdef00: incomplete",
        "2 identifiers (3 hashed forms) deleted from 1 of 2 audiences",
        "left out: no_country 1",
        "1b  busy       'Newsletter': run 2026 is at work",
        "9z  pending    'do-not-reach list'",
        "1c  skipped    'Both': it follows others",
        "later uploads from this state directory leave these people out",
        f"notes: {len(RECEIPT_RECEIPT.notes)}; `details=True` shows them, and each audience",
    ]


@each_case("state, settled", [("confirmed", True), ("gone", True), ("busy", False), ("refused", False)])
def test_confirmed_and_gone_are_settled(state: str, settled: bool) -> None:
    """Everything else is left to be done."""
    assert TargetReceipt(id="1a", name="", state=state).is_settled is settled  # type: ignore[arg-type]
    assert [one.id for one in RECEIPT_RECEIPT.left()] == ["1b", "9z"]


def test_one_is_not_many() -> None:
    """In words."""
    assert (counted(1, "audience"), counted(1_200, "audience")) == ("1 audience", "1,200 audiences")


# --- The files of erasures ---


# --- Which files of erasures a purge takes ---

KEY = StateKey(b"k" * 32)
HASH = hashlib.sha256(b"ada@example.org").hexdigest()
RECORDS = to_records(ErasureKeys(frozenset({(Kind.EMAIL, HASH), (Kind.PARTNER_USER_ID, "crm-canary-17")})))
ID = "forget-20261121-120000-abcdef00"
STORED = Path(__file__).with_name("stored-1")
ADDRESS = "https://ads.example.com"
NOW_ERASURESTORE = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)


def _receipt(**more: object) -> Receipt:
    facts = {
        "erasure_id": ID, "account_id": "18ce54d4x5t", "profile": "spec", "started_at": "2026-11-21T12:00:00Z",
        "asked": 2, "identifiers": {"email": 1}, "forms": {"email": 1}, "rejected": {}, "fingerprint": "f1",
        "address": ADDRESS,
    }  # fmt: skip
    return Receipt(**(facts | more))  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> ErasureStore:
    """One that holds an erasure."""
    store = ErasureStore(tmp_path / "state")
    with store.locked():
        store.begin(_receipt(), RECORDS, KEY)
    return store


def test_the_receipt_comes_back_as_it_was_kept(store: ErasureStore) -> None:
    """With its audiences."""
    receipt = _receipt(
        audiences=[TargetReceipt(id="1a2b", name="VIP", state="confirmed", requests=1, records=5)],
        skipped=[Skipped(id="1a2c", name="Both", why="flexible")],
        do_not_reach=TargetReceipt(id="9z", name="list"),
    )
    store.store(receipt)
    assert store.receipt(ID) == receipt


def test_the_keys_come_back_until_the_erasure_is_complete(store: ErasureStore) -> None:
    """Then they are destroyed, and so is the fingerprint."""
    assert store.records(ID, KEY).unwrap().equals(RECORDS.unwrap())
    store.complete(_receipt(), NOW_ERASURESTORE)
    assert not store.has_keys(ID)
    kept = store.receipt(ID)
    assert (kept.state, kept.fingerprint, kept.finished_at) == ("complete", "", "2026-11-21T12:30:00Z")


@pytest.mark.parametrize(
    ("name", "value"),
    [("asked", 3), ("identifiers", {"email": 2}), ("finished_at", "2027-01-01T00:00:00Z"), ("audiences", []),
     ("remembered", False), ("account_id", "other"), ("signed_note", ""), ("state", "incomplete")],
)  # fmt: skip
def test_a_receipt_that_was_changed_is_found(name: str, value: Any, store: ErasureStore) -> None:
    """By its note, which any verifier of signed notes can check; also under a later key."""
    receipt = _receipt(audiences=[TargetReceipt(id="1a2b", name="VIP", state="confirmed")], remembered=True)
    store.complete(receipt, NOW_ERASURESTORE)
    store.sign(receipt, KEY)
    kept = store.receipt(ID)
    assert [kept.is_as_signed(key) for key in (KEY, StateKey(b"2" * 32, (KEY,)), StateKey(b"2" * 32))] == [
        True, True, False
    ]  # fmt: skip
    setattr(kept, name, value)
    assert not kept.is_as_signed(KEY)


def test_a_receipt_of_an_earlier_version_is_read(store: ErasureStore) -> None:
    """It has no note, and gets one when the erasure is resumed."""
    document = _receipt().to_kept()
    del document["signed_note"]
    store.write(ID, document)
    assert store.receipt(ID).signed_note == ""


def test_keys_are_destroyed_before_their_file_goes(store: ErasureStore, tmp_path: Path) -> None:
    """Another name of the file, or a copy of the disk's blocks, leads to bytes that no key opens."""
    copy = tmp_path / "copy"
    os.link(store.directory(ID) / "keys.sealed", copy)
    store.complete(_receipt(), NOW_ERASURESTORE)
    os.link(copy, store.directory(ID) / "keys.sealed")
    with pytest.raises(InputOutputFailed, match="cannot be read"):
        store.records(ID, KEY)


def test_nothing_on_the_disk_shows_a_key(store: ErasureStore, tmp_path: Path) -> None:
    """Neither hashes nor unhashed identifiers; only the owner may read the files."""
    for path in (tmp_path / "state").rglob("*"):
        assert not stat.S_IMODE(os.lstat(path).st_mode) & 0o077
        if path.is_file():
            content = path.read_bytes()
            assert not any(one in content for one in (HASH.encode(), bytes.fromhex(HASH), b"canary"))


@pytest.mark.parametrize("spoil", ["other key", "damage", "gone"])
def test_keys_that_cannot_be_trusted_are_refused(store: ErasureStore, spoil: str) -> None:
    """With what to do: the same people can be erased again."""
    path, key = store.directory(ID) / "keys.sealed", KEY
    if spoil == "other key":
        key = StateKey(b"o" * 32)
    elif spoil == "damage":
        path.write_bytes(path.read_bytes()[:-20] + b"x" * 20)
    else:
        path.unlink()
    with pytest.raises(InputOutputFailed) as refused:
        store.records(ID, key)
    assert "forget the same people again" in refused.value.hint


def test_the_same_people_are_found_while_their_erasure_is_unfinished(store: ErasureStore) -> None:
    """By fingerprint, account, and whether the do-not-reach list was asked for."""
    assert store.unfinished("f1", "18ce54d4x5t", ADDRESS, do_not_reach=False) == _receipt()
    assert store.unfinished("f2", "18ce54d4x5t", ADDRESS, do_not_reach=False) is None
    assert store.unfinished("f1", "18ce5other", ADDRESS, do_not_reach=False) is None
    assert store.unfinished("f1", "18ce54d4x5t", ADDRESS, do_not_reach=True) is None
    store.complete(_receipt(), NOW_ERASURESTORE)
    assert store.unfinished("", "18ce54d4x5t", ADDRESS, do_not_reach=False) is None


def test_an_id_or_its_beginning_finds_an_erasure(store: ErasureStore) -> None:
    """Alone; anything else is a usage error."""
    assert store.find("forget-2026") == ID
    for wrong in ("forget-1999", "20261121", "forget-../../x"):
        with pytest.raises(UsageError):
            store.find(wrong)
    with store.locked():
        store.begin(_receipt(erasure_id="forget-20261121-130000-abcdef00"), RECORDS, KEY)
    with pytest.raises(UsageError, match="2 erasures"):
        store.find("forget-2026")


def test_an_erasure_that_never_began_is_removed(store: ErasureStore) -> None:
    """Sealed keys without a receipt are those of a process that was killed before it sent anything."""
    dead = store.directory("forget-20261121-110000-abcdef00")
    dead.mkdir()
    (dead / "keys.sealed").write_bytes(b"sealed")
    assert store.ids() == [ID]
    with store.locked():
        store.begin(_receipt(erasure_id="forget-20261121-130000-abcdef00"), RECORDS, KEY)
    assert not dead.exists()


def test_one_erasure_at_a_time(store: ErasureStore) -> None:
    """The second is told to wait."""
    with store.locked(), pytest.raises(AudienceBusy, match="another erasure"), store.locked():
        pass
    with store.locked():
        pass


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("[]", "is not a receipt"),
        ('{"asked": 1}', "was damaged, or edited"),
        ('{"asked": 1, "checksum": "0"}', "was damaged, or edited"),
    ],
)
def test_a_file_that_is_no_receipt_is_refused(store: ErasureStore, content: str, why: str) -> None:
    """Without quoting it."""
    (store.directory(ID) / "receipt.json").write_text(content)
    with pytest.raises(InputOutputFailed, match=why):
        store.receipt(ID)


@pytest.mark.parametrize(("document", "why"), [({"erasure_id": 1}, "of another erasure"), ({"asked": 1}, "is damaged")])
def test_a_document_that_is_no_receipt_is_refused(store: ErasureStore, document: dict[str, Any], why: str) -> None:
    """Whatever wrote it under a checksum."""
    store.write(ID, document)
    with pytest.raises(InputOutputFailed, match=why):
        store.receipt(ID)


@pytest.mark.parametrize("damage", ["a number", "of another erasure", "a directory"])
def test_a_damaged_receipt_tells_nothing_and_hides_nothing(store: ErasureStore, damage: str) -> None:
    """No flipped bit is another count; it stays in the list, nothing of it is removed, and others can begin."""
    path = store.directory(ID) / "receipt.json"
    content = path.read_bytes()
    if damage == "a number":
        assert content.count(b'"asked": 2') == 1
        path.write_bytes(content.replace(b'"asked": 2', b'"asked": 3'))
    elif damage == "of another erasure":
        with store.locked():
            store.begin(_receipt(erasure_id="forget-20261121-130000-abcdef00"), RECORDS, KEY)
        path.write_bytes((store.directory("forget-20261121-130000-abcdef00") / "receipt.json").read_bytes())
    else:
        path.unlink()
        path.mkdir()
    with pytest.raises(InputOutputFailed):
        store.receipt(ID)
    assert [each["state"] for each in store.summaries() if each["run_id"] == ID] == ["unreadable"]
    with store.locked():
        assert store.unfinished("f2", "18ce54d4x5t", ADDRESS, do_not_reach=False) is None
        store.begin(_receipt(erasure_id="forget-20261121-140000-abcdef00"), RECORDS, KEY)
    assert store.has_keys(ID)


def test_a_receipt_in_another_format_is_refused_as_such(store: ErasureStore) -> None:
    """It stays, with its keys: the version that wrote it can complete the erasure."""
    path = store.directory(ID) / "receipt.json"
    content = encode_checked(_receipt().to_kept(), "audiencekit-receipt/2")
    path.write_bytes(content)
    with pytest.raises(InputOutputFailed, match="reads audiencekit-receipt/1 only"):
        store.receipt(ID)
    assert [each["state"] for each in store.summaries()] == ["unreadable"]
    assert (path.read_bytes(), store.has_keys(ID)) == (content, True)


def test_an_erasure_that_was_kept_is_read_and_completed(tmp_path: Path) -> None:
    """Its receipt and its sealed keys, as they were written once: the formats are promised."""
    store = ErasureStore(tmp_path)
    shutil.copytree(STORED, store.directory(ID))
    receipt = store.receipt(ID)
    assert {one.id: one.state for one in receipt.targets} == {"1a2b": "confirmed", "1a2d": "busy", "9z": "pending"}
    assert (receipt.fingerprint, receipt.skipped[0].why) == ("f1", "flexible")
    assert store.records(ID, KEY).unwrap().equals(RECORDS.unwrap())
    (summary,) = store.summaries()
    assert (summary["resumable"], summary["audiences"]) == (True, {"known": 2, "settled": 1})
    with store.locked():
        assert store.unfinished("f1", "18ce54d4x5t", ADDRESS, do_not_reach=True) == receipt
        store.complete(receipt, NOW_ERASURESTORE)
    assert (store.has_keys(ID), store.receipt(ID).state) == (False, "complete")


OLD = timedelta(days=40)
BEFORE = (NOW - timedelta(days=30)).timestamp()


def _erasure(state_dir: Path, number: int, *, complete: bool = True, age: timedelta = OLD, **more: Any) -> Path:
    """The directory of an erasure that a memory of this serial remembers."""
    store = ErasureStore(state_dir)
    memory = {"identity": "i", "serial": number, "keys": 1, "digest": "d", "noted_outside": True}
    facts = {"erasure_id": f"forget-20261001-120000-{number:08}", "remembered": True, "memory": memory, **more}
    receipt = _receipt(**facts)
    with store.locked():
        store.begin(receipt, RECORDS, KEY)
        if complete:
            store.complete(receipt, NOW)
    directory = store.directory(receipt.erasure_id)
    for path in (*directory.iterdir(), directory):
        set_age(path, age)
    return directory


def _expired(state_dir: Path, *, receipts: bool = False) -> list[tuple[str, str]]:
    found = find_erasures(state_dir, BEFORE, receipts=receipts)
    return [(os.path.relpath(each.path, state_dir / "erasures"), each.kind) for each in found.expired]


@pytest.mark.parametrize("receipts", [False, True])
def test_an_erasure_that_is_not_finished_stays(tmp_path: Path, receipts: bool) -> None:
    """However old, and so does one whose receipt cannot be read."""
    _erasure(tmp_path, 1, complete=False)
    damaged = _erasure(tmp_path, 2, complete=False)
    (damaged / RECEIPT).write_text("{")
    (damaged / ".aside").write_text("{")
    for path in (damaged / RECEIPT, damaged / ".aside", damaged):
        set_age(path, OLD)
    found = find_erasures(tmp_path, BEFORE, receipts=receipts)
    assert (found.expired, dict(+found.kept)) == ([], {"erasures": 2})


def test_receipts_stay_unless_they_are_asked_for(tmp_path: Path) -> None:
    """And then the one that tells of the last memory does, whatever the clock said of it."""
    one, two, three = (
        _erasure(tmp_path, number, started_at=f"2026-10-0{4 - number}T12:00:00Z") for number in (1, 2, 3)
    )
    assert _expired(tmp_path) == []
    assert find_erasures(tmp_path, BEFORE, receipts=False).kept["receipts"] == 3
    assert {*_expired(tmp_path, receipts=True)} == {(one.name, "receipts"), (two.name, "receipts")}
    assert three.exists()


def test_files_that_a_kill_left_beside_a_receipt_go(tmp_path: Path) -> None:
    """When they are old enough."""
    directory = _erasure(tmp_path, 1)
    for name, age in ((".receipt.json-1", OLD), (".receipt.json-2", timedelta(days=1))):
        replace_file(directory / name, b"{}")
        set_age(directory / name, age)
    assert _expired(tmp_path) == [(f"{directory.name}/.receipt.json-1", "erasure_files")]


@pytest.mark.parametrize("age", [OLD, timedelta(days=1)])
def test_an_erasure_that_was_never_begun_goes_when_it_is_old(tmp_path: Path, age: timedelta) -> None:
    """Its keys were sealed, and a kill came before the receipt: the same people are named again."""
    directory = _erasure(tmp_path, 1, complete=False)
    (directory / RECEIPT).unlink()
    set_age(directory, age)
    assert (directory / SEALED).exists()
    assert _expired(tmp_path) == ([(directory.name, "erasure_files")] if age == OLD else [])


def test_receipts_that_are_young_stay(tmp_path: Path) -> None:
    """As they were written, whatever else happened in their directory."""
    _erasure(tmp_path, 1, age=timedelta(days=29))
    _erasure(tmp_path, 2)
    _erasure(tmp_path, 3)
    found = find_erasures(tmp_path, BEFORE, receipts=True)
    assert ([each.kind for each in found.expired], dict(+found.kept)) == (["receipts"], {"receipts": 1})


def test_no_erasures_are_nothing(tmp_path: Path) -> None:
    """And nothing is made."""
    assert _expired(tmp_path / "state", receipts=True) == []
    assert list(tmp_path.iterdir()) == []
