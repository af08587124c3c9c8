"""Keys and key sets."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from audiencekit.emulator.audiences.fields import (
    FIELDS,
    PARTNER_USER_ID,
    are_hashes,
    is_one_hash,
    make_key,
    make_key_set,
    name_tags,
    show_key_set,
    split_key_set,
)

HASHES = st.binary(min_size=32, max_size=32).map(bytes.hex)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
PAIRS = st.lists(
    st.tuples(st.sampled_from([tag for tag in FIELDS["spec"].values() if tag != PARTNER_USER_ID]), HASHES)
    | st.tuples(st.just(PARTNER_USER_ID), TEXTS),
    min_size=1,
    max_size=8,
)


@given(PAIRS)
def test_a_key_set_comes_apart_into_its_keys(pairs: list[tuple[bytes, str]]) -> None:
    """Whatever the texts are, keys stay apart."""
    keys = {make_key(tag, text) for tag, text in pairs}
    assert len(keys) == len(set(pairs))
    assert set(split_key_set(make_key_set(keys))) == keys


@given(PAIRS, st.randoms())
def test_order_and_repetition_do_not_matter(pairs: list[tuple[bytes, str]], chance: object) -> None:
    """A set is a set."""
    keys = [make_key(tag, text) for tag, text in pairs]
    assert make_key_set(keys) == make_key_set([*reversed(keys), *keys])


@given(PAIRS)
def test_one_hash_is_told_from_the_rest(pairs: list[tuple[bytes, str]]) -> None:
    """A single hashed key, and nothing else."""
    distinct = set(pairs)
    alone = len(distinct) == 1 and next(iter(distinct))[0] != PARTNER_USER_ID
    assert is_one_hash(make_key_set(make_key(tag, text) for tag, text in pairs)) == alone


@pytest.mark.parametrize(
    ("profile", "name", "other"), [("spec", "platform_id", "twitter_id"), ("x", "twitter_id", "platform_id")]
)
def test_profiles_name_one_field_differently(profile: str, name: str, other: str) -> None:
    """`platform_id` is `twitter_id` at the public service."""
    assert name in FIELDS[profile]
    assert other not in FIELDS[profile]
    key_set = make_key_set([make_key(FIELDS[profile][name], "AB" * 32), make_key(PARTNER_USER_ID, "p")])
    assert show_key_set(key_set, name_tags(profile)) == {"partner_user_id": ["p"], name: ["ab" * 32]}


@given(st.lists(PAIRS, min_size=1, max_size=4))
def test_many_key_sets_are_told_together_as_they_are_one_by_one(people: list[list[tuple[bytes, str]]]) -> None:
    """All of them one hash each, or not."""
    key_sets = [make_key_set(make_key(tag, text) for tag, text in pairs) for pairs in people]
    assert are_hashes(key_sets) is all(map(is_one_hash, key_sets))
