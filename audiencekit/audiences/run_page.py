"""The page of a run for a browser, with what this machine knows of its audience."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from audiencekit.audiences.match_rate import size_history
from audiencekit.audiences.sync.sync import expiry, is_under_sync
from audiencekit.errors import SnapshotRefused
from audiencekit.reporting.page.page import report_page
from audiencekit.reporting.page.page_parts import View
from audiencekit.runs.reports import find_earlier_report
from audiencekit.settings import Settings


def run_page(document: Mapping[str, Any], settings: Settings, view: View, notify: Callable[[str], None]) -> str:
    """Return the page of a report; of an audience with its sizes, and under sync with the months in which members
    expire.

    `notify` gets a note when the page says nothing of members.
    """
    audience_id = document.get("audience_id")
    history = [] if audience_id is None else size_history(audience_id, settings)
    return report_page(
        {**document, "history": history},
        view,
        expiry=_expiry(audience_id, settings, notify),
        last=find_earlier_report(settings.state_dir, document),
    )


def _expiry(audience_id: str | None, settings: Settings, notify: Callable[[str], None]) -> dict[str, Any] | None:
    if audience_id is None or not is_under_sync(audience_id, settings):
        return None
    try:
        return expiry(audience=audience_id, settings=settings).to_json()
    except SnapshotRefused as refusal:
        notify(f"note: the page says nothing of members: {refusal}")
        return None
