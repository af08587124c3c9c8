"""The page of a plan or of a report, as HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from itertools import islice
from string import Template
from typing import Final, TypeAlias

from audiencekit.destinations.target import Target
from audiencekit.errors import UsageError
from audiencekit.reporting.page.drawing import draw, draws
from audiencekit.reporting.page.page_parts import FLOOR, Cell, Document, Picture, Row, Section, count, many
from audiencekit.reporting.page.parts import calendar_parts, change_parts, history_parts, list_parts, sending_part
from audiencekit.reporting.page.privacy import masked
from audiencekit.reporting.text import NOT_INSTALLED, seconds_of, short_duration
from audiencekit.text import install_extra, shown

# --- A report, or a plan, as one page: `report --html` and `check --html`. Its numbers are those of the JSON document

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
    """Return the page of a run, from its `Report.to_json()`; `expiry` is `Expiry.to_json()` of an audience under sync.

    `history` in the document has the sizes of the audience, as `size_history` returns them. Raises UsageError if the
    extra `html` is not installed, and InputOutputFailed if pictures cannot be drawn.
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
            + ("" if seconds is None else f", took {short_duration(seconds)}"),
        ),
        lead=f"{lead} {words.of_matches}".rstrip(),
        parts=[*report_parts(document), *calendar_parts(expiry), *history_parts(document)],
    )


def plan_page(document: Document) -> str:
    """Return the page of a plan, from its `Plan.to_json()`. Raises as `report_page`."""
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
    """Return the parts of a report, leaving out those whose numbers the document does not have."""
    return [*list_parts(document), sending_part(document), *change_parts(document)]


def _page(
    document: Document, *, title: str, state: str, facts: Sequence[str], lead: str, parts: Sequence[Section]
) -> str:
    if not draws():
        raise UsageError("a page needs the extra `html`", hint=install_extra("html"))
    notes = items((_printable(note), None) for note in document["notes"])
    body = problems(document, _printable) + sections(parts, draw)
    template = files("audiencekit.reporting.page").joinpath("page.html").read_text("utf-8")
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


# --- Parts as HTML: for the page, and for a notebook, which shows them without the page ---

Draw: TypeAlias = Callable[[Sequence[Picture]], Sequence[str]]  # each to SVG; empty where nothing draws


def sections(parts: Sequence[Section], draw: Draw) -> str:
    """Return the parts as HTML, one after the other. Raises what `draw` raises."""
    drawn = iter(draw([picture for part in parts for picture in part.pictures]))
    return "".join(_section(part, list(islice(drawn, len(part.pictures)))) for part in parts)


def _section(part: Section, drawn: Sequence[str]) -> str:
    """Return one part: its heading, its pictures, their numbers, and the remedies."""
    text = f"<p>{escape(part.text)}</p>\n" if part.text else ""
    pictures = "".join(_figure_element(part, svg) for svg in drawn if svg)
    remedies = items((each["message"], each["remedy"]) for each in part.remedies)
    return f"<section>\n<h2>{escape(part.heading)}</h2>\n{text}{pictures}{_table(part)}{remedies}</section>\n"


def items(messages: Iterable[tuple[str, str | None]]) -> str:
    """Return a list of messages, each with its remedy; an empty text without messages."""
    lines = [
        f"<li>{escape(message)}" + (f'<br><span class="do">What to do: {escape(what)}</span>' if what else "") + "</li>"
        for message, what in messages
    ]
    return f"<ul>{''.join(lines)}</ul>\n" if lines else ""


def problems(document: Mapping[str, Sequence[Mapping[str, str | None]]], shown: Callable[[str], str]) -> str:
    """Return why a plan or a run was refused; an empty text if it was not."""
    messages = items((shown(each["message"] or ""), shown(each["hint"] or "")) for each in document["problems"])
    return f"<section>\n<h2>Why it was refused</h2>\n{messages}</section>\n" if messages else ""


def _figure_element(part: Section, svg: str) -> str:
    label = escape(f"Picture: {part.heading}. The table that follows has its numbers.")
    return f'<figure tabindex="0" role="group" aria-label="{label}">{svg}</figure>\n'


def _table(part: Section) -> str:
    if not part.rows:
        return ""
    scroll = f' tabindex="0" role="group" aria-label="{escape(f"Table: {part.heading}")}"' if part.wide else ""
    first, *others = part.columns
    head = f'<th scope="col">{escape(first)}</th>'
    head += "".join(f'<th scope="col" class="n">{escape(column)}</th>' for column in others)
    return (
        f'<div class="scroll"{scroll}><table>\n<caption>{escape(part.caption)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(map(_line, part.rows))}</tbody>\n</table></div>\n"
    )


def _line(row: Row) -> str:
    cells = (f'<td class="n"{_key(cell)}>{escape(cell.text)}</td>' for cell in row.cells)
    return f'<tr><th scope="row">{escape(row.name)}</th>{"".join(cells)}</tr>\n'


def _key(cell: Cell) -> str:
    return f' data-key="{escape(cell.key)}"' if cell.key else ""
