"""Work that a task can be asked to end: what is under way is finished, nothing new begins. Knows no Airflow."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final

from audiencekit.destinations.ads import DO_NOT_REACH_LIST
from audiencekit.errors import AudiencekitError, NotFinished, UsageError
from audiencekit.integrations.airflow.failures import require_rendered, task_failure
from audiencekit.integrations.airflow.hook import DEFAULT_CONNECTION, AudiencekitHook
from audiencekit.integrations.airflow.sensor import own_audience
from audiencekit.integrations.airflow.task_run import Drainage, run_id_of
from audiencekit.integrations.airflow.versions import BaseOperator
from audiencekit.reporting.progress import LineProgress, Progress, Stoppable
from audiencekit.reporting.report import Plan, Report
from audiencekit.runs.first_pass import in_thread
from audiencekit.runs.start import audience_id_of
from audiencekit.settings import Settings
from audiencekit.sources.files import FilePath
from audiencekit.state.durability import is_mirrored

# Arguments that a task gives by itself; and `identifiers`, since many people can read the options of a task in Airflow.
_NO_OPTIONS: Final = frozenset(
    {"source", "audience", "run_id", "rejections", "settings", "progress", "limiter", "identifiers"}
)


class PeopleOperator(BaseOperator):
    """A task about the people of `source`: a path that the worker can read, or a list of them. Its XCom names no one.

    `options` are the keywords of the function that the task calls. Raises UsageError for those that a task cannot have.
    """

    template_fields: Sequence[str] = ("source", "options")
    required_fields: ClassVar[tuple[str, ...]] = ("source",)
    ui_color = "#d7e8f7"
    sends = True

    def __init__(
        self,
        *,
        source: FilePath | list[FilePath],
        options: Mapping[str, Any] | str | None = None,  # a text is a template of all of them
        conn_id: str = DEFAULT_CONNECTION,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.source = source
        self.options = options
        self.conn_id = conn_id
        self._drainage: Drainage | None = None
        if isinstance(options, Mapping):
            self.keywords()

    async def carry_out(self, settings: Settings, progress: Progress, run_id: str) -> dict[str, Any]:
        """The XCom."""
        raise NotImplementedError

    def execute(self, context: Mapping[str, Any]) -> dict[str, Any]:
        """The result of `carry_out`. An error that no retry can mend fails the task for good."""
        try:
            require_rendered(self, self.required_fields)
            hook = AudiencekitHook(self.conn_id)
            with hook.state(hold=self.sends):
                settings = hook.settings()
                if not is_mirrored(settings.state_dir):
                    self.log.info("runs are kept in %s: all workers must see the same directory", settings.state_dir)
                self._drainage = Drainage()
                return self._drainage.run(self.carry_out(settings, LineProgress(sys.stdout), run_id_of(context)))
        except AudiencekitError as error:
            failure = task_failure(error)
        except asyncio.CancelledError:
            failure = task_failure(NotFinished("the task was ended before anything was sent"))
        raise failure

    def on_kill(self) -> None:
        """Requests under way are finished, nothing new begins, and the next try goes on from there."""
        if self._drainage is not None:
            self._drainage.drain()

    def keywords(self) -> Mapping[str, Any]:
        """The options. Raises UsageError for those that a task cannot have."""
        options = {} if self.options is None else self.options
        if isinstance(options, str):
            hint = "give a dict; from a template it takes a DAG with render_template_as_native_obj=True"
            raise UsageError(f"the options of task {self.task_id!r} are no names with values", hint=hint)
        if alien := sorted(_NO_OPTIONS.intersection(options)):
            hint = "people come from the source, and settings from the connection"
            raise UsageError(f"the options of task {self.task_id!r} cannot have {', '.join(alien)}", hint=hint)
        return options


class SendingOperator(PeopleOperator):
    """A task that is one run. Its XCom is the report: counts, and no identifier.

    `options` are such as country, ttl_days or max_rejected_share. With `dry_run` the source is checked, nothing is
    sent, and the XCom is the plan. A retry, or the task when it was cleared, goes on from what was confirmed, as long
    as the state directory is the same.
    """

    template_fields: Sequence[str] = (*PeopleOperator.template_fields, "rejections")

    def __init__(self, *, rejections: str | None = None, dry_run: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rejections = rejections
        self.sends = not dry_run  # the name `dry_run` is taken by a method of every operator

    async def send(self, settings: Settings, progress: Progress, run_id: str) -> Report:
        """The report of the complete run."""
        raise NotImplementedError

    def look(self, settings: Settings, progress: Progress) -> Plan:
        """The plan of what `send` would do."""
        raise NotImplementedError

    async def carry_out(self, settings: Settings, progress: Progress, run_id: str) -> dict[str, Any]:
        """The report, or the plan, as JSON."""
        if self.sends:
            return (await self.send(settings, progress, run_id)).to_json()
        stoppable = Stoppable(progress)
        plan = await in_thread(partial(self.look, settings, stoppable), stoppable)
        if plan.refusals:
            raise plan.refusals[0]
        return plan.to_json()

    def given(self, settings: Settings, progress: Progress) -> dict[str, Any]:
        """The keywords that are the same for every function of the library."""
        shared = {"settings": settings, "progress": progress, "rejections": self.rejections}
        return {**self.keywords(), **shared}


class AudienceOperator(SendingOperator):
    """A task on one `audience`, its id or its name. That it is one of the account is looked up before the source is
    read.
    """

    template_fields: Sequence[str] = ("audience", *SendingOperator.template_fields)
    required_fields = ("audience", *SendingOperator.required_fields)

    def __init__(self, *, audience: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.audience = audience


class AudienceUploadOperator(AudienceOperator):
    """Puts the people of `source` into an audience, or takes them out: `options` are those of `audiencekit.upload`.

    A retry, or the task when it was cleared, goes on with its own run.
    """

    async def send(self, settings: Settings, progress: Progress, run_id: str) -> Report:
        """The report of the upload."""
        from audiencekit.pipeline import upload_async

        audience_id = (await own_audience(settings, self.audience)).audience_id
        given = self.given(settings, progress)
        return await upload_async(self.source, audience=audience_id, run_id=run_id, **given)

    def look(self, settings: Settings, progress: Progress) -> Plan:
        """The plan of `check`."""
        from audiencekit.pipeline import check

        return check(self.source, **self.given(settings, progress))


class AudienceSyncOperator(AudienceOperator):
    """Makes an audience equal to `source`: `options` are those of `audiencekit.sync`.

    Each try compares the source with what is confirmed by then, so that a retry goes on by itself.
    """

    async def send(self, settings: Settings, progress: Progress, run_id: str) -> Report:
        """The report of the sync."""
        from audiencekit.audiences.sync.sync import sync_async

        audience_id = (await own_audience(settings, self.audience)).audience_id
        return await sync_async(self.source, audience=audience_id, **self.given(settings, progress))

    def look(self, settings: Settings, progress: Progress) -> Plan:
        """The plan of `plan_sync`."""
        from audiencekit.audiences.sync.sync import plan_sync

        # This thread has no event loop, and another worker may have been the one that saw the name.
        audience_id = asyncio.run(audience_id_of(self.audience, settings))
        return plan_sync(self.source, audience=audience_id, **self.given(settings, progress))


class DoNotReachUploadOperator(SendingOperator):
    """Puts the people of `source` on the do-not-reach list of the account, or takes them off it.

    A list that is missing is created. A retry, or the task when it was cleared, goes on with its own run.
    """

    async def send(self, settings: Settings, progress: Progress, run_id: str) -> Report:
        """The report of the upload."""
        from audiencekit.audiences.do_not_reach import do_not_reach_upload_async

        return await do_not_reach_upload_async(self.source, run_id=run_id, **self.given(settings, progress))

    def look(self, settings: Settings, progress: Progress) -> Plan:
        """The plan of `check`."""
        from audiencekit.pipeline import check

        return check(self.source, destination=DO_NOT_REACH_LIST, **self.given(settings, progress))


class ForgetOperator(PeopleOperator):
    """Takes the people of `source` out of every audience of the account, and leaves them out of what is sent later.

    `options` are those of `audiencekit.forget`, such as do_not_reach or skip_rejected; the XCom is the receipt. A retry
    finishes the erasure that the try before it began.
    """

    ui_color = "#f3dfe2"

    async def carry_out(self, settings: Settings, progress: Progress, run_id: str) -> dict[str, Any]:
        """The receipt of the complete erasure, as JSON."""
        from audiencekit.audiences.erasure.forgetting import forget_async

        given = self.keywords()
        receipt = await forget_async(source=self.source, settings=settings, progress=progress, **given)
        return receipt.to_json()
