"""The tasks that send: people go into an audience, on the do-not-reach list, or out of everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from audiencekit.destinations.ads import DO_NOT_REACH_LIST
from audiencekit.integrations.airflow.audience import own_audience
from audiencekit.integrations.airflow.peopletask import PeopleOperator, SendingOperator
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Plan, Report
from audiencekit.settings import Settings


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

        await own_audience(settings, self.audience_id)
        given = self.given(settings, progress)
        return await upload_async(self.source, audience_id=self.audience_id, run_id=run_id, **given)

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

        await own_audience(settings, self.audience_id)
        return await sync_async(self.source, audience_id=self.audience_id, **self.given(settings, progress))

    def look(self, settings: Settings, progress: Progress) -> Plan:
        """The plan of `plan_sync`."""
        from audiencekit.audiences.sync.sync import plan_sync

        return plan_sync(self.source, audience_id=self.audience_id, **self.given(settings, progress))


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
