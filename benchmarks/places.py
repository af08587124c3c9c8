"""A prepared directory of invented digests, as a Spark job leaves it: parts, rejections, and a manifest.

python -m benchmarks.places --rows 2000000 DIRECTORY
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from audiencekit.sources.manifest import SPARK_FORMAT, NamedPart
from benchmarks.benchmark import count

PART_ROWS: Final = 524_288
_KINDS: Final = ("email", "phone_number")
_HASH_BYTES: Final = 32
_SPARK_TYPES: Final = {"row": "long", "operation": "string", **dict.fromkeys(_KINDS, "binary")}
_ROWS_OF_A_PARTITION: Final = 2**33


def write_place(place: Path, rows: int, *, part_rows: int = PART_ROWS, seed: int = 1) -> None:
    """Write `rows` records into parts of at most `part_rows`; the same digests for the same seed."""
    for name in ("records", "rejections", "outcomes", "manifest"):
        (place / name).mkdir(parents=True)
        (place / name / "_SUCCESS").touch()
    (place / "rejections/part-00000-invented.csv").write_text("row,column,reason\n", encoding="utf-8")
    numbers = np.random.default_rng(seed)
    named = []
    for number, first in enumerate(range(0, rows, part_rows)):
        path = place / "records" / f"part-{number:05}-invented.c000.snappy.parquet"
        pq.write_table(_records(numbers, min(part_rows, rows - first), number), path, compression="snappy")
        with path.open("rb") as file:
            named.append(NamedPart.of(path.name, file).to_json())
    document = {"format": SPARK_FORMAT, "fingerprint": {}, "tally": "", "parts": named}
    (place / "manifest/part-00000-invented.txt").write_text(json.dumps(document) + "\n", encoding="utf-8")


def _records(numbers: np.random.Generator, rows: int, partition: int) -> Any:
    start = partition * _ROWS_OF_A_PARTITION + 1
    columns: dict[str, Any] = {
        "row": pa.array(np.arange(start, start + rows, dtype=np.int64)),
        "operation": pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int8)), ["Update"]).cast(
            pa.string()
        ),
    }
    for kind in _KINDS:
        digests = pa.py_buffer(numbers.bytes(rows * _HASH_BYTES))
        offsets = pa.array(np.arange(0, (rows + 1) * _HASH_BYTES, _HASH_BYTES, dtype=np.int32))
        columns[kind] = pa.BinaryArray.from_buffers(pa.binary(), rows, [None, offsets.buffers()[1], digests])
    return pa.table(columns).replace_schema_metadata(
        {"org.apache.spark.sql.parquet.row.metadata": json.dumps(_spark_schema())}
    )


def _spark_schema() -> dict[str, Any]:
    """The schema as Spark writes it into the footer; the mark is at the column of the rows."""
    marks: dict[str, dict[str, str]] = {"row": {"format": SPARK_FORMAT}}
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": marks.get(name, {})}
        for name, kind in _SPARK_TYPES.items()
    ]
    return {"type": "struct", "fields": fields}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the directory that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.places", description="A prepared directory.")
    parser.add_argument("--rows", type=count, required=True, help="records")
    parser.add_argument("place", type=Path, help="a directory that does not exist yet")
    given = parser.parse_args(arguments)
    write_place(given.place, given.rows)


if __name__ == "__main__":
    main()
