"""The facts of a source that was read to its end: names of columns, forms of files. Never a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol, Self

from audiencekit.identifiers.kinds import Kind
from audiencekit.preparation.batches import ColumnMapping, MappedColumn
from audiencekit.sources.source import Source
from audiencekit.sources.table import Description, SourcePart


class Origin(Protocol):
    """The origin of the records of a plan: a source, or the spool that was kept of one."""

    @property
    def description(self) -> Description:
        """Its format and size, for people."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on it, for people."""

    @property
    def parts(self) -> tuple[SourcePart, ...]:
        """Its files."""

    @property
    def mapping(self) -> ColumnMapping:
        """Which columns carry what."""

    @property
    def repeatable(self) -> bool:
        """Whether all of it can be read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSource:
    """The facts of a Source, which are the same when its rows come from a kept spool."""

    mapping: ColumnMapping
    description: Description
    parts: tuple[SourcePart, ...]
    notes: tuple[str, ...]
    operation_hint: str | None
    repeatable: bool

    @classmethod
    def of(cls, source: Source) -> Self:
        """Those of `source`, all of whose batches were read."""
        return cls(
            mapping=source.mapping,
            description=source.description,
            parts=source.parts,
            notes=source.notes,
            operation_hint=source.operation_hint,
            repeatable=source.repeatable,
        )

    def to_json(self) -> dict[str, Any]:
        """The facts as JSON has them."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """The facts whose `to_json` is `document`."""
        facts = dict(document)
        mapping = dict(facts.pop("mapping"))
        columns = tuple(MappedColumn(**{**column, "kind": Kind(column["kind"])}) for column in mapping.pop("columns"))
        parts, notes = tuple(SourcePart(**part) for part in facts.pop("parts")), tuple(facts.pop("notes"))
        return cls(mapping=ColumnMapping(columns=columns, **mapping), parts=parts, notes=notes, **facts)
