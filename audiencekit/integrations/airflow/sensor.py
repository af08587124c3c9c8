"""The audience that a task is about: is it the account's, and can it be targeted. Knows no Airflow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any, ClassVar, Final

from asgiref.sync import sync_to_async

from audiencekit.api.opening import open_client
from audiencekit.audiences.match_rate import (
    DEFAULT_INTERVAL,
    DEFAULT_TIMEOUT,
    Health,
    Readiness,
    read_readiness,
    wait_until_targetable,
)
from audiencekit.delivery.retry import SystemClock
from audiencekit.errors import AudiencekitError, NotFinished, NotFound, Refused
from audiencekit.integrations.airflow.failures import (
    describe_failure,
    failure_from,
    may_pass,
    require_rendered,
    task_failure,
)
from audiencekit.integrations.airflow.hook import DEFAULT_CONNECTION, AudiencekitHook
from audiencekit.integrations.airflow.versions import (
    AirflowSensorTimeout,
    BaseSensorOperator,
    BaseTrigger,
    PokeReturnValue,
    TriggerEvent,
    conf,
    in_seconds,
)
from audiencekit.runs.start import audience_id_of
from audiencekit.settings import Settings


async def own_audience(settings: Settings, audience: str) -> Readiness:
    """The audience, given by its id or its name, as the service tells. Raises Refused when it is deleted, or not one of
    the account, and UsageError for a name that none or several have.
    """
    audience_id = await audience_id_of(audience, settings)
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
        hint="look at the audience of the task, and at the account of its connection",
    )


def to_event(readiness: Readiness) -> dict[str, Any]:
    """The readiness as an event of a trigger can carry it."""
    return asdict(readiness) | {"reasons": list(readiness.reasons)}


def from_event(document: dict[str, Any]) -> Readiness:
    """The readiness that `to_event` gave."""
    return Readiness(**document | {"reasons": tuple(document["reasons"])})


READY: Final = "ready"
LATE: Final = "late"  # the time is over
AWAY: Final = "away"  # the service is, and a retry may help
REFUSED: Final = "refused"


class AudienceReadyTrigger(BaseTrigger):
    """One event: READY with what the service says, or why the wait has ended. `until` is in epoch seconds."""

    def __init__(self, *, conn_id: str, audience: str, poke_interval: float, until: float) -> None:
        super().__init__()
        self.conn_id, self.audience = conn_id, audience
        self.poke_interval, self.until = poke_interval, until

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """The class and its arguments, as the database keeps them."""
        names = ("conn_id", "audience", "poke_interval", "until")
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
        hook = AudiencekitHook(self.conn_id)
        state = hook.state(hold=False)
        await sync_to_async(state.__enter__)()
        try:
            return await self._wait_with(await sync_to_async(hook.settings)())
        finally:
            await sync_to_async(state.__exit__)(None, None, None)

    async def _wait_with(self, settings: Settings) -> dict[str, Any]:
        clock, audience_id = SystemClock(), await audience_id_of(self.audience, settings)
        try:
            async with open_client(settings) as client:
                readiness = await wait_until_targetable(
                    client,
                    audience_id,
                    clock=clock,
                    timeout=timedelta(seconds=max(0, round(self.until - clock.now()))),
                    interval=timedelta(seconds=self.poke_interval),
                    on_state=lambda readiness: self.log.info(readiness.to_text()),
                )
        except NotFound:
            refusal = not_ours(settings, audience_id)
        else:
            return {"state": READY, "readiness": to_event(readiness)}
        raise refusal


class AudienceReadySensor(BaseSensorOperator):
    """Succeeds when the service says that `audience`, an id or a name, can be targeted.

    Its XCom is the JSON of `audiences health`.

    With `deferrable` the wait costs no worker: it goes on in the triggerer. `timeout` and `poke_interval` are those of
    every sensor, with defaults that suit a service that works on uploads for hours.
    """

    template_fields: Sequence[str] = ("audience",)
    ui_color: ClassVar[str] = "#e6f1f2"

    def __init__(
        self,
        *,
        audience: str,
        deferrable: bool = conf.getboolean("operators", "default_deferrable", fallback=False),
        conn_id: str = DEFAULT_CONNECTION,
        poke_interval: timedelta | float = DEFAULT_INTERVAL,
        timeout: timedelta | float = DEFAULT_TIMEOUT,
        **kwargs: Any,
    ) -> None:
        super().__init__(poke_interval=in_seconds(poke_interval), timeout=in_seconds(timeout), **kwargs)
        self.audience = audience
        self.deferrable = deferrable
        self.conn_id = conn_id

    def execute(self, context: Mapping[str, Any]) -> Any:
        """The health of the audience, as JSON."""
        try:
            require_rendered(self, ("audience",))
            hook = AudiencekitHook(self.conn_id)
            if self.deferrable:
                with hook.state(hold=False):
                    hook.settings()
        except AudiencekitError as error:
            failure = task_failure(error)
        else:
            return self._wait_elsewhere() if self.deferrable else super().execute(context)
        raise failure

    def _wait_elsewhere(self) -> None:
        trigger = AudienceReadyTrigger(
            conn_id=self.conn_id,
            audience=self.audience,
            poke_interval=self.poke_interval,
            until=SystemClock().now() + self.timeout,
        )
        # One interval more, so that the trigger says first what it has seen.
        self.defer(
            trigger=trigger,
            method_name=self.execute_complete.__name__,
            timeout=timedelta(seconds=self.timeout + self.poke_interval),
        )

    def poke(self, context: Mapping[str, Any]) -> PokeReturnValue:
        """One look. A service that is away is asked again at the next one."""
        try:
            hook = AudiencekitHook(self.conn_id)
            with hook.state(hold=False):
                settings = hook.settings()
                readiness = asyncio.run(own_audience(settings, self.audience))
                health = Health.of(readiness, settings).to_json()
        except AudiencekitError as error:
            if may_pass(error):
                self.log.warning("%s: asked again in %s s", describe_failure(error), self.poke_interval)
                return PokeReturnValue(is_done=False)
            failure = task_failure(error)
        else:
            self.log.info(readiness.to_text())
            return PokeReturnValue(is_done=readiness.is_targetable, xcom_value=health)
        raise failure

    def execute_complete(self, context: Mapping[str, Any], event: Mapping[str, Any]) -> dict[str, Any]:
        """The health that the trigger has seen, or the failure that it has met."""
        if event["state"] == READY:
            # The facts of this worker's state directory: the triggerer need not have it.
            hook = AudiencekitHook(self.conn_id)
            with hook.state(hold=False):
                return Health.of(from_event(event["readiness"]), hook.settings()).to_json()
        if event["state"] == LATE:
            raise AirflowSensorTimeout(event["message"])
        raise failure_from(event["message"], passing=event["state"] == AWAY)
