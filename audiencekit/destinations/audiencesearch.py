"""The audience that a person means: by its id, or by its name where just one has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from audiencekit.destinations.knownaudiences import KnownAudiences, the_one
from audiencekit.destinations.patientcalls import as_of_a_run, offered
from audiencekit.errors import ExchangeError
from audiencekit.serviceids import is_service_id

if TYPE_CHECKING:
    from audiencekit.delivery.retry import RetryPolicy


class NamedAudiences(Protocol):
    """The method of AdsClient that is needed here."""

    def iterate_custom_audiences(self, *, q: str | None = None) -> Any:
        """Pages of audiences whose names start with `q`."""


async def find_audience_id(given: str, client: NamedAudiences, policy: RetryPolicy, known: KnownAudiences) -> str:
    """The id of the audience that `given` names. What reads as an id is one, and nothing is asked for it.

    The audiences that the service lists are noted as known. Raises UsageError for a name that none has, or several
    have, with the ids to choose from; else what ends a run before its first request.
    """
    if is_service_id(given):
        return given
    names: dict[str, str] = {}

    async def ask() -> None:
        async for page in client.iterate_custom_audiences(q=given):
            names.update({each["id"]: str(each.get("name", "")) for each in page.data if not each.get("deleted")})

    try:
        await policy.patiently(lambda: offered(ask))
    except ExchangeError as error:
        raise as_of_a_run(error, "the audience was not looked up") from None
    known.note(names)
    return the_one(given, names)
