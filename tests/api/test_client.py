"""Methods of the client: what goes out, what comes back, and what is refused before."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from audiencekit.api.answers import Counts
from audiencekit.api.client import AdsClient
from audiencekit.api.exchange import ApiRequest, ApiResponse, Body
from audiencekit.emulator.faults.replies import HOSTILE_IDS
from audiencekit.errors import CountMismatch, EndlessList, MalformedAnswer, NotFound, RequestRefused, UsageError
from audiencekit.limits import MAX_BODY_BYTES, MAX_PAGE_ROWS
from tests.cases import each_case

LIST_PATH = "/12/accounts/abc1/custom_audiences"
TAILORED_PATH = "/5/accounts/abc1/tailored_audiences/1nmth/permissions"
DNR_PATH = "/12/accounts/abc1/do_not_reach_lists"


class _Scripted:
    """A transport that answers from a list and keeps the requests."""

    def __init__(self, *documents: Any, status: int = 200) -> None:
        self._documents, self._status = list(documents), status
        self.requests: list[ApiRequest] = []
        self.depth = 0

    async def __aenter__(self) -> _Scripted:
        self.depth += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        self.depth -= 1

    async def exchange(self, request: ApiRequest) -> ApiResponse:
        self.requests.append(request)
        return ApiResponse(status=self._status, body=json.dumps(self._documents.pop(0)).encode())


def _client(transport: Any) -> AdsClient:
    return AdsClient(transport, account_id="abc1")


FLEXIBLE = {
    "operation_type": "Create",
    "params": {
        "audience_type": "FLEXIBLE",
        "name": "Spring",
        "segments": {
            "boolean_operator": "AND",
            "child_segments": [{"custom_audience_id": "1nmth", "lookback_window": 7, "child_segments": []}],
        },
    },
}

NAMED = {"id": "1nmth"}
CALLS: list[tuple[Callable[[AdsClient], Awaitable[Any]], str, str, tuple[tuple[str, str], ...], Any]] = [
    (lambda ads: ads.list_custom_audiences(), "GET", LIST_PATH, (), []),
    (
        lambda ads: ads.list_custom_audiences(
            q="Spring: sale, 20 %",
            permission_scope="SHARED",
            count=1000,
            custom_audience_ids=["1nmth", "2906h"],
            with_deleted=True,
            with_total_count=False,
            sort_by=["created_at-desc", "name-asc"],
        ),
        "GET",
        LIST_PATH,
        (
            ("q", "Spring: sale, 20 %"),
            ("permission_scope", "SHARED"),
            ("count", "1000"),
            ("custom_audience_ids", "1nmth,2906h"),
            ("with_deleted", "true"),
            ("sort_by", "created_at-desc,name-asc"),
            ("with_total_count", "false"),
        ),
        [],
    ),
    (
        lambda ads: ads.list_custom_audiences(cursor="c-3y", count=1),
        "GET",
        LIST_PATH,
        (("count", "1"), ("cursor", "c-3y")),
        [],
    ),
    (
        lambda ads: ads.create_custom_audience(name="Köln & co", description=""),
        "POST",
        LIST_PATH,
        (("name", "Köln & co"), ("description", "")),
        NAMED,
    ),
    (lambda ads: ads.create_custom_audience(name="n"), "POST", LIST_PATH, (("name", "n"),), NAMED),
    (lambda ads: ads.get_custom_audience("1nmth"), "GET", f"{LIST_PATH}/1nmth", (), NAMED),
    (
        lambda ads: ads.get_custom_audience("1nmth", with_deleted=True),
        "GET",
        f"{LIST_PATH}/1nmth",
        (("with_deleted", "true"),),
        NAMED,
    ),
    (lambda ads: ads.delete_custom_audience("1nmth"), "DELETE", f"{LIST_PATH}/1nmth", (), {}),
    (
        lambda ads: ads.update_custom_audience("1nmth", description=""),
        "PUT",
        f"{LIST_PATH}/1nmth",
        (("description", ""),),
        {},
    ),
    (
        lambda ads: ads.list_targeted("1nmth", with_active=False),
        "GET",
        f"{LIST_PATH}/1nmth/targeted",
        (("with_active", "false"),),
        [],
    ),
    (
        lambda ads: ads.list_permissions("1nmth", granted_account_ids=["x1", "x2"]),
        "GET",
        f"{LIST_PATH}/1nmth/permissions",
        (("granted_account_ids", "x1,x2"),),
        [],
    ),
    (
        lambda ads: ads.grant_permission("1nmth", account_id="x1", level="READ_ONLY"),
        "POST",
        f"{LIST_PATH}/1nmth/permissions",
        (("granted_account_id", "x1"), ("permission_level", "READ_ONLY")),
        {},
    ),
    (lambda ads: ads.revoke_permission("1nmth", "ri"), "DELETE", f"{LIST_PATH}/1nmth/permissions/ri", (), {}),
    (lambda ads: ads.list_tailored_permissions("1nmth", cursor="c"), "GET", TAILORED_PATH, (("cursor", "c"),), []),
    (
        lambda ads: ads.grant_tailored_permission("1nmth", account_id="x1", level="READ_WRITE"),
        "POST",
        TAILORED_PATH,
        (("granted_account_id", "x1"), ("permission_level", "READ_WRITE")),
        {},
    ),
    (lambda ads: ads.revoke_tailored_permission("1nmth", "ri"), "DELETE", f"{TAILORED_PATH}/ri", (), {}),
    (
        lambda ads: ads.list_accounts(q="Sp", account_ids=["a1"], count=5),
        "GET",
        "/12/accounts",
        (("q", "Sp"), ("count", "5"), ("account_ids", "a1")),
        [],
    ),
    (lambda ads: ads.get_account(), "GET", "/12/accounts/abc1", (), {}),
    (lambda ads: ads.get_authenticated_user_access(), "GET", "/12/accounts/abc1/authenticated_user_access", (), {}),
    (
        lambda ads: ads.list_features(feature_keys=["REACH_FREQUENCY_CAP"]),
        "GET",
        "/12/accounts/abc1/features",
        (("feature_keys", "REACH_FREQUENCY_CAP"),),
        ["REACH_FREQUENCY_CAP"],
    ),
    (lambda ads: ads.list_do_not_reach_lists(with_deleted=True), "GET", DNR_PATH, (("with_deleted", "true"),), []),
    (lambda ads: ads.create_do_not_reach_list(description="d"), "POST", DNR_PATH, (("description", "d"),), NAMED),
    (lambda ads: ads.delete_do_not_reach_list("4kzrq"), "DELETE", f"{DNR_PATH}/4kzrq", (), {}),
]


@each_case("call, method, path, query, data", CALLS)
async def test_request(
    call: Callable[[AdsClient], Awaitable[Any]], method: str, path: str, query: tuple[tuple[str, str], ...], data: Any
) -> None:
    """Each method sends one request with its parameters in the query and no body (specification part 1, 4.0)."""
    transport = _Scripted({"data": data})
    answer = await call(_client(transport))
    assert answer.data == data
    assert transport.requests == [ApiRequest(method=method, path=path, base="ads_url", query=query)]


REFUSED: dict[str, Callable[[AdsClient], Awaitable[Any]]] = {
    "count of 0": lambda ads: ads.list_custom_audiences(count=0),
    "count of 1,001": lambda ads: ads.list_custom_audiences(count=1001),
    "empty q": lambda ads: ads.list_custom_audiences(q=""),
    "q of 256 characters": lambda ads: ads.list_custom_audiences(q="a" * 256),
    "half a character": lambda ads: ads.list_custom_audiences(q="\ud800"),
    "unknown scope": lambda ads: ads.list_custom_audiences(permission_scope="owner"),  # type: ignore[arg-type]
    "cursor and total": lambda ads: ads.list_custom_audiences(cursor="c", with_total_count=True),
    "empty cursor": lambda ads: ads.list_custom_audiences(cursor=""),
    "201 ids": lambda ads: ads.list_custom_audiences(custom_audience_ids=["a"] * 201),
    "an id with a comma": lambda ads: ads.list_custom_audiences(custom_audience_ids=["a,b"]),
    "ids as one text": lambda ads: ads.list_custom_audiences(custom_audience_ids="1nmth"),
    "order without direction": lambda ads: ads.list_custom_audiences(sort_by=["name"]),
    "order with a comma": lambda ads: ads.list_custom_audiences(sort_by=["name-asc,id-asc"]),
    "order as one text": lambda ads: ads.list_custom_audiences(sort_by="name-asc"),
    "no name": lambda ads: ads.create_custom_audience(name=""),
    "path in an id": lambda ads: ads.get_custom_audience("../x"),
    "upper-case id": lambda ads: ads.delete_custom_audience("ABC"),
    "empty id": lambda ads: ads.delete_custom_audience(""),
    "users of a path": lambda ads: ads.send_users("a/b", Body([b"[]"]), records=1),
    "no records": lambda ads: ads.send_users("abc1", Body([b"[]"]), records=0),
    "empty body": lambda ads: ads.send_users("abc1", Body([]), records=1),
    "change of nothing": lambda ads: ads.update_custom_audience("abc1"),
    "unknown level": lambda ads: ads.grant_permission("abc1", account_id="x1", level="ADMIN"),  # type: ignore[arg-type]
    "eleven flexible audiences": lambda ads: ads.create_flexible_audiences([FLEXIBLE] * 11),
    "do-not-reach body without records": lambda ads: ads.send_do_not_reach_users("abc1", Body([b"[]"]), records=0),
    "body too large": lambda ads: ads.send_users("abc1", Body([bytes(MAX_BODY_BYTES), b"x"]), records=1),
}


@each_case("call", REFUSED.values())
async def test_refused_before_sending(call: Callable[[AdsClient], Awaitable[Any]]) -> None:
    """An argument that cannot be is a UsageError, and nothing is sent."""
    transport = _Scripted()
    with pytest.raises(UsageError):
        await call(_client(transport))
    assert transport.requests == []


@each_case("account_id", ["", "../x", "ABC", "a b"])
def test_account_is_checked_at_once(account_id: str) -> None:
    """An account id that is none is refused when the client is made."""
    with pytest.raises(UsageError):
        AdsClient(_Scripted(), account_id=account_id)
    with pytest.raises(UsageError):
        AdsClient(_Scripted(), account_id="abc1", version="12/../5")


async def test_pages_are_followed_to_the_end() -> None:
    """Every page is given in order, each asked for with the cursor of the one before."""
    transport = _Scripted(
        {"data": [{"id": "a"}], "next_cursor": "c1"},
        {"data": [{"id": "b"}], "next_cursor": "c2"},
        {"data": [], "next_cursor": None},
    )
    pages = [page.data async for page in _client(transport).iterate_custom_audiences(count=1, q="x")]
    assert pages == [[{"id": "a"}], [{"id": "b"}], []]
    assert [dict(request.query).get("cursor") for request in transport.requests] == [None, "c1", "c2"]
    assert all(dict(request.query)["q"] == "x" for request in transport.requests)


async def test_a_page_that_comes_twice_is_noticed() -> None:
    """However new its cursor is; two empty pages running are none."""
    again = {"data": [{"id": "a"}]}
    transport = _Scripted(
        {"data": [], "next_cursor": "c1"}, {"data": [], "next_cursor": "c2"}, {**again, "next_cursor": "c3"},
        {**again, "next_cursor": "c4"},
    )  # fmt: skip
    with pytest.raises(EndlessList, match="says the same"):
        _ = [page async for page in _client(transport).iterate_custom_audiences()]


async def test_a_page_has_no_more_entries_than_can_be_asked_for() -> None:
    """Pages are gathered in memory."""
    page = {"data": [{"id": "a"}] * (MAX_PAGE_ROWS + 1)}
    with pytest.raises(MalformedAnswer, match="more than 1000 entries"):
        _ = [page async for page in _client(_Scripted(page)).iterate_custom_audiences()]


async def test_pages_in_a_circle_are_noticed() -> None:
    """A cursor that was followed before ends the walk with an error instead of never."""
    transport = _Scripted(
        {"data": [], "next_cursor": "c1"}, {"data": [], "next_cursor": "c2"}, {"data": [], "next_cursor": "c1"}
    )
    pages = _client(transport).iterate_custom_audiences()
    with pytest.raises(EndlessList):
        _ = [page async for page in pages]
    assert len(transport.requests) == 3


@pytest.mark.parametrize("given", HOSTILE_IDS)
async def test_an_id_of_an_answer_is_one_of_this_service(given: Any) -> None:
    """An id that names an audience, list, permission or account becomes part of a path: other forms are refused."""
    calls: list[tuple[Callable[[AdsClient], Awaitable[Any]], bool]] = [
        (lambda ads: ads.list_custom_audiences(), True),
        (lambda ads: ads.create_custom_audience(name="n"), False),
        (lambda ads: ads.get_custom_audience("1nmth"), False),
        (lambda ads: ads.update_custom_audience("1nmth", name="n"), False),
        (lambda ads: ads.delete_custom_audience("1nmth"), False),
        (lambda ads: ads.create_flexible_audiences([FLEXIBLE]), True),
        (lambda ads: ads.list_permissions("1nmth"), True),
        (lambda ads: ads.grant_permission("1nmth", account_id="x1", level="READ_ONLY"), False),
        (lambda ads: ads.list_targeted("1nmth"), True),
        (lambda ads: ads.list_accounts(), True),
        (lambda ads: ads.get_account(), False),
        (lambda ads: ads.list_do_not_reach_lists(), True),
        (lambda ads: ads.create_do_not_reach_list(), False),
    ]
    for call, is_list in calls:
        entry = {"id": given, "name": "canary"}
        with pytest.raises(MalformedAnswer, match="contains an invalid id") as caught:
            await call(_client(_Scripted({"data": [entry] if is_list else entry})))
        assert "canary" not in str(caught.value)


async def test_send_users() -> None:
    """An upload posts the body as it is and gives both counts, in either shape of the answer."""
    body = Body([b"[", b"]"])
    transport = _Scripted(
        {"data": {"success_count": 4, "total_count": 4}}, {"data": [{"success_count": 4, "total_count": 4}]}
    )
    for _shape in range(2):
        assert await _client(transport).send_users("1nmth", body, records=4) == Counts(4, 4)
    request = transport.requests[0]
    assert (request.method, request.path, request.query) == ("POST", f"{LIST_PATH}/1nmth/users", ())
    assert request.body is body


async def test_estimate_takes_criteria_in_a_body() -> None:
    """As JSON (specification part 1, section 4.3)."""
    transport = _Scripted({"data": {"audience_size": {"min": 1, "max": 2}}})
    criteria = [{"targeting_type": "BROAD_KEYWORD", "targeting_value": "tea"}]
    answer = await _client(transport).estimate_audience(criteria, operator_type="NE")
    assert answer.data == {"audience_size": {"min": 1, "max": 2}}
    (request,) = transport.requests
    assert request.body is not None
    sent = json.loads(b"".join(request.body.unwrap()))
    assert (request.method, sent) == ("POST", {"targeting_criteria": criteria, "operator_type": "NE"})


@each_case("data", [{"id": "13ld7"}, [{"id": "13ld7"}]])
async def test_flexible_audiences_are_answered_as_a_list(data: Any) -> None:
    """One object is a list of one; both forms are published."""
    transport = _Scripted({"data": data})
    answer = await _client(transport).create_flexible_audiences([FLEXIBLE])
    assert answer.data == [{"id": "13ld7"}]
    (request,) = transport.requests
    assert request.body is not None
    assert request.path == "/12/batch/accounts/abc1/custom_audiences"
    assert json.loads(b"".join(request.body.unwrap())) == [FLEXIBLE]


async def test_a_refused_flexible_batch_says_which_operation() -> None:
    """All or nothing, with the codes of the item."""
    errors = {"operation_errors": [[], [{"code": "INVALID_PARAMETER", "message": "zebra"}]]}
    with pytest.raises(RequestRefused) as caught:
        await _client(_Scripted(errors, status=400)).create_flexible_audiences([FLEXIBLE] * 2)
    assert caught.value.operation_errors == {1: ("INVALID_PARAMETER",)}
    assert "zebra" not in str(caught.value)


async def test_send_do_not_reach_users() -> None:
    """Counts of several operations are summed; others than the records sent are no upload."""
    counts = [{"success_count": 2, "total_count": 2}, {"success_count": 1, "total_count": 1}]
    transport = _Scripted({"data": counts}, {"data": counts})
    body = Body([b"[]"])
    assert await _client(transport).send_do_not_reach_users("4kzrq", body, records=3) == Counts(3, 3)
    request = transport.requests[0]
    assert request.path == "/12/batch/accounts/abc1/do_not_reach_lists/4kzrq/users"
    assert request.body is body
    with pytest.raises(CountMismatch):
        await _client(transport).send_do_not_reach_users("4kzrq", body, records=4)


async def test_largest_body_passes() -> None:
    """A body of exactly the largest size is sent (specification part 2, section 8)."""
    transport = _Scripted({"data": {"success_count": 1, "total_count": 1}})
    assert await _client(transport).send_users("a", Body([bytes(MAX_BODY_BYTES)]), records=1) == Counts(1, 1)


@each_case("success, total", [(3, 4), (4, 3), (3, 3), (5, 5), (0, 0), (2, 2)])
async def test_other_counts_are_no_upload(success: int, total: int) -> None:
    """An upload whose counts differ from the records sent is not confirmed."""
    transport = _Scripted({"data": {"success_count": success, "total_count": total}})
    with pytest.raises(CountMismatch):
        await _client(transport).send_users("1nmth", Body([b"[]"]), records=4)


async def test_errors_of_the_service_come_through() -> None:
    """A 404 is raised as NotFound from every method."""
    with pytest.raises(NotFound):
        await _client(_Scripted({"errors": [{"code": "NOT_FOUND"}]}, status=404)).get_custom_audience("1nmth")


async def test_context_opens_and_closes_the_transport() -> None:
    """`async with` on the client is enough, also when its block fails."""
    transport = _Scripted()

    async def fail() -> None:
        async with _client(transport):
            assert transport.depth == 1
            raise KeyError

    with pytest.raises(KeyError):
        await fail()
    assert transport.depth == 0
