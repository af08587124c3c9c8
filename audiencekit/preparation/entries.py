"""User entries on their way into a body: equally long ones are put at all their places in one go."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.limits import SHA256_HEX_LENGTH
from audiencekit.preparation.columnar.hexadecimal import Matrix, hex_digits
from audiencekit.preparation.columnar.kernels.library import kernels

Octets: TypeAlias = npt.NDArray[np.uint8]
Places: TypeAlias = npt.NDArray[np.int64]

DIGITS: Final = "0" * SHA256_HEX_LENGTH  # stands in a template where a hash comes


@dataclass(frozen=True, slots=True, repr=False)
class Slot:
    """Where in each entry of a shape a hash stands: the line of `hashes` that `chosen` says for each."""

    begin: int
    hashes: Matrix
    chosen: Places


@dataclass(frozen=True, slots=True, repr=False)
class Shape:
    """Entries that differ in their hashes only. `owners` are their records, counted among those that are encoded.

    An entry is `template` with the digits of a hash in each of `slots`, and ends with a comma.
    """

    owners: Places
    template: bytes
    slots: list[Slot] = field(default_factory=list)

    @property
    def entry_bytes(self) -> int:
        """Of each entry, with its comma."""
        return len(self.template)

    def behind(self, records: int) -> Shape:
        """The same entries behind those of so many other records."""
        return replace(self, owners=self.owners + records)

    def write(self, body: Octets, starts: Places) -> None:
        """Put the entries into `body`, that of each record where `starts` says."""
        places = starts[self.owners]
        if compiled := kernels():
            slots = [(slot.begin, slot.hashes, slot.chosen) for slot in self.slots]
            compiled.writing.write_entries(body, places, self.template, slots)
            return
        put_at(body, places, np.frombuffer(self.template, dtype=np.uint8)[None, :])
        # All at a time: threads that pack side by side would wait for each other at every smaller step.
        for slot in self.slots:
            put_at(body, places + slot.begin, hex_digits(np.take(slot.hashes, slot.chosen, axis=0)))


@dataclass(frozen=True, slots=True, repr=False)
class Lines:
    """Equally long entries that are written already, one a line, each with its comma; `owners` as in Shape."""

    owners: Places
    lines: Octets

    @property
    def entry_bytes(self) -> int:
        """Of each entry, with its comma."""
        return int(self.lines.shape[1])

    def behind(self, records: int) -> Lines:
        """The same entries behind those of so many other records."""
        return replace(self, owners=self.owners + records)

    def write(self, body: Octets, starts: Places) -> None:
        """Put the entries into `body`, that of each record where `starts` says."""
        put_at(body, starts[self.owners], self.lines)

    @classmethod
    def of(cls, entries: Any) -> list[Lines]:
        """The entries of a pa.BinaryArray, by their length."""
        if not len(entries):
            return []
        _, offsets_buffer, content = entries.buffers()
        offsets = np.frombuffer(offsets_buffer, dtype=np.int32)[entries.offset :][: len(entries) + 1]
        octets, sizes = np.frombuffer(content, dtype=np.uint8), np.diff(offsets)
        found = []
        for size in np.unique(sizes).tolist():
            owners = np.flatnonzero(sizes == size)
            lines = _windows(octets, size)[offsets[owners]]
            found.append(cls(owners, lines.view(np.uint8).reshape(-1, size)))
        return found


def put_at(body: Octets, places: Places, lines: Octets) -> None:
    """Copy each of `lines`, or the only one again and again, to its place in `body`."""
    wide = np.ascontiguousarray(lines).view(f"V{lines.shape[1]}")[:, 0]
    _windows(body, lines.shape[1])[places] = wide if len(wide) > 1 else np.broadcast_to(wide, len(places))


def _windows(octets: Octets, size: int) -> Any:
    """From each place the bytes of `size`, as one value, without a copy."""
    return np.ndarray((len(octets) - size + 1,), f"V{size}", octets, strides=(1,))
