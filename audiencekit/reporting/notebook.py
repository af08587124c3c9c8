"""Reports, plans and progress in a notebook, as HTML. It needs no package: a notebook has its own display."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib import import_module
from importlib.resources import files
from string import Template
from typing import Final, Protocol

from audiencekit.destinations.target import Target
from audiencekit.reporting.page.page import OWN, headline_html, problems, report_parts, sections
from audiencekit.reporting.page.page_parts import Section, code_in_words
from audiencekit.reporting.page.parts import headline, list_parts
from audiencekit.reporting.page.privacy import Document
from audiencekit.reporting.position import Position
from audiencekit.reporting.text import render_plan, render_report
from audiencekit.text import shown, shown_lines

DRAW_EVERY_SECONDS: Final = 0.2
MESSAGES_SHOWN: Final = 5

Show = Callable[[dict[str, str]], None]


class _Display(Protocol):
    """A display in the output of a cell, of IPython."""

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        """Replace the content by `data`, given by media type."""


def find_display() -> Show | None:
    """Return a function that shows data in the output of this cell, always in one place; None outside of a notebook."""
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
    """One bar for each stage in the output of a cell, and the last messages below."""

    def __init__(self, show: Show, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._show, self._monotonic = show, monotonic
        self._stages: dict[str, tuple[Position, float, Position]] = {}
        self._messages: deque[str] = deque(maxlen=MESSAGES_SHOWN)
        self._drawn = -DRAW_EVERY_SECONDS

    def tell(self, message: str) -> None:
        """Show the message below the earlier ones."""
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
        lines = [(stage, last, self._amount_text(stage, now)) for stage, (_, _, last) in self._stages.items()]
        bars = [f"<tr><th>{escape(stage)}</th><td>{_bar(last)}</td><td>{escape(text)}</td></tr>"
                for stage, last, text in lines]  # fmt: skip
        messages = [f"<div>{escape(message)}</div>" for message in self._messages]
        plain = [*(f"{stage}: {text}" for stage, _, text in lines), *self._messages]
        self._show({"text/html": f"<table>{''.join(bars)}</table>{''.join(messages)}", "text/plain": "\n".join(plain)})

    def _amount_text(self, stage: str, now: float) -> str:
        first, started, last = self._stages[stage]
        pace = [*last.rates(first, now - started), last.left(first, now - started)]
        return ", ".join(filter(None, [last.amount(), *pace]))


def _bar(position: Position) -> str:
    share = f' value="{position.done}" max="{position.total}"' if position.total else ""
    return f"<progress{share}></progress>"


def report_html(document: Document) -> str:
    """Return the report as HTML: the parts of its page, with all counts."""
    title = f"{document['operation'].capitalize()} of {Target.from_json(document['target'])}: {document['state']}"
    return _fragment(title, document, report_parts(document, OWN), render_report(document))


def plan_html(document: Document) -> str:
    """Return the plan as HTML, like `report_html`."""
    return _fragment(
        f"Plan: {code_in_words(document['verdict'])}", document, list_parts(document, OWN), render_plan(document)
    )


def _fragment(title: str, document: Document, parts: Sequence[Section], text: str) -> str:
    room = files("audiencekit.reporting.page")
    return Template(room.joinpath("notebook.html").read_text("utf-8")).substitute(
        title=escape(shown(title)),
        body=headline_html(headline(document, OWN)) + problems(document, shown) + sections(parts),
        text=escape(shown_lines(text)),
        pictures=room.joinpath("pictures.css").read_text("utf-8"),
    )
