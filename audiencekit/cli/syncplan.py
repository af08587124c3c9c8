"""`audiencekit sync --plan`: the plan of a sync, which needs no credentials."""

from __future__ import annotations

from typing import Any, NoReturn

from audiencekit.cli.audiencenaming import known_audience_id
from audiencekit.cli.check import leave_with_plan
from audiencekit.cli.commandsettings import command_settings
from audiencekit.cli.options import as_keywords
from audiencekit.cli.output import leave_with
from audiencekit.errors import AudiencekitError


def leave_with_sync_plan(
    source: tuple[str, ...], audience: str, *, as_json: bool, given: dict[str, Any], **service: Any
) -> NoReturn:
    """Write the plan and end the process, with the exit code of the plan or of the error."""
    from audiencekit.audiences.sync.sync import plan_sync
    from audiencekit.cli.commandprogress import command_progress

    try:
        settings, audience_id = command_settings(**service), known_audience_id(audience, service["account_id"])
        with command_progress() as progress:
            plan = plan_sync(
                source, audience_id=audience_id, settings=settings, progress=progress, **as_keywords(given)
            )
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    leave_with_plan(plan, as_json=as_json)
