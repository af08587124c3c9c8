"""The ads API as methods: arguments are checked, one request is sent, its answer is read."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from types import TracebackType
from typing import Final, Literal, Self, TypeAlias

from audiencekit.api.catalogue import BY_NAME, VERSION
from audiencekit.api.exchange import ApiRequest, Body
from audiencekit.api.paths import check_identifier, fill_path
from audiencekit.api.transport import Transport
from audiencekit.api.wire import (
    Answer,
    Counts,
    check_counts,
    read_answer,
    read_counts,
    require_entity,
    require_list,
)
from audiencekit.errors import MalformedAnswer, UsageError
from audiencekit.limits import MAX_BODY_BYTES, MAX_LIST_IDS, MAX_PAGE_ROWS, MAX_QUERY_LENGTH

PermissionScope: TypeAlias = Literal["OWNER", "SHARED"]
_Parameter: TypeAlias = tuple[str, str | int | bool | None]

_SORT: Final = re.compile(r"[a-z][a-z_]{0,63}-(?:asc|desc)", re.ASCII)


class AdsClient:
    """The endpoints of one account. As an async context manager it opens and closes its transport.

    Every method raises UsageError before anything is sent, and an ExchangeError for what was not confirmed.
    """

    def __init__(self, transport: Transport, *, account_id: str, version: str = VERSION) -> None:
        self._transport, self._version, self._account_id = transport, version, account_id
        self._stack = AsyncExitStack()
        fill_path(BY_NAME["list_custom_audiences"], version=version, account_id=account_id)

    async def __aenter__(self) -> Self:
        if isinstance(self._transport, AbstractAsyncContextManager):
            await self._stack.enter_async_context(self._transport)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def list_custom_audiences(
        self,
        *,
        q: str | None = None,
        permission_scope: PermissionScope | None = None,
        count: int | None = None,
        cursor: str | None = None,
        custom_audience_ids: Sequence[str] = (),
        with_deleted: bool | None = None,
        with_total_count: bool | None = None,
        sort_by: Sequence[str] = (),
    ) -> Answer:
        """One page of audiences, `data` a list of objects (specification part 2, section 4.3)."""
        _check_page(q=q, permission_scope=permission_scope, count=count, cursor=cursor, total=with_total_count)
        answer = await self._call(
            "list_custom_audiences",
            ("q", q),
            ("permission_scope", permission_scope),
            ("count", count),
            ("cursor", cursor),
            ("custom_audience_ids", _join_ids(custom_audience_ids)),
            ("with_deleted", with_deleted),
            ("with_total_count", with_total_count),
            ("sort_by", _join_sort(sort_by)),
        )
        return require_list(answer)

    async def iterate_custom_audiences(
        self,
        *,
        q: str | None = None,
        permission_scope: PermissionScope | None = None,
        count: int | None = None,
        custom_audience_ids: Sequence[str] = (),
        with_deleted: bool | None = None,
        sort_by: Sequence[str] = (),
    ) -> AsyncIterator[Answer]:
        """Every page in order. Raises MalformedAnswer when the service leads round in a circle."""
        cursor: str | None = None
        seen: set[str] = set()
        while True:
            page = await self.list_custom_audiences(
                q=q,
                permission_scope=permission_scope,
                count=count,
                cursor=cursor,
                custom_audience_ids=custom_audience_ids,
                with_deleted=with_deleted,
                sort_by=sort_by,
            )
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return
            if cursor in seen:
                raise MalformedAnswer("the pages of the service lead back to an earlier one", status=page.status)
            seen.add(cursor)

    async def create_custom_audience(self, *, name: str, description: str | None = None) -> Answer:
        """The new, empty audience. Parameters stand in the query (specification part 1, section 4.0).

        Not to be repeated blindly when the outcome is unknown: look the name up first.
        """
        if not name:
            raise UsageError("an audience needs a name")
        return require_entity(await self._call("create_custom_audience", ("name", name), ("description", description)))

    async def get_custom_audience(self, audience_id: str, *, with_deleted: bool | None = None) -> Answer:
        """One audience. Raises NotFound, for a deleted one too unless `with_deleted`."""
        return require_entity(
            await self._call("get_custom_audience", ("with_deleted", with_deleted), custom_audience_id=audience_id)
        )

    async def delete_custom_audience(self, audience_id: str) -> Answer:
        """The audience as deleted. There is no way back."""
        return require_entity(await self._call("delete_custom_audience", custom_audience_id=audience_id))

    async def send_users(self, audience_id: str, body: Body, *, records: int) -> Counts:
        """The counts of one upload, which are both equal to `records` (specification part 2, section 4.4).

        Raises CountMismatch when they are not: the same bytes are to be sent again.
        """
        if records < 1 or not 0 < body.size <= MAX_BODY_BYTES:
            raise UsageError(f"a body holds at least one record and at most {MAX_BODY_BYTES} bytes")
        answer = await self._call("add_custom_audience_users", custom_audience_id=audience_id, body=body)
        counts = read_counts(answer)
        check_counts(counts, sent=records)
        return counts

    async def _call(self, name: str, *query: _Parameter, body: Body | None = None, **identifiers: str) -> Answer:
        endpoint = BY_NAME[name]
        request = ApiRequest(
            method=endpoint.method,
            path=fill_path(endpoint, version=self._version, account_id=self._account_id, **identifiers),
            base=endpoint.base,
            query=tuple((key, _text(value)) for key, value in query if value is not None),
            body=body,
        )
        return read_answer(await self._transport.exchange(request))


def _check_page(
    *, q: str | None, permission_scope: str | None, count: int | None, cursor: str | None, total: bool | None
) -> None:
    if q is not None and not 1 <= len(q) <= MAX_QUERY_LENGTH:
        raise UsageError(f"q is 1 to {MAX_QUERY_LENGTH} characters long")
    if permission_scope not in (None, "OWNER", "SHARED"):
        raise UsageError("permission_scope is OWNER or SHARED")
    if count is not None and not 1 <= count <= MAX_PAGE_ROWS:
        raise UsageError(f"count is 1 to {MAX_PAGE_ROWS}")
    if cursor == "":
        raise UsageError("a cursor is never empty; leave it out for the first page")
    if cursor is not None and total:
        raise UsageError("with_total_count and cursor do not go together")


def _join_ids(identifiers: Sequence[str]) -> str | None:
    if isinstance(identifiers, str) or len(identifiers) > MAX_LIST_IDS:
        raise UsageError(f"custom_audience_ids is a list of at most {MAX_LIST_IDS} ids")
    for identifier in identifiers:
        check_identifier("custom_audience_id", identifier)
    return ",".join(identifiers) or None


def _join_sort(orders: Sequence[str]) -> str | None:
    if isinstance(orders, str) or not all(_SORT.fullmatch(order) for order in orders):
        raise UsageError("sort_by is a list of attribute names that end in -asc or -desc")
    return ",".join(orders) or None


def _text(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
