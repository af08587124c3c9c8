"""A transport that reads and does not write: the first request that would change something ends the work."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Final, Self

from audiencekit.api.exchange import ApiRequest, ApiResponse
from audiencekit.api.transport import HttpTransport

_READS: Final = frozenset({"GET", "HEAD"})
_TOKENS: Final = "/oauth2/token"  # a POST that changes nothing: the bearer token that reading the v2 API takes


class WouldSend(Exception):
    """The request that was not sent: method, path, names of its parameters, bytes of its body. No values."""

    def __init__(self, request: ApiRequest) -> None:
        super().__init__(f"{request.method} {request.path}")
        self.method, self.path = request.method, request.path
        self.parameters = [name for name, _ in (*request.query, *request.form)]
        self.body_bytes = 0 if request.body is None else request.body.size

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            "method": self.method, "path": self.path, "parameters": self.parameters, "body_bytes": self.body_bytes,
        }  # fmt: skip


class DryTransport:
    """Passes on requests that read. Raises WouldSend in place of sending any other."""

    def __init__(self, transport: HttpTransport) -> None:
        self._transport = transport

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transport.__aexit__(kind, error, trace)

    async def exchange(self, request: ApiRequest) -> ApiResponse:
        """The answer to a request that reads."""
        if request.method not in _READS and request.path != _TOKENS:
            raise WouldSend(request)
        return await self._transport.exchange(request)
