"""Records -> user entries as they stand in a request (specification part 2, section 4.4).

An entry is compact JSON with the kinds in the order of `Kind`. Records with as many values of each kind as one another
have one shape: their entries are equally long and differ only in the hashes, so a whole shape is one matrix.
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
from audiencekit.preparation.columnar.hexadecimal import Matrix, hash_matrix, hex_digits, to_hex
from audiencekit.profile import Profile

_DIGITS: Final = "0" * SHA256_HEX_LENGTH  # stands in a template where a hash comes
_ESCAPED: Final = r'["\\\x00-\x1f]'  # what JSON does not take as it is

# Records that are encoded at a time: what is made of them stays in the processor's cache.
_BLOCK_RECORDS: Final = 4_096

# Shapes that are worth a matrix each; where there are more, entries are joined from their parts.
_MOST_SHAPES: Final = 64


class Entries(Personal[list[Any]]):
    """Blocks of entries (pa.BinaryArray), each followed by a comma, so that neighbours are already joined."""


@dataclass(frozen=True, slots=True)
class EncodedUsers:
    """The entries of some records, in order, and their `rows` in the source."""

    rows: npt.NDArray[np.int64] = field(repr=False)
    entries: Entries

    @classmethod
    def joined(cls, parts: Iterable[EncodedUsers]) -> EncodedUsers:
        """All of `parts`, in order."""
        listed = list(parts)
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *(part.rows for part in listed)])
        return cls(rows, Entries([block for part in listed for block in part.entries.unwrap()]))


@guarded
def encode_users(records: HashedRecords, places: Counts, profile: Profile) -> EncodedUsers:
    """The entries of the records at `places` of a batch (RECORD_SCHEMA), in their order."""
    batch = records.unwrap()
    kinds = [kind for kind in Kind if batch.column(kind.value).null_count < batch.num_rows]
    counts = [value_counts(batch.column(kind.value)) for kind in kinds]
    shapes = _shape_numbers(counts, batch.num_rows) if all(kind.is_hashed for kind in kinds) else None
    if shapes is None:
        blocks = (_joined(batch.take(pa.array(own)), kinds, profile) for own in _blocks(places))
    else:
        fields = [_Field.of(batch, kind, of_kind, profile) for kind, of_kind in zip(kinds, counts, strict=True)]
        blocks = (_by_shape(own, shapes[own], fields) for own in _blocks(places))
    return EncodedUsers(batch.column(ROW).to_numpy()[places], Entries(list(blocks)))


def _blocks(places: Counts) -> Iterator[Counts]:
    return (places[start : start + _BLOCK_RECORDS] for start in range(0, len(places), _BLOCK_RECORDS))


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


# --- one matrix a shape ---


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


def _by_shape(places: Counts, shapes: Counts, fields: list[_Field]) -> Any:
    """The entries of the records at `places`, of which each has the shape of that number."""
    entries, owners = [], []
    for shape in np.flatnonzero(np.bincount(shapes)).tolist():
        owners.append(np.flatnonzero(shapes == shape))
        entries.append(_entries(places[owners[-1]], fields))
    return _interleaved(entries, owners)


def _shape_numbers(counts: list[Counts], records: int) -> Counts | None:
    """One number for each shape, None when they are spread too far to be worth it."""
    numbers, room = np.zeros(records, dtype=np.int64), 1
    for of_kind in counts:
        most = int(of_kind.max(initial=0)) + 1
        numbers, room = numbers * most + of_kind, room * most
        if room > _MOST_SHAPES:
            return None
    return numbers


def _entries(places: Counts, fields: list[_Field]) -> Any:
    """The entries of records of one shape."""
    text, values = "{", []
    for one in fields:
        if count := int(one.counts[places[0]]):
            text += one.opening
            for number in range(count):
                values.append((len(text) + 1, one.hashes, one.starts[places] + number))
                text += f'"{_DIGITS}",'
            text = f"{text[:-1]}],"
    template = np.frombuffer(f"{text.rstrip(',')}}},".encode(), dtype=np.uint8)
    entries = np.empty((len(places), len(template)), dtype=np.uint8)
    entries[:] = template
    for begin, hashes, chosen in values:
        entries[:, begin : begin + SHA256_HEX_LENGTH] = hex_digits(np.take(hashes, chosen, axis=0))
    offsets = np.arange(len(places) + 1, dtype=np.int32) * np.int32(len(template))
    return pa.Array.from_buffers(pa.binary(), len(places), [None, pa.py_buffer(offsets), pa.py_buffer(entries)])


def _interleaved(blocks: list[Any], owners: list[Counts]) -> Any:
    """The entries of all shapes, each in the place of its record."""
    if len(blocks) == 1:
        return blocks[0]
    order = np.concatenate(owners)
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return pa.concat_arrays(blocks).take(pa.array(places))


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
