"""Keyed tags of keys and key sets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.preparation.tags import TAG, Tagger, sum_of_keys

Make = Callable[..., HashedRecords]

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
    batch = records.unwrap()
    return [tag.tobytes() for tag in sum_of_keys(list(tagger.tag_keys(batch)), batch.num_rows)]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


def test_tags_have_128_bits(hashed_records: Make) -> None:
    """All of them in use: every bit is set in some of a thousand tags, and clear in some."""
    records = hashed_records(*(("Update", {Kind.EMAIL: [f"p{n}"]}) for n in range(1_000)))
    bits = np.unpackbits(np.frombuffer(b"".join(_tags(records, Tagger())), dtype=np.uint8).reshape(1_000, 16), axis=1)
    assert TAG.itemsize == 16
    assert bits.any(axis=0).all()
    assert not bits.all(axis=0).any()
