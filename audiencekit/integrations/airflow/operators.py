"""Operators: each a function of the library as a task. They differ from it in options, retries and XComs only."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, ClassVar, Final

from audiencekit.delivery.retry import SystemClock
from audiencekit.destinations.ads import DO_NOT_REACH_LIST
from audiencekit.errors import AudiencekitError, NotFinished, UsageError
from audiencekit.integrations.airflow.deferral import (
    DEFER_AFTER_SECONDS,
    DEFERRAL_TIMEOUT_SECONDS,
    DeferralTrigger,
    Waiting,
    in_utc,
    is_worth_waiting,
)
from audiencekit.integrations.airflow.failures import (
    describe_failure,
    in_words_of_a_dag,
    require_rendered,
    task_failure,
)
from audiencekit.integrations.airflow.hook import DEFAULT_CONNECTION, AudiencekitHook
from audiencekit.integrations.airflow.task_run import Drainage, run_id_of
from audiencekit.integrations.airflow.versions import AirflowException, BaseOperator, conf, in_seconds
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


class TaskProgress(LineProgress):
    """The progress in the log of a task, in words of a DAG."""

    def tell(self, message: str) -> None:
        """Write the message."""
        super().tell(in_words_of_a_dag(message))


class AudiencekitOperator(BaseOperator):
    """A task that calls a function of the library. Its XCom names no one.

    `options` are the keywords of the function. Raises UsageError for those that a task cannot have.
    """

    template_fields: Sequence[str] = ("options",)
    required_fields: ClassVar[tuple[str, ...]] = ()
    ui_color = "#d7e8f7"
    sends = True

    def __init__(
        self,
        *,
        options: Mapping[str, Any] | str | None = None,  # a text is a template of all of them
        conn_id: str = DEFAULT_CONNECTION,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
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
        return self._execute(context, Waiting())

    def _execute(self, context: Mapping[str, Any], waiting: Waiting) -> dict[str, Any]:
        failure: AudiencekitError
        try:
            require_rendered(self, self.required_fields)
            with AudiencekitHook(self.conn_id).state(hold=self.sends):
                settings = self.settings()
                if not is_mirrored(settings.state_dir):
                    self.log.info("runs are kept in %s: all workers must see the same directory", settings.state_dir)
                self._drainage = Drainage()
                return self._drainage.run(self.carry_out(settings, TaskProgress(sys.stdout), run_id_of(context)))
        except AudiencekitError as error:
            failure = error.bare()
        except asyncio.CancelledError:
            failure = NotFinished("the task was ended before anything was sent")
        raise self.failure_for(failure, waiting)  # outside of every handler, without frames

    def failure_for(self, error: AudiencekitError, waiting: Waiting) -> AirflowException:
        """The failure of the task, which waits since `waiting` says."""
        return task_failure(error)

    def settings(self) -> Settings:
        """The settings of the connection."""
        return AudiencekitHook(self.conn_id).settings()

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


class RunOperator(AudiencekitOperator):
    """A task that is one run. Its XCom is the report: counts, and no identifier.

    With `dry_run` nothing is sent, and the XCom is the plan. A retry, or the task when it was cleared, goes on from the
    confirmed requests, as long as the state directory is the same.

    With `deferrable` the task is deferred when the run would have to wait for more than `defer_after` seconds without a
    confirmed request, and goes on after the wait. It fails, and can be retried, when it was deferred for `timeout`
    seconds without one.
    """

    def __init__(
        self,
        *,
        dry_run: bool = False,
        deferrable: bool = conf.getboolean("operators", "default_deferrable", fallback=False),
        defer_after: timedelta | float = DEFER_AFTER_SECONDS,
        timeout: timedelta | float = DEFERRAL_TIMEOUT_SECONDS,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.sends = not dry_run  # the name `dry_run` is taken by a method of every operator
        self.deferrable = deferrable and self.sends
        self.defer_after = in_seconds(defer_after)
        self.timeout = in_seconds(timeout)
        if self.defer_after <= 0:
            raise UsageError(f"`defer_after` of task {self.task_id!r} must be more than 0 seconds")

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

    def settings(self) -> Settings:
        """The settings of the connection, with the longest wait of the task."""
        settings = super().settings()
        return replace(settings, longest_wait_seconds=self.defer_after) if self.deferrable else settings

    def failure_for(self, error: AudiencekitError, waiting: Waiting) -> AirflowException:
        """The failure of the task. Raises Airflow's TaskDeferred if it only has to wait."""
        if self.deferrable and is_worth_waiting(error):
            now = SystemClock().now()
            remembered, seconds = waiting.put_off(error, now=now, least_seconds=self.defer_after)
            if remembered.ends_in_time(now + seconds, timeout_seconds=self.timeout):
                until = now + seconds
                self.log.info("%s; the task goes on at %s, without a worker until then", error, in_utc(until))
                trigger = DeferralTrigger(until=until, since=remembered.since, times=remembered.times)
                self.defer(trigger=trigger, method_name=self.resume.__name__)
            self.log.warning("%s: the task has waited for long enough", describe_failure(error))
        return super().failure_for(error, waiting)

    def resume(self, context: Mapping[str, Any], event: Mapping[str, Any]) -> dict[str, Any]:
        """Go on after a deferral, as `execute`. `event` is what the trigger remembers."""
        return self._execute(context, Waiting(**event))


class SendingOperator(RunOperator):
    """A run about the people of `source`: a path that the worker can read, or a list of them.

    `options` are such as country, ttl_days or max_rejected_share.
    """

    template_fields: Sequence[str] = ("source", *RunOperator.template_fields, "rejections")
    required_fields: ClassVar[tuple[str, ...]] = ("source",)

    def __init__(self, *, source: FilePath | list[FilePath], rejections: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.source = source
        self.rejections = rejections

    def given(self, settings: Settings, progress: Progress) -> dict[str, Any]:
        """The keywords that are the same for every function of the library."""
        shared = {"settings": settings, "progress": progress, "rejections": self.rejections}
        return {**self.keywords(), **shared}


class AudienceOperator(SendingOperator):
    """A task on one `audience`, its id or its name. The library checks that it is one of the account before the source
    is read.
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

        given = self.given(settings, progress)
        return await upload_async(self.source, audience=self.audience, run_id=run_id, **given)

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

        return await sync_async(self.source, audience=self.audience, **self.given(settings, progress))

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


class ForgetOperator(AudiencekitOperator):
    """Takes the people of `source` out of every audience of the account, and leaves them out of what is sent later.

    `options` are those of `audiencekit.forget`, such as do_not_reach or skip_rejected; the XCom is the receipt. A retry
    finishes the erasure that the try before it began.
    """

    template_fields: Sequence[str] = ("source", *AudiencekitOperator.template_fields)
    required_fields = ("source",)
    ui_color = "#f3dfe2"

    def __init__(self, *, source: FilePath | list[FilePath], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.source = source

    async def carry_out(self, settings: Settings, progress: Progress, run_id: str) -> dict[str, Any]:
        """The receipt of the complete erasure, as JSON."""
        from audiencekit.audiences.erasure.forgetting import forget_async

        given = self.keywords()
        receipt = await forget_async(source=self.source, settings=settings, progress=progress, **given)
        return receipt.to_json()
