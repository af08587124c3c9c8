"""The tags of a batch with their rows, as bytes and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.records.batches import ROW
from audiencekit.records.columns.arrays import HASH_TYPE, hash_array
from audiencekit.selection import tags as taggedrows, tags as tags_module
from audiencekit.selection.plain_tags import PlainTags
from audiencekit.selection.shared_values import candidates_at, candidates_in_records
from audiencekit.selection.tag_arrays import TAG
from audiencekit.selection.tags import TaggedRows, Tagger, slots_of, tags_of_sets, tags_with
from audiencekit.state.keys import SubKey
from tests.cases import each_case
from tests.examples import examples

Make = Callable[..., HashedRecords]


def _there_and_back(batch: TaggedRows) -> TaggedRows:
    return taggedrows.from_chunk(taggedrows.to_chunk(batch), slots_of(batch.keys.tags))


PEOPLE = st.lists(
    st.dictionaries(
        st.sampled_from(list(Kind)), st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True)
    ),
    min_size=1,
    max_size=20,
)


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PEOPLE, st.integers(0, 5), st.integers(1, 9))
def test_the_batch_comes_back(hashed_records: Make, people: list[dict[Kind, list[str]]], first: int, of: int) -> None:
    """Also of a slice, whose offsets do not begin with 0; and it says as much of every value as the records do.

    Whether one in so many is asked for, `of`, or each.
    """
    tagger, records = Tagger(), hashed_records(*(("Update", person) for person in people))
    part = records.unwrap().slice(min(first, len(people) - 1))
    written = TaggedRows(part.column(ROW).to_numpy(), tagger.tag(part))
    read = _there_and_back(written)
    assert read.rows.tolist() == written.rows.tolist()
    assert read.keys.tags.tolist() == written.keys.tags.tolist()
    assert read.keys.owners().tolist() == written.keys.owners().tolist()
    assert list(read.keys.offsets) == list(written.keys.offsets)
    places = np.arange(len(written.keys.tags))[::of]
    if len(places):
        found, pairs = candidates_at(places, read)
        of_records, pairs_of_records = candidates_in_records(HashedRecords(part), tagger, places)
        assert found.tobytes() == of_records.tobytes()
        assert sorted(pairs.people.tolist()) == sorted(pairs_of_records.people.tolist())
        assert sorted(pairs.parts.tolist()) == sorted(pairs_of_records.parts.tolist())


@each_case("rows", [[7], [7, 8, 10, 15], [7, 10_000], [7, 9, 8], [7, 7], [2**40, 2**40 + 3], []])
def test_rows_come_back(hashed_records: Make, rows: list[int]) -> None:
    """Whether most of them have a record, few, or none; and where they do not ascend."""
    batch = hashed_records(*[("Update", {Kind.EMAIL: ["a"]})] * len(rows)).unwrap()
    assert _there_and_back(TaggedRows(np.array(rows, dtype=np.int64), Tagger().tag(batch))).rows.tolist() == rows


def test_rows_take_a_bit_each(hashed_records: Make) -> None:
    """And a tag eight bytes: its other half is put aside as the slot of its value."""
    batch = hashed_records(*[("Update", {Kind.EMAIL: ["a"]})] * 800).unwrap()
    chunk = taggedrows.to_chunk(TaggedRows(np.arange(800), Tagger().tag(batch)))
    assert len(chunk) < 800 * (8 + 2 / 8) + 30


KEY_SETS = st.lists(
    st.dictionaries(
        st.sampled_from([Kind.EMAIL, Kind.HANDLE, Kind.PARTNER_USER_ID]),
        st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True),
        min_size=1,
    ),
    min_size=1,
    max_size=12,
)


def _tags(records: HashedRecords, tagger: Tagger) -> list[bytes]:
    return [tag.tobytes() for tag in tags_of_sets(records, tagger)]


@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(KEY_SETS)
def test_tags_are_equal_exactly_when_key_sets_are(hashed_records: Make, key_sets: list[dict[Kind, list[str]]]) -> None:
    """Whatever the order of keys, over all kinds, and for slices of a batch as well."""
    records, tagger = hashed_records(*(("Update", keys) for keys in key_sets)), Tagger()
    tags = _tags(records, tagger)
    sets = [frozenset((kind, text) for kind, texts in keys.items() for text in texts) for keys in key_sets]
    for one in range(len(sets)):
        for other in range(len(sets)):
            assert (tags[one] == tags[other]) == (sets[one] == sets[other])
    assert _tags(HashedRecords(records.unwrap().slice(1)), tagger) == tags[1:]


def test_tags_of_another_run_are_others(hashed_records: Make) -> None:
    """They say nothing to anyone who has not the key."""
    records = hashed_records(("Update", {Kind.EMAIL: ["a"]}))
    assert _tags(records, Tagger()) != _tags(records, Tagger())


@each_case("key, used", [(SubKey(bytes(32)), range(16)), (None, [*range(8), *range(12, 16)])])
def test_tags_have_128_bits(hashed_records: Make, key: SubKey | None, used: Sequence[int]) -> None:
    """All of them in use: every bit is set in some of a thousand tags, and clear in some. In one run 96 are."""
    records = hashed_records(*(("Update", {Kind.EMAIL: [f"p{n}"]}) for n in range(1_000)))
    octets = np.frombuffer(b"".join(_tags(records, Tagger(key))), dtype=np.uint8).reshape(1_000, 16)
    bits = np.unpackbits(octets[:, used], axis=1)
    assert TAG.itemsize == 16
    assert bits.any(axis=0).all()
    assert not bits.all(axis=0).any()
    assert not np.delete(octets, used, axis=1).any()


def test_tags_of_one_run_come_back_from_their_halves(hashed_records: Make) -> None:
    """Which are put aside apart from each other."""
    tags = Tagger().tag(hashed_records(*(("Update", {Kind.EMAIL: [text]}) for text in "abc")).unwrap()).tags
    assert tags_with(tags["high"], slots_of(tags)).tolist() == tags.tolist()


def test_a_tag_is_what_it_was(sha256: Callable[[str], str], hashed_records: Make) -> None:
    """AES of half the hash and the kind: what earlier syncs have kept is compared with it."""
    secret = bytes(range(32))
    cipher = Cipher(algorithms.AES(secret), modes.ECB())
    mask = cipher.encryptor().update(b"partner_user_id\0")
    half = bytes.fromhex(sha256("a"))[:16]
    expected = cipher.encryptor().update(bytes(one ^ other for one, other in zip(half, mask, strict=True)))
    records = hashed_records(("Update", {Kind.PARTNER_USER_ID: ["a"]}))
    assert tags_of_sets(records, Tagger(SubKey(secret))).tobytes() == expected
    assert Tagger(SubKey(secret)).tag_hashes(_hashes(sha256, "a"), Kind.PARTNER_USER_ID).tobytes() == expected


def _hashes(sha256: Callable[[str], str], *texts: str) -> pa.Array:
    return hash_array(np.frombuffer(bytes.fromhex("".join(map(sha256, texts))), dtype=np.uint8).reshape(-1, 32))


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(KEY_SETS, st.integers(0, 12), st.integers(0, 12))
def test_sets_are_tagged_alike_without_kernels(
    hashed_records: Make, key_sets: list[dict[Kind, list[str]]], start: int, count: int
) -> None:
    """Whatever each record has, in slices of a batch as well; and keys come with the same owners."""
    batch = hashed_records(*(("Update", keys) for keys in key_sets)).unwrap().slice(start, count)
    tagger = Tagger()
    found, keys = tags_of_sets(HashedRecords(batch), tagger), tagger.tag(batch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tags_module, "TAG_LOOPS", PlainTags())
        assert found.tolist() == tags_of_sets(HashedRecords(batch), tagger).tolist()
        assert keys.tags.tolist() == tagger.tag(batch).tags.tolist()
    owners = [
        record
        for kind in Kind
        for record, values in enumerate(batch.column(kind.value).to_pylist())
        for _ in values or ()
    ]
    assert keys.owners().tolist() == owners


def test_bytes_beneath_a_null_are_no_key(sha256: Callable[[str], str], hashed_records: Make) -> None:
    """Arrow allows it; the keys behind it stay those of their own records."""
    offsets, is_valid = pa.array([0, 1, 2, 3], pa.int32()).buffers()[1], pa.array([True, False, True]).buffers()[1]
    hashes = _hashes(sha256, "a", "b", "c")
    beneath = pa.Array.from_buffers(pa.list_(HASH_TYPE), 3, [is_valid, offsets], children=[hashes])
    plain = hashed_records(*(("Update", {Kind.HANDLE: [text], Kind.EMAIL: [text]}) for text in "abc")).unwrap()
    batch = plain.set_column(plain.schema.get_field_index("email"), plain.schema.field("email"), beneath)
    expected = hashed_records(
        ("Update", {Kind.HANDLE: ["a"], Kind.EMAIL: ["a"]}),
        ("Update", {Kind.HANDLE: ["b"]}),
        ("Update", {Kind.HANDLE: ["c"], Kind.EMAIL: ["c"]}),
    )
    tagger = Tagger()
    assert tags_of_sets(HashedRecords(batch), tagger).tolist() == tags_of_sets(expected, tagger).tolist()


@pytest.mark.parametrize("begin", [0, 3, 8, 11])
@pytest.mark.parametrize("is_aligned", [True, False])
def test_values_beneath_nulls_are_left_out_of_any_slice(
    begin: int, is_aligned: bool, sha256: Callable[[str], str]
) -> None:
    """Wherever it begins in a byte of bits, and whether its offsets stand between the places of numbers."""
    lists = 20
    numbers = np.arange(lists + 1, dtype=np.int32).tobytes()
    offsets = pa.py_buffer(numbers) if is_aligned else pa.py_buffer(b"x" + numbers).slice(1)
    hashes = _hashes(sha256, *map(str, range(lists)))
    for null in range(begin, lists):
        valid = pa.array([place != null for place in range(lists)]).buffers()[1]
        whole = pa.Array.from_buffers(pa.list_(HASH_TYPE), lists, [valid, offsets], children=[hashes])
        expected = [one for place, one in enumerate(hashes.to_pylist()) if place >= begin and place != null]
        assert tags_module._values(whole.slice(begin)).to_pylist() == expected
