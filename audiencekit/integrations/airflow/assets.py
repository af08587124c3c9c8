"""Audiences as assets of Airflow 3, or data sets of 2.11; and the events of a run, with counts.

Many people see assets: counts below ten are left out, and the others rounded, as on a page that is shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from audiencekit.integrations.airflow.hook import DEFAULT_CONNECTION
from audiencekit.integrations.airflow.versions import Asset, AssetAlias
from audiencekit.reporting.page.privacy import FlooredCounts


def audience_asset(audience: str, conn_id: str = DEFAULT_CONNECTION) -> Any:
    """Return the asset of an audience, by the id or name that a task gives, for `outlets` and `schedule` of DAGs.

    An id and a name are two assets, since Airflow compares addresses only.
    """
    return Asset(f"audiencekit://{quote(conn_id, safe='')}/audiences/{quote(audience, safe='')}")


def counts_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a run that an event has. Counts are None where they are below ten or unknown."""
    told = FlooredCounts(report)
    names = ("run_id", "operation", "state", "target", "expires_at")
    return {
        **{name: report[name] for name in names if report.get(name) is not None},
        "rows": told.rows,
        "rounded_to": told.step,
    }


def add_events(context: Mapping[str, Any], outlets: Iterable[Any], report: Mapping[str, Any], own: Any) -> None:
    """Give the events of `outlets` the counts of a run. An alias gets the asset `own`, None without an audience."""
    events, extra = context["outlet_events"], counts_of(report)
    for outlet in outlets:
        if isinstance(outlet, AssetAlias):
            if own is not None:
                events[outlet].add(own, extra=extra)
        elif isinstance(outlet, Asset):
            events[outlet].extra.update(extra)
