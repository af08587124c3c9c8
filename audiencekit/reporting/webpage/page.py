"""A report, or a plan, as one page: `report --html` and `check --html`. Its numbers are those of the JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from audiencekit.destinations.target import Target
from audiencekit.errors import UsageError
from audiencekit.reporting.durationtext import in_short, seconds_of
from audiencekit.reporting.text import NOT_INSTALLED
from audiencekit.reporting.webpage.drawing import draw, draws
from audiencekit.reporting.webpage.listparts import list_parts
from audiencekit.reporting.webpage.markup import items, problems, sections
from audiencekit.reporting.webpage.pageparts import FLOOR, Document, Section, count, many
from audiencekit.reporting.webpage.runparts import calendar_parts, change_parts, history_parts, sending_part
from audiencekit.reporting.webpage.smallcounts import masked
from audiencekit.shown import shown

_STATES: Final = {
    "complete": "Complete",
    "incomplete": "Not finished",
    "refused": "Refused",
    "ready": "Ready to send",
    "ready_with_warnings": "Ready, with warnings",
    "empty": "Nothing to send",
}
_VERBS: Final = {"update": "Put people into", "delete": "Take people out of", "sync": "Sync", "renew": "Renew"}


def report_page(document: Document, *, expiry: Document | None = None) -> str:
    """The page of a run, of its `Report.to_json()`; `expiry` is `Expiry.to_json()` of an audience under sync.

    `history` of the document are the sizes of the audience, as `size_history` has them. Raises UsageError where the
    extra `html` is not installed, and InputOutputFailed where pictures cannot be drawn.
    """
    rows = document["rows"]
    target, name = Target.from_json(document["target"]), document.get("audience_name")
    words = target.destination.words
    verb = _VERBS.get(document["operation"], "Change")
    seconds = seconds_of(document)
    lead = f"{many(rows['sent'], 'row')} of {count(rows['read'])} reached the service and were confirmed."
    if rows.get("unchanged"):
        lead += f" {many(rows['unchanged'], 'row')} needed no change."
    return _page(
        document,
        title=f"{verb} {words.noun} {shown(name) if name else target.id}",
        state=document["state"],
        facts=(
            *(() if target.is_known else (NOT_INSTALLED.format(target.destination.name).capitalize(),)),
            *((f"List: {shown(', '.join(document['source_names']))}",) if document.get("source_names") else ()),
            f"Run {document['run_id']}, begun {document['started_at']}"
            + ("" if seconds is None else f", took {in_short(seconds)}"),
        ),
        lead=f"{lead} {words.of_matches}".rstrip(),
        parts=[*report_parts(document), *calendar_parts(expiry), *history_parts(document)],
    )


def plan_page(document: Document) -> str:
    """The page of a plan, of its `Plan.to_json()`. Raises as `report_page`."""
    rows, plan = document["rows"], document["plan"]
    lead = f"{many(rows['pending'], 'row')} of {count(rows['read'])} would be sent. Nothing was sent by this check."
    names = [str(source.get("name")) for source in document.get("sources", ()) if source.get("name")]
    return _page(
        document,
        title="Check of a list",
        state=document["verdict"],
        facts=(*((f"List: {shown(', '.join(names))}",) if names else ()), f"Planned for {plan['plan_time']}"),
        lead=lead,
        parts=list_parts(document),
    )


def report_parts(document: Document) -> list[Section]:
    """The parts of a report that its document has all numbers of."""
    return [*list_parts(document), sending_part(document), *change_parts(document)]


def _page(
    document: Document, *, title: str, state: str, facts: Sequence[str], lead: str, parts: Sequence[Section]
) -> str:
    if not draws():
        raise UsageError("a page needs the extra `html`", hint="pip install 'audiencekit[html]'")
    notes = items((_printable(note), None) for note in document["notes"])
    body = problems(document, _printable) + sections(parts, draw)
    template = files("audiencekit.reporting.webpage").joinpath("page.html").read_text("utf-8")
    return Template(template).substitute(
        title=escape(title),
        state=escape(state),
        state_words=escape(_STATES[state]),
        facts="".join(f'<p class="facts">{escape(fact)}</p>\n' for fact in facts),
        lead=escape(lead),
        body=body + (f"<section>\n<h2>Notes</h2>\n{notes}</section>\n" if notes else ""),
        floor=FLOOR,
    )


def _printable(text: str) -> str:
    return shown(masked(text))
