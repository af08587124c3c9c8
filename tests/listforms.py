"""One list in many forms: formats of files, and packings around them, each by a writer that is not ours."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

Row: TypeAlias = Sequence[str | None]
Pack: TypeAlias = Callable[[bytes], bytes]
Write: TypeAlias = Callable[[Sequence[str], Sequence[Row]], bytes]


def zipped(
    data: bytes, *others: tuple[str, bytes], name: str = "people.csv", method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    """An archive of `data` and of `others`, which have names of their own."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for member, content in ((name, data), *others):
            archive.writestr(member, content)
    return packed.getvalue()


def _zstd(data: bytes) -> bytes:
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        stream.write(data)
    return bytes(packed.getvalue().to_pybytes())


def _csv(names: Sequence[str], rows: Sequence[Row]) -> bytes:
    target = io.StringIO(newline="")
    csv.writer(target).writerows([names, *rows])
    return target.getvalue().encode()


def _ndjson(names: Sequence[str], rows: Sequence[Row]) -> bytes:
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows).encode()


def _parquet(names: Sequence[str], rows: Sequence[Row]) -> bytes:
    target = io.BytesIO()
    columns = [pa.array([row[place] for row in rows], pa.string()) for place in range(len(names))]
    pq.write_table(pa.table(columns, names=list(names)), target)
    return target.getvalue()


def _workbook(names: Sequence[str], rows: Sequence[Row]) -> bytes:
    target, workbook = io.BytesIO(), openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet("People")
    for row in (names, *rows):
        sheet.append(list(row))
    workbook.save(target)
    return target.getvalue()


# Formats by the ending of their usual name: column names and rows in, the file out.
FORMATS: Final[dict[str, Write]] = {
    "csv": _csv,
    "ndjson": _ndjson,
    "parquet": _parquet,
    "xlsx": _workbook,
    "xlsm": _workbook,
}
COMPRESSIONS: Final[dict[str, Pack]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": _zstd,
    "zip": zipped,
}
