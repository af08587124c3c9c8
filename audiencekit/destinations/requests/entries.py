"""Records -> user entries as they are written in a body (specification part 2, section 4.4).

An entry is compact JSON with the kinds in the order of `Kind`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.destinations.requests.entry_kernels import BatchPart, EntryKernels, Field
from audiencekit.identifiers.kinds import Kind
from audiencekit.kernels.library import kernels
from audiencekit.limits import SHA256_HEX_LENGTH
from audiencekit.profile import Profile
from audiencekit.records.chunks import Counts, value_counts
from audiencekit.records.columns.arrays import (
    arrow_array,
    hash_matrix,
    list_offsets,
    lists_between,
    offsets_of,
    text_buffers,
)
from audiencekit.records.columns.hashes import to_hex

Octets: TypeAlias = npt.NDArray[np.uint8]

_ESCAPED: Final = r'["\\\x00-\x1f]'  # what JSON does not take as it is


@dataclass(frozen=True, slots=True, repr=False)
class Chosen:
    """The records at `places` of `batch` (RECORD_SCHEMA). `profile` names their kinds."""

    batch: Any
    places: Counts
    profile: Profile

    def joined(self) -> Any:
        """Return their entries, each with a comma (pa.BinaryArray)."""
        return _joined(self.batch.take(arrow_array(self.places)), self.profile)


def write_operations(body: Octets, prefix: bytes, suffix: bytes, operations: int, users: Sequence[Chosen]) -> int:
    """Write all `users` into `body`, spread evenly over so many operations; return the number of bytes.

    Each operation is `prefix`, the entries of its users, `suffix` and a comma.
    """
    if compiled := kernels(EntryKernels):
        parts = [BatchPart(each.places, fields_of(each.batch, each.profile)) for each in users]
        return compiled.write_operations(body, prefix, suffix, operations, parts)
    entries = pa.concat_arrays([each.joined() for each in users] or [pa.array([], pa.binary())])
    written = b"".join(_operations(entries, prefix, suffix, operations))
    body[: len(written)] = np.frombuffer(written, dtype=np.uint8)
    return len(written)


def _operations(entries: Any, prefix: bytes, suffix: bytes, operations: int) -> Iterator[bytes | memoryview]:
    ends, content = text_buffers(entries)
    cuts = np.arange(operations + 1) * len(entries) // max(operations, 1)
    for begin, end in pairwise(ends[cuts].tolist()):
        yield from (prefix, content[begin : end - len(",")].data, suffix, b",")


def measure_entries(batch: Any, profile: Profile) -> Counts:
    """Return the bytes of the entry of each record of `batch`, without its comma."""
    if compiled := kernels(EntryKernels):
        return compiled.measure_entries(fields_of(batch, profile), batch.num_rows)
    sizes, fields = np.full(batch.num_rows, len("{}"), dtype=np.int64), np.zeros(batch.num_rows, dtype=np.int64)
    for kind in _kinds_of(batch):
        counts = value_counts(lists := batch.column(kind.value))
        around = len(_opening(kind, profile)) + len("]")
        sizes += np.where(counts > 0, around + counts * len(",") - 1 + _value_bytes(lists, counts, kind), 0)
        fields += counts > 0
    sizes += np.maximum(fields - 1, 0)
    return sizes


def _value_bytes(lists: Any, counts: Counts, kind: Kind) -> Counts:
    """Return the bytes of all values of each record, with their quotation marks."""
    if kind.is_hashed:
        return counts * (SHA256_HEX_LENGTH + len('""'))
    lengths = pc.binary_length(_json_strings(lists.flatten())).to_numpy(zero_copy_only=False)
    owners = np.repeat(np.arange(len(counts)), counts)
    return np.bincount(owners, weights=lengths, minlength=len(counts)).astype(np.int64)


def fields_of(batch: Any, profile: Profile) -> list[Field]:
    """Return the kinds that occur in `batch`, as the kernels take them."""
    return [_field_of(batch.column(kind.value), kind, profile) for kind in _kinds_of(batch)]


def _kinds_of(batch: Any) -> list[Kind]:
    return [kind for kind in Kind if batch.column(kind.value).null_count < batch.num_rows]


def _field_of(lists: Any, kind: Kind, profile: Profile) -> Field:
    opening, values = _opening(kind, profile).encode(), lists.values
    if kind.is_hashed:
        return Field(opening, list_offsets(lists), hash_matrix(values))
    ends, written = text_buffers(_json_strings(values))
    return Field(opening, list_offsets(lists), written, ends)


def _opening(kind: Kind, profile: Profile) -> str:
    return f'"{profile.wire_name(kind.value)}":['


def _joined(batch: Any, profile: Profile) -> Any:
    """Return the entry of each record with its comma. Every record has an identifier: Arrow would drop one without."""
    if not batch.num_rows:
        return pa.array([], pa.binary())
    fields = [_written(batch.column(kind.value), kind, profile) for kind in _kinds_of(batch)]
    joined = pc.binary_join_element_wise(*fields, ",", null_handling="skip")
    return pc.binary_join_element_wise("{", joined, "},", "").cast(pa.binary())


def _written(lists: Any, kind: Kind, profile: Profile) -> Any:
    """Return `"email":["…","…"]` for each record, null where it has no value."""
    values = lists.flatten()
    texts = pc.binary_join_element_wise('"', to_hex(values), '"', "") if kind.is_hashed else _json_strings(values)
    listed = lists_between(offsets_of(value_counts(lists)), texts)
    return pc.binary_join_element_wise(_opening(kind, profile), pc.binary_join(listed, ","), "]", "")


def _json_strings(texts: Any) -> Any:
    """Return each of `texts` as JSON, with its quotation marks."""
    escaped = pc.match_substring_regex(texts, _ESCAPED)
    quoted = pc.binary_join_element_wise('"', texts, '"', "")
    if not pc.any(escaped).as_py():
        return quoted
    written = [orjson.dumps(text).decode() for text in texts.filter(escaped).to_pylist()]
    return pc.replace_with_mask(quoted, escaped, pa.array(written, pa.string()))
