"""Read suppression sources: people to keep out, in every form that their identifiers could be sent in.

A person who cannot be read from such a source could be put in unnoticed: it is read to its end or the run is refused.
So it is with a row of it that cannot be read, unless a share of these was accepted. Its columns
are recognised, or named. Values in the clear are hashed by each of the rules that a profile may have, phone numbers
that are merely possible count, and cells that hold SHA-256 are taken as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.errors import MappingRefused, PlanRefused
from audiencekit.identifiers.reasons import Reason
from audiencekit.machine.workers import cores, in_order
from audiencekit.planning.options import Options, about_lists
from audiencekit.planning.suppressionforms import forms_of_batch, read_forms
from audiencekit.preparation.batches import TextBatch
from audiencekit.preparation.chunks import RecordChunk
from audiencekit.reporting.progress import Progress, ReadingProgress
from audiencekit.selection.keysets import KeySets
from audiencekit.sources.formats import refuse_unheeded
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source
from audiencekit.sources.sourceopening import open_source

_MOST_NAMED: Final = 5  # unread cells that a message names


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadList:
    """The facts of one suppression source: which columns, how many rows, and how many of them not to their end.

    `unread` rows hold a value that cannot be read, or no usable identifier. `notes` are what was found on the way.
    """

    name: str
    columns: dict[str, list[str]]
    rows: int
    unread: int
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Unread:
    """Rows that were not read to their end, over all batches: how many, the first of them, and the reasons."""

    rows: int = 0
    first: list[dict[str, Any]] = field(default_factory=list)
    reasons: set[str] = field(default_factory=set)

    def add(self, rejections: pa.RecordBatch) -> None:
        self.rows += pc.count_distinct(rejections.column("row")).as_py()
        self.reasons.update(pc.unique(rejections.column("reason")).to_pylist())
        self.first += rejections.slice(0, _MOST_NAMED - len(self.first)).to_pylist()

    def in_words(self) -> str:
        """The first of them, one by one."""
        named = [f"row {one['row']}{_of_column(one['column'])}: {one['reason']}" for one in self.first]
        return "; ".join(named) + (" …" if self.rows > len(named) else "")


def read_lists(
    options: Options, keysets: KeySets, *, progress: Progress, on_records: Callable[[Sequence[RecordChunk]], None]
) -> tuple[ReadList, ...]:
    """Gather in `keysets` all people in the suppression sources of `options`; return the facts of each source.

    `on_records` gets the records of every batch, in order, in each of their forms. Raises SourceRefused for a source
    that cannot be read to its end, MappingRefused for one without a column of identifiers, PlanRefused for one of which
    too many rows cannot be read, and UsageError or MappingRefused for what is said of these sources and fits none.
    """
    with about_lists():
        opened = [open_source(path, options.lists) for path in options.suppress]
        _refuse_unfit(opened, options.lists)
    return tuple(_read_list(one, options, keysets, progress, on_records) for one in opened)


def notes_of(lists: tuple[ReadList, ...]) -> tuple[str, ...]:
    """Notes on the sources, for people."""
    unread = [
        f"suppression source {one.name}: {one.unread:,} of {one.rows:,} rows could not be read to their end; the"
        " people in them could be sent"
        for one in lists
        if one.unread
    ]
    return (*unread, *(f"suppression source {one.name}: {note}" for one in lists for note in one.notes))


def _batches(opened: Source) -> Iterator[TextBatch]:
    with about_lists():
        yield from opened.batches()


def _refuse_unfit(opened: list[Source], options: SourceOptions) -> None:
    """Raises UsageError for an option, and MappingRefused for a column, that no source has a use for."""
    if not opened:
        return
    formats = " and ".join(dict.fromkeys(str(one.description["format"]) for one in opened)).split(" and ")
    refuse_unheeded(formats, options)
    for kind, name in options.columns:
        if all(name in one.missing for one in opened):
            raise MappingRefused(
                f"none has a column {name!a} for {kind}",
                hint="; ".join(f"{one.name}: {'; '.join(one.notes)}" for one in opened),
            )


def _read_list(
    opened: Source,
    options: Options,
    keysets: KeySets,
    progress: Progress,
    on_records: Callable[[Sequence[RecordChunk]], None],
) -> ReadList:
    if not opened.mapping.columns:
        hint = "name one with `suppress_columns={'KIND': 'COLUMN'}`" + "".join(f"; {note}" for note in opened.notes)
        raise MappingRefused(f"suppression source {opened.name}: no column with identifiers was recognised", hint=hint)
    forms = list(forms_of_batch(opened.mapping, options.lists.country))
    rows, usable_rows, unread = 0, 0, _Unread()
    reading = ReadingProgress(progress, opened, f"reading {opened.name}")
    for batch in in_order(lambda batch: read_forms(batch, forms, keysets), _batches(opened), workers=cores()):
        for tagged in batch.tagged:
            keysets.suppress(tagged)
        on_records(batch.chunks)
        rows, usable_rows = rows + batch.rows, usable_rows + batch.usable_rows
        unread.add(batch.unread)
        reading.step(rows)
    if not usable_rows:
        raise PlanRefused(
            f"suppression source {opened.name}: {rows:,} of {rows:,} rows hold no usable identifier: nothing was sent",
            hint="`check` it by itself to see why; leave out a source without people",
        )
    _refuse_unread(opened.name, rows, unread, options.unread_share)
    columns = opened.mapping.names_by_kind()
    return ReadList(name=opened.name, columns=columns, rows=rows, unread=unread.rows, notes=opened.later_notes)


def _refuse_unread(name: str, rows: int, unread: _Unread, allowed_share: float) -> None:
    """Raises PlanRefused when more rows than allowed are unread: the people in them could be sent."""
    if unread.rows <= allowed_share * rows:
        return
    country = "; give `country=` for the numbers that name none" if Reason.NO_COUNTRY in unread.reasons else ""
    raise PlanRefused(
        f"suppression source {name}: {unread.rows:,} of {rows:,} rows cannot be read to their end, and the people in"
        f" them could be sent ({unread.in_words()})",
        hint=f"correct them{country}; or accept a share of such rows with `suppress_max_rejected_share=`",
    )


def _of_column(name: str | None) -> str:
    return f", column {name}" if name else ""
