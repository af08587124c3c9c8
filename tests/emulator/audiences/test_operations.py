"""Operations: the whole body, or none of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.emulator.audiences.operations import Operation, read_operations
from audiencekit.emulator.audiences.users import UserRules
from audiencekit.emulator.envelope import RefusalError

NOW = 1_800_000_000.25  # 2027-01-15T08:00:00Z
RULES = UserRules.of("spec")
IDS = {"account_id": "a", "custom_audience_id": "c"}
H1 = "a1" * 32
USERS = [{"email": [H1]}]


def _read(document: Any) -> list[Operation]:
    return read_operations(document, RULES, NOW, IDS)


def _refusal(document: Any) -> Any:
    with pytest.raises(RefusalError) as caught:
        _read(document)
    assert caught.value.answer.status == 400
    assert isinstance(caught.value.answer.body, bytes)
    return json.loads(caught.value.answer.body)


def _item(**params: Any) -> dict[str, Any]:
    return {"operation_type": "Update", "params": {"users": USERS, **params}}


@pytest.mark.parametrize(
    ("times", "effective_at", "expires_at"),
    [
        ({}, NOW, 1_834_214_400),
        ({"expires_at": "2027-01-15T08:00:01Z"}, NOW, 1_800_000_001),
        ({"effective_at": "2018-05-15T00:00:00Z"}, 1_526_342_400, 1_834_214_400),
        ({"effective_at": "2018-05-15", "expires_at": "2018-05-15T00:00:01Z"}, 1_526_342_400, 1_526_342_401),
        ({"effective_at": "2018-05-15", "expires_at": "2027-01-16T00:00:00.999Z"}, 1_526_342_400, 1_800_057_600),
        ({"effective_at": "2027-01-16", "expires_at": "2027-01-16T00:00:01Z"}, 1_800_057_600, 1_800_057_601),
        ({"effective_at": "2028-02-15T07:59:59Z"}, 1_834_214_399, 1_834_214_400),
    ],
)
def test_times_and_their_defaults(times: dict[str, str], effective_at: float, expires_at: float) -> None:
    """Now, and 13 calendar months after the request."""
    (operation,) = _read([_item(**times)])
    assert (operation.effective_at, operation.expires_at) == (effective_at, expires_at)


@pytest.mark.parametrize(
    ("params", "parameter"),
    [
        ({"expires_at": "2027-01-15T08:00:00Z"}, "expires_at"),
        ({"effective_at": "2018-05-15", "expires_at": "2018-05-15"}, "expires_at"),
        ({"effective_at": "2027-02-01", "expires_at": "2027-02-01"}, "expires_at"),
        ({"effective_at": "2027-02-02", "expires_at": "2027-02-01"}, "expires_at"),
        ({"effective_at": "2028-02-15T08:00:00Z"}, "expires_at"),
        ({"effective_at": "tomorrow"}, "effective_at"),
        ({"effective_at": None}, "effective_at"),
        ({"expires_at": 1_900_000_000}, "expires_at"),
        ({"expires_at": ""}, "expires_at"),
        ({"expire_at": "2027-02-01"}, "params"),
        ({"users": {}}, "users"),
    ],
)
def test_params_that_cannot_be(params: dict[str, Any], parameter: str) -> None:
    """An expiry that is not later, times that are none, names that are not known."""
    (errors,) = _refusal([_item(**params)])["operation_errors"]
    assert [(error["code"], error["parameter"]) for error in errors] == [("INVALID_PARAMETER", parameter)]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (None, [("INVALID_PARAMETER", "operation")]),
        ([], [("INVALID_PARAMETER", "operation")]),
        ({}, [("MISSING_PARAMETER", "operation_type"), ("MISSING_PARAMETER", "params")]),
        ({"operation_type": "Update"}, [("MISSING_PARAMETER", "params")]),
        ({"operation_type": "Update", "params": {}}, [("MISSING_PARAMETER", "users")]),
        ({"operation_type": "Update", "params": []}, [("INVALID_PARAMETER", "params")]),
        ({"operation_type": "update", "params": {"users": USERS}}, [("INVALID_PARAMETER", "operation_type")]),
        ({"operation_type": "Create", "params": {"users": USERS}}, [("INVALID_PARAMETER", "operation_type")]),
        ({"operation_type": ["Update"], "params": {"users": USERS}}, [("INVALID_PARAMETER", "operation_type")]),
        ({"params": {"users": USERS}}, [("MISSING_PARAMETER", "operation_type")]),
        ({**_item(), "id": 1}, [("INVALID_PARAMETER", "operation")]),
    ],
)
def test_items_that_cannot_be(item: Any, expected: list[tuple[str, str]]) -> None:
    """Each fault of an item by its code and parameter."""
    (errors,) = _refusal([item])["operation_errors"]
    assert [(error["code"], error["parameter"]) for error in errors] == expected


def test_operation_errors_stand_at_the_index_of_their_operation() -> None:
    """Good operations have an empty list; the request is echoed without users."""
    bad = {"operation_type": "Delete", "params": {"users": [{"email": ["jane@example.com"]}]}}
    strange = {"operation_type": "jane@example.com", "params": {"users": USERS}}
    document = _refusal([_item(), bad, _item(), strange])
    message = "email is not a valid SHA-256 hash"
    assert document["operation_errors"][:3] == [
        [],
        [{"code": "INVALID_PARAMETER", "message": message, "parameter": "email"}],
        [],
    ]
    assert [error["parameter"] for error in document["operation_errors"][3]] == ["operation_type"]
    assert document["request"] == [
        {"params": IDS, "operation_type": name} for name in ("Update", "Delete", "Update", None)
    ]
    assert "errors" not in document
    assert "jane" not in json.dumps(document)


@pytest.mark.parametrize("document", [None, {}, {"operations": []}, "x", 5, []])
def test_a_body_is_an_array_of_something(document: Any) -> None:
    """Anything else is a problem of the request."""
    refused = _refusal(document)
    assert [error["code"] for error in refused["errors"]] == ["INVALID_PARAMETER"]
    assert refused["request"] == {"params": IDS}


def test_the_number_of_operations_is_limited() -> None:
    """2,500 pass, 2,501 are a problem of the request."""
    assert len(_read([_item()] * 2_500)) == 2_500
    refused = _refusal([_item()] * 2_501)
    assert [error["code"] for error in refused["errors"]] == ["REQUEST_TOO_COMPLEX"]


def test_users_are_not_limited_in_number() -> None:
    """One operation may hold as many as fit."""
    (operation,) = _read([_item(users=USERS * 10_000)])
    assert len(operation.key_sets) == 10_000


def test_operations_do_not_show_keys() -> None:
    """Hashes are personal data: not in a repr."""
    assert "a1" * 4 not in repr(_read([_item()]))
    assert repr(bytes.fromhex("a1" * 4))[2:-1] not in repr(_read([_item()]))


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["Update", "Delete", H1, "2027-02-01", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["operation_type", "params", "users", "email", "effective_at", "expires_at", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_ANY)
def test_no_body_is_too_strange(document: object) -> None:
    """Every JSON value is read or refused with 400, and nothing else happens."""
    status, read = 200, 0
    try:
        read = len(_read(document))
    except RefusalError as refusal:
        status = refusal.answer.status
    assert status in (200, 400)
    assert status == 400 or (isinstance(document, list) and len(document) == read)


FIELD_SETS = st.lists(st.sampled_from(["email", "handle", "partner_user_id"]), min_size=1, max_size=2, unique=True)
SOME_USERS = st.lists(FIELD_SETS, min_size=1, max_size=3).map(
    lambda shapes: [{name: [H1] for name in shape} for shape in shapes]
)


@given(st.lists(SOME_USERS, min_size=1, max_size=4))
def test_operations_are_read_together_as_they_are_one_by_one(lists: list[Any]) -> None:
    """Whether or not all users have the same fields."""
    items = [{"operation_type": "Update", "params": {"users": users}} for users in lists]
    assert _read(items) == [_read([item])[0] for item in items]


@pytest.mark.parametrize("bad", [{"email": ["A1" * 32]}, {"email": []}, {"mail": [H1]}, {}, 7, None])
def test_one_bad_user_is_told_in_its_own_operation(bad: Any) -> None:
    """Although all of them are looked at together first."""
    good = {"operation_type": "Update", "params": {"users": USERS}}
    refusal = _refusal([good, {"operation_type": "Update", "params": {"users": [*USERS, bad]}}, good])
    assert [bool(problems) for problems in refusal["operation_errors"]] == [False, True, False]
