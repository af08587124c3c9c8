"""Records -> user entries as they stand in a request (specification part 2, section 4.4).

An entry is compact JSON with the kinds in the order of `Kind`. Records with as many values of each kind as one another
have one shape: their entries are equally long and differ only in the hashes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import SHA256_HEX_LENGTH
from audiencekit.personal import HashedRecords, Personal, guarded
from audiencekit.preparation.batches import ROW
from audiencekit.preparation.chunks import Counts, value_counts
from audiencekit.preparation.columnar.hexadecimal import Matrix, hash_matrix, to_hex
from audiencekit.preparation.entries import DIGITS, Lines, Shape, Slot
from audiencekit.profile import Profile

_ESCAPED: Final = r'["\\\x00-\x1f]'  # what JSON does not take as it is

# Shapes that are worth a template each; where there are more, entries are joined from their parts.
_MOST_SHAPES: Final = 64

# Fewer than one in so many records of a batch are taken out of it.
_FEW: Final = 8


class Entries(Personal[list[Shape | Lines]]):
    """The entries of some records, each followed by a comma, so that neighbours are already joined."""


@dataclass(frozen=True, slots=True)
class EncodedUsers:
    """The entries of some records, in order, and their `rows` in the source."""

    rows: npt.NDArray[np.int64] = field(repr=False)
    entries: Entries

    @classmethod
    def joined(cls, parts: Iterable[EncodedUsers]) -> EncodedUsers:
        """All of `parts`, in order."""
        entries: list[Shape | Lines] = []
        rows = [np.zeros(0, dtype=np.int64)]
        for part in parts:
            before = sum(map(len, rows))
            entries += [own.behind(before) for own in part.entries.unwrap()]
            rows.append(part.rows)
        return cls(np.concatenate(rows), Entries(entries))


@guarded
def encode_users(records: HashedRecords, places: Counts, profile: Profile) -> EncodedUsers:
    """The entries of the records at `places` of a batch (RECORD_SCHEMA), in their order."""
    batch = records.unwrap()
    if 0 < len(places) < batch.num_rows // _FEW:
        # The entries hold the hashes of their batch: of few records in each of many batches that would be all of them.
        batch, places = batch.take(pa.array(places)), np.arange(len(places))
    kinds = [kind for kind in Kind if batch.column(kind.value).null_count < batch.num_rows]
    counts = [value_counts(batch.column(kind.value)) for kind in kinds]
    shapes = _shape_numbers(counts, batch.num_rows) if all(kind.is_hashed for kind in kinds) else None
    entries: list[Shape | Lines] = []
    if shapes is None:
        entries += Lines.of(_joined(batch.take(pa.array(places)), kinds, profile))
    else:
        fields = [_Field.of(batch, kind, of_kind, profile) for kind, of_kind in zip(kinds, counts, strict=True)]
        entries += _by_shape(places, shapes[places], fields)
    return EncodedUsers(batch.column(ROW).to_numpy()[places], Entries(entries))


@guarded
def measure_users(records: HashedRecords, profile: Profile) -> npt.NDArray[np.int64]:
    """The bytes of each entry without its comma, as `encode_users` will write it."""
    batch = records.unwrap()
    sizes = np.full(batch.num_rows, len("{}"), dtype=np.int64)
    fields = np.zeros(batch.num_rows, dtype=np.int64)
    for kind in Kind:
        lists = batch.column(kind.value)
        if lists.null_count == batch.num_rows:
            continue
        counts = value_counts(lists)
        around = len(_opening(kind, profile)) + len("]")
        sizes += np.where(counts > 0, around + counts * len(",") - 1 + _value_bytes(lists, counts, kind), 0)
        fields += counts > 0
    sizes += np.maximum(fields - 1, 0)
    return sizes


def _value_bytes(lists: Any, counts: Counts, kind: Kind) -> Counts:
    """Bytes of all values of each record, with their quotation marks."""
    if kind.is_hashed:
        return counts * (SHA256_HEX_LENGTH + len('""'))
    lengths = pc.binary_length(_json_strings(lists.flatten())).to_numpy(zero_copy_only=False)
    owners = np.repeat(np.arange(len(counts)), counts)
    return np.bincount(owners, weights=lengths, minlength=len(counts)).astype(np.int64)


def _opening(kind: Kind, profile: Profile) -> str:
    return f'"{profile.wire_name(kind.value)}":['


# --- one template a shape ---


@dataclass(frozen=True, slots=True, repr=False)
class _Field:
    """One kind of a batch: `hashes` of all records one after the other, how many each has, and where they begin."""

    opening: str
    hashes: Matrix
    counts: Counts
    starts: Counts

    @classmethod
    def of(cls, batch: Any, kind: Kind, counts: Counts, profile: Profile) -> _Field:
        hashes = hash_matrix(batch.column(kind.value).flatten())
        return cls(_opening(kind, profile), hashes, counts, np.cumsum(counts) - counts)


def _by_shape(places: Counts, shapes: Counts, fields: list[_Field]) -> Iterator[Shape]:
    """The entries of the records at `places`, of which each has the shape of that number."""
    for shape in np.flatnonzero(np.bincount(shapes)).tolist():
        owners = np.flatnonzero(shapes == shape)
        yield _entries(owners, places[owners], fields)


def _shape_numbers(counts: list[Counts], records: int) -> Counts | None:
    """One number for each shape, None when they are spread too far to be worth it."""
    numbers, room = np.zeros(records, dtype=np.int64), 1
    for of_kind in counts:
        most = int(of_kind.max(initial=0)) + 1
        numbers, room = numbers * most + of_kind, room * most
        if room > _MOST_SHAPES:
            return None
    return numbers


def _entries(owners: Counts, places: Counts, fields: list[_Field]) -> Shape:
    """The entries of records of one shape."""
    text, slots = "{", []
    for one in fields:
        if count := int(one.counts[places[0]]):
            text += one.opening
            for number in range(count):
                slots.append(Slot(len(text) + 1, one.hashes, one.starts[places] + number))
                text += f'"{DIGITS}",'
            text = f"{text[:-1]}],"
    return Shape(owners, f"{text.rstrip(',')}}},".encode(), slots)


# --- joined from parts ---


def _joined(batch: Any, kinds: list[Kind], profile: Profile) -> Any:
    fields = [_field(batch.column(kind.value), kind, profile) for kind in kinds]
    joined = pc.binary_join_element_wise(*fields, ",", null_handling="skip")
    return pc.binary_join_element_wise("{", joined, "},", "").cast(pa.binary())


def _field(lists: Any, kind: Kind, profile: Profile) -> Any:
    """`"email":["…","…"]` for each record, null where it has no value."""
    values = lists.flatten()
    texts = pc.binary_join_element_wise('"', to_hex(values), '"', "") if kind.is_hashed else _json_strings(values)
    counts = value_counts(lists)
    offsets = np.zeros(len(counts) + 1, dtype=np.int32)
    np.cumsum(counts, out=offsets[1:])
    listed = pa.ListArray.from_arrays(pa.array(offsets), texts, mask=pa.array(counts == 0))
    return pc.binary_join_element_wise(_opening(kind, profile), pc.binary_join(listed, ","), "]", "")


def _json_strings(texts: Any) -> Any:
    """Each of `texts` as JSON writes it, with its quotation marks."""
    escaped = pc.match_substring_regex(texts, _ESCAPED)
    quoted = pc.binary_join_element_wise('"', texts, '"', "")
    if not pc.any(escaped).as_py():
        return quoted
    written = [orjson.dumps(text).decode() for text in texts.filter(escaped).to_pylist()]
    return pc.replace_with_mask(quoted, escaped, pa.array(written, pa.string()))
