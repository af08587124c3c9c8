"""Reports, plans and progress in a notebook, which shows HTML. Needs no package: a notebook brings its own display."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from html import escape
from importlib import import_module
from typing import Any, Final, Protocol

from audiencekit.reporting.plan import Plan
from audiencekit.reporting.position import Position
from audiencekit.reporting.report import Report
from audiencekit.shown import shown, shown_lines

DRAW_EVERY_SECONDS: Final = 0.2
MESSAGES_SHOWN: Final = 5

Show = Callable[[dict[str, str]], None]


class _Display(Protocol):
    """A place in the output of a cell, of IPython."""

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        """Put `data`, by media type, in the place of what is there."""


def find_display() -> Show | None:
    """A function that shows data in the output of this cell, always in one place; None outside of a notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if getattr(shell, "kernel", None) is None:  # IPython on a terminal shows no HTML
        return None
    display = import_module("IPython.display").display
    places: list[_Display] = []

    def show(data: dict[str, str]) -> None:
        if places:
            places[0].update(data, raw=True)
        else:
            places.append(display(data, raw=True, display_id=True))

    return show


class NotebookProgress:
    """A bar a stage in the output of a cell, and the last messages below."""

    def __init__(self, show: Show, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._show, self._monotonic = show, monotonic
        self._stages: dict[str, tuple[Position, float, Position]] = {}
        self._messages: deque[str] = deque(maxlen=MESSAGES_SHOWN)
        self._drawn = -DRAW_EVERY_SECONDS

    def tell(self, message: str) -> None:
        """Show the message, and those before it."""
        self._messages.append(shown_lines(message))
        self._draw(self._monotonic())

    def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
        """Move the bar of the stage, a few times a second and at its end."""
        now, position = self._monotonic(), Position(done, total, unit, dict(also or {}))
        first, started, _ = self._stages.get(stage, (position, now, position))
        self._stages[stage] = (first, started, position)
        if done == total or now - self._drawn >= DRAW_EVERY_SECONDS:
            self._draw(now)

    def _draw(self, now: float) -> None:
        self._drawn = now
        lines = [(stage, last, self._told(stage, now)) for stage, (_, _, last) in self._stages.items()]
        bars = [f"<tr><th>{escape(stage)}</th><td>{_bar(last)}</td><td>{escape(told)}</td></tr>"
                for stage, last, told in lines]  # fmt: skip
        messages = [f"<div>{escape(message)}</div>" for message in self._messages]
        plain = [*(f"{stage}: {told}" for stage, _, told in lines), *self._messages]
        self._show({"text/html": f"<table>{''.join(bars)}</table>{''.join(messages)}", "text/plain": "\n".join(plain)})

    def _told(self, stage: str, now: float) -> str:
        first, started, last = self._stages[stage]
        pace = [*last.rates(first, now - started), last.left(first, now - started)]
        return ", ".join(filter(None, [last.amount(), *pace]))


def _bar(position: Position) -> str:
    share = f' value="{position.done}" max="{position.total}"' if position.total else ""
    return f"<progress{share}></progress>"


def report_table(report: Report) -> str:
    """The counts of a report as HTML."""
    document = report.to_json()
    title = f"{report.operation.capitalize()} of {report.target}: {report.state}"
    return _page(title, document, {"requests": _numbers(document["requests"])}, report)


def plan_table(plan: Plan) -> str:
    """The counts of a plan as HTML."""
    document = plan.to_json()
    title = f"Plan: {plan.verdict.replace('_', ' ')}"
    return _page(title, document, {"to send": _numbers(document["plan"])}, plan)


def _page(title: str, document: Mapping[str, Any], more: Mapping[str, Mapping[str, Any]], whole: object) -> str:
    identifiers = {
        kind: f"{counts['valid']:,} of {counts['present']:,} valid" for kind, counts in document["identifiers"].items()
    }
    groups = {"rows": document["rows"], "identifiers": identifiers, "rejections": document["rejections"], **more}
    tables = "".join(_table(name, rows) for name, rows in groups.items() if rows)
    remarks = "".join(f"<li>{escape(text)}</li>" for text in _remarks(document))
    return (
        f"<div><b>{escape(shown(title))}</b>"
        f'<div style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start">{tables}</div>'
        + (f"<ul>{remarks}</ul>" if remarks else "")
        + f"<details><summary>as text</summary><pre>{escape(shown_lines(str(whole)))}</pre></details></div>"
    )


def _table(title: str, rows: Mapping[str, Any]) -> str:
    lines = (f"<tr><td>{escape(shown(name))}</td><td>{_cell(value)}</td></tr>" for name, value in rows.items())
    return f'<table><tr><th colspan="2">{escape(title)}</th></tr>{"".join(lines)}</table>'


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else escape(shown(str(value)))


def _numbers(counts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in counts.items() if type(value) is int}


def _remarks(document: Mapping[str, Any]) -> Iterable[str]:
    for problem in document["problems"]:
        yield f"problem: {shown(problem['message'])}"
    for warning in document["warnings"]:
        yield f"warning: {shown(warning['message'])}"
