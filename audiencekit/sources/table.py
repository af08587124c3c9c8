"""What every format gives to the door: names and sampled cells to map by, then the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from audiencekit.preparation.batches import ColumnMapping, TextBatch
from audiencekit.sources.header import Header
from audiencekit.sources.sampling import Sample

Description = dict[str, str | int | bool | None]


class Table(Protocol):
    """A file, ready to be read as often as wanted."""

    rows_read: int  # of the last pass, faulty rows included

    @property
    def bytes_read(self) -> int:
        """Bytes of the file on disk, of the last pass."""

    @property
    def description(self) -> Description:
        """What the file was found to be, for people."""

    def check(self, mapping: ColumnMapping) -> None:
        """Raises SourceRefused or MappingRefused for a mapping that this table cannot serve."""

    def batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """All rows, from the first."""


@dataclass(frozen=True, slots=True)
class Look:
    """A table and what was seen of it. The sample is personal data, and is dropped once the columns are mapped."""

    table: Table
    header: Header
    sample: Sample
