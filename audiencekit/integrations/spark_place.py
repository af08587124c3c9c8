"""The place that a Spark job writes to: records and rejections, and last a manifest that says they are whole.

Everything goes through Spark's own readers and writers, so that a client of Spark Connect needs no access to the place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from audiencekit.errors import SourceRefused
from audiencekit.integrations.outcomes import COUNT_FIELDS, DIGEST_SUM, REJECTION_FIELDS, TALLY
from audiencekit.integrations.tallies import read_tally
from audiencekit.records.batches import ROW
from audiencekit.records.tally import Tally
from audiencekit.sources.manifest import SPARK_FORMAT, NamedPart
from audiencekit.sources.part_files import MANIFEST, OUTCOMES, RECORDS, REJECTIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PART_ROWS: Final = 524_288  # of one file, so that its digest is taken in little memory
_MISSING: Final = "PATH_NOT_FOUND"  # as Spark names the error


def records_of(outcomes: DataFrame) -> DataFrame:
    """The records, in the prepared format."""
    return outcomes.where(f"reason IS NULL AND {TALLY} IS NULL").drop(*REJECTION_FIELDS, *COUNT_FIELDS)


def rejections_of(outcomes: DataFrame) -> DataFrame:
    """Row, column and reason of each rejection."""
    return outcomes.where("reason IS NOT NULL").select("row", *REJECTION_FIELDS)


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of rows, and the sum of their digests, which is that of the same rows in any order."""

    tally: Tally
    digest_sum: int


def counts_of(outcomes: DataFrame) -> Counts:
    """The counts of all partitions. Runs a job; raises SourceRefused for counts that are damaged."""
    tally, digest_sum = Tally(), 0
    for row in outcomes.where(f"{TALLY} IS NOT NULL").select(*COUNT_FIELDS).collect():
        tally.add(read_tally(row[TALLY]))
        digest_sum += int(row[DIGEST_SUM])
    return Counts(tally, digest_sum)


@dataclass(frozen=True, slots=True)
class SparkPlace:
    """A directory or an address, without a slash at its end, that the cluster can read and write."""

    session: SparkSession
    address: str

    def manifest(self) -> dict[str, Any] | None:
        """The manifest; None where none was written to its end. Raises SourceRefused for a damaged one."""
        from pyspark.errors import AnalysisException

        try:
            rows = self.session.read.text(self._at(MANIFEST), wholetext=True).collect()
        except AnalysisException as error:
            if _name_of(error) != _MISSING:
                raise
            rows = []
        if not rows:
            return None
        try:
            (row,) = rows
            found = json.loads(row["value"])
        except ValueError:
            found = None
        known = found if isinstance(found, dict) and found.get("format") == SPARK_FORMAT else {}
        if not isinstance(known.get("tally"), str) or "parts" not in known:
            raise SourceRefused("the manifest of the place is damaged", hint="write to another place")
        return known

    def write_outcomes(self, outcomes: DataFrame) -> Counts:
        """Run the one job that prepares all rows, write the rejections, and return the counts of the rows written."""
        outcomes.write.mode("overwrite").parquet(self._at(OUTCOMES))
        written = self._written(outcomes)
        rejections_of(written).write.mode("overwrite").csv(self._at(REJECTIONS), header=True)
        return counts_of(written)

    def write_records(self, outcomes: DataFrame) -> list[NamedPart]:
        """Write the records among the `outcomes` that were written, and return the parts that they are in.

        Each has the mark of the manifest, without which no part of them is a source.
        """
        records = records_of(self._written(outcomes))
        others = [name for name in records.columns if name != ROW]
        marked = records.select(records[ROW].alias(ROW, metadata={"format": SPARK_FORMAT}), *others)
        writer = marked.write.option("maxRecordsPerFile", PART_ROWS).mode("overwrite")
        writer.parquet(self._at(RECORDS))
        files = self.session.read.format("binaryFile").option("pathGlobFilter", "*.parquet").load(self._at(RECORDS))
        rows = files.selectExpr("path", "length", "sha2(content, 256) AS sha256").collect()
        return [NamedPart(row["path"].rpartition("/")[2], row["length"], row["sha256"]) for row in rows]

    def clear_outcomes(self) -> None:
        """Empty the outcomes, which hold each record once more."""
        self._frame([], f"{TALLY} STRING").write.mode("overwrite").parquet(self._at(OUTCOMES))

    def write_manifest(self, parts: Iterable[NamedPart], content: dict[str, Any]) -> None:
        """Say that records and rejections are whole, and which `parts` the records are."""
        named = [part.to_json() for part in sorted(parts, key=lambda part: part.name)]
        text = json.dumps({"format": SPARK_FORMAT, **content, "parts": named})
        self._frame([(text,)], "value STRING").coalesce(1).write.mode("overwrite").text(self._at(MANIFEST))

    def _written(self, outcomes: DataFrame) -> DataFrame:
        """The outcomes as they were written. Their schema is known, so that no job looks for it."""
        return self.session.read.schema(outcomes.schema).parquet(self._at(OUTCOMES))

    def _at(self, name: str) -> str:
        return f"{self.address}/{name}"

    def _frame(self, rows: Iterable[tuple[str, ...]], schema: str) -> DataFrame:
        return self.session.createDataFrame(list(rows), schema)


def _name_of(error: Any) -> str:
    """The name of an error of Spark: version 4 calls it a condition."""
    return str(error.getCondition() if hasattr(error, "getCondition") else error.getErrorClass())
