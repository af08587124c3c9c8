"""Whether a cluster makes of every row what one machine makes of it: records, rejections and duplicates, row for row.

    python -m benchmarks.spark_equality --rows 2000000

The rows are dealt out over the executors in another order than they have. One machine leaves duplicates out, which no
executor can see: a record that only the cluster has must be that of an earlier row.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

import audiencekit
from audiencekit.identifiers.kinds import Kind
from audiencekit.integrations import spark
from audiencekit.sources.arrow import as_digits, is_bytes, is_list
from benchmarks.benchmark import count, tell
from benchmarks.machine import describe_machine, list_versions
from benchmarks.sections import write_section
from benchmarks.spark_session import NUMBER, spark_trial
from benchmarks.trials import OUT

BEGIN: Final = "<!-- spark equality: what follows is written by python -m benchmarks.spark_equality -->"
END: Final = "<!-- spark equality: end -->"
OPTIONS: Final[dict[str, Any]] = {"columns": {"email": "email", "phone_number": "phone"}, "country_column": "country"}
PARTITIONS: Final = 16
_ABSENT: Final = "-"  # of a kind without a value; an empty list is another thing


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The records of both, and the rows in which they differ: `records` and `rejections` are those of one machine."""

    records: int
    duplicates: int
    rejections: int
    missing_records: int
    other_records: int
    invented_records: int
    other_rejections: int

    @property
    def differences(self) -> int:
        """0 when the cluster made the same."""
        return self.missing_records + self.other_records + self.invented_records + self.other_rejections


def compare(alone: Path, records: Path, rejections: Path) -> Comparison:
    """Compare the files of one machine in `alone` with the Parquet of the cluster."""
    ours, theirs = _texts(pq.read_table(alone / "records.parquet")), _texts(pq.read_table(records))
    shared = theirs.filter(pc.is_in(theirs["row"], value_set=ours["row"]))
    extra = theirs.filter(pc.invert(pc.is_in(theirs["row"], value_set=ours["row"])))
    here = ours.filter(pc.is_in(ours["row"], value_set=theirs["row"]))
    are_other = pc.not_equal(shared["text"], here["text"]) if len(shared) == len(here) else pa.array([True])
    told = pa.csv.read_csv(alone / "rejections.csv", convert_options=_TEXT_CELLS)
    return Comparison(
        records=len(ours),
        duplicates=len(extra),
        rejections=len(told),
        missing_records=len(ours) - len(here),
        other_records=pc.sum(are_other).as_py() or 0,
        invented_records=_without_earlier(extra, ours),
        other_rejections=_difference(told, pq.read_table(rejections)),
    )


_TEXT_CELLS: Final = pyarrow.csv.ConvertOptions(column_types={"column": pa.string(), "reason": pa.string()})


def _texts(records: Any) -> Any:
    """`row` and everything else of each record as one text, by row."""
    parts = [records["operation"]]
    parts += [pc.coalesce(_values(records, kind), _ABSENT) for kind in Kind]
    text = pc.binary_join_element_wise(*parts, "|")
    return pa.table({"row": records["row"].cast(pa.int64()), "text": text}).sort_by("row")


def _values(records: Any, kind: Kind) -> Any:
    """Those of each record as one text, hashes in digits; null without one."""
    if kind.value not in records.column_names:
        return pa.nulls(len(records), pa.string())
    cells = records[kind.value].combine_chunks()
    texts = as_digits(cells) if is_bytes(cells.type) else cells
    return pc.binary_join(texts.cast(pa.list_(pa.string())), ",") if is_list(texts.type) else texts


def _without_earlier(extra: Any, ours: Any) -> int:
    """How many records of `extra` are of no earlier row."""
    places = pc.index_in(extra["text"], value_set=ours["text"])
    is_earlier = pc.less(ours["row"].take(places), extra["row"])
    return len(extra) - (pc.sum(is_earlier).as_py() or 0)


def _difference(ours: Any, theirs: Any) -> int:
    """Rejections that only one of the two has."""
    counted = [
        Counter((line["row"], line["column"] or "", line["reason"]) for line in table.to_pylist())
        for table in (ours, theirs)
    ]
    return (counted[0] - counted[1]).total() + (counted[1] - counted[0]).total()


def prepare_both(session: Any, parquet: Path, here: Path) -> Comparison:
    """Prepare the list on this machine and on the cluster of `session`, under `here`; return the comparison."""
    tell("on one machine")
    audiencekit.prepare(parquet, out=here / "alone", **OPTIONS)
    tell("on the cluster")
    frame = session.read.parquet(str(parquet)).repartition(PARTITIONS)
    prepared = spark.prepare(frame, row_column=NUMBER, **OPTIONS)
    prepared.records.write.parquet(str(here / "records"))
    prepared.require_sound()
    prepared.rejections.write.parquet(str(here / "rejections"))
    tell("row for row")
    return compare(here / "alone", here / "records", here / "rejections")


def describe(found: Comparison, rows: int, versions: str) -> str:
    """The findings in Markdown."""
    machine, packages = describe_machine(), list_versions()
    where = f"{machine['cores']} cores, load {machine['load']} before, Python {packages['python']}, {versions}"
    lines = [
        f"{datetime.now(UTC):%Y-%m-%d}: {rows:,} rows, {where}, code {packages['code']}.",
        "",
        "| of all rows | |",
        "|---|---|",
    ]
    lines += [f"| {field.name.replace('_', ' ')} | {getattr(found, field.name):,} |" for field in fields(found)]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what was compared; 1 when a row differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark_equality", description="Spark, row for row.")
    parser.add_argument("--rows", type=count, default=2_000_000, help="rows of the contact list (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="the contact list follows from it (default %(default)s)")
    parser.add_argument("--lists", type=Path, metavar="DIR", help="where contact lists are kept for the next time")
    parser.add_argument("--out", type=Path, default=OUT, help="the file that the section is written into")
    given = parser.parse_args(arguments)
    with spark_trial(given) as trial:
        versions = trial.versions
        found = prepare_both(trial.session, trial.parquet, trial.here)
    write_section(given.out, describe(found, given.rows, versions), begin=BEGIN, end=END)
    for field in fields(found):
        print(f"{field.name}: {getattr(found, field.name):,}")
    return int(found.differences > 0)


if __name__ == "__main__":
    sys.exit(main())
