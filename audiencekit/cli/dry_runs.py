"""The dry runs of commands that send people: each prints its plan and leaves."""

from __future__ import annotations

from collections.abc import Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from audiencekit.cli.client import leave_with_dry_plan, leave_with_foreseen
from audiencekit.cli.options import as_keywords
from audiencekit.cli.settings import audience_id_of
from audiencekit.errors import UsageError

if TYPE_CHECKING:
    from audiencekit.audiences.erasure.people import Lines
    from audiencekit.audiences.erasure.resources import Preview
    from audiencekit.reporting.progress import Progress
    from audiencekit.reporting.report import Plan
    from audiencekit.runs.uploads import Remaining
    from audiencekit.settings import Settings


# Options of a run, apart from those of its plan.
_LEAVING = (
    *("as_json", "account_id", "profile", "concurrency", "requests_per_minute"),
    *("notify", "notify_on", "events", "purpose", "basis"),
)


def foresee_upload(source: tuple[str, ...], audience: str, given: dict[str, Any]) -> NoReturn:
    """Of `upload`; `given` are its options."""

    async def work(settings: Settings, progress: Progress) -> Plan:
        from audiencekit.audiences.dry_runs import plan_upload_async
        from audiencekit.destinations.target import Target

        target = Target.audience(await audience_id_of(audience, settings))
        return await plan_upload_async(target, source, settings=settings, progress=progress, **as_keywords(rest))

    leaving, rest = _divided(given)
    leave_with_dry_plan(work, **leaving)


def foresee_do_not_reach(source: tuple[str, ...], given: dict[str, Any]) -> NoReturn:
    """Of `do-not-reach upload`."""

    def work(settings: Settings, progress: Progress) -> Coroutine[Any, Any, Plan]:
        from audiencekit.audiences.dry_runs import dry_upload_async

        return dry_upload_async(source, settings=settings, progress=progress, **as_keywords(rest))

    leaving, rest = _divided(given)
    leave_with_dry_plan(work, **leaving)


def foresee_sync(source: tuple[str, ...], audience: str, given: dict[str, Any], *, offline: bool) -> NoReturn:
    """Of `sync`; when it is `offline`, by the facts on this machine alone."""

    async def work(settings: Settings, progress: Progress) -> Plan:
        from audiencekit.audiences.dry_runs import dry_sync_async, plan_in_thread
        from audiencekit.audiences.sync.sync import plan_sync
        from audiencekit.runs.start import check_settings

        if offline:
            check_settings(settings)
            plan = partial(plan_sync, source, audience=audience, settings=settings, **as_keywords(rest))
            return await plan_in_thread(progress, lambda progress: plan(progress=progress))
        given = as_keywords(rest)
        return await dry_sync_async(source, audience=audience, settings=settings, progress=progress, **given)

    leaving, rest = _divided(given)
    leave_with_dry_plan(work, **leaving)


def refuse_offline_sending(*, offline: bool, dry_run: bool) -> None:
    """Raises UsageError for a command that is to send without the service."""
    if offline and not dry_run:
        raise UsageError(
            "--offline does not ask the service, and sends nothing", hint="add --dry-run, or leave --offline out"
        )


def foresee_renewal(audience: str, times: dict[str, Any], *, as_json: bool, **leaving: Any) -> NoReturn:
    """Of `renew`, with its `times`; `leaving` are the options of a run."""

    def work(settings: Settings, progress: Progress) -> Coroutine[Any, Any, Plan]:
        from audiencekit.audiences.dry_runs import dry_renewal_async

        return dry_renewal_async(audience=audience, settings=settings, progress=progress, **times)

    leave_with_dry_plan(work, as_json=as_json, **leaving)


def foresee_erasure(typed: Lines | None, given: dict[str, Any], *, as_json: bool, **service: Any) -> NoReturn:
    """Of `forget`; `typed` are the identifiers that were typed at a terminal."""

    def work(settings: Settings, progress: Progress) -> Coroutine[Any, Any, Preview]:
        from audiencekit.audiences.dry_runs import dry_forget_async
        from audiencekit.audiences.erasure.people import standard_input_lines

        lines = None if given["source"] else (typed or standard_input_lines()).unwrap()
        return dry_forget_async(lines, settings=settings, progress=progress, **as_keywords(given))

    leave_with_foreseen(work, as_json=as_json, **service)


def foresee_resumption(run_id: str, *, as_json: bool, account_id: str | None, new_address: bool) -> NoReturn:
    """Of `resume`, for a run."""

    def work(settings: Settings, progress: Progress) -> Coroutine[Any, Any, Remaining]:
        from audiencekit.runs.uploads import find_remaining_async

        return find_remaining_async(run_id, settings=settings, progress=progress, new_address=new_address)

    leave_with_foreseen(work, as_json=as_json, account_id=account_id)


def refuse_named_dry_run(run_id: str | None) -> None:
    """Raises UsageError for the id of a run in a dry run, which keeps none; also for an invalid one."""
    if run_id is not None:
        from audiencekit.runs.store import check_chosen_run_id

        check_chosen_run_id(run_id)
        hint = "`audiencekit resume RUN --dry-run` says what is left of a run"
        raise UsageError("--run-id and --dry-run exclude each other: a dry run keeps no run", hint=hint)


def refuse_sealing_dry_run(recipient: str | None) -> None:
    """Raises UsageError where a dry run, which keeps nothing, is to seal rejections."""
    if recipient is not None:
        raise UsageError("a dry run keeps nothing", hint="`check` with `seal_rejections=` sends nothing, and seals")


def _divided(given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    leaving = {name: given[name] for name in _LEAVING}
    return leaving, {name: value for name, value in given.items() if name not in leaving}
