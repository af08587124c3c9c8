"""The tasks that send: the source is checked, then its people go into an audience, or on the do-not-reach list."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from audiencekit.errors import AudiencekitError, NotFinished
from audiencekit.integrations.airflow.audience import find_audience
from audiencekit.integrations.airflow.drainage import Drainage
from audiencekit.integrations.airflow.failures import require_rendered, task_failure
from audiencekit.integrations.airflow.hook import DEFAULT_CONNECTION, AudiencekitHook
from audiencekit.integrations.airflow.taskrun import run_id_of
from audiencekit.integrations.airflow.versions import BaseOperator
from audiencekit.preparation.target import TargetKind
from audiencekit.reporting.plan import Plan
from audiencekit.reporting.progress import LineProgress, Progress, Stoppable
from audiencekit.reporting.report import Report
from audiencekit.runs.execution import in_thread
from audiencekit.settings import Settings
from audiencekit.sources.files import FilePath


class SendingOperator(BaseOperator):
    """A task that is one run. Its XCom is the report: counts, and no identifier.

    `options` are the keywords of the function that the task calls, such as country, ttl_days or max_rejected_share.
    With `dry_run` the source is checked, nothing is sent, and the XCom is the plan. A retry, or the task when it was
    cleared, goes on from what was confirmed, as long as the state directory is the same.
    """

    template_fields: Sequence[str] = ("source", "options", "rejections")
    required_fields: ClassVar[tuple[str, ...]] = ("source",)
    ui_color = "#d7e8f7"

    def __init__(
        self,
        *,
        source: FilePath | list[FilePath],
        options: Mapping[str, Any] | None = None,
        rejections: str | None = None,
        dry_run: bool = False,
        conn_id: str = DEFAULT_CONNECTION,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.source = source
        self.options = options
        self.rejections = rejections
        self.sends = not dry_run  # the name `dry_run` is taken by a method of every operator
        self.conn_id = conn_id
        self._drainage: Drainage | None = None

    async def send(self, settings: Settings, progress: Progress, run_id: str) -> Report:
        """The report of the complete run."""
        raise NotImplementedError

    def look(self, settings: Settings, progress: Progress) -> Plan:
        """The plan of what `send` would do."""
        raise NotImplementedError

    def execute(self, context: Mapping[str, Any]) -> dict[str, Any]:
        """The report, or the plan, as JSON. What no retry can mend fails the task for good."""
        try:
            require_rendered(self, self.required_fields)
            settings = AudiencekitHook(self.conn_id).settings()
            self.log.info("runs are kept in %s: every worker has to see the same directory there", settings.state_dir)
            self._drainage = Drainage()
            return self._drainage.run(self._carry_out(settings, run_id_of(context)))
        except AudiencekitError as error:
            failure = task_failure(error)
        except asyncio.CancelledError:
            failure = task_failure(NotFinished("the task was ended before anything was sent"))
        raise failure

    def on_kill(self) -> None:
        """Requests under way are finished, nothing new begins, and the next try goes on from there."""
        if self._drainage is not None:
            self._drainage.drain()

    async def _carry_out(self, settings: Settings, run_id: str) -> dict[str, Any]:
        progress = LineProgress(sys.stdout)
        if self.sends:
            return (await self.send(settings, progress, run_id)).to_json()
        stoppable = Stoppable(progress)
        plan = await in_thread(partial(self.look, settings, stoppable), stoppable.stop)
        if plan.refusals:
            raise plan.refusals[0]
        return plan.to_json()

    def _given(self, settings: Settings, progress: Progress) -> dict[str, Any]:
        """The keywords that are the same for every function of the library."""
        shared = {"settings": settings, "progress": progress, "rejections": self.rejections}
        return {**(self.options or {}), **shared}


class AudienceOperator(SendingOperator):
    """A task on one audience. That it is one of the account is looked up before the source is read."""

    template_fields: Sequence[str] = ("audience_id", *SendingOperator.template_fields)
    required_fields = ("audience_id", *SendingOperator.required_fields)

    def __init__(self, *, audience_id: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.audience_id = audience_id


class AudienceUploadOperator(AudienceOperator):
    """Puts the people of `source` into an audience, or takes them out: `options` are those of `audiencekit.upload`.

    A retry, or the task when it was cleared, goes on with its own run.
    """

    async def send(self, settings: Settings, progress: Progress, run_id: str) -> Report:
        """The report of the upload."""
        from audiencekit.pipeline import upload_async

        await find_audience(settings, self.audience_id)
        given = self._given(settings, progress)
        return await upload_async(self.source, audience_id=self.audience_id, run_id=run_id, **given)

    def look(self, settings: Settings, progress: Progress) -> Plan:
        """What `check` finds."""
        from audiencekit.pipeline import check

        return check(self.source, **self._given(settings, progress))


class AudienceSyncOperator(AudienceOperator):
    """Makes an audience equal to `source`: `options` are those of `audiencekit.sync`.

    Each try compares the source with what is confirmed by then, so that a retry goes on by itself.
    """

    async def send(self, settings: Settings, progress: Progress, run_id: str) -> Report:
        """The report of the sync."""
        from audiencekit.audiences.synchronisation.sync import sync_async

        await find_audience(settings, self.audience_id)
        return await sync_async(self.source, audience_id=self.audience_id, **self._given(settings, progress))

    def look(self, settings: Settings, progress: Progress) -> Plan:
        """What `plan_sync` finds."""
        from audiencekit.audiences.synchronisation.sync import plan_sync

        return plan_sync(self.source, audience_id=self.audience_id, **self._given(settings, progress))


class DoNotReachUploadOperator(SendingOperator):
    """Puts the people of `source` on the do-not-reach list of the account, or takes them off it.

    A list that is missing is created. A retry, or the task when it was cleared, goes on with its own run.
    """

    async def send(self, settings: Settings, progress: Progress, run_id: str) -> Report:
        """The report of the upload."""
        from audiencekit.audiences.do_not_reach import do_not_reach_upload_async

        return await do_not_reach_upload_async(self.source, run_id=run_id, **self._given(settings, progress))

    def look(self, settings: Settings, progress: Progress) -> Plan:
        """What `check` finds."""
        from audiencekit.pipeline import check

        return check(self.source, target=TargetKind.DO_NOT_REACH_LIST, **self._given(settings, progress))
