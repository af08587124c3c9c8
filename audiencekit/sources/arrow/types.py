"""Parquet's types as text, each by a stated rule. What would lose digits or has no one text is refused.

Text and binary stay as they are (binary must be UTF-8), dictionaries count as their values, integers are written out,
decimals too and without a fraction of zeros, UUIDs in their usual form, lists hold any of these. Null stays null.
A type that Arrow does not have, and gives as text (NUMERIC of PostgreSQL), is read as decimals are.
Floating-point numbers are no text by their type; `whole_numbers` says whether those of a column are integers.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from audiencekit.kernels.library import kernels
from audiencekit.limits import MAX_CELL_BYTES
from audiencekit.records.columns.arrays import arrow_array
from audiencekit.records.columns.text_kernels import TextKernels
from audiencekit.sources.arrow.textcolumns import TEXTS

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


def whole_numbers(array: pa.Array) -> pa.Array | None:
    """Floating-point numbers as integers, NaN as null; None when one of them is not whole or may have lost digits."""
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
    """The bytes of the longest text of a pa.StringArray, if a kernel says that all are UTF-8.

    None is no answer: under a null may stand anything.
    """
    compiled = kernels(TextKernels)
    return compiled.longest(array) if compiled and pt.is_string(array.type) else None


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
