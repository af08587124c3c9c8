"""Columns of Arrow as columns of text, for all formats: types by stated rules, cells divided, batches put together.

What would lose digits or has no one text is refused.

Text and binary stay as they are (binary must be UTF-8), dictionaries count as their values, integers are written out,
decimals too and without a fraction of zeros, UUIDs in their usual form, lists hold any of these. Null stays null.
A type that Arrow does not have, and gives as text (NUMERIC of PostgreSQL), is read as decimals are.
Floating-point numbers are no text by their type; `whole_numbers` says whether those of a column are integers.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import BATCH_ROWS, MAX_CELL_BYTES, SHA256_BYTES
from audiencekit.personal import RawColumns, guarded
from audiencekit.records.area_codes import calling_codes_of, with_areas
from audiencekit.records.batches import COUNTRY, ROW, ColumnMapping, TextBatch
from audiencekit.records.chunks import value_counts
from audiencekit.records.columns.arrays import (
    HASH_TYPE,
    Bools,
    arrow_array,
    hash_matrix,
    list_array,
    offsets_of,
    text_buffers,
)
from audiencekit.records.columns.hashes import TEXT_LOOPS, to_hex
from audiencekit.records.record_bits import Indices
from audiencekit.sources.options import ONE_VALUE, SEMICOLON
from audiencekit.sources.sampling import NO_VALUE, OBJECT_ROWS
from audiencekit.sources.unreadable_rows import Faults

NOT_TEXT: Final = "\uffff"  # in front of a text that is of no text: a character that is none, and that no list has
UUID_EXTENSION: Final = "arrow.uuid"
OPAQUE_EXTENSION: Final = "arrow.opaque"  # a type of a database that Arrow has not: NUMERIC of PostgreSQL, as text
_ZEROS: Final = r"\.0+$"
_LISTS: Final = (pt.is_list, pt.is_large_list, pt.is_fixed_size_list)
_BYTES: Final = (pt.is_binary, pt.is_large_binary, pt.is_fixed_size_binary, pt.is_binary_view)
_TEXTS: Final = (pt.is_string, pt.is_large_string, pt.is_string_view)
_ENCODED: Final = (pt.is_dictionary, pt.is_string_view, pt.is_binary_view)
# Of each type the whole number from which on one may stand for its neighbours: 2 to the power of its binary digits.
_INEXACT: Final = {pa.float64(): 2**53, pa.float32(): 2**24, pa.float16(): 2**11}
_Test = Callable[[pa.DataType], bool]


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column as text (string or list<string>), and which of its rows cannot be: one True each."""

    array: pa.Array
    broken: npt.NDArray[np.bool_]  # bytes that are not UTF-8
    too_large: npt.NDArray[np.bool_]


def refusal_of(kind: pa.DataType) -> str | None:
    """Why a column of this type cannot be text; None when it can. Names no field: their names may be personal."""
    inner = _value_type(kind)
    if _any(inner, (pt.is_floating,)):
        return "holds floating-point numbers, which have lost digits"
    if _any(inner, (*_TEXTS, *_BYTES, pt.is_integer, pt.is_decimal, pt.is_null)) or _is_uuid(inner):
        return None
    if pt.is_nested(inner):
        return "is nested"
    return "holds neither text nor whole numbers"


def _holds_objects(kind: pa.DataType) -> bool:
    return is_list(kind) and bool(pt.is_struct(kind.value_type))


def whole_numbers(array: pa.Array) -> pa.Array | None:
    """Return floating-point numbers as integers, NaN as null; None when a number has a fraction or may have lost
    digits."""
    numbers = array.cast(pa.float64())
    numbers = pc.if_else(pc.is_nan(numbers), None, numbers)
    are_sound = pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less(pc.abs(numbers), _INEXACT[array.type]))
    return numbers.cast(pa.int64()) if pc.all(are_sound).as_py() is not False else None


def whole_columns(columns: Iterable[Iterable[pa.Array]]) -> frozenset[int]:
    """The positions of columns, given by their pieces, whose cells are floating-point numbers and all whole."""
    return frozenset(
        place
        for place, pieces in enumerate(columns)
        if (arrays := list(pieces)) and all(pt.is_floating(a.type) and whole_numbers(a) is not None for a in arrays)
    )


def _decoded(array: pa.Array) -> pa.Array:
    """The values of a dictionary, one for each row."""
    if pt.is_string_view(array.type.value_type):
        array = pa.DictionaryArray.from_arrays(array.indices, array.dictionary.cast(pa.string()))
    return array.dictionary_decode()


def plain(array: pa.Array) -> pa.Array:
    """`array` without dictionaries, its texts and bytes in a form that Arrow's functions know; so in lists, too."""
    if pt.is_dictionary(array.type):
        array = _decoded(array)
    if _is_opaque_text(array.type):
        return pc.replace_substring_regex(array.storage, _ZEROS, "")
    if pt.is_string_view(array.type):
        return array.cast(pa.string())
    if pt.is_binary_view(array.type):
        return array.cast(pa.binary())
    if not is_list(array.type) or not _any(array.type.value_type, (*_ENCODED, _is_opaque_text)):
        return array
    counts = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return pa.ListArray.from_arrays(arrow_array(offsets), plain(pc.list_flatten(array)), mask=array.is_null())


def is_list(kind: pa.DataType) -> bool:
    """Whether a cell holds several values."""
    return _any(kind, _LISTS)


def is_bytes(kind: pa.DataType) -> bool:
    """Whether a column holds bytes, or lists of them."""
    return _any(_value_type(kind), _BYTES)


def as_text(array: pa.Array) -> TextColumn:
    """`array` as text; cells that cannot be are null. Its type must be one that `refusal_of` does not refuse."""
    flat = _as_texts(plain(array))
    broken = np.zeros(len(flat), dtype=bool)
    if _any(flat.type, (pt.is_integer, pt.is_null, pt.is_boolean)):
        return TextColumn(flat.cast(pa.string()), broken, broken)
    if (longest := _longest(flat)) is not None and longest <= MAX_CELL_BYTES:
        return TextColumn(flat, broken, broken)
    if _any(flat.type, _TEXTS) and _is_valid(flat):
        text = _narrow(flat)
        sizes = pc.fill_null(pc.binary_length(text), 0).to_numpy(zero_copy_only=False)
        return TextColumn(text, broken, sizes > MAX_CELL_BYTES)
    if is_list(flat.type) and _any(flat.type.value_type, _TEXTS) and _is_valid(flat) and not _has_large_value(flat):
        return TextColumn(flat.cast(TEXTS), broken, broken)
    return _one_by_one(flat)


def sample_texts(array: pa.Array) -> list[str]:
    """The cells of a column for a sample: of lists their first value, of other types Python's writing of them."""
    if (pt.is_nested(array.type) and not is_list(array.type)) or holds_objects(array.type):
        return [""] * len(array)
    if pt.is_floating(array.type) and (numbers := whole_numbers(array)) is not None:
        array = numbers
    can_be_text = refusal_of(array.type) is None
    cells = as_text(array).array.to_pylist() if can_be_text else array.to_pylist()
    firsts = (cell[0] if isinstance(cell, list) and cell else cell for cell in cells)
    return ["" if cell is None or isinstance(cell, list | dict) else str(cell) for cell in firsts]


def holds_objects(kind: pa.DataType) -> bool:
    """Whether cells of this type are objects with fields, or lists of these."""
    inner = _value_type(kind)
    return _any(inner, (pt.is_struct, pt.is_map)) and not isinstance(inner, pa.BaseExtensionType)


def _one_by_one(array: pa.Array) -> TextColumn:
    """The slow way, for types without a cast and for columns with a broken cell somewhere."""
    several = is_list(array.type)
    cells = [_texts_of(cell) for cell in _as_python(array)]
    broken = np.array([_is_broken(cell) for cell in cells], dtype=bool)
    too_large = np.array([_is_too_large(cell) for cell in cells], dtype=bool)
    sound = [None if bad else cell for bad, cell in zip(broken | too_large, cells, strict=True)]
    return TextColumn(pa.array(sound, TEXTS if several else pa.string()), broken, too_large)


def _as_python(array: pa.Array) -> list[Any]:
    """Cells as Python objects, text as bytes: it has yet to be shown to be UTF-8."""
    storage = array.storage if isinstance(array, pa.ExtensionArray) else array
    if _is_uuid(array.type):
        return [None if cell is None else uuid.UUID(bytes=cell) for cell in storage.to_pylist()]
    if is_list(storage.type):
        values = [_as_python(cell.values) if cell.is_valid else None for cell in storage]
        return [None if value is None else list(value) for value in values]
    if _any(storage.type, _TEXTS):
        storage = storage.cast(pa.large_binary())
    return list(storage.to_pylist())


def _texts_of(cell: Any) -> Any:
    if isinstance(cell, list):
        return [_texts_of(value) for value in cell]
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "surrogateescape")
    if isinstance(cell, Decimal):
        return written_out(cell)
    return None if cell is None else str(cell)


def written_out(number: Decimal) -> str:
    """All digits, and without a fraction of zeros."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text and number == number.to_integral_value() else text


def _is_broken(cell: Any) -> bool:
    if isinstance(cell, list):
        return any(map(_is_broken, cell))
    return cell is not None and any("\ud800" <= letter <= "\udfff" for letter in cell)


def _is_too_large(cell: Any) -> bool:
    if isinstance(cell, list):
        return any(map(_is_too_large, cell))
    return cell is not None and len(cell.encode("utf-8", "surrogateescape")) > MAX_CELL_BYTES


def _longest(array: pa.Array) -> int | None:
    """The bytes of the longest text of a pa.StringArray, if all are UTF-8.

    None is no answer: under a null may stand anything.
    """
    return TEXT_LOOPS.longest(array) if pt.is_string(array.type) else None


def _is_valid(array: pa.Array) -> bool:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _has_large_value(lists: pa.Array) -> bool:
    largest = pc.max(pc.binary_length(lists.flatten())).as_py()
    return largest is not None and largest > MAX_CELL_BYTES


def _as_texts(array: pa.Array) -> pa.Array:
    """Bytes, or lists of them, as the texts that they are if all are UTF-8; anything else as it is."""
    several = is_list(array.type)
    inner = array.type.value_type if several else array.type
    if not _any(inner, _BYTES):
        return array
    text = pa.large_string() if pt.is_large_binary(inner) else pa.string()
    try:
        return array.cast(pa.list_(text) if several else text)
    except pa.ArrowInvalid:
        return array


def _narrow(array: pa.Array) -> pa.Array:
    return array if pt.is_string(array.type) else array.cast(pa.string())


def _value_type(kind: pa.DataType) -> pa.DataType:
    """The type of one value: lists hold values, but not lists of them."""
    inner = kind.value_type if is_list(kind) else kind
    if _is_opaque_text(inner):
        return inner.storage_type
    return inner.value_type if pt.is_dictionary(inner) else inner


def _is_uuid(kind: pa.DataType) -> bool:
    return getattr(kind, "extension_name", None) == UUID_EXTENSION


def _is_opaque_text(kind: pa.DataType) -> bool:
    return getattr(kind, "extension_name", None) == OPAQUE_EXTENSION and _any(kind.storage_type, _TEXTS)


def _any(kind: pa.DataType, tests: tuple[_Test, ...]) -> bool:
    return any(test(kind) for test in tests)


T = TypeVar("T")

Size: TypeAlias = tuple[int, int]  # rows and bytes

_MOST_BYTES: Final = 64_000_000  # of cells, far from the 2**31 that a column of Arrow can hold


def gathered(batches: Iterable[TextBatch]) -> Iterator[TextBatch]:
    """The same rows in the same order, in batches of up to BATCH_ROWS; all have the same columns."""
    return _gathered(batches, _size, _joined, BATCH_ROWS)


def gathered_columns(batches: Iterable[RawColumns], *, most_rows: int) -> Iterator[RawColumns]:
    """The same rows in the same order, in batches of up to `most_rows`; all have the same columns."""
    return _gathered(batches, _size_of_columns, _joined_columns, most_rows)


def _gathered(
    batches: Iterable[T], size_of: Callable[[T], Size], joined: Callable[[list[T]], T], most_rows: int
) -> Iterator[T]:
    waiting: list[T] = []
    rows = size_bytes = 0
    for batch in batches:
        more_rows, more_bytes = size_of(batch)
        if waiting and (rows + more_rows > most_rows or size_bytes + more_bytes > _MOST_BYTES):
            yield joined(waiting)
            waiting, rows, size_bytes = [], 0, 0
        waiting.append(batch)
        rows += more_rows
        size_bytes += more_bytes
    if waiting:
        yield joined(waiting)


def _size(batch: TextBatch) -> Size:
    rows, size_bytes = _size_of_columns(batch.columns)
    return rows + batch.faults.num_rows, size_bytes


def _size_of_columns(batch: RawColumns) -> Size:
    whole = batch.unwrap()
    return whole.num_rows, whole.nbytes


def _joined(batches: list[TextBatch]) -> TextBatch:
    columns = _joined_columns([batch.columns for batch in batches])
    faults, cell_faults = (
        pa.concat_batches(each) for each in zip(*((b.faults, b.cell_faults) for b in batches), strict=True)
    )
    return TextBatch(columns, faults, cell_faults)


@guarded
def _joined_columns(batches: list[RawColumns]) -> RawColumns:
    return batches[0] if len(batches) == 1 else RawColumns(pa.concat_batches([batch.unwrap() for batch in batches]))


_LARGEST_ASCII: Final = 0x7F
_PRINTABLE: Final = frozenset(range(0x20, _LARGEST_ASCII))


def as_digits(array: Any) -> Any:
    """Return bytes (see `is_bytes`) as text: two hex digits a byte, and printable ASCII unchanged.

    For the bytes of a hash to be printable there is less than one chance in 10**13; those of a raw value are.
    """
    array = plain(array)
    return list_array(value_counts(array), _written(array.flatten())) if is_list(array.type) else _written(array)


def _written(values: Any) -> Any:
    present = values.drop_null()
    texts = _of_hashes(present)
    if texts is None:
        texts = pa.array([_text_of(value) for value in present.to_pylist()], pa.string())
    if not values.null_count:
        return texts
    are_valid = values.is_valid()
    places = pc.subtract(pc.cumulative_sum(are_valid.cast(pa.int32())), 1)
    return texts.take(pc.if_else(are_valid, places, None))


def _of_hashes(values: Any) -> Any | None:
    """Return `values` as texts if each is as long as a hash and none is readable; else None."""
    if not pc.all(pc.equal(pc.binary_length(values), SHA256_BYTES)).as_py():
        return None
    hashes = values.cast(HASH_TYPE)
    are_ascii = (hash_matrix(hashes) <= _LARGEST_ASCII).all(axis=1)
    return None if are_ascii.any() else to_hex(hashes)


def _text_of(value: bytes) -> str:
    return value.decode("ascii") if _PRINTABLE.issuperset(value) else value.hex()


TEXTS = pa.list_(pa.string())
# By the first byte of a text: space and all below it, and the first bytes of white space that is not ASCII.
_WHITE_SPACE: Final = {character.encode()[0] for character in map(chr, range(0x80, 0xD800)) if character.isspace()}
_MAY_BE_WHITE_SPACE: Final = np.array([byte <= 0x20 or byte in _WHITE_SPACE for byte in range(256)])


def used_positions(mapping: ColumnMapping) -> list[int]:
    """The columns of the source that are read at all, in source order."""
    return sorted({column.position for column in mapping.columns} | mapping.words.keys())


def column_names(mapping: ColumnMapping) -> dict[int, str]:
    """The name shown for each used column."""
    names = {column.position: column.name for column in mapping.columns}
    for place, name in mapping.words.items():
        if name is not None:
            names.setdefault(place, name)
    return names


def text_columns(rows: pa.Array, arrays: Mapping[int, pa.Array], mapping: ColumnMapping) -> pa.RecordBatch:
    """The RecordBatch of a TextBatch: row numbers, country, operation and consent where mapped, the mapped columns."""
    fields = {ROW: rows} | {field: arrays[place] for field, (place, _) in mapping.single.items()}
    if mapping.are_calling_codes:
        fields[COUNTRY] = calling_codes_of(fields[COUNTRY])
    for column in mapping.columns:
        cells = divided(arrays[column.position], column.separator)
        fields[mapping.field_name(column)] = cells if column.area is None else with_areas(arrays[column.area], cells)
    return pa.RecordBatch.from_arrays(list(fields.values()), names=list(fields))


def split_texts(cells: pa.Array, separator: str) -> pa.Array:
    """Return each text as the list of its parts, unchanged; blank parts are left out, null stays null."""
    places = _places_with(cells, separator)
    return _lists_of(cells, places, pc.split_pattern(cells.take(arrow_array(places)), pattern=separator))


def divided(cells: pa.Array, separator: str | None) -> pa.Array:
    """The texts `cells` as lists, as `split_texts` gives them, but of those that are one value; lists as they are."""
    if separator is None or not pa.types.is_string(cells.type):
        return cells
    if separator != SEMICOLON:
        return split_texts(cells, separator)
    places = _places_with(cells, separator)
    chosen = cells.take(arrow_array(places))
    are_one = pc.fill_null(pc.match_substring_regex(chosen, ONE_VALUE), True).to_numpy(zero_copy_only=False)
    places = places[~are_one]
    return _lists_of(cells, places, pc.split_pattern(cells.take(arrow_array(places)), pattern=separator))


def _places_with(cells: pa.Array, separator: str) -> npt.NDArray[np.intp]:
    """The cells that may have `separator`: those with its first letter, no others, ascending."""
    offsets, data = text_buffers(cells)
    found = np.flatnonzero(data == (separator.strip(" ") or separator).encode()[0])
    cell = np.searchsorted(offsets, found, side="right") - 1
    return cell[np.diff(cell, prepend=-1) > 0]  # `numpy.unique` imports all of `numpy.ma`


def _lengths(lists: pa.Array) -> npt.NDArray[np.int32]:
    """How many values each has; a null none."""
    lengths: npt.NDArray[np.int32] = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return lengths


def _lists_of(cells: pa.Array, places: Indices, parts: pa.Array) -> pa.Array:
    """Each cell as a list of itself; the few at `places` as their list of `parts`.

    Without blank texts, and null where a cell is null.
    """
    texts = parts.flatten()
    are_filled = ~are_blank(texts)
    owners = np.repeat(places, _lengths(parts))[are_filled]
    counts = (~are_blank(cells)).astype(np.int64)
    counts[places] = 0
    counts += np.bincount(owners, minlength=len(cells))
    order, is_divided = np.repeat(np.arange(len(cells)), counts), np.zeros(len(cells), dtype=bool)
    is_divided[places] = True
    order[np.repeat(is_divided, counts)] = len(cells) + np.flatnonzero(are_filled)
    values = pa.concat_arrays([cells, texts]).take(arrow_array(order))
    return pa.ListArray.from_arrays(arrow_array(offsets_of(counts)), values, mask=cells.is_null())


def are_blank(texts: pa.Array) -> Bools:
    """Return which texts are empty, white space or null."""
    if texts.null_count:
        texts = texts.fill_null("")  # whatever stands under it
    offsets, data = text_buffers(texts)
    blank: Bools = offsets[1:] == offsets[:-1]
    filled = np.flatnonzero(~blank)
    suspects = filled[_MAY_BE_WHITE_SPACE[data[offsets[filled]]]]
    trimmed = pc.utf8_trim_whitespace(texts.take(arrow_array(suspects)))
    blank[suspects] = pc.equal(trimmed, "").to_numpy(zero_copy_only=False)
    return blank


_OBJECT_BYTES: Final = 1_000_000  # of the first cells of a piece that are looked at for fields
_OF_OBJECTS: Final = "take one field of its objects, in BigQuery for example `ARRAY(SELECT value FROM UNNEST(emails))`"
_WRITE_TEXT: Final = "write it as a string column, or leave it out with `ignore=`"


def sampled_objects(columns: Iterable[Iterable[pa.Array]]) -> dict[int, list[object]]:
    """The first cells of the columns that hold objects, by position. Columns are given by their pieces."""
    return {place: found for place, pieces in enumerate(columns) if (found := _objects(pieces))}


def _objects(pieces: Iterable[pa.Array]) -> list[object]:
    """The first cells of a column that holds objects; none of one that Arrow cannot show: it is not read."""
    found: list[object] = []
    for array in pieces:
        rows = OBJECT_ROWS - len(found)
        if not holds_objects(array.type) or not rows:
            break
        with suppress(Exception):
            while array.slice(0, rows).nbytes > _OBJECT_BYTES:  # objects of Python take ten times as much
                rows //= 2
            found += array.slice(0, rows).to_pylist()
    return found


@dataclass(frozen=True, slots=True)
class TypedColumns:
    """The types of all columns by position, and what separates values within a cell.

    `whole` are the positions of floating-point columns whose first cells are whole numbers: pandas makes such columns
    of integers with a gap. They are read unless a later cell is none; other floating-point columns are refused.
    `marked` columns have NOT_TEXT in front of each text that is of a date, of true or of false.
    """

    types: tuple[pa.DataType, ...]
    split_cells: str | None
    whole: frozenset[int] = frozenset()
    marked: bool = False

    def check(self, mapping: ColumnMapping) -> None:
        """Raises SourceRefused for mapped columns that are no text."""
        names = column_names(mapping)
        single = mapping.words
        for place in used_positions(mapping):
            is_read = place in self.whole or place == mapping.group
            why = None if is_read else refusal_of(self.types[place])
            if why is not None and not (place in single and pt.is_boolean(self.types[place])):
                raise SourceRefused(
                    f"the column {names[place]} {why}",
                    column=names[place],
                    hint=f"{_OF_OBJECTS}; or {_WRITE_TEXT}" if _holds_objects(self.types[place]) else _WRITE_TEXT,
                )
        for place in single:
            if is_list(self.types[place]) and place != mapping.group:
                raise SourceRefused(f"the column {names[place]} holds several values a row", column=names[place])

    def to_text(
        self, arrays: Mapping[int, pa.Array], rows: npt.NDArray[np.int64], mapping: ColumnMapping, faults: Faults
    ) -> pa.RecordBatch:
        """Return the readable ones of `rows`, whose cells are in `arrays` by position; the others are added to
        `faults`.

        So are unreadable cells of identifiers, which are null.

        Bytes are text, but in columns that are hashed they are what the digits stand for. Raises SourceRefused for
        floating-point numbers that are not whole.
        """
        if mapping.group is not None and not pt.is_string(arrays[mapping.group].type):
            arrays = {**arrays, mapping.group: pc.if_else(arrays[mapping.group].is_valid(), "x", "")}
        arrays = {**arrays, **self._whole_numbers(arrays, column_names(mapping))}
        hashed = {column.position for column in mapping.columns if column.hashed}
        digits = {place: as_digits(arrays[place]) for place in hashed if is_bytes(arrays[place].type)}
        read = {place: as_text(digits.get(place, arrays[place])) for place in used_positions(mapping)}
        words = {place: column for place, column in read.items() if place in mapping.words}
        sound = _sound_rows(words, rows, column_names(mapping), faults)
        texts = {
            place: self._told(column, place, rows, sound, faults)
            if place not in mapping.words
            else self._unmarked(column.array)
            for place, column in read.items()
        }
        for place in {column.position for column in mapping.columns} if self.split_cells else ():
            if not is_list(texts[place].type):
                texts[place] = split_texts(texts[place], self.split_cells or "")
        whole = text_columns(arrow_array(rows), texts, mapping)
        return whole if sound.all() else whole.filter(arrow_array(sound))

    def _told(
        self, column: TextColumn, place: int, rows: npt.NDArray[np.int64], sound: Bools, faults: Faults
    ) -> pa.Array:
        """The cells of identifiers, null for each that cannot be read; these are noted in `faults`."""
        texts, bad = column.array, column.broken | column.too_large
        faults.add_cells(rows[sound & column.broken], place, Reason.ENCODING)
        faults.add_cells(rows[sound & column.too_large], place, Reason.TOO_LARGE)
        if self.marked and pt.is_string(texts.type):
            are_marked = pc.fill_null(pc.starts_with(texts, NOT_TEXT), False)
            if pc.any(are_marked).as_py():
                texts = pc.if_else(pc.equal(texts, NOT_TEXT + "false"), NO_VALUE, texts)
                wrong = pc.fill_null(pc.starts_with(texts, NOT_TEXT), False).to_numpy(zero_copy_only=False)
                faults.add_cells(rows[sound & wrong], place, Reason.NOT_TEXT)
                bad = bad | wrong
        return pc.if_else(arrow_array(bad), None, texts) if bad.any() else texts

    def _unmarked(self, texts: pa.Array) -> pa.Array:
        if not self.marked or not pt.is_string(texts.type):
            return texts
        are_marked = pc.fill_null(pc.starts_with(texts, NOT_TEXT), False)
        return pc.if_else(are_marked, pc.utf8_slice_codeunits(texts, len(NOT_TEXT)), texts)

    def _whole_numbers(self, arrays: Mapping[int, pa.Array], names: Mapping[int, str]) -> dict[int, pa.Array]:
        found = {}
        for place in (place for place in self.whole & names.keys() if pt.is_floating(arrays[place].type)):
            found[place] = whole_numbers(arrays[place])
            if found[place] is None:
                raise SourceRefused(
                    f"the column {names[place]} holds floating-point numbers that are not whole, or too large to have"
                    " all their digits",
                    column=names[place],
                    hint=_WRITE_TEXT,
                )
        return found


def _sound_rows(
    read: dict[int, TextColumn], rows: npt.NDArray[np.int64], names: dict[int, str], faults: Faults
) -> npt.NDArray[np.bool_]:
    """True for each row without a fault. Faults are noted in row order, once a row."""
    sound = np.ones(len(rows), dtype=bool)
    found: dict[int, tuple[Reason, str]] = {}
    for place, column in read.items():
        for reason, bad in ((Reason.ENCODING, column.broken), (Reason.TOO_LARGE, column.too_large)):
            sound &= ~bad
            for at in np.flatnonzero(bad):
                found.setdefault(int(rows[at]), (reason, names[place]))
    for row in sorted(found):
        faults.add(row, *found[row])
    return sound
