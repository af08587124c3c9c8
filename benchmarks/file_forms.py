"""The forms in which programs export a list of people: text of every make, packed, and in columns.

Each has the same people in the same order: address, number, country, name and a note.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.contacts import COLUMNS, SEED, contact_blocks

NAMES: Final = (*COLUMNS, "name", "note")
Rows: TypeAlias = Sequence[Sequence[str]]
RARE, VERY_RARE = 100, 1_000  # one row of so many

_PERSONS: Final = ("Anna Berg", "José Núñez", "Jürgen Groß", "Mary O'Neill", "Olu Adéyemí", "Li Na", "Zoë Smith")
_MORE_COLUMNS: Final = 40


@dataclass(frozen=True, slots=True)
class Form:
    """A form: what it makes of rows, in a file whose name ends so, and the options that it is read with."""

    name: str
    make: Callable[[Rows], bytes]
    ending: str = ".csv"
    options: Mapping[str, str] = field(default_factory=dict)

    def write(self, folder: Path, name: str, rows: Rows) -> Path:
        """The file that it lies in."""
        path = folder / f"{name}{self.ending}"
        path.write_bytes(self.make(rows))
        return path


def people(rows: int) -> Rows:
    """The cells of so many rows."""
    text = io.StringIO(b"".join(contact_blocks(rows, SEED)).decode(), newline="")
    return [[*cells, _PERSONS[row % len(_PERSONS)], f"customer {row}"] for row, cells in enumerate(csv.reader(text))]


def _text(rows: Rows, names: Sequence[str] = NAMES, **told: Any) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, **{"lineterminator": "\n", **told}).writerows([names, *rows])
    return text.getvalue()


def _csv(rows: Rows, names: Sequence[str] = NAMES, **told: Any) -> bytes:
    return _text(rows, names, **told).encode()


def _encoded(rows: Rows, encoding: str) -> bytes:
    return _text(rows).encode(encoding, "replace")


def _with(rows: Rows, change: Callable[[list[str]], list[str]], *, one_in: int = 1) -> Rows:
    """The rows, some of them changed."""
    return [change(list(cells)) if row % one_in == one_in - 1 else cells for row, cells in enumerate(rows)]


def _cell(place: int, make: Callable[[str], str]) -> Callable[[list[str]], list[str]]:
    """A change of one cell, if there is anything in it."""

    def change(cells: list[str]) -> list[str]:
        cells[place] = make(cells[place]) if cells[place] else ""
        return cells

    return change


def _lines(rows: Rows, change: Callable[[bytes], bytes], *, one_in: int = 1, header: bool = False) -> bytes:
    """Plain CSV, some of its lines changed."""
    first, *lines = _csv(rows).splitlines(keepends=True)
    changed = (change(line) if row % one_in == one_in - 1 else line for row, line in enumerate(lines))
    return b"".join([change(first) if header else first, *changed])


def _changed(change: Callable[[list[str]], list[str]], *, one_in: int = 1, **told: Any) -> Callable[[Rows], bytes]:
    return lambda rows: _csv(_with(rows, change, one_in=one_in), **told)


def _relined(change: Callable[[bytes], bytes], *, one_in: int = 1, header: bool = False) -> Callable[[Rows], bytes]:
    return partial(_lines, change=change, one_in=one_in, header=header)


def _packed(pack: Callable[[bytes], bytes]) -> Callable[[Rows], bytes]:
    return lambda rows: pack(_csv(rows))


def _zipped(data: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("list.csv", data)
    return made.getvalue()


def _zstd(data: bytes) -> bytes:
    packed: bytes = pa.compress(data, "zstd", asbytes=True)
    return packed


def _wide(rows: Rows, **told: Any) -> bytes:
    """As CRMs export: the people among dozens of columns, most of them empty."""
    names = [*(f"property {number}" for number in range(_MORE_COLUMNS)), *NAMES]
    return _csv([[str(row), "", "Subscriber", *[""] * (_MORE_COLUMNS - 3), *cells] for row, cells in enumerate(rows)],
                names, **told)  # fmt: skip


def _json(rows: Rows, change: Callable[[dict[str, Any]], dict[str, Any]] = lambda one: one, one_in: int = 1) -> bytes:
    objects = (dict(zip(NAMES, cells, strict=True)) for cells in rows)
    changed = (change(one) if row % one_in == one_in - 1 else one for row, one in enumerate(objects))
    return b"".join(orjson.dumps(one) + b"\n" for one in changed)


def _escaped(rows: Rows) -> bytes:
    """As most libraries write it by default: all that is not ASCII by its number, a slash with another before it."""
    return b"".join(
        orjson.dumps(dict(zip(NAMES, cells, strict=True))).decode().replace("/", "\\/")
        .encode("ascii", "backslashreplace").replace(b"\\x", b"\\u00") + b"\n"
        for cells in rows
    )  # fmt: skip


def _number(one: dict[str, Any]) -> dict[str, Any]:
    digits = one["phone"].strip().removeprefix("+")
    is_number = digits.isascii() and digits.isdigit() and digits[0] != "0"
    return {**one, "phone": int(digits) if is_number and len(digits) < 18 else one["phone"]}


def _columns(rows: Rows) -> dict[str, Any]:
    return dict(zip(NAMES, (pa.array(column) for column in zip(*rows, strict=True)), strict=True))


def _parquet(
    rows: Rows, change: Callable[[Any], Any] = lambda column: column, changed: Sequence[str] = NAMES, **told: Any
) -> bytes:
    made = pa.BufferOutputStream()
    columns = {name: change(column) if name in changed else column for name, column in _columns(rows).items()}
    pq.write_table(pa.table(columns), made, **told)
    data: bytes = made.getvalue().to_pybytes()
    return data


def _with_nulls(column: Any) -> Any:
    return pa.array([text or None for text in column.to_pylist()])


def _in_lists(column: Any) -> Any:
    return pa.array([[text] for text in column.to_pylist()])


PLAIN: Final = Form("plain", _csv)
_EVERY: Final[dict[str, Any]] = {"quoting": csv.QUOTE_ALL}
_EMAIL, _PHONE, _NAME = 0, 1, 3
_LINES: Final = (
    Form("CR LF", partial(_csv, lineterminator="\r\n")),
    Form("CR alone", partial(_csv, lineterminator="\r")),
    Form("each line end doubled", partial(_csv, lineterminator="\n\n")),
    Form("a blank line in each ten", _relined(lambda line: line + b"\r\n", one_in=10)),
    Form("a line that tells Excel the delimiter", lambda rows: b"sep=,\r\n" + _csv(rows)),
    Form("an empty cell more in each line, header and all", _relined(lambda line: line[:-1] + b",\n", header=True)),
    Form("an empty cell more in each row", _relined(lambda line: line[:-1] + b",\n")),
    Form("spaces at the end of each line", _relined(lambda line: line[:-1] + b"  \n")),
    Form("cells missing in one row of 1,000", _relined(lambda line: line.split(b",")[0] + b"\n", one_in=VERY_RARE)),
    Form("cells more in one row of 1,000", _relined(lambda line: line[:-1] + b",x\n", one_in=VERY_RARE)),
    Form("empty cells missing at the end of each row", lambda rows: _csv(rows).replace(b"note\n", b"note,,\n", 1)),
)
_DELIMITERS: Final = tuple(
    Form(name, partial(_csv, delimiter=mark)) for name, mark in (("semicolons", ";"), ("tabs", "\t"), ("pipes", "|"))
)
_QUOTES: Final = (
    Form("quotes around all cells", partial(_csv, **_EVERY)),
    Form("quotes and CR LF, as of Salesforce", partial(_csv, lineterminator="\r\n", **_EVERY)),
    Form("a name in two lines in one row of 100", _changed(_cell(_NAME, lambda t: f"{t}\nLtd."), one_in=RARE)),
    Form("a name with doubled quotes in each row", _changed(_cell(_NAME, lambda t: f'{t} "Al"'))),
    Form(
        "quotes within a name in one row of 100",
        _relined(lambda line: line.replace(b",cust", b' "Al",cust'), one_in=RARE),
    ),
    Form("quotes within a name in each row", _relined(lambda line: line.replace(b",cust", b' "Al",cust'))),
    Form("an inch sign in each note", _relined(lambda line: line[:-1] + b' 27"\n')),
    Form("a space before each cell", lambda rows: _csv(rows).replace(b",", b", ")),
    Form("a NUL in one row of 100", _relined(lambda line: line.replace(b",cust", b"\0,cust"), one_in=RARE)),
    Form("numbers as formulas", _changed(_cell(_PHONE, lambda text: f'="{text}"'), one_in=VERY_RARE)),
    Form("an apostrophe before numbers, as of Shopify", _changed(_cell(_PHONE, lambda text: f"'{text}"))),
)
_ENCODINGS: Final = (
    Form("UTF-8 with its mark", partial(_encoded, encoding="utf-8-sig")),
    Form("UTF-16", partial(_encoded, encoding="utf-16")),
    Form("cp1252", partial(_encoded, encoding="cp1252"), options={"encoding": "cp1252"}),
    Form("latin-1", partial(_encoded, encoding="latin-1"), options={"encoding": "latin-1"}),
    Form("Shift JIS", partial(_encoded, encoding="shift-jis"), options={"encoding": "shift-jis"}),
    Form("a name that is not UTF-8 in one row of 1,000",
         _relined(lambda line: line.replace(b",cust", b"\xfc,cust"), one_in=VERY_RARE)),
    Form("a name that is not UTF-8 in one row of 250",
         _relined(lambda line: line.replace(b",cust", b"\xfc,cust"), one_in=250)),
)  # fmt: skip
_WIDE: Final = (
    Form("40 columns more, as of HubSpot", _wide),
    Form("40 columns more, all in quotes", partial(_wide, **_EVERY)),
    Form("`--split-cells`", _csv, options={"split_cells": ";"}),
    Form(
        "two addresses in each cell",
        _changed(_cell(_EMAIL, lambda text: f"{text};{text}")),
        options={"split_cells": ";"},
    ),
)
_PACKINGS: Final = (
    Form("gz", _packed(partial(gzip.compress, compresslevel=6)), ".csv.gz"),
    Form("zstd", _packed(_zstd), ".csv.zst"),
    Form("zip", _packed(_zipped), ".zip"),
    Form("bzip2", _packed(bz2.compress), ".csv.bz2"),
    Form("xz", _packed(partial(lzma.compress, preset=1)), ".csv.xz"),
)
_OBJECTS: Final = (
    Form("NDJSON", _json, ".ndjson"),
    Form("NDJSON with escapes", _escaped, ".ndjson"),
    Form(
        "NDJSON, another object in each",
        partial(_json, change=lambda one: {**one, "at": {"a": 1, "b": [1, 2]}}),
        ".ndjson",
    ),
    Form("NDJSON, numbers as numbers", partial(_json, change=_number), ".ndjson"),
    Form("NDJSON, numbers as numbers in one row of 1,000", partial(_json, change=_number, one_in=VERY_RARE), ".ndjson"),
    Form("NDJSON, addresses in lists", partial(_json, change=lambda one: {**one, "email": [one["email"]]}), ".ndjson"),
    Form(
        "NDJSON, null for nothing", partial(_json, change=lambda one: {k: v or None for k, v in one.items()}), ".ndjson"
    ),
    Form("NDJSON, a colon in each text", partial(_json, change=lambda one: {**one, "note": "at: 10:30"}), ".ndjson"),
)
_IN_COLUMNS: Final = (
    Form("Parquet", _parquet, ".parquet"),
    Form("Parquet, zstd", partial(_parquet, compression="zstd"), ".parquet"),
    Form("Parquet, no dictionaries", partial(_parquet, use_dictionary=False), ".parquet"),
    Form("Parquet, of dictionaries", partial(_parquet, change=lambda column: column.dictionary_encode()), ".parquet"),
    Form("Parquet, large texts", partial(_parquet, change=lambda column: column.cast(pa.large_string())), ".parquet"),
    Form("Parquet, bytes", partial(_parquet, change=lambda column: column.cast(pa.binary())), ".parquet"),
    Form("Parquet, null for nothing", partial(_parquet, change=_with_nulls), ".parquet"),
    Form("Parquet, lists of texts", partial(_parquet, change=_in_lists, changed=("email", "phone")), ".parquet"),
    Form("Parquet, groups of 1,000 rows", partial(_parquet, row_group_size=1_000), ".parquet"),
)
FORMS: Final = (*_LINES, *_DELIMITERS, *_QUOTES, *_ENCODINGS, *_WIDE, *_PACKINGS, *_OBJECTS, *_IN_COLUMNS)
