"""Operators: each a function of the library as a task. They differ from it in options, retries and XComs only."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, Final

from audiencekit.api.opening import open_client
from audiencekit.audiences.run_page import run_page
from audiencekit.delivery.retry import SystemClock
from audiencekit.destinations.audience_names import check_name
from audiencekit.destinations.known_audiences import KnownAudiences, ensure_audience
from audiencekit.destinations.target import Target
from audiencekit.errors import AudiencekitError, NotFinished, UsageError
from audiencekit.integrations.airflow.assets import add_events, audience_asset
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
from audiencekit.integrations.airflow.links import PAGE_URL, ReportLink
from audiencekit.integrations.airflow.task_run import Drainage, run_id_of
from audiencekit.integrations.airflow.versions import AirflowException, BaseOperator, conf, in_seconds
from audiencekit.reporting.page.page_file import refuse_other_file, write_page
from audiencekit.reporting.page.page_parts import View
from audiencekit.reporting.progress import LineProgress, Progress
from audiencekit.reporting.report import Plan, Report
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
    """A task that calls a function of the library. Its XCom names no one."""

    template_fields: Sequence[str] = ()
    required_fields: ClassVar[tuple[str, ...]] = ()
    ui_color = "#d7e8f7"
    sends = True

    def __init__(self, *, conn_id: str = DEFAULT_CONNECTION, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.conn_id = conn_id
        self._drainage: Drainage | None = None

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
                progress = TaskProgress(sys.stdout)
                document = self._drainage.run(self.carry_out(settings, progress, run_id_of(context)))
                self.conclude(context, settings, document)
                return document
        except AudiencekitError as error:
            failure = error.bare()
        except asyncio.CancelledError:
            failure = NotFinished("the task was ended before anything was sent")
        raise self.failure_for(failure, waiting)  # outside of every handler, without frames

    def failure_for(self, error: AudiencekitError, waiting: Waiting) -> AirflowException:
        """The failure of the task, which waits since `waiting` says."""
        return task_failure(error)

    def conclude(self, context: Mapping[str, Any], settings: Settings, document: Mapping[str, Any]) -> None:
        """Do what follows from the XCom, before the task succeeds."""

    def settings(self) -> Settings:
        """The settings of the connection."""
        return AudiencekitHook(self.conn_id).settings()

    def on_kill(self) -> None:
        """Requests under way are finished, nothing new begins, and the next try goes on from there."""
        if self._drainage is not None:
            self._drainage.drain()


class OptionsOperator(AudiencekitOperator):
    """A task with the `options` of a function: its keywords. Raises UsageError for those that a task cannot have."""

    template_fields: Sequence[str] = ("options",)

    def __init__(
        self,
        *,
        options: Mapping[str, Any] | str | None = None,  # a text is a template of all of them
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.options = options
        if isinstance(options, Mapping):
            self.keywords()

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


class DeferrableOperator(OptionsOperator):
    """A task that can wait without a worker. A retry, and the try after a wait, go on from what is confirmed.

    With `deferrable` the task is deferred when it would have to wait for more than `defer_after` seconds without a
    confirmed request, and goes on after the wait. It fails, and can be retried, when it was deferred for `timeout`
    seconds without one.
    """

    def __init__(
        self,
        *,
        deferrable: bool = conf.getboolean("operators", "default_deferrable", fallback=False),
        defer_after: timedelta | float = DEFER_AFTER_SECONDS,
        timeout: timedelta | float = DEFERRAL_TIMEOUT_SECONDS,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.deferrable = deferrable
        self.defer_after = in_seconds(defer_after)
        self.timeout = in_seconds(timeout)
        if self.defer_after <= 0:
            raise UsageError(f"`defer_after` of task {self.task_id!r} must be more than 0 seconds")

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


class RunOperator(DeferrableOperator):
    """A task that is one run. Its XCom is the report: counts, and no identifier.

    With `dry_run` nothing is sent, and the XCom is the plan. A retry, or the task when it was cleared, goes on from the
    confirmed requests, as long as the state directory is the same.

    The page of the report is written to the file `page`, without counts below ten; `page_url` is the address under
    which people find it, for the button "Report" of the task. The events of `outlets` have the counts of the report.
    """

    template_fields: Sequence[str] = (*DeferrableOperator.template_fields, "page", "page_url")
    operator_extra_links = (ReportLink(),)

    def __init__(
        self,
        *,
        dry_run: bool = False,
        page: str | None = None,
        page_url: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.sends = not dry_run  # the name `dry_run` is taken by a method of every operator
        self.deferrable = self.deferrable and self.sends
        self.page, self.page_url = page, page_url
        self.account = ("", "")  # its address and its id, for lineage, as the report
        self.report: Mapping[str, Any] = {}

    async def send(self, settings: Settings, progress: Progress, run_id: str) -> Report:
        """The report of the complete run."""
        raise NotImplementedError

    async def preview(self, settings: Settings, progress: Progress) -> Plan:
        """The plan of what `send` would do."""
        raise NotImplementedError

    async def carry_out(self, settings: Settings, progress: Progress, run_id: str) -> dict[str, Any]:
        """The report, or the plan, as JSON."""
        if self.page is not None:
            refuse_other_file(self.page)
        if self.sends:
            return (await self.send(settings, progress, run_id)).to_json()
        plan = await self.preview(settings, progress)
        if plan.refusals:
            raise plan.refusals[0]
        return plan.to_json()

    def conclude(self, context: Mapping[str, Any], settings: Settings, document: Mapping[str, Any]) -> None:
        """Write the page, and give the outlets their counts."""
        if not self.sends:
            return
        self.report = document
        self._write_page(context, settings)
        if self.outlets:
            add_events(context, self.outlets, document, self.asset())

    def _write_page(self, context: Mapping[str, Any], settings: Settings) -> None:
        if self.page is not None:
            view = View(is_floored=True, spelled=in_words_of_a_dag)
            write_page(self.page, run_page(self.report, settings, view, self.log.info))
        if self.page_url is not None:
            context["ti"].xcom_push(key=PAGE_URL, value=self.page_url)

    def asset(self) -> Any:
        """The asset of the audience, None without one."""
        return None

    def sources(self) -> Sequence[str]:
        """The places that the people come from."""
        return ()

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> Any:
        """The sources and the audience, with counts of rows, as OpenLineage describes them; of a failed task, too."""
        from audiencekit.integrations.airflow.lineage import lineage_of

        return lineage_of(self.sources(), self.account, self.report)

    def settings(self) -> Settings:
        """The settings of the connection; lineage names their account."""
        settings = super().settings()
        self.account = (settings.address, settings.require_account())
        return settings

    def failure_for(self, error: AudiencekitError, waiting: Waiting) -> AirflowException:
        """The failure of the task, whose lineage has the report so far."""
        failure = super().failure_for(error, waiting)
        self.report = error.document or {}
        return failure


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

    def sources(self) -> Sequence[str]:
        """The paths."""
        return [str(each) for each in (self.source if isinstance(self.source, list | tuple) else [self.source])]

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

    def asset(self) -> Any:
        """The asset of the audience, by the id or name that was given."""
        return audience_asset(self.audience, self.conn_id)


class AudienceUploadOperator(AudienceOperator):
    """Puts the people of `source` into an audience, or takes them out: `options` are those of `audiencekit.upload`.

    A retry, or the task when it was cleared, goes on with its own run.
    """

    async def send(self, settings: Settings, progress: Progress, run_id: str) -> Report:
        """The report of the upload."""
        from audiencekit.pipeline import upload_async

        given = self.given(settings, progress)
        return await upload_async(self.source, audience=self.audience, run_id=run_id, **given)

    async def preview(self, settings: Settings, progress: Progress) -> Plan:
        """The plan of the upload."""
        from audiencekit.audiences.dry_runs import plan_upload_async

        target = Target.audience(await audience_id_of(self.audience, settings))
        return await plan_upload_async(target, self.source, **self.given(settings, progress))


class AudienceSyncOperator(AudienceOperator):
    """Makes an audience equal to `source`: `options` are those of `audiencekit.sync`.

    Each try compares the source with what is confirmed by then, so that a retry goes on by itself.
    """

    async def send(self, settings: Settings, progress: Progress, run_id: str) -> Report:
        """The report of the sync."""
        from audiencekit.audiences.sync.sync import sync_async

        return await sync_async(self.source, audience=self.audience, **self.given(settings, progress))

    async def preview(self, settings: Settings, progress: Progress) -> Plan:
        """The plan of the sync."""
        from audiencekit.audiences.dry_runs import dry_sync_async

        return await dry_sync_async(self.source, audience=self.audience, **self.given(settings, progress))


class DoNotReachUploadOperator(SendingOperator):
    """Puts the people of `source` on the do-not-reach list of the account, or takes them off it.

    A list that is missing is created. A retry, or the task when it was cleared, goes on with its own run.
    """

    async def send(self, settings: Settings, progress: Progress, run_id: str) -> Report:
        """The report of the upload."""
        from audiencekit.audiences.do_not_reach import do_not_reach_upload_async

        return await do_not_reach_upload_async(self.source, run_id=run_id, **self.given(settings, progress))

    async def preview(self, settings: Settings, progress: Progress) -> Plan:
        """The plan of the upload."""
        from audiencekit.audiences.dry_runs import dry_upload_async

        return await dry_upload_async(self.source, **self.given(settings, progress))


class AudienceRenewOperator(RunOperator):
    """Extends the entries of an `audience` under sync that expire soon: `options` are those of `audiencekit.renew`."""

    template_fields: Sequence[str] = ("audience", *RunOperator.template_fields)
    required_fields: ClassVar[tuple[str, ...]] = ("audience",)

    def __init__(self, *, audience: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.audience = audience

    async def send(self, settings: Settings, progress: Progress, run_id: str) -> Report:
        """The report of the renewal."""
        from audiencekit.audiences.sync.sync import renew_async

        return await renew_async(audience=self.audience, settings=settings, progress=progress, **self.keywords())

    async def preview(self, settings: Settings, progress: Progress) -> Plan:
        """The plan of the renewal."""
        from audiencekit.audiences.dry_runs import dry_renewal_async

        return await dry_renewal_async(audience=self.audience, settings=settings, progress=progress, **self.keywords())

    def asset(self) -> Any:
        """The asset of the audience, by the id or name that was given."""
        return audience_asset(self.audience, self.conn_id)


class ForgetOperator(DeferrableOperator):
    """Takes the people of `source` out of every audience of the account, and leaves them out of what is sent later.

    `options` are those of `audiencekit.forget`, such as do_not_reach or skip_rejected; the XCom is the receipt. A retry
    finishes the erasure that the try before it began.
    """

    template_fields: Sequence[str] = ("source", *DeferrableOperator.template_fields)
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


class RunSetupOperator(AudiencekitOperator):
    """Fills the audiences of a setup file, all or those of `names`. The XCom is the document of `run --json`.

    They run one after the other, each in its account; when one fails, the others still run, and then the task fails. A
    retry goes on with uploads and syncs that were cut short. To wait without a worker, give each audience a task.
    """

    template_fields: Sequence[str] = ("setup", "names")
    required_fields = ("setup",)

    def __init__(self, *, setup: FilePath, names: list[str] | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.setup, self.names = setup, names

    async def carry_out(self, settings: Settings, progress: Progress, run_id: str) -> dict[str, Any]:
        """The report of all audiences, as JSON."""
        from audiencekit.audiences.setups.document import read_setup
        from audiencekit.audiences.setups.running import carry_out

        report = await carry_out(read_setup(Path(self.setup)), self.names, settings, progress)
        for result in report.results:
            if result.problem:
                progress.tell(f"{result.setup.name}: {result.problem}")
        worst = report.worst
        if worst is not None:
            raise worst.error or NotFinished(f"{worst.setup.name} was not begun")
        return report.to_json()


class CreateAudienceOperator(AudiencekitOperator):
    """Creates the audience `audience_name`, unless the account has it.

    The XCom is the audience, with its `state`: `created` or `found`.

    Many people can read a name, so one that identifies a person is refused.
    """

    template_fields: Sequence[str] = ("audience_name", "description")
    required_fields = ("audience_name",)

    def __init__(self, *, audience_name: str, description: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.audience_name, self.description = audience_name, description

    async def carry_out(self, settings: Settings, progress: Progress, run_id: str) -> dict[str, Any]:
        """The audience as the service shows it, and its state."""
        for note in check_name(self.audience_name, self.description):
            progress.tell(f"note: {note}")
        async with open_client(settings) as client:
            audience, state = await ensure_audience(client, self.audience_name, self.description)
        KnownAudiences(settings.state_dir, settings.account_id).note({str(audience["id"]): self.audience_name})
        progress.tell(f"audience {audience['id']} was {state}")
        return {**audience, "state": state}


class CreateFlexibleAudiencesOperator(AudiencekitOperator):
    """Creates the flexible audiences of a `file`, all or none. The XCom is the document of `flexible create --json`.

    A name is given once in an account, so a second run of the task is refused: they cannot be changed later.
    """

    template_fields: Sequence[str] = ("file",)
    required_fields = ("file",)

    def __init__(self, *, file: FilePath, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.file = file

    async def carry_out(self, settings: Settings, progress: Progress, run_id: str) -> dict[str, Any]:
        """The audiences, with their ids."""
        from audiencekit.audiences.flexible import read_document
        from audiencekit.audiences.flexible_creation import create_audiences, look_up
        from audiencekit.audiences.flexible_memory import KnownFlexible

        document = read_document(Path(self.file))
        for path, audience in zip(document.paths, document.audiences, strict=True):
            for note in check_name(audience.name, place=f"{path}.name"):
                progress.tell(f"note: {note}")
        async with open_client(settings) as client:
            found = await look_up(document, client)
            created = await create_audiences(found, client, clock=SystemClock())
        KnownFlexible(settings.state_dir, settings.account_id).note(found, created)
        named = {creation.id: creation.name for creation in created if creation.id}
        KnownAudiences(settings.state_dir, settings.account_id).note({**found.names, **named})
        return {"state": "complete", "audiences": [creation.to_json() for creation in created]}
