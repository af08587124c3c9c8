"""The names of the columns of a delimited file by its first bytes, quickly: for a shell that completes them."""

from __future__ import annotations

import os
from typing import Final

from audiencekit.errors import SourceRefused
from audiencekit.sources.bytes.bytestream import ByteStream, take_sample
from audiencekit.sources.bytes.firstbytes import SourceFormat
from audiencekit.sources.bytes.regularfile import RegularFile
from audiencekit.sources.columns.header import is_header
from audiencekit.sources.delimited.dialect import find_delimiter
from audiencekit.sources.sampling import sample_records

_LOOKED_AT_BYTES: Final = 65_536


def first_row_names(path: str) -> list[str]:
    """The header; `column1`, `column2` … where there is none, so that the first row, a person, is not shown.

    Raises SourceRefused for what is no delimited text in a regular file.
    """
    if not os.path.isfile(path):
        raise SourceRefused("there is no such file")
    stream = ByteStream(RegularFile(path))
    if stream.format is not SourceFormat.TEXT:
        raise SourceRefused("this is no text")
    taken = take_sample(stream.blocks(), _LOOKED_AT_BYTES)
    text = taken.data.decode("utf-8", "replace")
    records = sample_records(text, find_delimiter(text, whole=taken.is_whole), whole=taken.is_whole)
    first = list(records[0]) if records else []
    return first if first and is_header(first, ()) else [f"column{place}" for place in range(1, len(first) + 1)]
