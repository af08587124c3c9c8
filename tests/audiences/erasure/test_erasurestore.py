"""The files of erasures."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from audiencekit.audiences.erasure.erasurestore import ErasureStore
from audiencekit.audiences.erasure.keys import ErasureKeys, to_records
from audiencekit.audiences.erasure.receipt import Receipt, Skipped, TargetReceipt
from audiencekit.errors import AudienceBusy, InputOutputFailed, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.machine.checkeddocuments import encode_checked
from audiencekit.machine.keys import StateKey

KEY = StateKey(b"k" * 32)
HASH = hashlib.sha256(b"ada@example.org").hexdigest()
RECORDS = to_records(ErasureKeys(frozenset({(Kind.EMAIL, HASH), (Kind.PARTNER_USER_ID, "crm-canary-17")})))
ID = "forget-20261121-120000-abcdef00"
STORED = Path(__file__).with_name("stored-1")
ADDRESS = "https://ads.example.com"
NOW = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)


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
    store.keep(receipt)
    assert store.receipt(ID) == receipt


def test_the_keys_come_back_until_the_erasure_is_complete(store: ErasureStore) -> None:
    """Then they are destroyed, and so is the fingerprint."""
    assert store.records(ID, KEY).unwrap().equals(RECORDS.unwrap())
    store.complete(_receipt(), NOW)
    assert not store.has_keys(ID)
    kept = store.receipt(ID)
    assert (kept.state, kept.fingerprint, kept.finished_at) == ("complete", "", "2026-11-21T12:30:00Z")


def test_keys_are_destroyed_before_their_file_goes(store: ErasureStore, tmp_path: Path) -> None:
    """Another name of the file, or a copy of the disk's blocks, leads to bytes that no key opens."""
    copy = tmp_path / "copy"
    os.link(store.directory(ID) / "keys.sealed", copy)
    store.complete(_receipt(), NOW)
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
    store.complete(_receipt(), NOW)
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
        store.complete(receipt, NOW)
    assert (store.has_keys(ID), store.receipt(ID).state) == (False, "complete")
