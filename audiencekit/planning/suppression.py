"""The people of suppression sources, who are not sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.destinations.requests.request_plan import PlannedRequest
from audiencekit.errors import MappingRefused, PlanRefused, Refused
from audiencekit.identifiers.kinds import Kind, Reason, Rules
from audiencekit.personal import HashedRecords, guarded
from audiencekit.planning.options import Options, about_lists
from audiencekit.process.workers import cores, in_order
from audiencekit.records.batches import ROW, ColumnMapping, TextBatch
from audiencekit.records.chunks import RecordChunk, from_chunk, to_chunk
from audiencekit.records.columns.arrays import arrow_array
from audiencekit.records.losses import Loss
from audiencekit.records.record_bits import Indices
from audiencekit.records.records import UPDATE, prepare_batch
from audiencekit.records.tally import Tally
from audiencekit.reporting.progress import Progress, ReadingProgress
from audiencekit.reporting.report import identifier_counts
from audiencekit.selection.key_sets import KeySets
from audiencekit.selection.shared_values import SharedValues
from audiencekit.selection.tag_arrays import OrderedTags
from audiencekit.selection.without_shared_values import find_sharing_rows
from audiencekit.sources.formats import refuse_unheeded
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from audiencekit.state.spool import Spool

# --- Reading suppression sources: people to keep out, in every form in which their identifiers could be sent ---
#
# A person who cannot be read from such a source could be put in unnoticed: it is read to its end or the run is refused.
# So it is with a row of it that cannot be read, unless a share of these was accepted. Its columns are recognised, or
# named. Values in the clear are hashed by each of the rules that a profile may have, phone numbers that are merely
# possible count, and cells that hold SHA-256 are taken as they are.

_MOST_NAMED: Final = 5  # unread cells that a message names


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadList:
    """The facts of one suppression source: its columns, the number of its rows, and of the unread ones.

    `unread` rows hold a value that cannot be read, or no usable identifier. In `placeholders` rows every cell of the
    kinds is a placeholder: they name no person. `notes` are remarks on the source, and `warnings` what is not read of
    it.
    """

    name: str
    columns: dict[str, list[str]]
    rows: int
    unread: int
    placeholders: int = 0
    notes: tuple[str, ...] = ()
    warnings: tuple[Loss, ...] = ()


@dataclass(slots=True)
class _Unread:
    """Rows that were not read completely, over all batches: how many, the first of them, and the reasons."""

    rows: int = 0
    first: list[dict[str, Any]] = field(default_factory=list)
    reasons: set[str] = field(default_factory=set)

    def add(self, rejections: pa.RecordBatch) -> None:
        self.rows += pc.count_distinct(rejections.column("row")).as_py()
        self.reasons.update(pc.unique(rejections.column("reason")).to_pylist())
        self.first += rejections.slice(0, _MOST_NAMED - len(self.first)).to_pylist()

    def in_words(self) -> str:
        """List the first of them in words."""
        named = [f"row {one['row']}{_of_column(one['column'])}: {one['reason']}" for one in self.first]
        return "; ".join(named) + (" …" if self.rows > len(named) else "")


def read_lists(
    options: Options, keysets: KeySets, *, progress: Progress, on_records: Callable[[Sequence[RecordChunk]], None]
) -> tuple[ReadList, ...]:
    """Gather in `keysets` all people in the suppression sources of `options`; return the facts of each source.

    `on_records` gets the records of every batch, in order, in each of their forms. Raises SourceRefused for a source
    that cannot be read to its end, MappingRefused for one without a column of identifiers, PlanRefused for one with too
    many unreadable rows, and UsageError or MappingRefused for options that fit none of the sources.
    """
    with about_lists():
        opened = [open_source(path, options.lists) for path in options.suppress]
        _refuse_unfit(opened, options.lists)
    return tuple(_read_list(one, options, keysets, progress, on_records) for one in opened)


def warnings_of(lists: tuple[ReadList, ...]) -> tuple[Loss, ...]:
    """Return the warnings of the sources, each with the name of its source."""
    named = ((f"suppression source {one.name}", warning) for one in lists for warning in one.warnings)
    return tuple(replace(warning, message=f"{name}: {warning.message}") for name, warning in named)


def unmatched(
    lists: tuple[ReadList, ...], tally: Tally, mapping: ColumnMapping, requests: Iterable[PlannedRequest]
) -> tuple[list[Refused], tuple[Loss, ...]]:
    """Return refusals and warnings for sources without a kind of which the list has values: they keep no one out.

    Where none of the sources can keep anyone out, the list is refused. One that only takes people out needs none.
    """
    kinds = {kind for kind, counts in identifier_counts(tally, mapping).items() if counts["valid"]}
    if not kinds or not any(request.updates for request in requests):
        return [], ()
    apart = [one for one in lists if not set(one.columns) & kinds]
    if apart and len(apart) == len(lists):
        names = " and ".join(one.name for one in apart)
        of_lists = " and ".join(sorted({kind for one in apart for kind in one.columns}))
        message = (
            f"no one can be kept out by suppression source {names}: it has {of_lists} alone, and the list has only"
            f" {' and '.join(sorted(kinds))}: nothing was sent"
        )
        return [PlanRefused(message, hint="give a source with a kind that the list has, or leave it out")], ()
    return [], tuple(
        Loss(
            code="no_common_kind",
            column=None,
            count=one.rows,
            share=1.0,
            message=f"suppression source {one.name}: the list has no values of {' and '.join(one.columns)}, so that"
            " it keeps no one out",
            remedy="give a source with a kind that the list has, or leave it out",
        )
        for one in apart
    )


def notes_of(lists: tuple[ReadList, ...]) -> tuple[str, ...]:
    """Return notes on the sources, for people."""
    unread = [
        f"suppression source {one.name}: {one.unread:,} of {one.rows:,} rows could not be read to their end; the"
        " people in them could be sent"
        for one in lists
        if one.unread
    ]
    placeholders = [
        f"suppression source {one.name}: {one.placeholders:,} of {one.rows:,} rows have placeholders only, such as n/a,"
        " and name no person"
        for one in lists
        if one.placeholders
    ]
    return (*unread, *placeholders, *(f"suppression source {one.name}: {note}" for one in lists for note in one.notes))


def _batches(opened: Source) -> Iterator[TextBatch]:
    with about_lists():
        yield from opened.batches()


def _refuse_unfit(opened: list[Source], options: SourceOptions) -> None:
    """Raise UsageError for an option, and MappingRefused for a column, that fits no source."""
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
        notes = "".join(f"; {note}" for note in opened.notes).replace("`columns=", "`suppress_columns=")
        hint = f"name one with `suppress_columns={{'KIND': 'COLUMN'}}`{notes}"
        raise MappingRefused(f"suppression source {opened.name}: no column with identifiers was recognised", hint=hint)
    forms = list(forms_of_batch(opened.mapping, options.lists.country))
    rows, usable_rows, placeholder_rows, unread = 0, 0, 0, _Unread()
    reading = ReadingProgress(progress, opened, f"reading {opened.name}")
    for batch in in_order(lambda batch: read_forms(batch, forms, keysets), _batches(opened), workers=cores()):
        for tagged in batch.tagged:
            keysets.suppress(tagged)
        on_records(batch.chunks)
        rows, usable_rows = rows + batch.rows, usable_rows + batch.usable_rows
        placeholder_rows += batch.placeholder_rows
        unread.add(batch.unread)
        reading.step(rows)
    if not usable_rows:
        raise PlanRefused(
            f"suppression source {opened.name}: {rows:,} of {rows:,} rows hold no usable identifier: nothing was sent",
            hint="`check` it by itself to see why; leave out a source without people",
        )
    _refuse_unread(opened.name, rows, unread, options.unread_share)
    columns = opened.mapping.names_by_kind()
    return ReadList(
        name=opened.name, columns=columns, rows=rows, unread=unread.rows, placeholders=placeholder_rows,
        notes=opened.later_notes, warnings=opened.warnings,
    )  # fmt: skip


def _refuse_unread(name: str, rows: int, unread: _Unread, allowed_share: float) -> None:
    """Raise PlanRefused when more rows than allowed are unread: the people in them could be sent."""
    if unread.rows <= allowed_share * rows:
        return
    country = "; give `country=` for the numbers that name none" if Reason.NO_COUNTRY in unread.reasons else ""
    raise PlanRefused(
        f"suppression source {name}: {unread.rows:,} of {rows:,} rows {'has' if unread.rows == 1 else 'have'} a value"
        f" that cannot be read, so {'that person' if unread.rows == 1 else 'these people'} could not be kept out"
        f" ({unread.in_words()})",
        hint=f"correct them{country}; or accept a share of such rows with `suppress_max_rejected_share=`",
    )


def _of_column(name: str | None) -> str:
    return f", column {name}" if name else ""


# --- A batch of a suppression source: read in every form in which its identifiers could be sent ---

# Reasons of cells that name no person, and of those that are read in another form.
_HARMLESS: Final = frozenset(
    {Reason.EMPTY, Reason.PLACEHOLDER, Reason.ZEROED, Reason.HASH_OF_PLACEHOLDER, Reason.ALREADY_HASHED}
)
_FORMED: Final = frozenset({Kind.PHONE_NUMBER, Kind.DEVICE_ID})  # kinds that profiles write in different forms


@dataclass(frozen=True, slots=True)
class SuppressionForm:
    """One way to read a batch: which columns, hashed or not, by which rules."""

    mapping: ColumnMapping
    rules: Rules


@dataclass(frozen=True, slots=True)
class SuppressionBatch:
    """The contents of one batch: tags and records of each form, the number of its rows, and of the usable ones.

    `placeholder_rows` have a placeholder in every cell of the kinds. `unread` says why some were not read
    completely (REJECTION_SCHEMA).
    """

    tagged: list[OrderedTags | None] = field(repr=False)
    chunks: list[RecordChunk]
    rows: int
    usable_rows: int
    placeholder_rows: int
    unread: pa.RecordBatch


def forms_of_batch(mapping: ColumnMapping, country: str | None) -> Iterator[SuppressionForm]:
    """Return the forms in which the values in the columns of `mapping` may have been sent."""
    plain = Rules(default_country=country, phone_validity="possible", phone_form="e164", device_id_case="lower")
    yield SuppressionForm(mapping, plain)
    if formed := tuple(column for column in mapping.columns if column.kind in _FORMED):
        other = replace(plain, phone_form="digits", device_id_case="as_given")
        yield SuppressionForm(replace(mapping, columns=formed), other)
    if hashed := tuple(replace(column, hashed=True) for column in mapping.columns if column.kind.is_hashed):
        yield SuppressionForm(replace(mapping, columns=hashed), plain)


def read_forms(batch: TextBatch, forms: list[SuppressionForm], keysets: KeySets) -> SuppressionBatch:
    """Return the people of `batch` in each of `forms`. For any thread."""
    prepared = [prepare_batch(batch, form.mapping, rules=form.rules, operation_type=UPDATE) for form in forms]
    usable, rejections = _usable_rows([each.records for each in prepared]), prepared[0].rejections
    placeholders = _placeholder_rows(rejections, len(forms[0].mapping.columns))
    return SuppressionBatch(
        tagged=[keysets.tag_suppressed(each.records) for each in prepared],
        chunks=[to_chunk(each.records) for each in prepared],
        rows=prepared[0].tally.rows_read,
        usable_rows=len(usable),
        placeholder_rows=len(placeholders),
        unread=_unread(rejections.filter(pc.invert(pc.is_in(rejections.column("row"), placeholders))), usable),
    )


@guarded
def _usable_rows(of_forms: list[HashedRecords]) -> Indices:
    """Return the rows in which any value qualified, in any form."""
    return np.unique(np.concatenate([records.unwrap().column(ROW).to_numpy() for records in of_forms]))


def _placeholder_rows(rejections: pa.RecordBatch, columns: int) -> pa.Array[Any]:
    """Return the rows in which each of so many `columns` has a placeholder, and nothing else."""
    facts = {
        "row": rejections.column("row"),
        "column": rejections.column("column"),
        "is_placeholder": pc.equal(rejections.column("reason"), Reason.PLACEHOLDER.value),
    }
    rows = pa.table(facts).group_by("row").aggregate([("is_placeholder", "all"), ("column", "count_distinct")])
    is_without_person = pc.and_(
        rows.column("is_placeholder_all"), pc.equal(rows.column("column_count_distinct"), columns)
    )
    return rows.filter(is_without_person).column("row").combine_chunks()


def _unread(rejections: pa.RecordBatch, usable_rows: Indices) -> pa.RecordBatch:
    """Return the `rejections` because of which a person may be missed.

    A cell without an identifier, or with a hash, is ignored if something else in its row qualified.
    """
    is_harmless = pc.is_in(rejections.column("reason"), pa.array(sorted(_HARMLESS)))
    is_usable = pc.is_in(rejections.column("row"), arrow_array(usable_rows))
    return rejections.filter(pc.invert(pc.and_(is_harmless, is_usable)))


# --- The people of suppression sources, stored until it is known which of their values many share ---


class SuppressedPeople:
    """The records of all suppression sources, in scratch: later it is checked which other values these people have."""

    def __init__(self, scratch: Spool) -> None:
        self._scratch = scratch
        self._batches: list[list[int]] = []

    def add(self, forms: Sequence[RecordChunk]) -> None:
        """Add the records of the next batch, in all their forms."""
        self._batches.append([self._scratch.append(chunk.unwrap()) for chunk in forms])

    def unidentified(self, shared: SharedValues, keysets: KeySets) -> int:
        """Return how many of their rows have a value in `shared`, and no other value of a record."""
        found = 0
        for numbers in self._batches:
            forms = [from_chunk(RecordChunk(self._scratch.read(number))) for number in numbers]
            sharing, rows, tags = find_sharing_rows(forms, shared, keysets.tagger)
            if len(sharing):
                found += len(sharing) - len(np.unique(rows[keysets.has_values(tags)]))
        return found
