"""The loops over entries where there are no kernels: Arrow writes and joins columns of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.destinations.requests.entries import Chosen, Octets, json_strings, kinds_of, opening_of
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import SHA256_HEX_LENGTH
from audiencekit.profile import Profile
from audiencekit.records.chunks import Counts, value_counts
from audiencekit.records.columns.arrays import arrow_array, lists_between, offsets_of, text_buffers
from audiencekit.records.columns.hashes import to_hex


class PlainEntries:
    """The same functions as `EntryKernels`, which says what they do, with the same results."""

    def write_operations(
        self, body: Octets, prefix: bytes, suffix: bytes, operations: int, users: Sequence[Chosen]
    ) -> int:
        parts = [_joined(each.batch.take(arrow_array(each.places)), each.profile) for each in users]
        entries = pa.concat_arrays(parts or [pa.array([], pa.binary())])
        written = b"".join(_operations(entries, prefix, suffix, operations))
        body[: len(written)] = np.frombuffer(written, dtype=np.uint8)
        return len(written)

    def measure_entries(self, batch: Any, profile: Profile) -> Counts:
        sizes, fields = np.full(batch.num_rows, len("{}"), dtype=np.int64), np.zeros(batch.num_rows, dtype=np.int64)
        for kind in kinds_of(batch):
            counts = value_counts(lists := batch.column(kind.value))
            around = len(opening_of(kind, profile)) + len("]")
            sizes += np.where(counts > 0, around + counts * len(",") - 1 + _value_bytes(lists, counts, kind), 0)
            fields += counts > 0
        sizes += np.maximum(fields - 1, 0)
        return sizes


def _operations(entries: Any, prefix: bytes, suffix: bytes, operations: int) -> Iterator[bytes | memoryview]:
    ends, content = text_buffers(entries)
    cuts = np.arange(operations + 1) * len(entries) // max(operations, 1)
    for begin, end in pairwise(ends[cuts].tolist()):
        yield from (prefix, content[begin : end - len(",")].data, suffix, b",")


def _value_bytes(lists: Any, counts: Counts, kind: Kind) -> Counts:
    """Bytes of all values of each record, with their quotation marks."""
    if kind.is_hashed:
        return counts * (SHA256_HEX_LENGTH + len('""'))
    lengths = pc.binary_length(json_strings(lists.flatten())).to_numpy(zero_copy_only=False)
    owners = np.repeat(np.arange(len(counts)), counts)
    return np.bincount(owners, weights=lengths, minlength=len(counts)).astype(np.int64)


def _joined(batch: Any, profile: Profile) -> Any:
    """The entry of each record with its comma. Every record has an identifier: Arrow would leave out one without."""
    if not batch.num_rows:
        return pa.array([], pa.binary())
    fields = [_written(batch.column(kind.value), kind, profile) for kind in kinds_of(batch)]
    joined = pc.binary_join_element_wise(*fields, ",", null_handling="skip")
    return pc.binary_join_element_wise("{", joined, "},", "").cast(pa.binary())


def _written(lists: Any, kind: Kind, profile: Profile) -> Any:
    """`"email":["…","…"]` for each record, null where it has no value."""
    values = lists.flatten()
    texts = pc.binary_join_element_wise('"', to_hex(values), '"', "") if kind.is_hashed else json_strings(values)
    listed = lists_between(offsets_of(value_counts(lists)), texts)
    return pc.binary_join_element_wise(opening_of(kind, profile), pc.binary_join(listed, ","), "]", "")
