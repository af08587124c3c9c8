"""User entries: one check of all, one check of each, the same verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.emulator.answers import RefusalError
from audiencekit.emulator.endpoints.audience_members import FIELDS, make_key, make_key_set
from audiencekit.emulator.endpoints.audience_users import (
    Operation,
    UserRules,
    count_users,
    find_problems,
    read_key_sets,
    read_operations,
)
from tests.cases import each_case

# --- Counting users in bulk ---


# --- User entries: one check of all, one check of each, the same verdict ---

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


@each_case(
    "users, code, parameter",
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


# --- Operations: the whole body, or none of it ---

NOW = 1_800_000_000.25  # 2027-01-15T08:00:00Z
IDS = {"account_id": "a", "custom_audience_id": "c"}
HASH_1 = "a1" * 32
USERS = [{"email": [HASH_1]}]


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


@each_case(
    "times, effective_at, expires_at",
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


@each_case(
    "params, parameter",
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


@each_case(
    "item, expected",
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


@each_case("document", [None, {}, {"operations": []}, "x", 5, []])
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
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["Update", "Delete", HASH_1, "2027-02-01", ""]),
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
    lambda shapes: [{name: [HASH_1] for name in shape} for shape in shapes]
)


@given(st.lists(SOME_USERS, min_size=1, max_size=4))
def test_operations_are_read_together_as_they_are_one_by_one(lists: list[Any]) -> None:
    """Whether or not all users have the same fields."""
    items = [{"operation_type": "Update", "params": {"users": users}} for users in lists]
    assert _read(items) == [_read([item])[0] for item in items]


@each_case("bad", [{"email": ["A1" * 32]}, {"email": []}, {"mail": [HASH_1]}, {}, 7, None])
def test_one_bad_user_is_told_in_its_own_operation(bad: Any) -> None:
    """Although all of them are looked at together first."""
    good = {"operation_type": "Update", "params": {"users": USERS}}
    refusal = _refusal([good, {"operation_type": "Update", "params": {"users": [*USERS, bad]}}, good])
    assert [bool(problems) for problems in refusal["operation_errors"]] == [False, True, False]


# --- The users endpoint, over the wire ---

UPLOADED_1, UPLOADED_2, H3 = "a1" * 32, "b2" * 32, "c3" * 32
YEARS = "2030-01-01T00:00:00Z"


def _operation(verb: str, *users: dict[str, list[str]], **times: str) -> dict[str, Any]:
    return {"operation_type": verb, "params": {"users": list(users), **times}}


def _keys(members: list[Any]) -> list[Any]:
    return [member["keys"] for member in members]


async def test_the_answer_counts_users_over_all_operations(caller: Any) -> None:
    """Updates and Deletes, known and unknown people: all that were received, twice."""
    reply = await caller.upload(
        [
            _operation("Update", {"email": [UPLOADED_1]}, {"email": [UPLOADED_1]}),
            _operation("Delete", {"email": [H3]}),
            _operation("Update", {"email": [UPLOADED_2], "handle": [UPLOADED_1, UPLOADED_2]}),
        ]
    )
    assert reply.status == 200
    assert reply.body == {
        "request": {
            "params": {
                "account_id": caller.emulator.account_id,
                "custom_audience_id": caller.emulator.audience_id,
            }
        },
        "data": {"success_count": 4, "total_count": 4},
    }


async def test_the_documented_example_is_taken(open_emulator: Any) -> None:
    """The example of the public documentation, in its time, with the public service's names."""
    hashes = [f"{number:064x}" for number in range(9)]
    times = {"effective_at": "2018-05-15T00:00:00Z", "expires_at": "2019-01-01T07:00:00Z"}
    body = [
        _operation(
            "Update",
            {"email": [hashes[0]], "handle": hashes[1:3]},
            {"email": [hashes[3]], "twitter_id": hashes[4:6]},
            **times,
        ),
        _operation(
            "Delete",
            {"device_id": [hashes[6]], "email": [hashes[0]], "handle": [hashes[7]], "twitter_id": [hashes[8]]},
            {"email": [hashes[3]], "twitter_id": hashes[7:9]},
            **times,
        ),
    ]
    async with open_emulator(profile="x", clock=lambda: 1_527_000_000.0) as caller:
        reply = await caller.upload(body)
        assert reply.body["data"] == {"success_count": 4, "total_count": 4}
        assert await caller.members() == []


async def test_operations_are_applied_in_order(caller: Any) -> None:
    """The last word in a request counts."""
    await caller.upload([_operation("Update", {"email": [UPLOADED_1]}), _operation("Delete", {"email": [UPLOADED_1]})])
    assert await caller.members() == []
    await caller.upload([_operation("Delete", {"email": [UPLOADED_1]}), _operation("Update", {"email": [UPLOADED_1]})])
    assert _keys(await caller.members()) == [{"email": [UPLOADED_1]}]


async def test_a_delete_matches_on_any_key(caller: Any) -> None:
    """Users that share a key with a deleted user go, too; the same hash in another field is another key."""
    await caller.upload(
        [
            _operation(
                "Update",
                {"email": [UPLOADED_1], "phone_number": [H3]},
                {"email": [UPLOADED_2], "phone_number": [H3]},
                {"handle": [H3]},
                {"partner_user_id": [H3]},
            )
        ]
    )
    await caller.upload([_operation("Delete", {"email": [UPLOADED_1], "phone_number": [H3]})])
    assert _keys(await caller.members()) == [{"handle": [H3]}, {"partner_user_id": [H3]}]


async def test_members_come_and_go_with_the_clock(caller: Any) -> None:
    """From `effective_at` to `expires_at`; 13 months when no expiry is given."""
    await caller.upload(
        [
            _operation("Update", {"email": [UPLOADED_1]}),
            _operation("Update", {"email": [UPLOADED_2]}, effective_at="2027-02-01", expires_at="2027-03-01"),
        ]
    )
    shown = []
    for moment in ("2027-01-31T23:59:59", "2027-02-01T00:00:00", "2027-03-01T00:00:00", "2028-02-15T07:59:59"):
        await caller.move_clock(set=_epoch(moment))
        shown.append([keys["email"][0][:2] for keys in _keys(await caller.members())])
    assert shown == [["a1"], ["a1", "b2"], ["a1"], ["a1"]]
    await caller.move_clock(advance=1)
    assert await caller.members() == []


def _epoch(moment: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(moment + "+00:00").timestamp()


GOOD_BODY = json.dumps([_operation("Update", {"email": [UPLOADED_1]})]).encode()


@pytest.mark.parametrize(
    ("body", "member"),
    [
        (b"", "errors"),
        (b"{}", "errors"),
        (b"[]", "errors"),
        (GOOD_BODY + b"]", "errors"),
        (GOOD_BODY.replace(b'"params"', b'"params": {}, "params"'), "errors"),
        (GOOD_BODY.replace(b'"email"', b'"email": ["x"], "email"'), "errors"),
        (b"[NaN]", "errors"),
        (GOOD_BODY[:-1] + b", null]", "operation_errors"),
        (
            GOOD_BODY[:-1] + b", " + GOOD_BODY[1:].replace(UPLOADED_1.encode(), UPLOADED_1.upper().encode()),
            "operation_errors",
        ),
        (GOOD_BODY[:-1] + b", " + GOOD_BODY[1:].replace(b"users", b"user"), "operation_errors"),
        (b"[" + b",".join([GOOD_BODY[1:-1]] * 2_501) + b"]", "errors"),
    ],
)
async def test_nothing_of_a_faulty_request_is_applied(caller: Any, body: bytes, member: str) -> None:
    """One fault anywhere, and members and log are as before; the answer quotes no value."""
    await caller.upload([_operation("Update", {"email": [UPLOADED_2]}, expires_at=YEARS)])
    reply = await caller.upload(body)
    assert reply.status == 400
    assert set(reply.body) == {member, "request"}
    assert isinstance(reply.body["request"], dict if member == "errors" else list)
    assert len(await caller.log()) == 1
    assert _keys(await caller.members()) == [{"email": [UPLOADED_2]}]
    assert UPLOADED_1 not in reply.content.decode().lower()


async def test_the_number_of_operations_is_exact(caller: Any) -> None:
    """2,500 operations are applied."""
    body = b"[" + b",".join([GOOD_BODY[1:-1]] * 2_500) + b"]"
    assert (await caller.upload(body)).body["data"]["total_count"] == 2_500
    assert len(await caller.log()) == 2_500


@each_case(
    "media_type, status",
    [
        ("application/json", 200),
        ("Application/JSON; charset=UTF-8", 200),
        ('application/json;charset="utf-8"', 200),
        ("application/json; charset=latin-1", 415),
        ("application/json; boundary=x", 415),
        ("text/plain", 415),
        ("text/json", 415),
        ("application/octet-stream", 415),
    ],
)
async def test_a_body_is_declared_as_json(caller: Any, media_type: str, status: int) -> None:
    """Any other media type answers 415."""
    assert (await caller.upload(GOOD_BODY, media_type=media_type)).status == status


async def test_the_endpoint_takes_no_query(caller: Any) -> None:
    """Parameters belong into the body."""
    reply = await caller.upload(GOOD_BODY, path=caller.users + "?expires_at=2027-02-01")
    assert (reply.status, reply.codes) == (400, ["INVALID_PARAMETER"])


async def test_lists_are_apart(caller: Any) -> None:
    """An upload to one audience does nothing to another."""
    other = (await caller.call("POST", caller.audiences, query={"name": "other"})).body["data"]["id"]
    await caller.upload(GOOD_BODY, path=f"{caller.audiences}/{other}/users")
    assert await caller.members() == []
    assert _keys(await caller.members(other)) == [{"email": [UPLOADED_1]}]
    assert [line["list_id"] for line in await caller.log()] == [other]


async def test_upper_case_hashes_are_a_switch(open_emulator: Any) -> None:
    """Refused by default; when taken, the same people as in lower case, logged as received."""
    body = [_operation("Update", {"email": [UPLOADED_1.upper()]}), _operation("Update", {"email": [UPLOADED_1]})]
    async with open_emulator() as caller:
        assert (await caller.upload(body)).status == 400
    async with open_emulator(accept_upper_case=True) as caller:
        assert (await caller.upload(body)).status == 200
        assert _keys(await caller.members()) == [{"email": [UPLOADED_1]}]
        assert [line["users"] for line in await caller.log()] == [
            [{"email": [UPLOADED_1.upper()]}],
            [{"email": [UPLOADED_1]}],
        ]


@each_case("separators", [(",", ":"), (", ", ": ")])
async def test_a_sink_counts_and_applies_nothing(open_emulator: Any, separators: tuple[str, str]) -> None:
    """The right counts, however the JSON is written; no members, no log; faults are still refused."""
    operations = [
        _operation("Update", {"email": [UPLOADED_1]}, {"email": [UPLOADED_2], "partner_user_id": ["{p}"]}),
        _operation("Delete", {"handle": [UPLOADED_1, UPLOADED_2]}),
    ]
    async with open_emulator(sink=True) as caller:
        body = json.dumps(operations, separators=separators).encode()
        assert (await caller.upload(body)).body["data"] == {"success_count": 3, "total_count": 3}
        assert await caller.members() == []
        assert await caller.log() == []
        assert (await caller.upload(body[:-1])).status == 400
        assert (await caller.upload([_operation("Update")])).status == 400
        assert (await caller.send("POST", caller.users, data=body)).status == 401
        assert [entry["status"] for entry in (await caller.send("GET", "/__requests")).body] == [200, 400, 400, 401]


HASH = st.binary(min_size=32, max_size=32).map(bytes.hex)
USER = st.dictionaries(
    st.sampled_from(["email", "device_id", "handle", "platform_id", "phone_number"]),
    st.lists(HASH, min_size=1, max_size=3),
    min_size=1,
)
PARTNERS = st.fixed_dictionaries(
    {"partner_user_id": st.lists(st.text(st.sampled_from('{}[]"\\,:0afé')), min_size=1, max_size=2)}
)
OPERATION = st.builds(
    lambda operation_type, users, times: {"operation_type": operation_type, "params": {"users": users, **times}},
    st.sampled_from(["Update", "Delete"]),
    st.lists(USER | PARTNERS, min_size=1, max_size=5),
    st.sampled_from([{}, {"expires_at": "2027-02-01T00:00:00Z"}]),
)


def _write(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


@given(st.lists(OPERATION, min_size=1, max_size=5))
def test_good_bodies_are_counted_exactly(operations: list[dict[str, Any]]) -> None:
    """Over all operations, whatever the fields and the texts in them."""
    assert count_users(_write(operations), RULES) == sum(len(each["params"]["users"]) for each in operations)


@each_case(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"[",
        b'[{"operation_type":"Update","params":{"users":[]}}]',
        b'[{"operation_type":"Update","params":{}}]',
        b'[{"operation_type":"Create","params":{"users":[{"email":[""]}]}}]',
        b'[{"operation_type":"Update","params":{"users":[{"email":[""]},]}}]',
        b'[{"operation_type":"Update","params":{"users":[{"email":[""]}{"email":[""]}]}}]',
        b'[{"operation_type":"Update","params":{"users":{"email":[""]}}}]',
        b"["
        + b'{"operation_type":"Update","params":{"users":[{"email":[""]}]}},' * 2_500
        + b'{"operation_type":"Update","params":{"users":[{"email":[""]}]}}]',
    ],
)
def test_other_bodies_are_left_to_the_full_check(body: bytes) -> None:
    """A body that is not plainly good is not counted."""
    assert count_users(body, RULES) is None
