"""Waits until an audience can be targeted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar

from audiencekit.audiences.match_rate import DEFAULT_INTERVAL, DEFAULT_TIMEOUT, Health
from audiencekit.delivery.retry import SystemClock
from audiencekit.errors import AudiencekitError
from audiencekit.integrations.airflow.audience import from_event, own_audience
from audiencekit.integrations.airflow.failures import (
    describe_failure,
    failure_from,
    may_pass,
    require_rendered,
    task_failure,
)
from audiencekit.integrations.airflow.hook import DEFAULT_CONNECTION, AudiencekitHook
from audiencekit.integrations.airflow.trigger import AWAY, LATE, READY, AudienceReadyTrigger
from audiencekit.integrations.airflow.versions import AirflowSensorTimeout, BaseSensorOperator, PokeReturnValue, conf


class AudienceReadySensor(BaseSensorOperator):
    """Succeeds when the service says that the audience can be targeted; its XCom is the JSON of `audiences health`.

    With `deferrable` the wait costs no worker: it goes on in the triggerer. `timeout` and `poke_interval` are those of
    every sensor, with defaults that suit a service that works on uploads for hours.
    """

    template_fields: Sequence[str] = ("audience_id",)
    ui_color: ClassVar[str] = "#e6f1f2"

    def __init__(
        self,
        *,
        audience_id: str,
        deferrable: bool = conf.getboolean("operators", "default_deferrable", fallback=False),
        conn_id: str = DEFAULT_CONNECTION,
        poke_interval: timedelta | float = DEFAULT_INTERVAL,
        timeout: timedelta | float = DEFAULT_TIMEOUT,
        **kwargs: Any,
    ) -> None:
        super().__init__(poke_interval=_seconds(poke_interval), timeout=_seconds(timeout), **kwargs)
        self.audience_id = audience_id
        self.deferrable = deferrable
        self.conn_id = conn_id

    def execute(self, context: Mapping[str, Any]) -> Any:
        """The health of the audience, as JSON."""
        try:
            require_rendered(self, ("audience_id",))
            if self.deferrable:
                AudiencekitHook(self.conn_id).settings()
        except AudiencekitError as error:
            failure = task_failure(error)
        else:
            return self._wait_elsewhere() if self.deferrable else super().execute(context)
        raise failure

    def _wait_elsewhere(self) -> None:
        trigger = AudienceReadyTrigger(
            conn_id=self.conn_id,
            audience_id=self.audience_id,
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
            settings = AudiencekitHook(self.conn_id).settings()
            readiness = asyncio.run(own_audience(settings, self.audience_id))
        except AudiencekitError as error:
            if may_pass(error):
                self.log.warning("%s: asked again in %s s", describe_failure(error), self.poke_interval)
                return PokeReturnValue(is_done=False)
            failure = task_failure(error)
        else:
            self.log.info(readiness.to_text())
            return PokeReturnValue(is_done=readiness.is_targetable, xcom_value=Health.of(readiness, settings).to_json())
        raise failure

    def execute_complete(self, context: Mapping[str, Any], event: Mapping[str, Any]) -> dict[str, Any]:
        """The health that the trigger has seen, or the failure that it has met."""
        if event["state"] == READY:
            # The facts of this worker's state directory: the triggerer need not have it.
            return Health.of(from_event(event["readiness"]), AudiencekitHook(self.conn_id).settings()).to_json()
        if event["state"] == LATE:
            raise AirflowSensorTimeout(event["message"])
        raise failure_from(event["message"], passing=event["state"] == AWAY)


def _seconds(time: timedelta | float) -> float:
    return time.total_seconds() if isinstance(time, timedelta) else time
