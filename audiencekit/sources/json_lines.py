"""NDJSON: one object a line. The keys are the columns; a line that is no such object is a faulty row."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kinds import Reason
from audiencekit.kernels.library import choose
from audiencekit.limits import BATCH_ROWS, MAX_CELL_BYTES, MAX_COLUMNS, SAMPLE_ROWS
from audiencekit.personal import RawColumns
from audiencekit.records.batches import ColumnMapping, TextBatch
from audiencekit.records.columns.arrays import arrow_array
from audiencekit.sources.arrow import TEXTS, column_names, split_texts, text_columns, used_positions
from audiencekit.sources.bytes.byte_stream import ByteStream, LineCounter, TextSample, non_blank_lines, take_sample
from audiencekit.sources.columns.header import Header
from audiencekit.sources.object_kernels import ObjectKernels
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sampling import NO_VALUE, OBJECT_ROWS, SAMPLE_BYTES, Sample
from audiencekit.sources.table import Description, Look
from audiencekit.sources.unreadable_rows import Faults, FaultWords

NAMES: Final = (".ndjson", ".jsonl", ".ndjson.gz", ".jsonl.gz")
SNIFFED_LINES: Final = 10  # an object among these, when the first line begins like one
_ARRAY: Final = re.compile(rb"\s*\[\s*\{")
_WRAPPED: Final = re.compile(rb'\s*\{(?:\s*"\w+"\s*:\s*[^\[\]{},]{0,200},){0,20}\s*"(\w{1,50})"\s*:\s*\[\s*\{')
PIECE_LINES: Final = 4_096  # read at once
LOOKED_AT: Final = 32  # of so many lines one is looked at for keys that are not read
BATCH_BYTES: Final = 32_000_000  # of lines; a batch of long ones ends earlier
WORDS: Final[Mapping[Reason, FaultWords]] = {
    Reason.RAGGED: FaultWords(
        "are not one JSON object each, or hold a key twice", "write one object a line, each key once"
    ),
    Reason.NOT_TEXT: FaultWords(
        "hold true or an object where an identifier belongs",
        "write texts, numbers, or lists of them under the mapped keys, or `ignore=` a key",
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
    if (wrapped := _WRAPPED.match(sample.data)) is not None and len(lines) == 1:
        key = wrapped[1].decode()
        hint = f"write them as NDJSON, one object a line: jq -c '.{key}[]' FILE > list.ndjson"
        raise SourceRefused(f"this is one JSON object with the rows in {key!r}, not one object a line", hint=hint)
    if _ARRAY.match(sample.data):
        hint = "write it as NDJSON, one object a line: jq -c '.[]' FILE > list.ndjson"
        raise SourceRefused("this is a JSON array, not one object a line", hint=hint)
    if begins == b"{" and lines[0].strip() == b"{":
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
    table = JsonLinesTable(stream, keys, options)
    first = [found for _, found in objects[:OBJECT_ROWS]]
    values = {place: [found.get(key) for found in first] for place, key in enumerate(keys)}
    sample = Sample(keys, tuple(cells.values()), values)
    return Look(table, Header.of(keys, len(keys), options.wanted_names), sample, later_notes=lambda: table.notes)


class JsonLinesTable:
    """The rows of an NDJSON file whose keys are known."""

    words: ClassVar[Mapping[Reason, FaultWords]] = WORDS

    def __init__(self, stream: ByteStream, keys: tuple[str, ...], options: SourceOptions) -> None:
        self._stream, self._keys, self._split_cells = stream, keys, options.split_cells
        self._counts_cells = options.counts_cells
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
        """Do nothing: a value that is no text is a fault of its row."""

    def batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """All rows, from the first. Raises SourceRefused when the counter counts others, or too many are faulty."""
        faults, counter = Faults(self.words, counts_cells=self._counts_cells), LineCounter()
        reader = RowReader(self._keys, mapping, self._split_cells)
        self.rows_read = self._other_key_row = 0
        lines = non_blank_lines(self._stream.blocks(), counter)
        while pieces := list(self._pieces(lines, reader, faults)):
            yield TextBatch(RawColumns(joined(pieces, mapping)), faults.take(), faults.take_cells())
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
    """Return a cell for the sample: the first of several values, empty for a value that is no text."""
    if isinstance(found.get(key), bool):
        return str(found[key]).lower()  # it may be a consent
    try:
        cell = texts_of(found, key, line)
    except NotText:
        return ""
    first = next(iter(cell), None) if isinstance(cell, list) else cell
    return first or ""


FieldTexts = str | list[str | None] | None
_KEY: Final = re.compile(rb'"[ \t\r]*:')  # at least one for each key, and more where a text has such letters
_TWICE: Final = object()


class NotText(Exception):
    """A value that is no text, number, or list of these."""


def read_object(line: bytes) -> dict[str, Any] | Reason:
    """Return the object of `line`, or the reason why it has none. A repeated key is a fault, because either may be
    meant."""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return Reason.RAGGED if _is_text(line) else Reason.ENCODING
    if not isinstance(found, dict):
        return Reason.RAGGED
    # A colon for each key is proof enough that none stands twice, and quick to see.
    if line.count(b":") == len(found) or len(_KEY.findall(line)) == _keys_of(found):
        return found
    return Reason.RAGGED if _exactly(line) is _TWICE else found


def texts_of(found: dict[str, Any], key: str, line: bytes) -> FieldTexts:
    """The value of `key` in the object of `line`: text, several texts, None for null or nothing. Raises NotText."""
    value = found.get(key)
    if value is None or isinstance(value, str):
        return value
    if value is False:
        return NO_VALUE
    if type(value) is int and value:
        return str(value)
    if isinstance(value, list) and all(part is None or isinstance(part, str) for part in value):
        return value
    if any(isinstance(part, dict | list | bool) for part in (value if isinstance(value, list) else [value])):
        raise NotText
    # Digits beyond 64 bits, fractions, exponents and minus zero are lost by now: the line is read once more.
    exact = _exactly(line)[key]
    return [_single(part) for part in exact] if isinstance(exact, list) else _single(exact)


def _keys_of(value: Any) -> int:
    """The keys of all objects in `value`, those within others too."""
    inner = value.values() if isinstance(value, dict) else value
    nested = sum(_keys_of(part) for part in inner if isinstance(part, dict | list))
    return nested + (len(value) if isinstance(value, dict) else 0)


def _single(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise NotText


def _exactly(line: bytes) -> Any:
    """Return the value of `line`, with numbers as they are written; _TWICE for an object with a repeated key."""
    return json.loads(line, parse_int=str, parse_float=str, object_pairs_hook=_distinct)


def _distinct(pairs: list[tuple[str, Any]]) -> Any:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _TWICE


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


BYTES_PER_LETTER: Final = 4
# Without kernels each line is read with care: columns of numpy and Arrow were not worth their code.
OBJECT_LOOPS: Final[ObjectKernels | None] = choose(ObjectKernels, lambda: None)
Rows: TypeAlias = tuple[npt.NDArray[np.int64], dict[int, Any]]  # their numbers, and their cells by position
Read: TypeAlias = tuple[dict[int, Any], npt.NDArray[np.bool_]]  # cells by position; the lines that are apart


class RowReader:
    """Reads the used cells of lines, and notes the others as faults."""

    def __init__(self, keys: tuple[str, ...], mapping: ColumnMapping, split_cells: str | None) -> None:
        names = column_names(mapping)
        single = mapping.words
        self._split_cells = split_cells
        self._identifiers = {column.position for column in mapping.columns}
        self._places = used_positions(mapping)
        self._group_key = None if mapping.group is None else keys[mapping.group]
        self._wanted = [(keys[place], names[place], place in single) for place in self._places]

    def rows(self, numbers: npt.NDArray[np.int64], lines: list[bytes | None], faults: Faults) -> Iterator[Rows]:
        """The rows of some lines: those that are read at once, then the others, read with care."""
        if OBJECT_LOOPS is None or self._split_cells is not None:
            arrays, apart = _none_of(lines)
        else:
            arrays, apart = self._texts(lines, OBJECT_LOOPS)
        if not apart.any():
            yield numbers, arrays
            return
        if not apart.all():
            yield numbers[~apart], {place: cells.filter(arrow_array(~apart)) for place, cells in arrays.items()}
        chosen = ((int(numbers[at]), lines[at]) for at in np.flatnonzero(apart))
        yield self._careful(chosen, faults)

    def _careful(self, lines: Iterable[tuple[int, bytes | None]], faults: Faults) -> Rows:
        """The sound rows of numbered lines; the others are noted."""
        kept: list[tuple[int, list[FieldTexts]]] = []
        for row, line in lines:
            cells = self._cells(line)
            if not isinstance(cells, list):
                faults.add(row, *cells)
                continue
            for at, cell in enumerate(cells):
                if isinstance(cell, Reason):
                    faults.add_cells(np.array([row]), self._places[at], cell)
            kept.append((row, [None if isinstance(cell, Reason) else cell for cell in cells]))
        arrays = {
            place: _array([cells[at] for _, cells in kept], self._split_cells if place in self._identifiers else None)
            for at, place in enumerate(self._places)
        }
        return np.array([row for row, _ in kept], dtype=np.int64), arrays

    def _texts(self, lines: list[bytes | None], loops: ObjectKernels) -> Read:
        """The cells by position, and which of the lines call for a careful look: their cells mean nothing."""
        keys = [key for key, *_ in self._wanted]
        arrays, apart = loops.read_objects([line or b"" for line in lines], keys)
        for cells in arrays:
            if _longest(cells) > MAX_CELL_BYTES:
                apart |= _are_too_large(cells)
        return dict(zip(self._places, arrays, strict=True)), apart

    def _cells(self, line: bytes | None) -> list[FieldTexts | Reason] | tuple[Reason, str | None]:
        """The cells of the used columns, in their order; else a reason and the shown name of the column at fault.

        An identifier that cannot be read is its reason.
        """
        if line is None:
            return Reason.TOO_LARGE, None
        found = read_object(line)
        if isinstance(found, Reason):
            return found, None
        cells: list[FieldTexts | Reason] = []
        for key, name, is_single in self._wanted:
            if is_single and isinstance(found.get(key), bool):
                cells.append(str(found[key]).lower())  # as a consent may be written
                continue
            cell = _read_cell(found, key, line)
            if key == self._group_key:
                cell = "x" if found.get(key) else None  # it is only asked whether there is a cell
            if is_single and isinstance(cell, list):
                cell = Reason.NOT_TEXT
            if is_single and isinstance(cell, Reason):
                return cell, name
            cells.append(cell)
        return cells


def _read_cell(found: dict[str, Any], key: str, line: bytes) -> FieldTexts | Reason:
    try:
        cell = texts_of(found, key, line)
    except NotText:
        return Reason.NOT_TEXT
    return Reason.TOO_LARGE if cell is not None and _is_too_large(cell) else cell


def joined(pieces: list[Rows], mapping: ColumnMapping) -> pa.RecordBatch:
    """The rows of `pieces` in their order, as columns of text, or of lists where one is among the cells."""
    numbers = np.concatenate([rows for rows, _ in pieces])
    arrays = {place: _concatenated([cells[place] for _, cells in pieces]) for place in used_positions(mapping)}
    if (np.diff(numbers) < 0).any():
        order = np.argsort(numbers)
        numbers, arrays = numbers[order], {place: cells.take(arrow_array(order)) for place, cells in arrays.items()}
    return text_columns(arrow_array(numbers), arrays, mapping)


def _none_of(lines: Sequence[object]) -> Read:
    return {}, np.ones(len(lines), dtype=bool)


def _longest(texts: pa.Array) -> int:
    longest: int = pc.max(pc.binary_length(texts)).as_py() or 0
    return longest


def _are_too_large(texts: pa.Array) -> npt.NDArray[np.bool_]:
    sizes: npt.NDArray[np.int32] = pc.fill_null(pc.binary_length(texts), 0).to_numpy(zero_copy_only=False)
    return sizes > MAX_CELL_BYTES


def _concatenated(parts: list[pa.Array]) -> pa.Array:
    """All of them in one column, of lists where one of them is."""
    has_lists = any(pa.types.is_list(part.type) for part in parts)
    return pa.concat_arrays(list(map(_as_lists, parts)) if has_lists else parts)


def _as_lists(cells: pa.Array) -> pa.Array:
    """Return each text as a list of one, null as null; lists unchanged."""
    if pa.types.is_list(cells.type):
        return cells
    places = np.arange(len(cells) + 1, dtype=np.int32)
    return pa.ListArray.from_arrays(arrow_array(places), cells, mask=cells.is_null())


def _is_too_large(cell: str | list[str | None]) -> bool:
    if isinstance(cell, list):
        return any(_is_too_large(part) for part in cell if part is not None)
    return len(cell) * BYTES_PER_LETTER > MAX_CELL_BYTES and len(cell.encode()) > MAX_CELL_BYTES


def _array(cells: list[Any], separator: str | None) -> pa.Array:
    """A column as strings, or as lists when a cell is one or `separator` divides them."""
    if separator is None and not any(isinstance(cell, list) for cell in cells):
        return pa.array(cells, pa.string())
    if separator is None:
        return pa.array([[cell] if isinstance(cell, str) else cell for cell in cells], TEXTS)
    joined = split_texts(
        pa.array([cell if isinstance(cell, str) else None for cell in cells], pa.string()), separator
    ).to_pylist()
    pairs = zip(cells, joined, strict=True)
    return pa.array([cell if isinstance(cell, list) else parts for cell, parts in pairs], TEXTS)
