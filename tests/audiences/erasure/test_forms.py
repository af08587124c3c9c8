"""Every form that an identifier can have been sent in."""

from __future__ import annotations

import hashlib
import json
import uuid
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from audiencekit.audiences.erasure import forms
from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.erasure.forms import (
    FORMS,
    ErasureKeys,
    as_updates,
    count_by_kind,
    forms_of,
    keys_fingerprint,
    keys_of,
    keys_of_hash,
    to_records,
)
from audiencekit.audiences.sync.sync import sync_async
from audiencekit.emulator import Emulator
from audiencekit.errors import PlanRefused
from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.kinds import Kind, Reason, Rules
from audiencekit.records.batches import IS_DELETE
from audiencekit.records.records import RECORD_SCHEMA
from audiencekit.settings import Settings
from audiencekit.snapshots.store import SERIAL, SnapshotStore
from audiencekit.state.keys import StateKey, find_state_key
from tests.cases import each_case

# --- Every form that an identifier can have been sent in ---

DEVICE = "4b61639e-47cc-4056-a16a-c8217e02946b"
HASH = hashlib.sha256(b"ada@example.org").hexdigest()


@each_case(
    "kind, text, expected",
    [
        (Kind.EMAIL, " Ada@Example.ORG ", {"ada@example.org"}),
        (Kind.EMAIL, "ada@Bücher.example.com", {"ada@bücher.example.com", "ada@xn--bcher-kva.example.com"}),
        (Kind.PHONE_NUMBER, "+49 151 12345678", {"+4915112345678", "4915112345678"}),
        (Kind.PHONE_NUMBER, "0151 12345678", {"+4915112345678", "4915112345678"}),
        (Kind.DEVICE_ID, DEVICE, {DEVICE, DEVICE.upper()}),
        (Kind.DEVICE_ID, f"{{{DEVICE.title()}}}", {DEVICE, DEVICE.title(), DEVICE.upper()}),
        (Kind.DEVICE_ID, "AF3802A465767E36", {"af3802a465767e36", "AF3802A465767E36"}),
        (Kind.HANDLE, "@Ada_L", {"ada_l", "@ada_l"}),
        (Kind.PLATFORM_ID, "00143567", {"143567"}),
        (Kind.PARTNER_USER_ID, "crm-17", {"crm-17", hashlib.sha256(b"crm-17").hexdigest()}),
        (Kind.PARTNER_USER_ID, " crm-17 ", {" crm-17 ", "crm-17", hashlib.sha256(b"crm-17").hexdigest()}),
    ],
)
def test_the_forms_of_each_kind(kind: Kind, text: str, expected: set[str]) -> None:
    """Those of the table, and no other."""
    assert forms_of(kind, text, default_country="DE") == expected


def test_a_number_that_is_only_possible_was_sent_by_who_allowed_it() -> None:
    """Both settings of --phone-validity are tried."""
    assert forms_of(Kind.PHONE_NUMBER, "+4915000000001") == {"+4915000000001", "4915000000001"}


@each_case(
    "kind, text, reason",
    [
        (Kind.EMAIL, "ada@", Reason.INVALID_SYNTAX),
        (Kind.PHONE_NUMBER, "0151 12345678", Reason.NO_COUNTRY),
        (Kind.DEVICE_ID, "0" * 16, Reason.ZEROED),
        (Kind.HANDLE, "", Reason.EMPTY),
    ],
)
def test_an_invalid_identifier_has_the_reason_of_the_definition(kind: Kind, text: str, reason: Reason) -> None:
    """National digits without a country are refused: they could be another person's number."""
    assert forms_of(kind, text) is reason


def test_keys_are_hashed_but_for_partner_user_ids() -> None:
    """As they stand in a request."""
    assert keys_of(Kind.EMAIL, "ada@example.org") == {HASH}
    assert "crm-17" in (keys_of(Kind.PARTNER_USER_ID, "crm-17"))  # type: ignore[operator]


def test_of_a_hash_there_is_one_form() -> None:
    """The form is in lower case; hashes of placeholders are refused."""
    assert keys_of_hash(HASH.upper()) == {HASH}
    assert keys_of_hash(hashlib.sha256(b"").hexdigest()) is Reason.HASH_OF_PLACEHOLDER


def test_every_form_has_its_source() -> None:
    """In words."""
    assert all(form.words and form.source for form in FORMS)


def test_a_kind_without_a_row_has_its_normal_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that an erasure names people of a kind that is new."""
    monkeypatch.setattr(forms, "FORMS", ())
    assert {forms_of(kind, text) for kind, text in ((Kind.HANDLE, "@Ada"), (Kind.HANDLE, "ada"))} == {
        frozenset({"ada"})
    }


TEXTS = st.one_of(
    st.tuples(st.just(Kind.EMAIL), st.emails()),
    st.tuples(st.just(Kind.PHONE_NUMBER), st.from_regex(r"(\+49|0049|0)1[5-7][0-9]{8,9}", fullmatch=True)),
    st.tuples(st.just(Kind.PHONE_NUMBER), st.from_regex(r"\+?[1-9][0-9 ]{6,14}", fullmatch=True)),
    st.tuples(st.just(Kind.DEVICE_ID), st.uuids().map(lambda one: str(uuid.UUID(int=one.int)).title())),
    st.tuples(st.just(Kind.HANDLE), st.from_regex(r"@?\w{1,15}", fullmatch=True)),
    st.tuples(st.just(Kind.PLATFORM_ID), st.from_regex(r"[0-9]{1,19}", fullmatch=True)),
    st.tuples(st.just(Kind.PARTNER_USER_ID), st.text(max_size=12)),
)
RULES = st.builds(
    Rules,
    default_country=st.just("DE"),
    phone_validity=st.sampled_from(["valid", "possible"]),
    phone_form=st.sampled_from(["e164", "digits"]),
    device_id_case=st.sampled_from(["lower", "as_given"]),
)


@given(TEXTS, RULES)
def test_the_value_sent_under_any_switch_is_among_the_forms(identifier: tuple[Kind, str], rules: Rules) -> None:
    """Whatever an upload made of the same text."""
    kind, text = identifier
    sent = normalize_identifier(kind, text, rules=rules)
    forms = forms_of(kind, text, default_country="DE")
    if isinstance(sent, Reason):
        return
    assert not isinstance(forms, Reason)
    assert sent in forms


# --- Keys as records of their own ---

KEYS = [(Kind.EMAIL, hashlib.sha256(b"%d" % number).hexdigest()) for number in range(3)]
KEYS += [(Kind.HANDLE, hashlib.sha256(b"h").hexdigest()), (Kind.PARTNER_USER_ID, "crm-17")]


def test_each_key_is_a_delete_of_its_own() -> None:
    """So that an entry which shares just one of them goes."""
    batch = to_records(ErasureKeys(frozenset(KEYS))).unwrap()
    assert batch.schema == RECORD_SCHEMA
    assert batch.column(IS_DELETE).to_pylist() == [True] * len(KEYS)
    for row in batch.to_pylist():
        assert sum(len(row[kind.value] or ()) for kind in Kind) == 1
    found = {(kind, value.hex() if kind.is_hashed else value) for kind in Kind for row in batch.to_pylist()
             for value in row[kind.value] or ()}  # fmt: skip
    assert found == set(KEYS)


def test_the_same_keys_have_one_fingerprint_in_any_order() -> None:
    """Of another key, or under another secret, it is another one."""
    one, other = (to_records(ErasureKeys(frozenset(keys))) for keys in (KEYS, KEYS[::-1]))
    secret, another = StateKey(b"a" * 32), StateKey(b"b" * 32)
    assert keys_fingerprint(one, secret) == keys_fingerprint(other, secret)
    assert keys_fingerprint(one, secret) != keys_fingerprint(one, another)
    assert keys_fingerprint(one, secret) != keys_fingerprint(to_records(ErasureKeys(frozenset(KEYS[1:]))), secret)


def test_updates_are_those_of_the_kinds_that_a_list_takes() -> None:
    """The others are left out."""
    records = as_updates(to_records(ErasureKeys(frozenset(KEYS))), [Kind.EMAIL, Kind.PHONE_NUMBER])
    assert count_by_kind(records) == {"email": 3}
    assert records.unwrap().column(IS_DELETE).to_pylist() == [False] * 3


# --- Identifiers that stand for many members of an audience under sync erase no one before it is meant ---

OFFICE = "+493090182000"


async def _synced(settings: Settings, audience_id: str, tmp_path: Path, people: int) -> None:
    source = tmp_path / "people.csv"
    rows = [f"person{number}@example.org,{OFFICE}" for number in range(people)]
    source.write_text("\n".join(["email,phone", *rows, ""]))
    await sync_async(source, audience=audience_id, settings=settings, shared_values="keep", allow_shrink=1.0)


@pytest.mark.parametrize(("members", "most", "refused"), [(6, 5, True), (6, 6, False)])
async def test_members_are_counted(
    emulator: Emulator, settings: Settings, tmp_path: Path, members: int, most: int, refused: bool
) -> None:
    """In both files of the snapshot: the last of them comes with a second sync, where it counts."""
    if refused:
        await _synced(settings, emulator.audience_id, tmp_path, members - 1)
    await _synced(settings, emulator.audience_id, tmp_path, members)
    if not refused:
        receipt = await forget_async([OFFICE], settings=settings, shared_values=most)
        assert receipt.state == "complete"
        return
    with pytest.raises(PlanRefused) as raised:
        await forget_async([OFFICE, "person1@example.org"], settings=settings, shared_values=most)
    assert f"more than {most} members of audience {emulator.audience_id}, the most for {members}:" in str(raised.value)
    assert "`shared_values='keep'`" in raised.value.hint
    assert OFFICE not in json.dumps([str(raised.value), raised.value.hint])


async def test_a_snapshot_that_cannot_be_trusted_is_not_asked(
    emulator: Emulator, settings: Settings, tmp_path: Path
) -> None:
    """People are erased all the same, and audiences of other accounts are none of ours."""
    await _synced(settings, emulator.audience_id, tmp_path, 9)
    account_id, key = settings.require_account(), find_state_key(settings.state_dir, settings.key)
    assert SnapshotStore.audiences(settings.state_dir, account_id) == [emulator.audience_id]
    assert SnapshotStore.audiences(settings.state_dir, account_id[:-1]) == []
    (SnapshotStore(settings.state_dir, account_id, emulator.audience_id, key).directory / SERIAL).write_bytes(b"x" * 50)
    assert (await forget_async([OFFICE], settings=settings)).state == "complete"
