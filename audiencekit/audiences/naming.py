"""Audiences as people call them: by an id, or by a name that only one audience of the account has."""

from __future__ import annotations

from audiencekit.api.opening import open_client
from audiencekit.delivery.retry import RetryPolicy, SystemClock
from audiencekit.destinations.known_audiences import KnownAudiences, find_audience_id
from audiencekit.serviceids import is_service_id
from audiencekit.settings import Settings


async def audience_id_of(given: str, settings: Settings) -> str:
    """The id of the audience that `given` names; the service is asked for a name. Raises as `find_audience_id`."""
    if is_service_id(given):
        return given
    policy = RetryPolicy.seeded(SystemClock())
    async with open_client(settings) as client:
        return await find_audience_id(given, client, policy, KnownAudiences(settings.state_dir, settings.account_id))
