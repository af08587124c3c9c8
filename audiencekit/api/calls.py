"""Calls of endpoints by name: check the parameters, fill in the path, follow the pages."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import UTC, datetime
from difflib import get_close_matches
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self

from audiencekit.api.answers import WITHOUT_PEOPLE, Answer, read_answer, read_words
from audiencekit.api.catalogue import BY_NAME, VERSION, Endpoint
from audiencekit.api.catalogue.endpoint import describe_permissions
from audiencekit.api.credentials import read_credential, read_pairs, read_stream
from audiencekit.api.exchange import ApiRequest, ApiResponse, Body
from audiencekit.api.oauth import encode_pairs
from audiencekit.api.transport import Transport
from audiencekit.api.validation.calls import CheckedCall, check_call
from audiencekit.errors import CredentialsRefused, EndlessList, MalformedAnswer, ServiceError, Unauthorized, UsageError
from audiencekit.limits import MAX_PAGE_ROWS, MAX_PAGES
from audiencekit.personal import Secret
from audiencekit.service_words import ID_HINT, is_service_id

# --- Any endpoint of the catalogue by its name: checked, sent, read; lists page by page ---

_LOG: Final = logging.getLogger(__name__)
_MAY_NOT: Final = "ACTION_NOT_ALLOWED"  # the code of a user who may not, among others
_NO_NAMES: Final[Mapping[str, str]] = MappingProxyType({})
_READERS: Final[Mapping[str, Callable[[ApiResponse], Answer]]] = {
    "json": read_answer,
    "v2": lambda response: read_answer(response, v2=True),
    "pairs": read_pairs,
    "credential": read_credential,
    "stream": read_stream,
}


class Calls:
    """The calls that every client of this API has. As an async context manager it opens and closes its transport.

    `account_id` is used by every call that does not name another one; `wire_names` are the kinds' names that a service
    changed.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        account_id: str | None = None,
        version: str = VERSION,
        wire_names: Mapping[str, str] = _NO_NAMES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        check_version(version)
        if account_id is not None:
            check_identifier("account_id", account_id)
        self._transport, self._version, self._account_id = transport, version, account_id
        self._wire_names, self._clock = wire_names, clock
        self._bearer: Secret | None = None
        self._stack = AsyncExitStack()

    @property
    def account_id(self) -> str | None:
        """The account of calls that name none."""
        return self._account_id

    async def __aenter__(self) -> Self:
        if isinstance(self._transport, AbstractAsyncContextManager):
            await self._stack.enter_async_context(self._transport)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def call(self, name: str | Endpoint, parameters: Mapping[str, Any] | None = None, body: Any = None) -> Answer:
        """Return the answer of the endpoint `name`, or of one that `find_endpoint` has found.

        None among `parameters` means: not given. `body` is a value that becomes JSON, or bytes, which are checked and
        sent unchanged, or a Body that was made by the rules. Raises UsageError before anything is sent, with the
        parameter and the rule, and an ExchangeError if the call is not confirmed.
        """
        endpoint = find_endpoint(name)
        request = await self._request(endpoint, parameters or {}, body)
        response = await self._exchange(endpoint.name, request)
        try:
            return _READERS[endpoint.answer](response)
        except ServiceError as error:
            if endpoint.group in WITHOUT_PEOPLE:
                error.service_words = read_words(response.body)
            if not isinstance(error, Unauthorized):
                raise
            if request.bearer is not None:
                self._bearer = None  # revoked elsewhere, it may be: the next call asks for another
            if _MAY_NOT in error.codes and (needed := describe_permissions(endpoint)):
                error.hint = f"the user needs {needed} on the account; `audiencekit whoami` shows their permissions"
            raise

    async def _request(self, endpoint: Endpoint, parameters: Mapping[str, Any], body: Any = None) -> ApiRequest:
        if endpoint.answer == "page":
            raise UsageError(f"{endpoint.name} is a page for a browser", hint="link() makes its address")
        ready = body if isinstance(body, Body) else None
        checked = self._check(endpoint, parameters, None if ready else body, ready_bytes=ready.size if ready else None)
        return ApiRequest(
            method=endpoint.method,
            path=self._fill(endpoint, checked),
            base=endpoint.base,
            query=checked.query,
            form=checked.form,
            oauth=checked.oauth,
            body=ready or checked.body,
            auth=endpoint.auth,
            bearer=await self._bearer_token() if endpoint.auth == "bearer" else None,
        )

    async def _exchange(self, name: str, request: ApiRequest) -> ApiResponse:
        """Return the answer, and log it under the name of the endpoint: a path may name a person."""
        began, sent = self._clock(), 0 if request.body is None else request.body.size
        facts: dict[str, Any] = {"endpoint": name, "bytes": sent}
        try:
            response = await self._transport.exchange(request)
            facts["status"] = response.status
            return response
        finally:
            facts["seconds"] = round(max(self._clock() - began, 0), 3)
            ended_with = f"status {facts['status']}" if "status" in facts else "no whole answer"
            _LOG.debug(
                "%s: %s, %s bytes sent, %.3f s", name, ended_with, sent, facts["seconds"], extra={"facts": facts}
            )

    def link(self, name: str | Endpoint, parameters: Mapping[str, Any]) -> str:
        """Return path and query of a page for a browser, to be appended to the base address. Raises UsageError."""
        endpoint = find_endpoint(name)
        if endpoint.answer != "page":
            raise UsageError(f"{endpoint.name} is no page for a browser")
        checked = self._check(endpoint, parameters, None)
        return f"{endpoint.path}?{encode_pairs(checked.query)}"

    async def pages(self, name: str | Endpoint, parameters: Mapping[str, Any] | None = None) -> AsyncIterator[Answer]:
        """Yield every page of a list, in order. Raises UsageError for an endpoint without pages.

        Raises EndlessList when a page leads back to an earlier one, or repeats the one before, and when there are more
        than MAX_PAGES; MalformedAnswer for a page with too many entries.
        """
        endpoint = find_endpoint(name)
        if not endpoint.is_paged:
            raise UsageError(f"the answer of {endpoint.name} does not come in pages")
        given = dict(parameters or {})
        followed = _PageGuard(endpoint.name)
        while True:
            page = await self.call(endpoint, given)
            cursor = followed.next_cursor(page)
            yield page
            if cursor is None:
                return
            # The total belongs to the first page: the two do not go together.
            given = {**given, "cursor": cursor, "with_total_count": None}

    async def items(self, name: str | Endpoint, parameters: Mapping[str, Any] | None = None) -> AsyncIterator[Any]:
        """Yield every entry of a list, over all pages. Raises MalformedAnswer for a page that is not a list."""
        endpoint = find_endpoint(name)
        async for page in self.pages(endpoint, parameters):
            if not isinstance(page.data, list):
                raise MalformedAnswer(f"a page of {endpoint.name} does not hold a list", status=page.status)
            for item in page.data:
                yield item

    async def invalidate_bearer(self) -> None:
        """End the application's bearer token, at the service and here; the next call of the v2 API gets another one.

        Signed by the owner of the application. Raises an ExchangeError.
        """
        token = await self._bearer_token()
        await self.call("oauth2_invalidate_token", {"access_token": token.unwrap()})
        self._bearer = None

    def _check(
        self, endpoint: Endpoint, parameters: Mapping[str, Any], body: Any, *, ready_bytes: int | None = None
    ) -> CheckedCall:
        if endpoint.needs_account and parameters.get("account_id") is None:
            if self._account_id is None:
                raise CredentialsRefused("no ads account was given", hint="set AUDIENCEKIT_ACCOUNT_ID")
            parameters = {**parameters, "account_id": self._account_id}
        now = datetime.fromtimestamp(self._clock(), tz=UTC)
        return check_call(endpoint, parameters, body, ready_bytes=ready_bytes, now=now, wire_names=self._wire_names)

    def _fill(self, endpoint: Endpoint, checked: CheckedCall) -> str:
        return fill_path(endpoint, version=self._version, **checked.path)

    async def _bearer_token(self) -> Secret:
        # The service gives the same one until it is revoked, and refuses who asks too often.
        if self._bearer is None:
            answer = await self.call("oauth2_token", {"grant_type": "client_credentials"})
            self._bearer = answer.data.get("access_token")
            if self._bearer is None:
                raise MalformedAnswer("the service answered without a bearer token", status=answer.status)
        return self._bearer


class _PageGuard:
    """The pages of one list so far. A faulty or hostile service must not lead the client on for ever."""

    def __init__(self, name: str) -> None:
        self._name, self._cursors, self._before = name, set[str](), None

    def next_cursor(self, page: Answer) -> str | None:
        """Return the cursor of the next page, None after the last. Raises EndlessList and MalformedAnswer."""
        size = len(page.data) if isinstance(page.data, list) else 0
        if size > MAX_PAGE_ROWS:
            raise MalformedAnswer(f"a page of {self._name} has more than {MAX_PAGE_ROWS} entries", status=page.status)
        if page.next_cursor is None:
            return None
        if page.next_cursor in self._cursors:
            raise self._endless("leads back to an earlier page", page)
        if size and page.data == self._before:
            raise self._endless("says the same on two pages running", page)
        self._cursors.add(page.next_cursor)
        self._before = page.data
        if len(self._cursors) >= MAX_PAGES:
            raise self._endless(f"has more than {MAX_PAGES} pages", page)
        return page.next_cursor

    def _endless(self, what: str, page: Answer) -> EndlessList:
        return EndlessList(f"the list of {self._name} {what}", status=page.status)


def find_endpoint(name: str | Endpoint) -> Endpoint:
    """Return the endpoint `name`, which may already be one. Raises UsageError, with similar names."""
    if isinstance(name, Endpoint):
        return name
    if name not in BY_NAME:
        near = get_close_matches(name, BY_NAME, n=3)
        raise UsageError(
            "there is no endpoint of that name",
            hint=f"perhaps {', '.join(near)}" if near else "`audiencekit api` lists them",
        )
    return BY_NAME[name]


def list_or_none(name: str, values: Sequence[str]) -> Sequence[str] | None:
    """Return `values`, or None when there are none. Raises UsageError for a text, which is a sequence of characters."""
    if isinstance(values, str):
        raise UsageError(f"{name} is a list")
    return values or None


# --- The path of an endpoint with its variables filled in, so that an id cannot lead to another path ---

_VERSION: Final = re.compile(r"[1-9][0-9]{0,2}", re.ASCII)


def fill_path(endpoint: Endpoint, *, version: str, **identifiers: str) -> str:
    """Return the path of `endpoint` under `version`. Raises UsageError for an invalid id or version."""
    check_version(version)
    for name, identifier in identifiers.items():
        check_identifier(name, identifier)
    return endpoint.path.replace(f"/{VERSION}/", f"/{version}/", 1).format(**identifiers)


def check_version(version: str) -> None:
    """Raise UsageError unless `version` is a version of the API."""
    if not _VERSION.fullmatch(version):
        raise UsageError("the version of the API is a whole number, such as 12")


def check_identifier(name: str, identifier: str) -> None:
    """Raise UsageError unless `identifier` is an id of this service; `name` says which one is meant."""
    if not is_service_id(identifier):
        raise UsageError(f"the {name} is not an id of this service", hint=ID_HINT)
