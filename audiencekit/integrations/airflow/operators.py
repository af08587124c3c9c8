"""The tasks that send: check the source, then put its people into an audience."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from audiencekit.errors import AudiencekitError, NotFinished
from audiencekit.integrations.airflow.audience import find_audience
from audiencekit.integrations.airflow.drainage import Drainage
from audiencekit.integrations.airflow.failures import require_rendered, task_failure
from audiencekit.integrations.airflow.hook import DEFAULT_CONNECTION, AudiencekitHook
from audiencekit.integrations.airflow.taskrun import run_id_of
from audiencekit.integrations.airflow.versions import BaseOperator
from audiencekit.planning.options import Keywords
from audiencekit.reporting.progress import LineProgress, Stoppable
from audiencekit.settings import Settings
from audiencekit.sources.files import FilePath


class AudienceUploadOperator(BaseOperator):
    """Puts the people of `source` into an audience, or takes them out; its XCom is the report: counts, no identifier.

    `options` are the keywords of `audiencekit.upload`, such as country, operation, ttl_days or max_rejected_share.
    With `dry_run` the source is checked, nothing is sent, and the XCom is the plan. A retry, or the task when it was
    cleared, goes on with its own run, as long as the state directory is the same.
    """

    template_fields: Sequence[str] = ("source", "audience_id", "options", "rejections")
    ui_color: ClassVar[str] = "#d7e8f7"

    def __init__(
        self,
        *,
        source: FilePath | list[FilePath],
        audience_id: str,
        options: Keywords | None = None,
        rejections: str | None = None,
        dry_run: bool = False,
        conn_id: str = DEFAULT_CONNECTION,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.source = source
        self.audience_id = audience_id
        self.options = options
        self.rejections = rejections
        self.sends = not dry_run  # the name `dry_run` is taken by a method of every operator
        self.conn_id = conn_id
        self._drainage: Drainage | None = None

    def execute(self, context: Mapping[str, Any]) -> dict[str, Any]:
        """The report, or the plan, as JSON. A task that cannot succeed by a retry fails for good."""
        return self._carry_out(lambda settings: self._upload(settings, run_id_of(context)))

    def on_kill(self) -> None:
        """Requests under way are finished, nothing new begins, and the next try goes on from there."""
        if self._drainage is not None:
            self._drainage.drain()

    def _carry_out(self, work: Callable[[Settings], Coroutine[Any, Any, dict[str, Any]]]) -> dict[str, Any]:
        try:
            require_rendered(self, ("source", "audience_id"))
            settings = AudiencekitHook(self.conn_id).settings()
            self.log.info(
                "runs are kept in %s: a retry on another worker goes on only if that directory is shared",
                settings.state_dir,
            )
            self._drainage = Drainage()
            return self._drainage.run(work(settings))
        except AudiencekitError as error:
            failure = task_failure(error)
        except asyncio.CancelledError:
            failure = task_failure(NotFinished("the task was ended before anything was sent"))
        raise failure

    async def _upload(self, settings: Settings, run_id: str) -> dict[str, Any]:
        from audiencekit.pipeline import upload_async

        if not self.sends:
            return await self._check(settings)
        await find_audience(settings, self.audience_id)
        report = await upload_async(
            self.source, audience_id=self.audience_id, settings=settings, rejections=self.rejections,
            progress=LineProgress(sys.stdout), run_id=run_id, **self.options or {},
        )  # fmt: skip
        return report.to_json()

    async def _check(self, settings: Settings) -> dict[str, Any]:
        from audiencekit.pipeline import check

        progress = Stoppable(LineProgress(sys.stdout))
        work = partial(check, self.source, settings=settings, rejections=self.rejections, progress=progress)
        try:
            plan = await asyncio.to_thread(work, **self.options or {})
        except asyncio.CancelledError:
            progress.stop()
            raise
        if plan.refusals:
            raise plan.refusals[0]
        return plan.to_json()
