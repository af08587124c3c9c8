"""Kernels that write the entries of bodies, and measure them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audiencekit.destinations.requests.entries import Chosen, json_strings, kinds_of, opening_of
from audiencekit.identifiers.kinds import Kind
from audiencekit.kernels.layouts import KernelStructure, Slice, output_slice, require
from audiencekit.profile import Profile
from audiencekit.records.chunks import Counts
from audiencekit.records.columns.arrays import Bytes, Places, hash_matrix, list_offsets, text_buffers


class _Field(KernelStructure):
    _fields_ = (("opening", Slice), ("lists", Slice), ("values", Slice), ("ends", Slice))


class _Part(KernelStructure):
    _fields_ = (("places", Slice), ("fields", Slice))


@dataclass(frozen=True, slots=True, repr=False)
class Field:
    """One kind of a batch: its name in an entry up to the bracket, the offsets of the lists, and the values.

    Values are hashes, or texts as JSON writes them; of texts `ends` has the offsets in bytes.
    """

    opening: bytes
    lists: Places
    values: Bytes
    ends: Places | None = None

    def to_structure(self) -> _Field:
        """Return the structure that the library reads."""
        opening = Slice.of(np.frombuffer(self.opening, dtype=np.uint8), np.uint8)
        ends = Slice() if self.ends is None else Slice.of(self.ends, np.int32)
        made = _Field(opening, Slice.of(self.lists, np.int32), Slice.of(self.values, np.uint8), ends)
        made._kept = (self,)
        return made


@dataclass(frozen=True, slots=True, repr=False)
class BatchPart:
    """Records of one batch, by their places in it, and the kinds of that batch."""

    places: Counts
    fields: Sequence[Field]

    def to_structure(self) -> _Part:
        """Return the structure that the library reads."""
        fields = Slice.of_all([field.to_structure() for field in self.fields], _Field)
        made = _Part(Slice.of(self.places, np.int64), fields)
        made._kept = (self, fields)
        return made


class EntryKernels:
    """The kernels for entries of records, which are given by their places in a batch."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def write_operations(
        self, body: Bytes, prefix: bytes, suffix: bytes, operations: int, users: Sequence[Chosen]
    ) -> int:
        """Put all `users` into `body`, spread evenly over so many operations; how many bytes they take.

        Each operation is `prefix`, the entries of its users, `suffix` and a comma.
        """
        parts = [BatchPart(each.places, fields_of(each.batch, each.profile)) for each in users]
        return self.write_parts(body, prefix, suffix, operations, parts)

    def measure_entries(self, batch: Any, profile: Profile) -> Counts:
        """The bytes of the entry of each record of `batch`, without its comma."""
        return self.measure_fields(fields_of(batch, profile), batch.num_rows)

    def write_parts(
        self, body: Bytes, prefix: bytes, suffix: bytes, operations: int, parts: Sequence[BatchPart]
    ) -> int:
        """The same of `parts`."""
        given = [Slice.of(np.frombuffer(text, dtype=np.uint8), np.uint8) for text in (prefix, suffix)]
        all_parts, written = Slice.of_all([part.to_structure() for part in parts], _Part), ctypes.c_size_t(0)
        arguments = (*map(ctypes.byref, given), ctypes.c_size_t(operations), ctypes.byref(all_parts))
        require(self._library.audiencekit_operations(*output_slice(body, np.uint8), *arguments, ctypes.byref(written)))
        return written.value

    def measure_fields(self, fields: Sequence[Field], records: int) -> Counts:
        """The same of so many records that have these `fields`."""
        to_structure = Slice.of_all([field.to_structure() for field in fields], _Field)
        sizes = np.empty(records, dtype=np.int64)
        require(self._library.audiencekit_entry_sizes(*output_slice(sizes, np.int64), ctypes.byref(to_structure)))
        return sizes


def fields_of(batch: Any, profile: Profile) -> list[Field]:
    """The kinds of `batch` that some record has, as the kernels take them."""
    return [_field_of(batch.column(kind.value), kind, profile) for kind in kinds_of(batch)]


def _field_of(lists: Any, kind: Kind, profile: Profile) -> Field:
    opening, values = opening_of(kind, profile).encode(), lists.values
    if kind.is_hashed:
        return Field(opening, list_offsets(lists), hash_matrix(values))
    ends, written = text_buffers(json_strings(values))
    return Field(opening, list_offsets(lists), written, ends)
