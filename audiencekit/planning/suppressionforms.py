"""A batch of a suppression source: read in every form that its identifiers could be sent in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.reasons import Reason
from audiencekit.identifiers.rules import Rules
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.batches import ROW, ColumnMapping, TextBatch
from audiencekit.preparation.chunks import RecordChunk, to_chunk
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.preparation.recordbits import Indices
from audiencekit.preparation.records import UPDATE, prepare_batch
from audiencekit.selection.keysets import KeySets
from audiencekit.selection.tagkernels import OrderedTags

# Reasons of cells that name no person, and of those that are read in another form.
_HARMLESS: Final = frozenset(
    {Reason.EMPTY, Reason.PLACEHOLDER, Reason.ZEROED, Reason.HASH_OF_PLACEHOLDER, Reason.ALREADY_HASHED}
)
_FORMED: Final = frozenset({Kind.PHONE_NUMBER, Kind.DEVICE_ID})  # kinds that profiles write in different forms


@dataclass(frozen=True, slots=True)
class SuppressionForm:
    """One way to read a batch: which columns, hashed already or not, by which rules."""

    mapping: ColumnMapping
    rules: Rules


@dataclass(frozen=True, slots=True)
class SuppressionBatch:
    """The contents of one batch: tags and records of each form, the count of its rows, and of those that are usable.

    `unread` says why some were not read to their end (REJECTION_SCHEMA).
    """

    tagged: list[OrderedTags | None] = field(repr=False)
    chunks: list[RecordChunk]
    rows: int
    usable_rows: int
    unread: pa.RecordBatch


def forms_of_batch(mapping: ColumnMapping, country: str | None) -> Iterator[SuppressionForm]:
    """The forms that the values in the columns of `mapping` could have been sent in."""
    plain = Rules(default_country=country, phone_validity="possible", phone_form="e164", device_id_case="lower")
    yield SuppressionForm(mapping, plain)
    if formed := tuple(column for column in mapping.columns if column.kind in _FORMED):
        other = replace(plain, phone_form="digits", device_id_case="as_given")
        yield SuppressionForm(replace(mapping, columns=formed), other)
    if hashed := tuple(replace(column, hashed=True) for column in mapping.columns if column.kind.is_hashed):
        yield SuppressionForm(replace(mapping, columns=hashed), plain)


def read_forms(batch: TextBatch, forms: list[SuppressionForm], keysets: KeySets) -> SuppressionBatch:
    """The people of `batch` in each of `forms`. To be called from any thread."""
    prepared = [prepare_batch(batch, form.mapping, rules=form.rules, operation_type=UPDATE) for form in forms]
    usable = _usable_rows([each.records for each in prepared])
    return SuppressionBatch(
        tagged=[keysets.tag_suppressed(each.records) for each in prepared],
        chunks=[to_chunk(each.records) for each in prepared],
        rows=prepared[0].tally.rows_read,
        usable_rows=len(usable),
        unread=_unread(prepared[0].rejections, usable),
    )


@guarded
def _usable_rows(of_forms: list[HashedRecords]) -> Indices:
    """The rows of which anything qualified, in whichever form."""
    return np.unique(np.concatenate([records.unwrap().column(ROW).to_numpy() for records in of_forms]))


def _unread(rejections: pa.RecordBatch, usable_rows: Indices) -> pa.RecordBatch:
    """The `rejections` by which a person may be missed.

    A cell without an identifier, or with a hash, is none of them where something else of its row qualified.
    """
    is_harmless = pc.is_in(rejections.column("reason"), pa.array(sorted(_HARMLESS)))
    is_usable = pc.is_in(rejections.column("row"), arrow_array(usable_rows))
    return rejections.filter(pc.invert(pc.and_(is_harmless, is_usable)))
