"""Whether an audience can be targeted yet, why not, and how many active users it has.

The service works on uploads for hours (public documentation, "custom audiences"); until then the answer is polled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Protocol

from audiencekit.api.answers import Answer
from audiencekit.delivery.retry import Clock
from audiencekit.errors import NotFinished, RateLimited, Refused, TemporarilyUnavailable, TransportFailed
from audiencekit.limits import MIN_TARGETABLE_PEOPLE, READINESS_FAILURES
from audiencekit.shown import shown

DEFAULT_TIMEOUT: Final = timedelta(hours=48)
DEFAULT_INTERVAL: Final = timedelta(minutes=5)

_IN_WORDS: Final[Mapping[str, str]] = {
    "PROCESSING": "the service is still working on what was uploaded, which takes hours",
    "TOO_SMALL": f"fewer than {MIN_TARGETABLE_PEOPLE} people were found so far",
}


class AudienceReader(Protocol):
    """The one method of AdsClient that is needed here."""

    async def get_custom_audience(self, audience_id: str, *, with_deleted: bool | None = None) -> Answer:
        """One audience."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """An audience at one moment, as the service tells. `size`, its active users, is None when it does not say."""

    audience_id: str
    is_targetable: bool
    reasons: tuple[str, ...]
    size: int | None

    def to_json(self) -> dict[str, Any]:
        """audience_id, targetable, reasons_not_targetable, audience_size."""
        return {
            "audience_id": self.audience_id,
            "targetable": self.is_targetable,
            "reasons_not_targetable": list(self.reasons),
            "audience_size": self.size,
        }

    def to_text(self) -> str:
        """One line for people."""
        state = "targetable" if self.is_targetable else "not targetable yet"
        because = "; ".join(explain(reason) for reason in self.reasons)
        told = f"{state}: {because}" if because else state
        return f"audience {shown(self.audience_id)} is {told}; {self._size_in_words()}"

    def _size_in_words(self) -> str:
        if self.size is None:
            return "the service does not say how many users are active"
        return f"{self.size:,} users active in 90 days"


def explain(reason: str) -> str:
    """A reason of the service in words; one that is not known here stays as it is."""
    return _IN_WORDS.get(reason, f"the service says {shown(reason)}")


async def read_readiness(client: AudienceReader, audience_id: str) -> Readiness:
    """The state that the service says now. Raises Refused for a deleted audience, NotFound for one that never was."""
    audience = dict((await client.get_custom_audience(audience_id, with_deleted=True)).data)
    if audience.get("deleted"):
        raise Refused(f"audience {audience_id} is deleted")
    size = audience.get("audience_size")
    return Readiness(
        audience_id=audience_id,
        is_targetable=audience.get("targetable") is True,
        reasons=tuple(str(reason) for reason in audience.get("reasons_not_targetable") or ()),
        size=size if type(size) is int else None,
    )


async def wait_until_targetable(
    client: AudienceReader,
    audience_id: str,
    *,
    clock: Clock,
    timeout: timedelta = DEFAULT_TIMEOUT,
    interval: timedelta = DEFAULT_INTERVAL,
    on_state: Callable[[Readiness], None] = lambda readiness: None,
) -> Readiness:
    """The first answer that says targetable; `on_state` gets every answer.

    Raises NotFinished when `timeout` is over. A service that is away is asked again, READINESS_FAILURES times in a row
    at most; every other error is raised at once.
    """
    deadline = clock.monotonic() + timeout.total_seconds()
    failures = 0
    while True:
        try:
            readiness = await read_readiness(client, audience_id)
        except (TransportFailed, TemporarilyUnavailable, RateLimited):
            failures += 1
            if failures > READINESS_FAILURES:
                raise
        else:
            failures = 0
            on_state(readiness)
            if readiness.is_targetable:
                return readiness
        left = deadline - clock.monotonic()
        if left <= 0:
            raise NotFinished(
                f"audience {audience_id} is not targetable after {timeout}", hint="wait longer with `timeout=`"
            )
        await clock.sleep(min(interval.total_seconds(), left))
