"""NDJSON: one object a line. The keys are the columns; a line that is no such object is a faulty row."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import BATCH_ROWS, MAX_COLUMNS, SAMPLE_ROWS
from audiencekit.personal import RawColumns
from audiencekit.records.batches import ColumnMapping, TextBatch
from audiencekit.sources.bytes.bytestream import ByteStream, TextSample, take_sample
from audiencekit.sources.bytes.lines import LineCounter, non_blank_lines
from audiencekit.sources.columns.header import Header
from audiencekit.sources.jsonlines.jsonobjects import NotText, read_object, texts_of
from audiencekit.sources.jsonlines.rowreading import RowReader, Rows, joined
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sampling import OBJECT_ROWS, SAMPLE_BYTES, Sample
from audiencekit.sources.table import Description, Look
from audiencekit.sources.unreadablerows import Faults, FaultWords

NAMES: Final = (".ndjson", ".jsonl", ".ndjson.gz", ".jsonl.gz")
SNIFFED_LINES: Final = 10  # an object among these, when the first line begins like one
_ARRAY: Final = re.compile(rb"\s*\[\s*\{")
PIECE_LINES: Final = 4_096  # read at once
LOOKED_AT: Final = 32  # of so many lines one is looked at for keys that are not read
BATCH_BYTES: Final = 32_000_000  # of lines; a batch of long ones ends earlier
WORDS: Final[Mapping[Reason, FaultWords]] = {
    Reason.RAGGED: FaultWords(
        "are not one JSON object each, hold a key twice, or something other than text where an identifier belongs",
        "write one object a line, with texts, numbers, or lists of them under the mapped keys, or `ignore=` a key",
    ),
    Reason.ENCODING: FaultWords("hold bytes that are not UTF-8", "write the file as UTF-8"),
    Reason.TOO_LARGE: FaultWords(
        "are longer than a line may be, or hold a value that is too large for an identifier", "check the mapping"
    ),
}


def is_json_lines(name: str, sample: TextSample) -> bool:
    """Whether this is NDJSON: by its name, or by a first line that begins like an object and one that is.

    Raises SourceRefused for JSON that is not divided into lines.
    """
    lines = sample.data.split(b"\n", SNIFFED_LINES)[:SNIFFED_LINES]
    begins = sample.data.lstrip()[:1]
    if _ARRAY.match(sample.data) or (begins == b"{" and lines[0].strip() == b"{"):
        raise SourceRefused("this is JSON, but not one object a line", hint="write it as NDJSON, one object a line")
    if name.casefold().endswith(NAMES):
        return True
    return begins == b"{" and any(isinstance(read_object(line), dict) for line in lines)


def open_json_lines(stream: ByteStream, options: SourceOptions) -> Look:
    """An NDJSON file, looked at. Raises SourceRefused for one that is empty or has no object at its beginning."""
    taken = take_sample(stream.blocks(), SAMPLE_BYTES)
    lines = list(itertools.islice(non_blank_lines(iter([taken.data]), LineCounter()), SAMPLE_ROWS + 1))
    if not lines:
        raise SourceRefused("the file is empty", hint="see whether it was cut off, or leave the file out")
    whole = lines if taken.is_whole or len(lines) == 1 else lines[:-1]
    read = [(line, read_object(line)) for line in whole if line is not None]
    objects = [(line, found) for line, found in read if isinstance(found, dict)]
    if not objects:
        raise SourceRefused("none of its first lines is a JSON object", hint="write one object a line")
    keys = tuple(dict.fromkeys(key for _, found in objects for key in found))
    if len(keys) > MAX_COLUMNS:
        raise SourceRefused(f"the file has more than {MAX_COLUMNS:,} keys")
    cells = {key: tuple(_sample_text(found, key, line) for line, found in objects) for key in keys}
    table = JsonLinesTable(stream, keys, options.split_cells)
    first = [found for _, found in objects[:OBJECT_ROWS]]
    values = {place: [found.get(key) for found in first] for place, key in enumerate(keys)}
    sample = Sample(keys, tuple(cells.values()), values)
    return Look(table, Header.of(keys, len(keys), options.wanted_names), sample, later_notes=lambda: table.notes)


class JsonLinesTable:
    """The rows of an NDJSON file whose keys are known."""

    def __init__(self, stream: ByteStream, keys: tuple[str, ...], split_cells: str | None) -> None:
        self._stream, self._keys, self._split_cells = stream, keys, split_cells
        self._known = frozenset(keys)
        self.rows_read = self._other_key_row = 0

    def __repr__(self) -> str:
        return f"<JsonLinesTable of {len(self._keys)} keys>"

    @property
    def bytes_read(self) -> int:
        """Bytes of the file on disk, of the last pass."""
        return self._stream.bytes_read

    @property
    def description(self) -> Description:
        """The format of the file, for people."""
        return {
            "format": "ndjson",
            "compression": self._stream.compression,
            "encoding": self._stream.encoding.name,
            "columns": len(self._keys),
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """The first row seen by the last pass that has a key which is not read."""
        if not self._other_key_row:
            return ()
        told = (
            f"row {self._other_key_row:,} has a key that the first {SAMPLE_ROWS:,} lines do not have, and which is not"
        )
        return (f"{told} read: if it is an identifier, put a line with all keys first",)

    def check(self, mapping: ColumnMapping) -> None:
        """Nothing: what is no text is a fault of its row."""

    def batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """All rows, from the first. Raises SourceRefused when the counter counts others, or too many are faulty."""
        faults, counter = Faults(WORDS), LineCounter()
        reader = RowReader(self._keys, mapping, self._split_cells)
        self.rows_read = self._other_key_row = 0
        lines = non_blank_lines(self._stream.blocks(), counter)
        while pieces := list(self._pieces(lines, reader, faults)):
            yield TextBatch(RawColumns(joined(pieces, mapping)), faults.take())
        if counter.lines != self.rows_read:
            raise SourceRefused(f"the reader found {self.rows_read:,} rows and the counter {counter.lines:,}")
        faults.refuse_too_many(self.rows_read)

    def _pieces(self, lines: Iterator[bytes | None], reader: RowReader, faults: Faults) -> Iterator[Rows]:
        """The rows of one batch, a few lines at a time: of these only what is mapped is held any longer."""
        rows = size_bytes = 0
        while rows < BATCH_ROWS and size_bytes <= BATCH_BYTES:
            taken = _next_lines(lines, min(PIECE_LINES, BATCH_ROWS - rows))
            if not taken:
                return
            self._look_for_other_keys(taken)
            numbers = np.arange(self.rows_read + 1, self.rows_read + 1 + len(taken))
            self.rows_read += len(taken)
            yield from reader.rows(numbers, taken, faults)
            rows, size_bytes = rows + len(taken), size_bytes + sum(len(line or b"") for line in taken)

    def _look_for_other_keys(self, lines: list[bytes | None]) -> None:
        """Note the first row that is looked at and has such a key; few lines are, since most have all keys alike."""
        for at in range(0, 0 if self._other_key_row else len(lines), LOOKED_AT):
            found = read_object(lines[at] or b"")
            if isinstance(found, dict) and not self._known.issuperset(found):
                self._other_key_row = self.rows_read + 1 + at
                return


def _next_lines(lines: Iterator[bytes | None], most: int) -> list[bytes | None]:
    """Up to so many lines, fewer long ones; none at the end."""
    taken: list[bytes | None] = []
    size_bytes = 0
    for line in itertools.islice(lines, most):
        taken.append(line)
        size_bytes += len(line or b"")
        if size_bytes > BATCH_BYTES:
            break
    return taken


def _sample_text(found: dict[str, Any], key: str, line: bytes) -> str:
    """A cell for the sample: of several values the first, nothing for what is no text."""
    try:
        cell = texts_of(found, key, line)
    except NotText:
        return ""
    first = next(iter(cell), None) if isinstance(cell, list) else cell
    return first or ""
