"""User entries: one check of all, one check of each, the same verdict."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.emulator.audiences.fields import FIELDS, make_key, make_key_set
from audiencekit.emulator.audiences.users import UserRules, find_problems, read_key_sets

RULES = UserRules.of("spec")
H1, H2 = "0123456789abcdef" * 4, "f" * 64

GOOD = st.sampled_from([H1, H2, "00" * 32])
HASHED = st.sampled_from([name for name in FIELDS["spec"] if name != "partner_user_id"])
PARTNER = st.dictionaries(
    st.just("partner_user_id"),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=2),
    max_size=1,
)
GOOD_USERS = st.lists(
    st.builds(
        lambda hashed, partner: {**hashed, **partner},
        st.dictionaries(HASHED, st.lists(GOOD, min_size=1, max_size=3), min_size=1, max_size=4),
        PARTNER,
    )
    | st.fixed_dictionaries({"email": st.lists(GOOD, min_size=1, max_size=1)}),
    min_size=1,
    max_size=6,
)
ANY_TEXT = st.one_of(GOOD, st.sampled_from([H1.upper(), H1[:-1], H1 + "0", "g" * 64, "", " " * 64, "é" * 64, "٠" * 64]))
ANY_USER: st.SearchStrategy[Any] = st.one_of(
    st.dictionaries(
        st.one_of(HASHED, st.sampled_from(["partner_user_id", "twitter_id", "Email", ""])),
        st.one_of(
            st.lists(st.one_of(ANY_TEXT, st.none(), st.integers(), st.lists(ANY_TEXT, max_size=1)), max_size=3),
            st.none(),
            st.text(max_size=3),
            st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=1),
        ),
        max_size=3,
    ),
    st.none(),
    st.just([]),
    st.text(max_size=3),
    st.integers(),
)


@given(GOOD_USERS)
def test_good_users_become_their_key_sets(users: list[dict[str, list[str]]]) -> None:
    """Each user is the set of her fields and values, in order, whatever the fields of the others are."""
    expected = [
        make_key_set(make_key(FIELDS["spec"][name], text) for name, texts in user.items() for text in texts)
        for user in users
    ]
    assert read_key_sets(users, RULES) == expected
    assert find_problems(users, RULES) == []


@given(st.lists(ANY_USER, min_size=1, max_size=4), st.booleans())
def test_both_checks_agree(users: list[Any], upper_case: bool) -> None:
    """All together are good exactly when nothing is found in any."""
    rules = UserRules.of("spec", upper_case=upper_case)
    assert (read_key_sets(users, rules) is None) == bool(find_problems(users, rules))


@pytest.mark.parametrize(
    ("users", "code", "parameter"),
    [
        (None, "INVALID_PARAMETER", "users"),
        ({}, "INVALID_PARAMETER", "users"),
        ([], "INVALID_PARAMETER", "users"),
        ([None], "INVALID_PARAMETER", "users"),
        (["email"], "INVALID_PARAMETER", "users"),
        ([{}], "MISSING_PARAMETER", "users"),
        ([{"emails": [H1]}], "INVALID_PARAMETER", "users"),
        ([{"twitter_id": [H1]}], "INVALID_PARAMETER", "users"),
        ([{"email": H1}], "INVALID_PARAMETER", "email"),
        ([{"email": []}], "INVALID_PARAMETER", "email"),
        ([{"email": None}], "INVALID_PARAMETER", "email"),
        ([{"email": {H1: 1}}], "INVALID_PARAMETER", "email"),
        ([{"email": [None]}], "INVALID_PARAMETER", "email"),
        ([{"email": [[H1]]}], "INVALID_PARAMETER", "email"),
        ([{"handle": [""]}], "INVALID_PARAMETER", "handle"),
        ([{"handle": [H1[:-1]]}], "INVALID_PARAMETER", "handle"),
        ([{"device_id": [H1 + "0"]}], "INVALID_PARAMETER", "device_id"),
        ([{"phone_number": ["+15550100"]}], "INVALID_PARAMETER", "phone_number"),
        ([{"platform_id": [H1.upper()]}], "INVALID_PARAMETER", "platform_id"),
        ([{"email": [H1, "é" * 64]}], "INVALID_PARAMETER", "email"),
        ([{"email": ["é" * 32]}], "INVALID_PARAMETER", "email"),
        ([{"email": [H1[:-1], H1 + "0"]}], "INVALID_PARAMETER", "email"),
        ([{"email": [], "handle": [H1]}], "INVALID_PARAMETER", "email"),
        ([{"email": [H1]}, {"email": ["x" * 64]}], "INVALID_PARAMETER", "email"),
        ([{"partner_user_id": [""]}], "INVALID_PARAMETER", "partner_user_id"),
        ([{"partner_user_id": [5]}], "INVALID_PARAMETER", "partner_user_id"),
        ([{"partner_user_id": ["p"], "email": ["p"]}], "INVALID_PARAMETER", "email"),
    ],
)
def test_each_fault_is_found_by_name(users: Any, code: str, parameter: str) -> None:
    """Code and parameter of every fault that a user entry can have."""
    (found,) = find_problems(users, RULES)
    assert not isinstance(users, list) or read_key_sets(users, RULES) is None
    assert (found["code"], found["parameter"]) == (code, parameter)


def test_a_fault_is_told_once_and_without_values() -> None:
    """A thousand bad hashes are one problem; neither values nor unknown names are quoted."""
    users = [{"email": [f"user{number}@example.com"], "jane@example.com": ["x"]} for number in range(1_000)]
    problems = find_problems(users, RULES)
    assert [found["parameter"] for found in problems] == ["email", "users"]
    assert "example.com" not in str(problems)


def test_the_public_profile_has_its_own_name() -> None:
    """`twitter_id` is known there, `platform_id` is not."""
    rules = UserRules.of("x")
    assert read_key_sets([{"twitter_id": [H1]}], rules) is not None
    assert read_key_sets([{"platform_id": [H1]}], rules) is None


def test_upper_case_is_a_switch() -> None:
    """When upper-case hashes are taken, they are the same keys as lower-case ones."""
    rules = UserRules.of("spec", upper_case=True)
    assert read_key_sets([{"email": [H1.upper()]}], rules) == read_key_sets([{"email": [H1]}], RULES)
    mixed = [{"email": [H1.upper()], "partner_user_id": ["p"]}]
    assert read_key_sets(mixed, RULES) is None
    assert read_key_sets(mixed, rules) == read_key_sets([{"email": [H1], "partner_user_id": ["p"]}], RULES)
