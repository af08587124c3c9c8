"""Who must not be put in, read from sources of their own, in every form that an identifier could be sent in.

A suppression source names people, so whoever cannot be read from it could be put in unnoticed: it is read to its end
or the run is refused. Its columns are recognised. Values in the clear are hashed by each of the rules that a profile
may have, phone numbers that are merely possible count, and cells that hold SHA-256 are taken as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from audiencekit.errors import MappingRefused, PlanRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.reasons import Reason
from audiencekit.identifiers.rules import Rules
from audiencekit.limits import DEFAULT_MAX_REJECTED_SHARE
from audiencekit.machine.workers import cores, in_order
from audiencekit.personal import HashedRecords, guarded
from audiencekit.planning.options import Options
from audiencekit.preparation.batches import ROW, ColumnMapping, TextBatch
from audiencekit.preparation.chunks import RecordChunk, to_chunk
from audiencekit.preparation.keysets import KeySets
from audiencekit.preparation.partitions import SortedEntries
from audiencekit.preparation.records import UPDATE, PreparedBatch, prepare_batch
from audiencekit.reporting.progress import Progress
from audiencekit.sources.files import FilePath
from audiencekit.sources.opening import open_source
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source

_FORMED: Final = frozenset({Kind.PHONE_NUMBER, Kind.DEVICE_ID})  # kinds that profiles write in different forms


@dataclass(frozen=True, slots=True)
class _Form:
    """One way to read a batch: which columns, hashed already or not, by which rules."""

    mapping: ColumnMapping
    rules: Rules


@dataclass(frozen=True, slots=True)
class _ReadBatch:
    """What one batch says: tags and records of each form, and of its rows how many say anything."""

    tagged: list[SortedEntries | None] = field(repr=False)
    chunks: list[RecordChunk]
    rows: int
    usable_rows: int
    numbers_lost: int


def suppress_listed(
    options: Options, keysets: KeySets, progress: Progress, on_records: Callable[[RecordChunk], None]
) -> tuple[str, ...]:
    """Gather in `keysets` whom all suppression sources of `options` name; what people should know of them."""
    notes: tuple[str, ...] = ()
    for path in options.suppress:
        notes += read_suppression(path, options.source.country, keysets, progress=progress, on_records=on_records)
    return notes


def read_suppression(
    source: FilePath,
    country: str | None,
    keysets: KeySets,
    *,
    progress: Progress,
    on_records: Callable[[RecordChunk], None],
) -> tuple[str, ...]:
    """Gather in `keysets` everybody whom the source names; what people should know of it, in words.

    `country` is of phone numbers that name none. `on_records` gets the records of every batch and form, in order.
    Raises SourceRefused for a source that cannot be read to its end, MappingRefused for one without a column of
    identifiers, PlanRefused for one of which too few rows say who is meant.
    """
    opened = open_source(source, SourceOptions(country=country, every_form=True, one_operation=True))
    if not opened.mapping.columns:
        hint = "name its columns like their kinds: email, phone" + "".join(f"; {note}" for note in opened.notes)
        raise MappingRefused(f"suppression source {opened.name}: no column with identifiers was recognised", hint=hint)
    forms = list(_forms(opened.mapping, country))
    counts: Counter[str] = Counter()
    for batch in in_order(lambda batch: _read(batch, forms, keysets), opened.batches(), workers=cores()):
        for tagged, chunk in zip(batch.tagged, batch.chunks, strict=True):
            keysets.suppress(tagged)
            on_records(chunk)
        counts += Counter(rows=batch.rows, usable=batch.usable_rows, lost=batch.numbers_lost)
        progress.step(f"reading {opened.name}", opened.bytes_read, opened.bytes_total, unit="bytes")
    return tuple(_judge(opened, counts))


def _forms(mapping: ColumnMapping, country: str | None) -> Iterator[_Form]:
    plain = Rules(default_country=country, phone_validity="possible", phone_form="e164", device_id_case="lower")
    yield _Form(mapping, plain)
    if formed := tuple(column for column in mapping.columns if column.kind in _FORMED):
        other = replace(plain, phone_form="digits", device_id_case="as_given")
        yield _Form(replace(mapping, columns=formed), other)
    if hashed := tuple(replace(column, hashed=True) for column in mapping.columns if column.kind.is_hashed):
        yield _Form(replace(mapping, columns=hashed), plain)


def _read(batch: TextBatch, forms: list[_Form], keysets: KeySets) -> _ReadBatch:
    prepared = [prepare_batch(batch, form.mapping, rules=form.rules, operation_type=UPDATE) for form in forms]
    return _ReadBatch(
        tagged=[keysets.tag_suppressed(each.records) for each in prepared],
        chunks=[to_chunk(each.records) for each in prepared],
        rows=prepared[0].tally.rows_read,
        usable_rows=_usable_rows([each.records for each in prepared]),
        numbers_lost=_reasons(prepared[0])[Reason.NO_COUNTRY],
    )


def _reasons(prepared: PreparedBatch) -> Counter[str]:
    return prepared.tally.reasons


@guarded
def _usable_rows(of_forms: list[HashedRecords]) -> int:
    """Of how many rows anything qualified, in whichever form."""
    return len(np.unique(np.concatenate([records.unwrap().column(ROW).to_numpy() for records in of_forms])))


def _judge(source: Source, counts: Counter[str]) -> Iterator[str]:
    """What people should know. Raises PlanRefused when the source says too little."""
    rows, unusable = counts["rows"], counts["rows"] - counts["usable"]
    where = f"suppression source {source.name}"
    if not counts["usable"] or unusable > DEFAULT_MAX_REJECTED_SHARE * rows:
        raise PlanRefused(
            f"{where}: {unusable:,} of {rows:,} rows say nobody, so that nothing may be sent",
            hint="`check` it by itself to see why; a source without people is to be left out",
        )
    if unusable:
        yield f"{where}: {unusable:,} of {rows:,} rows have no usable identifier, and suppress nobody"
    if counts["lost"]:
        yield f"{where}: {counts['lost']:,} numbers without a country suppress nobody: give --country"
