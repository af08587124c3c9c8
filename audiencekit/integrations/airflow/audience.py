"""The audience that a task is about: is it the account's, and can it be targeted. Knows no Airflow."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from audiencekit.api.opening import open_client
from audiencekit.audiences.match_rate import Readiness, read_readiness
from audiencekit.errors import NotFound, Refused
from audiencekit.settings import Settings


async def own_audience(settings: Settings, audience_id: str) -> Readiness:
    """The audience as the service tells. Raises Refused when it is deleted, or not one of the account."""
    async with open_client(settings) as client:
        try:
            return await read_readiness(client, audience_id)
        except NotFound:
            refusal = not_ours(settings, audience_id)
    raise refusal


def not_ours(settings: Settings, audience_id: str) -> Refused:
    """The error for an audience that the account does not have."""
    return Refused(
        f"account {settings.require_account()} has no audience {audience_id}: nothing was sent",
        hint="look at the audience id of the task, and at the account of its connection",
    )


def to_event(readiness: Readiness) -> dict[str, Any]:
    """The readiness as an event of a trigger can carry it."""
    return asdict(readiness) | {"reasons": list(readiness.reasons)}


def from_event(document: dict[str, Any]) -> Readiness:
    """The readiness that `to_event` gave."""
    return Readiness(**document | {"reasons": tuple(document["reasons"])})
