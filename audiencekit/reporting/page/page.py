"""The page of a plan or of a report, as HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from audiencekit.destinations.target import Target
from audiencekit.reporting.page.drawing import draw, prose
from audiencekit.reporting.page.page_parts import Fact, Headline, Row, Section, View, many
from audiencekit.reporting.page.parts import (
    calendar_parts,
    change_parts,
    headline,
    history_parts,
    list_parts,
    said,
    sending_parts,
)
from audiencekit.reporting.page.privacy import FLOOR, TENS, Cell, Document, shown_document
from audiencekit.reporting.text import NOT_INSTALLED, seconds_of, short_duration
from audiencekit.text import option, shown

# --- A report or a plan as one page: `report --html`, `check --html`. Its numbers are those of the JSON document ---

STATES: Final = {
    "complete": "Complete",
    "incomplete": "Not finished",
    "refused": "Refused",
    "unreadable": "Unreadable",
    "ready": "Ready to send",
    "ready_with_warnings": "Ready, with warnings",
    "empty": "Nothing to send",
    "right": "Right",
    "wrong": "Wrong",
}
_VERBS: Final = {"update": "Put people into", "delete": "Take people out of", "sync": "Sync", "renew": "Renew"}
_NARROW: Final = 56  # rem
OWN: Final = View()


def report_page(
    document: Document, view: View = OWN, *, expiry: Document | None = None, last: Document | None = None
) -> str:
    """Return the page of a run, from its `Report.to_json()`; `expiry` is `Expiry.to_json()` of an audience under sync.

    `history` in the document has the sizes of the audience, as `size_history` returns them. `last` is the report of the
    run before it, of the same audience and operation.
    """
    seconds = seconds_of(document)
    target = Target.from_json(document["target"])
    words = target.destination.words
    lead = []
    if document["rows"].get("unchanged"):
        shown_counts = shown_document(document, is_floored=view.is_floored)
        number = shown_counts and shown_counts.text("rows.unchanged", document["rows"]["unchanged"])
        lead = [f"{number} of the rows needed no change."] if number else []
    return _page(
        document,
        view,
        title=run_title(document),
        state=document["state"],
        facts=(
            *(() if target.is_known else (NOT_INSTALLED.format(target.destination.name).capitalize(),)),
            *((f"List: {shown(', '.join(document['source_names']))}",) if document.get("source_names") else ()),
            f"Run {document['run_id']}, begun {document['started_at']}"
            + ("" if seconds is None else f", took {short_duration(seconds)}"),
        ),
        top=headline(document, view, last=last),
        lead=" ".join([*lead, words.of_matches]).strip(),
        parts=report_parts(document, view, expiry=expiry, last=last),
    )


def plan_page(document: Document, view: View = OWN) -> str:
    """Return the page of a plan, from its `Plan.to_json()`."""
    names = [str(source.get("name")) for source in document.get("sources", ()) if source.get("name")]
    return _page(
        document,
        view,
        title="Check of a list",
        state=document["verdict"],
        facts=(
            *((f"List: {shown(', '.join(names))}",) if names else ()),
            f"Planned for {document['plan']['plan_time']}",
        ),
        top=headline(document, view),
        lead="Nothing was sent by this check.",
        parts=list_parts(document, view),
    )


def run_title(document: Document) -> str:
    """Return in words to which place the run put people, or from which it took them."""
    target, name = Target.from_json(document["target"]), document.get("audience_name")
    verb = _VERBS.get(document.get("operation") or "", "Change")
    return f"{verb} {target.destination.words.noun} {shown(name) if name else target.id}"


def report_parts(
    document: Document, view: View, *, expiry: Document | None = None, last: Document | None = None
) -> list[Section]:
    """Return the parts of a report, leaving out those that would be all zero."""
    return [
        *list_parts(document, view, last=last), *change_parts(document, view), *history_parts(document, view),
        *calendar_parts(expiry, view, step=_step(document, view)), *sending_parts(document, view),
    ]  # fmt: skip


def _step(document: Document, view: View) -> int:
    """Return to which multiples the counts of a report are rounded on this page."""
    found = shown_document(document, is_floored=view.is_floored)
    return TENS.step if found is None or (view.is_floored and "rows.sent" not in found.fixed) else found.step


def _page(
    document: Document,
    view: View,
    *,
    title: str,
    state: str,
    facts: Sequence[str],
    top: Headline,
    lead: str,
    parts: Sequence[Section],
) -> str:
    notes = items((said(note, view), None) for note in document["notes"])
    folded = f"<details><summary>{many(len(document['notes']), 'note')}</summary>\n{notes}</details>\n"
    first, *others = parts
    first = replace(first, text=f"{first.text} {lead}".strip())
    return whole_page(
        title=title,
        head=_head(title, state, facts),
        body=f"<section>\n{headline_html(top)}{inner_html(first)}</section>\n"
        + problems(document, lambda text: said(text, view))
        + sections(others)
        + (f"<section>\n{folded}</section>\n" if notes else ""),
        foot=foot(view) if view.is_floored else f"{foot(view)} {view.spelled(option('share', True))} hides them.",
    )


def whole_page(*, title: str, head: str, body: str, foot: str, width: int = _NARROW) -> str:
    """Return a page with this head and body, which are HTML; `width` is that of its column, in rem."""
    room = files("audiencekit.reporting.page")
    return Template(room.joinpath("page.html").read_text("utf-8")).substitute(
        title=escape(title),
        head=head,
        body=body,
        foot=escape(foot),
        width=width,
        pictures=room.joinpath("pictures.css").read_text("utf-8"),
    )


def foot(view: View) -> str:
    """Return the last line of a page: the things that it does not hold."""
    first = "Counts only: this page holds no address, number, hash or name of a person, and asks no network."
    if view.is_floored:
        return f"{first} Counts below {FLOOR} are hidden; totals are rounded so that they cannot be worked out."
    return f"{first} Counts below {FLOOR} may point at single people."


def _head(title: str, state: str, facts: Sequence[str]) -> str:
    lines = "".join(f'<p class="facts">{escape(fact)}</p>\n' for fact in facts)
    return f"{badge(state)}\n<h1>{escape(title)}</h1>\n{lines}"


def badge(state: str) -> str:
    """Return the state of a run, or the verdict of a check, in its colour."""
    return f'<span class="badge {escape(state)}">{escape(STATES.get(state, state))}</span>'


# --- Parts as HTML: for the page, and for a notebook, which shows them without the page ---


def headline_html(top: Headline) -> str:
    """Return the big number, and the facts beside it."""
    return f'<p class="big"><b>{escape(top.number)}</b> <span>{escape(top.words)}</span></p>\n{facts_html(top.facts)}'


def facts_html(facts: Sequence[Fact]) -> str:
    """Return facts side by side; an empty text without any."""
    found = "".join(
        f"<div><dt>{escape(fact.name)}</dt><dd>{escape(fact.text)}<small>{escape(fact.note)}</small></dd></div>\n"
        for fact in facts
    )
    return f"<dl>\n{found}</dl>\n" if found else ""


def sections(parts: Sequence[Section]) -> str:
    """Return the parts as HTML, one after the other."""
    return "".join(f"<section>\n<h2>{escape(part.heading)}</h2>\n{inner_html(part)}</section>\n" for part in parts)


def inner_html(part: Section) -> str:
    """Return one part without its heading: its text, its pictures, and their numbers, folded."""
    text = f"<p>{prose(part.text)}</p>\n" if part.text else ""
    return text + items((message, None) for message in part.messages) + "".join(map(draw, part.pictures)) + _table(part)


def items(messages: Iterable[tuple[str, str | None]]) -> str:
    """Return a list of messages, each with its remedy; an empty text without messages."""
    lines = [
        f"<li>{prose(message)}" + (f'<br><span class="ak-do">{prose(what)}</span>' if what else "") + "</li>"
        for message, what in messages
    ]
    return f"<ul>{''.join(lines)}</ul>\n" if lines else ""


def problems(document: Mapping[str, Sequence[Mapping[str, str | None]]], said: Callable[[str], str]) -> str:
    """Return why a plan or a run was refused; an empty text if it was not."""
    messages = items((said(each["message"] or ""), said(each["hint"] or "")) for each in document["problems"])
    return f"<section>\n<h2>Why it was refused</h2>\n{messages}</section>\n" if messages else ""


def _table(part: Section) -> str:
    if not part.rows:
        return ""
    scroll = f' tabindex="0" role="group" aria-label="{escape(f"Table: {part.heading}")}"' if part.wide else ""
    first, *others = part.columns
    head = f'<th scope="col">{escape(first)}</th>'
    head += "".join(f'<th scope="col" class="n">{escape(column)}</th>' for column in others)
    return (
        f"<details><summary>{escape(part.caption)}, in numbers</summary>\n"
        f'<div class="scroll"{scroll}><table>\n<caption>{escape(part.caption)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(map(_line, part.rows))}</tbody>\n</table></div></details>\n"
    )


def _line(row: Row) -> str:
    cells = (f'<td class="n"{_key(cell)}>{escape(cell.text)}</td>' for cell in row.cells)
    return f'<tr><th scope="row">{escape(row.name)}</th>{"".join(cells)}</tr>\n'


def _key(cell: Cell) -> str:
    return f' data-key="{escape(cell.key)}"' if cell.key else ""
