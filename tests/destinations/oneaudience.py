"""A client of a service that has one audience, as far as a destination asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from audiencekit.api.answers import Answer
from audiencekit.errors import AudiencekitError


class OneAudience:
    """Answers with `audience`; the calls end in `errors` first. `told` takes what people are told."""

    def __init__(self, audience: dict[str, Any], *errors: AudiencekitError) -> None:
        self.audience, self._errors = audience, list(errors)
        self.calls: list[str] = []
        self.told: list[str] = []
        self.access: Any = {"permissions": ["ACCOUNT_ADMIN"]}
        self.answered = Answer(status=200)
        self.named: list[dict[str, Any]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    async def get_authenticated_user_access(self) -> Answer:
        self.calls.append("access")
        if isinstance(self.access, AudiencekitError):
            raise self.access
        return Answer(status=200, data=self.access)

    async def iterate_custom_audiences(self, *, q: str) -> AsyncIterator[Answer]:
        yield Answer(status=200, data=[each for each in self.named if each["name"].startswith(q)])

    async def get_custom_audience(self, audience_id: str) -> Answer:
        return self.answer("get", audience_id)

    def answer(self, call: str, audience_id: str) -> Answer:
        self.calls.append(call)
        if self._errors:
            raise self._errors.pop(0)
        return replace(self.answered, data={"id": audience_id, **self.audience})
