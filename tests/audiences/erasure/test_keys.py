"""Keys as records of their own."""

from __future__ import annotations

import hashlib

from audiencekit.audiences.erasure.keys import ErasureKeys, as_updates, count_by_kind, keys_fingerprint, to_records
from audiencekit.identifiers.kinds import Kind
from audiencekit.machine.keys import StateKey
from audiencekit.preparation.batches import IS_DELETE
from audiencekit.preparation.records import RECORD_SCHEMA

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
