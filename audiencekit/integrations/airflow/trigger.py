"""Waits in the triggerer until an audience can be targeted. It holds the name of the connection, and no secret."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, Final

from asgiref.sync import sync_to_async

from audiencekit.api.opening import open_client
from audiencekit.audiences.match_rate import wait_until_targetable
from audiencekit.delivery.retry import SystemClock
from audiencekit.errors import AudiencekitError, NotFinished, NotFound
from audiencekit.integrations.airflow.audience import not_ours, to_event
from audiencekit.integrations.airflow.failures import describe_failure, may_pass
from audiencekit.integrations.airflow.hook import AudiencekitHook
from audiencekit.integrations.airflow.versions import BaseTrigger, TriggerEvent

READY: Final = "ready"
LATE: Final = "late"  # the time is over
AWAY: Final = "away"  # the service is, and a retry may help
REFUSED: Final = "refused"


class AudienceReadyTrigger(BaseTrigger):
    """One event: READY with what the service says, or why the wait has ended. `until` is in epoch seconds."""

    def __init__(self, *, conn_id: str, audience_id: str, poke_interval: float, until: float) -> None:
        super().__init__()
        self.conn_id, self.audience_id = conn_id, audience_id
        self.poke_interval, self.until = poke_interval, until

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """The class and its arguments, as the database keeps them."""
        names = ("conn_id", "audience_id", "poke_interval", "until")
        return f"{type(self).__module__}.{type(self).__qualname__}", {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """The one event."""
        try:
            event = await self._wait()
        except NotFinished as error:
            event = {"state": LATE, "message": str(error)}
        except AudiencekitError as error:
            event = {"state": AWAY if may_pass(error) else REFUSED, "message": describe_failure(error)}
        yield TriggerEvent(event)

    async def _wait(self) -> dict[str, Any]:
        # In a thread, from which all versions of Airflow let a trigger ask for a connection.
        settings = await sync_to_async(AudiencekitHook(self.conn_id).settings)()
        clock = SystemClock()
        try:
            async with open_client(settings) as client:
                readiness = await wait_until_targetable(
                    client,
                    self.audience_id,
                    clock=clock,
                    timeout=timedelta(seconds=max(0, round(self.until - clock.now()))),
                    interval=timedelta(seconds=self.poke_interval),
                    on_state=lambda readiness: self.log.info(readiness.to_text()),
                )
        except NotFound:
            refusal = not_ours(settings, self.audience_id)
        else:
            return {"state": READY, "readiness": to_event(readiness)}
        raise refusal
