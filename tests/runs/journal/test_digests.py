"""Digests that are equal when the bytes are, however they come in pieces."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given, settings, strategies as st

from audiencekit.errors import Bug
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.records.chunks import RecordChunk, to_chunk
from audiencekit.records.records import RECORD_SCHEMA
from audiencekit.runs.journal import digests
from audiencekit.runs.journal.digests import (
    BODIES,
    DOCUMENTS,
    LISTS,
    RECORDS,
    KeyedDigest,
    RecordsFingerprint,
    digest_of,
)
from audiencekit.state.keys import StateKey, SubKey
from tests.cases import each_case
from tests.examples import examples
from tests.runs.journal.conftest import KEY

OTHER: SubKey = StateKey(bytes(32)).derive("digests", "another")
Record = dict[str, Any]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _value(name: str, text: str) -> Any:
    """A value as RECORD_SCHEMA has it, whether hashes stand in it as text or as bytes."""
    if name == "partner_user_id":
        return text
    wide = RECORD_SCHEMA.field(name).type.value_type
    return _hash(text) if pa.types.is_string(wide) else bytes.fromhex(_hash(text))


def _batch(records: Sequence[Record]) -> HashedRecords:
    rows = [
        {
            name: [_value(name, text) for text in value] if isinstance(value, list) else value
            for name, value in {"row": 1, "is_delete": False, **record}.items()
        }
        for record in records
    ]
    columns = [pa.array([row.get(field.name) for row in rows], field.type) for field in RECORD_SCHEMA]
    return HashedRecords(pa.record_batch(columns, schema=RECORD_SCHEMA))


def _fingerprint(*batches: HashedRecords, key: SubKey = KEY) -> str:
    fingerprint = RecordsFingerprint({RECORDS: key})
    for batch in batches:
        fingerprint.add(to_chunk(batch))
    return fingerprint.finish(RECORDS)


def test_two_digests_of_one_pass_are_those_of_two() -> None:
    """Each has its key and its purpose; a key that comes behind the first batch would miss it."""
    batch, other = _batch([{"email": [_hash("a")]}, {"email": [_hash("b")]}]), OTHER
    both = RecordsFingerprint({RECORDS: KEY})
    both.add_key(LISTS, other)
    both.add(to_chunk(batch))
    alone = RecordsFingerprint({LISTS: other})
    alone.add(to_chunk(batch))
    assert both.finish(RECORDS) == _fingerprint(batch)
    assert both.finish(LISTS) == alone.finish(LISTS)
    with pytest.raises(ValueError, match="without this key"):
        both.add_key(LISTS, other)


def test_a_digest_is_gmac() -> None:
    """The tag of AES-GCM over nothing, with the content as what is authenticated."""
    nonce = bytes([BODIES]) + (7).to_bytes(11, "big")
    assert digest_of(KEY, BODIES, 7, b"content") == AESGCM(KEY.unwrap()).encrypt(nonce, b"", b"content")


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=5))
def test_pieces_do_not_matter(content: bytes, cuts: list[int]) -> None:
    """The same bytes in other pieces are the same digest."""
    digest = KeyedDigest(KEY, BODIES, 1)
    places = sorted({0, *(min(cut, len(content)) for cut in cuts), len(content)})
    for start, end in itertools.pairwise(places):
        digest.update(content[start:end])
    assert digest.finish() == digest_of(KEY, BODIES, 1, content)


@each_case("other", [(OTHER, BODIES, 1, b"content"), (KEY, DOCUMENTS, 1, b"content"), (KEY, BODIES, 2, b"content"),
     (KEY, BODIES, 1, b"Content"), (KEY, BODIES, 1, b"")])  # fmt: skip
def test_whatever_differs_makes_another_digest(other: tuple[SubKey, int, int, bytes]) -> None:
    """Key, what it is, its number, its bytes."""
    assert digest_of(KEY, BODIES, 1, b"content") != digest_of(*other)


PEOPLE: list[Record] = [
    {"row": 1, "email": ["a", "b"], "partner_user_id": ["x1"]},
    {"row": 2, "email": ["c"], "phone_number": ["d"]},
    {"row": 4, "is_delete": True, "handle": ["e"]},
    {"row": 5, "partner_user_id": ["y", "z22"]},
]


@given(st.lists(st.integers(0, 4), max_size=4))
def test_batches_do_not_matter(cuts: list[int]) -> None:
    """However the records are cut, empty batches and slices of larger ones included, the fingerprint is the same."""
    whole = _batch(PEOPLE)
    places = [0, *sorted(cuts), len(PEOPLE)]
    parts = [HashedRecords(whole.unwrap().slice(a, b - a)) for a, b in itertools.pairwise(places)]
    again = [_batch(PEOPLE[a:b]) for a, b in itertools.pairwise(places)]
    assert _fingerprint(*parts) == _fingerprint(*again) == _fingerprint(whole)


DIFFERENT: dict[str, list[Record]] = {
    "none": [],
    "one fewer": PEOPLE[:3],
    "another order": [PEOPLE[1], PEOPLE[0], *PEOPLE[2:]],
    "another row": [*PEOPLE[:3], {**PEOPLE[3], "row": 6}],
    "another verb": [*PEOPLE[:3], {**PEOPLE[3], "is_delete": True}],
    "another value": [*PEOPLE[:3], {**PEOPLE[3], "partner_user_id": ["y", "z23"]}],
    "another cut of values": [*PEOPLE[:3], {**PEOPLE[3], "partner_user_id": ["yz", "22"]}],
    "one value of two": [*PEOPLE[:3], {**PEOPLE[3], "partner_user_id": ["yz22"]}],
    "a value with its neighbour": [{**PEOPLE[0], "email": ["a"]}, {**PEOPLE[1], "email": ["b", "c"]}, *PEOPLE[2:]],
    "another kind": [{**PEOPLE[0], "email": None, "handle": ["a", "b"]}, *PEOPLE[1:]],
}


@each_case("name", DIFFERENT)
def test_other_records_are_another_fingerprint(name: str) -> None:
    """Every part of a record counts, and where it stands."""
    assert _fingerprint(_batch(DIFFERENT[name])) != _fingerprint(_batch(PEOPLE))
    assert _fingerprint(_batch(DIFFERENT[name])) == _fingerprint(_batch(DIFFERENT[name]))


def test_a_fingerprint_needs_its_key() -> None:
    """Under another key the same records are another fingerprint: it does not tell who is in a list."""
    assert _fingerprint(_batch(PEOPLE)) != _fingerprint(_batch(PEOPLE), key=OTHER)
    assert len(bytes.fromhex(_fingerprint(_batch(PEOPLE)))) == 16


@settings(max_examples=examples(30), deadline=None)
@given(*[st.lists(st.lists(st.text(max_size=4), max_size=3), max_size=5)] * 2)
def test_two_lists_have_one_fingerprint_only_when_they_are_equal(one: list[list[str]], two: list[list[str]]) -> None:
    """Whatever stands in them."""
    prints = [_fingerprint(_batch([{"partner_user_id": values} for values in people])) for people in (one, two)]
    assert (prints[0] == prints[1]) == (one == two)


def test_a_fault_shows_no_hashes() -> None:
    """A value that is no batch of records is named by type and place."""
    with pytest.raises(Bug) as caught:
        RecordsFingerprint({RECORDS: KEY}).add(RecordChunk(_hash("person").encode()))
    assert _hash("person") not in str(caught.value)


def test_a_kind_that_came_later_leaves_digests_as_they_were() -> None:
    """Of records without it; of others it counts, and however they are cut."""
    plain = [{"email": ["a"]}, {"row": 2, "email": ["b"]}]
    late = [*plain, {"row": 3, "email": ["c"], "partner_user_id": ["x"]}]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digests, "FIRST_KINDS", tuple(Kind)[:-1])
        known = _fingerprint(_batch(plain))
        assert _fingerprint(_batch(late[:1]), _batch(late[1:])) == _fingerprint(_batch(late))
        assert _fingerprint(_batch(late)) != _fingerprint(_batch([*plain, {"row": 3, "email": ["c"]}]))
        assert _fingerprint(_batch(late)) != _fingerprint(_batch([*plain, {**late[2], "partner_user_id": ["y"]}]))
        patch.setattr(digests, "Kind", tuple(Kind)[:-1])  # a version that does not know it
        assert _fingerprint(_batch(plain)) == known
