"""The page of a verification: how many digests of a pipeline are right, and by which faults the others came."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import combinations
from typing import Final

from audiencekit.reporting.page.page import badge, foot, headline_html, inner_html, items, sections, whole_page
from audiencekit.reporting.page.page_parts import Bar, Bars, Headline, Row, Section, View, code_in_words, many, percent
from audiencekit.reporting.page.parts import said
from audiencekit.reporting.page.privacy import Cell, Document, Move, Shown, printed_numbers, shown_counts
from audiencekit.text import option, shown as printable

_TITLE: Final = "Check of a pipeline"
_TOO_SMALL: Final = "The lists are so small that their counts would point at people. They are not shown."
_INVENTED: Final = "The pipeline got vectors, which are invented people. This page asks no network."


def verification_page(document: Document, view: View) -> str:
    """Return the page of a verification, from its `Verification.to_json()`.

    Counts of vectors are all shown: they are invented people.
    """
    is_of_people = document["subject"] == "people"
    counts = _counts(document)
    found: Shown | None = Shown(1, frozenset(counts))
    if view.is_floored and is_of_people:
        found = shown_counts(counts, list(_moves(document)), printed=printed_numbers({**document, "problems": ()}))
    foot_text = foot(view) if is_of_people else _INVENTED
    if is_of_people and not view.is_floored:
        foot_text += f" {view.spelled(option('share', True))} hides them."
    notes = items((said(note, view), None) for note in document["notes"])
    top = headline_html(_headline(document, found)) + inner_html(_first(document, found, view))
    others = [] if found is None else [*_faults(document, found, view), *_columns(document, found)]
    folded = f"<details><summary>{many(len(document['notes']), 'note')}</summary>\n{notes}</details>\n"
    order = "row by row" if document["same_rows"] else "in any order"
    facts = f"Digests compared {order}" if is_of_people else "Digests of vectors"
    return whole_page(
        title=_TITLE,
        head=f'{badge(document["verdict"])}\n<h1>{_TITLE}</h1>\n<p class="facts">{escape(facts)}</p>\n',
        body=f"<section>\n{top}</section>\n" + sections(others) + (f"<section>\n{folded}</section>\n" if notes else ""),
        foot=foot_text,
    )


# --- Its counts, and the moves of single people that a floored page hides ---


def _counts(document: Document) -> dict[str, int]:
    """Return all counts by their places in the document; `all` is the sum of two."""
    counts = {name: int(document[name]) for name in ("right", "wrong")}
    counts["all"] = counts["right"] + counts["wrong"]
    for place, column in enumerate(document["columns"]):
        counts |= {f"columns.{place}.{name}": column[name] for name in ("values", "right", "wrong")}
    return counts | {f"faults.{place}.rows": fault["rows"] for place, fault in enumerate(document["faults"])}


def _moves(document: Document) -> Iterator[Move]:
    """Yield the changes that one person more or fewer makes, or one whose digest has another fault or none.

    A person who is wrong in another column as well changes no count of people.
    """
    faults = list(enumerate(document["faults"]))
    for place, column in enumerate(document["columns"]):
        values, right, wrong = (f"columns.{place}.{name}" for name in ("values", "right", "wrong"))
        own = [f"faults.{number}.rows" for number, fault in faults if fault["column"] == column["column"]]
        yield from ({one: 1, other: -1} for one, other in combinations(own, 2))
        for one in own:
            yield {right: -1, wrong: 1, one: 1, "right": -1, "wrong": 1}
            yield {values: 1, wrong: 1, one: 1, "wrong": 1, "all": 1}
            if len(document["columns"]) > 1:
                yield {right: -1, wrong: 1, one: 1}
        yield {values: 1, right: 1, "right": 1, "all": 1}


# --- Its parts ---


def _headline(document: Document, found: Shown | None) -> Headline:
    counts, subject = _counts(document), document["subject"]
    if found is None:
        return Headline(number=document["verdict"].capitalize(), words=f"by the counts of {subject}")
    right, every = (found.rounded(name, counts[name]) for name in ("right", "all"))
    share = percent(right, every) if right or not counts["right"] else ""
    words = f"of {found.text('all', counts['all'])} {subject} right"
    return Headline(number=found.text("right", counts["right"]), words=f"{words} – {share}" if share else words)


def _first(document: Document, found: Shown | None, view: View) -> Section:
    """Return what comes below the headline: how many are wrong, and the remedy for most of them."""
    if found is None:
        return Section(heading="", text=_TOO_SMALL)
    lines = []
    if document["wrong"]:
        lines.append(f"{found.text('wrong', document['wrong'])} {document['subject']} wrong.")
    if remedy := document["remedy"]:
        lines.append(f"Most would be mended so: {said(remedy, view)}.")
    return Section(heading="", text=" ".join(lines) or "Nothing was found to mend.")


def _faults(document: Document, found: Shown, view: View) -> Iterator[Section]:
    """Return the classes of faults, those of the most rows first, each with the line that would mend it."""
    has_several = len({fault["column"] for fault in document["faults"]}) > 1
    bars = []
    for place, fault in enumerate(document["faults"]):
        key = f"faults.{place}.rows"
        where = f" in {printable(fault['column'])}" if has_several else ""
        length = found.rounded(key, fault["rows"])
        values = _values(document, fault["column"])
        bars.append(
            Bar(
                name=code_in_words(fault["code"]) + where,
                length=length,
                cell=found.cell(key, fault["rows"]),
                beside=percent(length, found.rounded(*values)) if length and values else "",
                remedies=(said(f"{fault['message']}: {fault['remedy']}", view),),
            )
        )
    if bars:
        text = "Each is one digest of a column. One digest can have two faults."
        yield Section(heading="What is wrong, and what mends it", text=text, pictures=[Bars(bars=bars, is_loss=True)])


def _values(document: Document, name: str) -> tuple[str, int] | None:
    """Return the place and the number of the values of a column."""
    for place, column in enumerate(document["columns"]):
        if column["column"] == name:
            return f"columns.{place}.values", column["values"]
    return None


def _columns(document: Document, found: Shown) -> Iterator[Section]:
    names = ("values", "right", "wrong")
    rows = [
        Row(
            _column_name(column),
            [found.cell(f"columns.{place}.{name}", column[name]) for name in names],
        )
        for place, column in enumerate(document["columns"])
    ]
    yield Section(
        heading="The columns",
        caption="Digests by column",
        columns=("column", *names),
        rows=rows or [Row("none", [Cell("0")] * len(names))],
    )


def _column_name(column: Document) -> str:
    name, kind, other = printable(column["column"]), code_in_words(column["kind"]), printable(column["hashed_column"])
    return f"{name} ({kind})" if other == name else f"{name} ({kind}), digests in {other}"
