"""The calls of one run on an audience, or on the do-not-reach list, of the ads API."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from audiencekit.api.answers import Counts
from audiencekit.api.client import AdsClient
from audiencekit.api.exchange import Body
from audiencekit.api.stamps import REMOVAL, UPLOAD, description_of, find_stamp, with_stamp
from audiencekit.destinations.audience_look import is_answered, look_at_audience
from audiencekit.destinations.audience_sizes import AudienceSizes
from audiencekit.destinations.known_audiences import KnownAudiences
from audiencekit.packed_request import PackedRequest
from audiencekit.records.plan_times import format_time

if TYPE_CHECKING:
    from audiencekit.delivery.retry import RetryPolicy


# --- The calls of one run on an audience, or on the do-not-reach list, of the ads API ---


class _AdsSession:
    """The connection of `client`, which may be opened several times, one after the other."""

    def __init__(self, client: AdsClient, place_id: str) -> None:
        self._client, self._place_id = client, place_id

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any:
        return await self._client.__aexit__(kind, error, trace)

    async def look(self, *, policy: RetryPolicy, notify: Callable[[str], None]) -> None:
        """Do nothing: the list was found or made just before."""

    async def begin(self, *, removes: bool, policy: RetryPolicy, notify: Callable[[str], None]) -> None:
        """Do nothing: there is nothing to announce."""

    def identify(self, idempotency_key: str) -> None:
        """Do nothing: a request that is sent again changes nothing."""

    async def finish(self) -> None:
        """Do nothing: requests do not depend on each other."""


class AudienceSession(_AdsSession):
    """A Session on one audience of an account."""

    def __init__(self, client: AdsClient, account_id: str, place_id: str, state_dir: Path | None = None) -> None:
        super().__init__(client, place_id)
        self._account_id, self._state_dir = account_id, state_dir

    async def look(self, *, policy: RetryPolicy, notify: Callable[[str], None]) -> None:
        """Notify about the audience's name, and store it with its size. Raises as `look_at_audience`."""
        audience = await look_at_audience(self._client, self._account_id, self._place_id, policy, notify)
        if self._state_dir is None:
            return
        if name := audience.get("name"):
            KnownAudiences(self._state_dir, self._account_id).note({self._place_id: str(name)})
        now = format_time(datetime.fromtimestamp(policy.clock.now(), UTC))
        AudienceSizes(self._state_dir, self._account_id).note(self._place_id, audience.get("audience_size"), now)

    async def begin(self, *, removes: bool, policy: RetryPolicy, notify: Callable[[str], None]) -> None:
        """Mark the audience, so that its next sync, from any machine, notices this run."""
        await mark_upload(self._client, self._place_id, policy, notify, removes=removes)

    async def send(self, request: PackedRequest) -> Counts:
        """Upload users once. Raises an ExchangeError unless the service confirms all of them."""
        return await self._client.send_users(self._place_id, Body((request.body.unwrap(),)), records=request.records)


class DoNotReachSession(_AdsSession):
    """A Session on the do-not-reach list."""

    async def send(self, request: PackedRequest) -> Counts:
        """Upload users once. Raises an ExchangeError unless the service confirms all of them."""
        return await self._client.send_do_not_reach_users(
            self._place_id, Body((request.body.unwrap(),)), records=request.records
        )


# --- An upload to an audience that is under sync, here or elsewhere: the next sync must notice it ---

_TOLD: Final = {
    UPLOAD: "people who are put in now and are not in its source stay until their entries expire",
    REMOVAL: "its next sync does not know the people who are taken out now, and is refused until it is rebuilt",
}


async def mark_upload(
    client: AdsClient, audience_id: str, policy: RetryPolicy, notify: Callable[[str], None], *, removes: bool
) -> None:
    """Note in the stamp of a sync, if the audience has one, that an upload came after it that `removes` people or not.

    A service that does not support descriptions does not hinder an upload. Raises as `is_answered` if it does not
    answer now.
    """
    what, is_under_sync = REMOVAL if removes else UPLOAD, False

    async def overtake() -> None:
        nonlocal is_under_sync
        description = description_of(await client.get_custom_audience(audience_id)) or ""
        stamp = find_stamp(description, audience_id)
        if stamp is None:
            return
        is_under_sync = True
        if (followed := stamp.followed_by(what)) != stamp:
            await client.update_custom_audience(audience_id, description=with_stamp(description, followed))

    async with client:
        if await is_answered(overtake, policy) and is_under_sync:
            notify(f"note: the audience is under sync: {_TOLD[what]}")
