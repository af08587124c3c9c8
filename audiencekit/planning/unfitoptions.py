"""Options that fit neither the source, nor the destination, nor each other: refused before a row is read."""

from __future__ import annotations

import os
from pathlib import Path

from audiencekit.destinations.destination import Destination
from audiencekit.errors import MappingRefused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.optiontext import option
from audiencekit.planning.options import Options
from audiencekit.preparation.batches import ColumnMapping
from audiencekit.reporting.rejections import refuse_other_file
from audiencekit.sources.bytes.standardinput import STANDARD_INPUT
from audiencekit.sources.files import FilePath


def refuse_options(options: Options, paths: tuple[str, ...], destination: Destination) -> None:
    """Raises UsageError for options that cannot be together, with the destination, or with these paths."""
    if not destination.suppresses and (options.suppress or options.consent is not None):
        raise UsageError(f"a {destination.words.noun} keeps people out: suppression has no meaning for it")
    if [*paths, *options.suppress].count(STANDARD_INPUT) > 1:
        raise UsageError("standard input is named twice, and can be read only once")


def refuse_other_kinds(mapping: ColumnMapping, destination: Destination) -> None:
    """Raises MappingRefused, which names them, for columns whose kind the destination does not take."""
    if alien := [column for column in mapping.columns if column.kind not in destination.kinds]:
        named = ", ".join(f"{column.name} ({column.kind})" for column in alien)
        kinds = [kind.value for kind in Kind if kind in destination.kinds]
        raise MappingRefused(
            f"a {destination.words.noun} takes {' and '.join(kinds)} only, and other columns are mapped: {named}",
            hint=f"name the columns to be sent: {option('columns', dict.fromkeys(kinds, 'COLUMN'))}",
        )


def refuse_written_over(read: tuple[str, ...], rejections: FilePath | None) -> None:
    """Raises UsageError when the rejections would be written over a file that is read, or over any but rejections."""
    if rejections is None:
        return
    if any(_is_same_file(path, rejections) for path in read):
        raise UsageError("the rejections would be written over the source", hint="give them another name")
    refuse_other_file(Path(rejections))


def _is_same_file(one: FilePath, other: FilePath) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
