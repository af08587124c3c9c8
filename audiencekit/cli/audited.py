"""Commands that change something about people without a run: their entries in the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from audiencekit.cli.command_settings import command_settings
from audiencekit.errors import AudiencekitError


@contextmanager
def audited(command: str, *, dry_run: bool = False, **facts: Any) -> Iterator[dict[str, Any]]:
    """Log that `command` begins, and how it ended; yield a dict for the facts of its end.

    A command that does not end well may have changed something all the same. A dry run is not logged. Raises as
    `AuditLog.append`, before anything is changed.
    """
    ended: dict[str, Any] = {}
    if dry_run:
        yield ended
        return
    from audiencekit.audit.log import AuditLog

    settings = command_settings()
    settings.check_key_place()
    log = AuditLog.of(settings)
    facts = {"account": settings.account_id, **facts}
    log.append(command, "begun", **facts)
    try:
        yield ended
    except BaseException:
        with suppress(AudiencekitError):  # the failure that came first is the one that is told
            log.append(command, "ended", state="incomplete", **facts)
        raise
    log.append(command, "ended", state="complete", **facts, **ended)
