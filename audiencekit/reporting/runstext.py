"""The list of runs and erasures as a table for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from audiencekit.destinations.target import Target
from audiencekit.reporting.durationtext import in_short, seconds_of
from audiencekit.reporting.text import NOT_INSTALLED
from audiencekit.shown import shown

_JOURNALS: Final = {
    "no_journal": "never begun",
    "not_begun": "never begun",
    "damaged": "the journal is damaged: what was confirmed is not known",
    "key": "the journal is of another state key, or was changed: what was confirmed is not known",
    "unreadable": "the journal cannot be read: what was confirmed is not known",
}
_HEADINGS: Final = ("run", "state", "started (UTC)", "took", "what", "to", "list", "sent", "of rows", "")
_NUMBERS: Final = frozenset({"took", "sent", "of rows"})
_LONGEST_LIST: Final = 30  # characters of the names of files; a longer text is cut


def render_runs(runs: Sequence[Mapping[str, Any]]) -> str:
    """A line each, under a heading."""
    table = [_HEADINGS, *map(_cells, runs)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(_line(cells, widths) for cells in table)


def runs_to_json(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same for programs, each with its `seconds`; null for one that has not ended."""
    return [{**run, "seconds": seconds_of(run)} for run in runs]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    placed = (
        cell.rjust(width) if name in _NUMBERS else cell.ljust(width)
        for name, cell, width in zip(_HEADINGS, cells, widths, strict=True)
    )
    return "  ".join(placed).rstrip()


def _cells(run: Mapping[str, Any]) -> tuple[str, ...]:
    rows = run.get("rows") or {}
    seconds = seconds_of(run)
    return (
        run["run_id"],
        run["state"],
        _moment(run.get("started_at")),
        "" if seconds is None else in_short(seconds),
        run.get("operation") or "",
        _target(run),
        _lists(run.get("source_names") or ()),
        _count(rows.get("sent")),
        _count(rows.get("read")),
        _remark(run),
    )


def _moment(text: str | None) -> str:
    return datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M") if text else ""


def _count(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def _lists(names: Sequence[str]) -> str:
    told = shown(", ".join(names))
    return told if len(told) <= _LONGEST_LIST else f"{told[: _LONGEST_LIST - 1]}…"


def _target(run: Mapping[str, Any]) -> str:
    """The target of the run, where it is known: a run that was killed early does not say it."""
    if "audiences" in run:
        return f"{run['audiences']['settled']:,} of {run['audiences']['known']:,} audiences"
    if "target" not in run:
        return ""
    target, name = Target.from_json(run["target"]), run.get("audience_name")
    return f"{shown(repr(name))} ({target.id})" if name else str(target)


def _remark(run: Mapping[str, Any]) -> str:
    """Whether it goes on, or can, and why it cannot when its journal is the reason; until when it is kept."""
    until = f"kept until {run['kept_until']}" if run.get("kept_until") else ""
    if "journal" in run:
        why = _JOURNALS.get(run["journal"], "the journal cannot be trusted: see `audiencekit report`")
        return ", ".join(filter(None, (why, until)))
    if "unknown_destination" in run and not run["running"]:
        return ", ".join(filter(None, (NOT_INSTALLED.format(run["unknown_destination"]), until)))
    return "running" if run["running"] else "resumable" if run["resumable"] else until
