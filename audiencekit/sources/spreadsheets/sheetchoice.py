"""The sheet of a workbook that is the list: the one that is named, or the only visible one that holds anything."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Final

from audiencekit.errors import SourceRefused, UsageError
from audiencekit.optiontext import option
from audiencekit.shown import shown
from audiencekit.sources.spreadsheets.container import Container
from audiencekit.sources.spreadsheets.sheetrows import SheetRowReader
from audiencekit.sources.spreadsheets.workbook import Sheet, Workbook

_SHOWN_SHEETS: Final = 8
_EMPTY_HINT: Final = "even a list of no one has a header: see whether the file is the right one, or leave it out"


def choose_sheet(container: Container, workbook: Workbook, name: str | None) -> Sheet:
    """The sheet called `name`, in capitals or not; without a name the only one that people see and that holds cells.

    Raises UsageError when there is no such sheet, SourceRefused where there are several, or none.
    """
    if name is not None:
        return _named(workbook, name)
    visible = [sheet for sheet in workbook.sheets if not sheet.is_hidden]
    filled = [sheet for sheet in visible if _is_filled(container, sheet)] if len(visible) > 1 else visible
    if len(filled) == 1:
        return filled[0]
    if filled:
        raise SourceRefused(
            f"the workbook has {len(filled)} sheets with cells: {_listed(filled)}",
            hint=f"say which is the list: {option('sheet', filled[0].name)}",
        )
    hidden = [sheet for sheet in workbook.sheets if sheet.is_hidden]
    if hidden:
        raise SourceRefused(
            f"no visible sheet of the workbook holds a cell; hidden are {_listed(hidden)}",
            hint=f"name a hidden one if it is meant: {option('sheet', hidden[0].name)}",
        )
    raise SourceRefused("the workbook has no sheet with a cell", hint=_EMPTY_HINT)


def notes_on(workbook: Workbook, sheet: Sheet, asked: bool) -> list[str]:
    """The notes on the choice: a hidden sheet that is read, and hidden ones that are not."""
    hidden = [one for one in workbook.sheets if one.is_hidden and one is not sheet]
    notes = [f"the sheet {_quoted(sheet)} is hidden, and read because it was named"] if sheet.is_hidden else []
    if hidden and not asked:
        notes.append(f"not read, since hidden: {_listed(hidden)}")
    return notes


def _named(workbook: Workbook, name: str) -> Sheet:
    same = [sheet for sheet in workbook.sheets if sheet.name == name]
    alike = [sheet for sheet in workbook.sheets if sheet.name.strip().casefold() == name.strip().casefold()]
    if found := same or alike:
        return found[0]
    raise UsageError(
        f"{option('sheet', name)}: the workbook has no such sheet", hint=f"its sheets are {_listed(workbook.sheets)}"
    )


def _is_filled(container: Container, sheet: Sheet) -> bool:
    """Whether a cell of the sheet holds a value: most sheets are left after their first block."""
    with closing(container.blocks(sheet.part)) as blocks:
        return any(len(rows.numbers) for rows in SheetRowReader(blocks, frozenset()))


def _listed(sheets: Sequence[Sheet]) -> str:
    more = len(sheets) - _SHOWN_SHEETS
    return ", ".join(map(_quoted, sheets[:_SHOWN_SHEETS])) + (f" and {more} more" if more > 0 else "")


def _quoted(sheet: Sheet) -> str:
    return f"'{shown(sheet.name)}'"
