"""All that this machine knows of its audiences and runs, for one page. No request is sent."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from audiencekit.audiences.match_rate import count_provided, list_history, size_history
from audiencekit.audiences.sync.sync import expiry, is_under_sync
from audiencekit.destinations.audience_sizes import AudienceSizes
from audiencekit.destinations.known_audiences import KnownAudiences
from audiencekit.destinations.target import Target
from audiencekit.errors import AudiencekitError, InputOutputFailed
from audiencekit.records.plan_times import format_time
from audiencekit.runs.reports import read_report
from audiencekit.settings import Settings
from audiencekit.snapshots.store import SnapshotStore
from audiencekit.state.keys import StateKey, known_state_key

RUNS_SHOWN: Final = 60  # with all their counts; of an older one, only if it is the last of its audience
FORGET: Final = "forget"


def look_at_machine(settings: Settings, now: datetime | None = None) -> dict[str, Any]:
    """Return the audiences and the runs in the state directory, as one document.

    `places` are the audiences and lists, the last used first: `target`, `name`, `members` (`least` and `most`, None if
    unknown), `history` as `size_history` returns it, `expiry` as `Expiry.to_json` (None without a sync), and `runs`,
    their ids, the newest first. `runs` are reports with `resumable` and `running`, `erasures` summaries of receipts.
    Raises InputOutputFailed when the state directory cannot be read.
    """
    now = now or datetime.now(UTC)
    key = known_state_key(settings.state_dir, settings.key)
    listed = list_history(settings.state_dir, key)
    runs = [run for run in listed if run.get("operation") != FORGET]
    by_place: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for run in runs:
        if "target" in run:
            by_place.setdefault((run["target"]["kind"], run["target"]["id"]), []).append(run)
    accounts = {
        audience_id: account for account in _accounts(settings) for audience_id in _audiences(settings, account)
    }
    for audience_id in accounts:
        by_place.setdefault(("audience", audience_id), [])
    places = [
        _place(Target.from_json({"kind": kind, "id": one}), found, _of_account(settings, accounts.get(one)), now)
        for (kind, one), found in by_place.items()
    ]
    shown = {run["run_id"] for run in runs[:RUNS_SHOWN]} | {run for place in places for run in place["runs"][:1]}
    return {
        "seen_at": format_time(now),
        "places": places,
        "runs": [_report(run, settings, key) for run in runs if run["run_id"] in shown],
        "erasures": [run for run in listed if run.get("operation") == FORGET],
    }


def _place(target: Target, runs: Sequence[Mapping[str, Any]], settings: Settings, now: datetime) -> dict[str, Any]:
    names = KnownAudiences(settings.state_dir, settings.account_id).names()
    named = (run["audience_name"] for run in runs if run.get("audience_name"))
    found: dict[str, Any] = {"members": None, "history": [], "expiry": None}
    if target.audience_id is not None:
        found["history"] = size_history(target.id, settings, runs=runs)
        with contextlib.suppress(AudiencekitError):  # of a snapshot that cannot be trusted, nothing is known
            if settings.account_id and is_under_sync(target.id, settings):
                found["expiry"] = expiry(audience=target.id, settings=settings, now=now).to_json()
            provided = count_provided(target.id, settings, now, runs=runs) if settings.account_id else None
            found["members"] = provided and {"least": provided.least, "most": provided.most}
    name = names.get(target.id) or next(named, None)
    return {"target": target.to_json(), "name": name, **found, "runs": [run["run_id"] for run in runs]}


def _report(run: Mapping[str, Any], settings: Settings, key: StateKey | None) -> dict[str, Any]:
    """Return the report of a run with all that the list of runs has; the latter alone if there is no report."""
    document: Mapping[str, Any] | None
    try:
        document = read_report(settings.state_dir, run["run_id"], key)
    except InputOutputFailed as error:
        document = error.document
    except AudiencekitError:  # it was purged meanwhile
        document = None
    return {**(document or {}), **run}


def _of_account(settings: Settings, account_id: str | None) -> Settings:
    return replace(settings, account_id=account_id or settings.account_id)


def _accounts(settings: Settings) -> Iterable[str]:
    """Return the accounts of which something is stored, that of the settings last."""
    stored = {*AudienceSizes.accounts(settings.state_dir), *SnapshotStore.accounts(settings.state_dir)}
    return [*sorted(stored - {settings.account_id}), *filter(None, [settings.account_id])]


def _audiences(settings: Settings, account_id: str) -> Iterable[str]:
    """Return the audiences of an account that have a snapshot, or of which the service gave a size."""
    sizes = AudienceSizes(settings.state_dir, account_id).audiences()
    return [*sizes, *SnapshotStore.audiences(settings.state_dir, account_id)]
