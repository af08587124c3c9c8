"""Parts as HTML: for the page, and for a notebook, which has them without the page around."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from typing import TypeAlias

from audiencekit.reporting.webpage.pageparts import Cell, Picture, Row, Section

Draw: TypeAlias = Callable[[Sequence[Picture]], Sequence[str]]  # each to SVG; empty where nothing draws


def sections(parts: Sequence[Section], draw: Draw) -> str:
    """The parts, one after the other. Raises what `draw` raises."""
    drawn = iter(draw([picture for part in parts for picture in part.pictures]))
    return "".join(_section(part, list(islice(drawn, len(part.pictures)))) for part in parts)


def _section(part: Section, drawn: Sequence[str]) -> str:
    """One part: its heading, its pictures, their numbers, and what to do."""
    text = f"<p>{escape(part.text)}</p>\n" if part.text else ""
    pictures = "".join(_figure(part, svg) for svg in drawn if svg)
    remedies = items((each["message"], each["remedy"]) for each in part.remedies)
    return f"<section>\n<h2>{escape(part.heading)}</h2>\n{text}{pictures}{_table(part)}{remedies}</section>\n"


def items(told: Iterable[tuple[str, str | None]]) -> str:
    """A list of messages, each with what to do about it; empty for none."""
    lines = [
        f"<li>{escape(message)}" + (f'<br><span class="do">What to do: {escape(what)}</span>' if what else "") + "</li>"
        for message, what in told
    ]
    return f"<ul>{''.join(lines)}</ul>\n" if lines else ""


def problems(document: Mapping[str, Sequence[Mapping[str, str | None]]], shown: Callable[[str], str]) -> str:
    """Why a plan or a run was refused; empty for one that was not."""
    told = items((shown(each["message"] or ""), shown(each["hint"] or "")) for each in document["problems"])
    return f"<section>\n<h2>Why it was refused</h2>\n{told}</section>\n" if told else ""


def _figure(part: Section, svg: str) -> str:
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
