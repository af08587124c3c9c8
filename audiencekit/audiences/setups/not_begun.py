"""Audiences of setups that failed before their run began, such as by wrong credentials: no run tells of them.

Where its file cannot be read or written, such an audience is missing in `runs --failed`; no command fails for that.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from audiencekit.audiences.setups.one_audience import AudienceResult
from audiencekit.destinations.known_audiences import AccountDocument, KnownAudiences
from audiencekit.destinations.target import Target
from audiencekit.errors import AudiencekitError
from audiencekit.records.plan_times import format_time

FILE: Final = "not-begun.json"
_FORM: Final = "audiencekit-not-begun/1"


def note_beginning(state_dir: Path, setup: Path, result: AudienceResult) -> None:
    """Store that `result` of the file `setup` has no run; forget an earlier one once it has."""
    document, name = AccountDocument(state_dir, FILE, _FORM), f"{setup.absolute()} {result.setup.name}"
    with contextlib.suppress(AudiencekitError, OSError):
        before = document.read().get(result.account_id, {})
        after = {one: entry for one, entry in before.items() if one != name}
        if result.error is not None and "run_id" not in result.document:
            after[name] = _entry(state_dir, result, result.error)
        if after != before:
            document.replace(result.account_id, after)


def _entry(state_dir: Path, result: AudienceResult, error: AudiencekitError) -> dict[str, Any]:
    known, audience_id = KnownAudiences(state_dir, result.account_id), result.audience_id
    with contextlib.suppress(AudiencekitError):  # of a name that is not known here
        audience_id = audience_id or known.find(result.setup.audience)
    found: dict[str, Any] = {
        "run_id": None,
        "setup": result.setup.name,
        "operation": result.setup.operation,
        "started_at": format_time(datetime.now(UTC)),
        "state": result.state,
        "exit_code": result.exit_code,
        "error": type(error).__name__,
        "audience_id": audience_id or None,
        "audience_name": known.names().get(audience_id) or result.setup.audience or None,
        "source_names": [Path(source).name for source in result.setup.sources],
        "resumable": False,
        "running": False,
    }
    if audience_id:
        found["target"] = Target.audience(audience_id).to_json()
    return found


def audiences_not_begun(state_dir: Path) -> list[dict[str, Any]]:
    """Return those whose last `run` did not begin, newest first, as the list of runs has them, with `run_id` None."""
    found: list[Mapping[str, Any]] = []
    with contextlib.suppress(AudiencekitError, OSError):
        found = [entry for part in AccountDocument(state_dir, FILE, _FORM).read().values() for entry in part.values()]
    return sorted(map(dict, found), key=lambda entry: str(entry["started_at"]), reverse=True)
