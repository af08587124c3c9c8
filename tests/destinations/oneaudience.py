"""A client of a service that has one audience, as far as a destination asks for it."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from audiencekit.api.wire import Answer
from audiencekit.errors import AudiencekitError


class OneAudience:
    """Answers with `audience`; the calls end in `errors` first. `told` takes what people are told."""

    def __init__(self, audience: dict[str, Any], *errors: AudiencekitError) -> None:
        self.audience, self._errors = audience, list(errors)
        self.calls: list[str] = []
        self.told: list[str] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    async def get_custom_audience(self, audience_id: str) -> Answer:
        return self.answer("get", audience_id)

    def answer(self, call: str, audience_id: str) -> Answer:
        self.calls.append(call)
        if self._errors:
            raise self._errors.pop(0)
        return Answer(status=200, data={"id": audience_id, **self.audience})
