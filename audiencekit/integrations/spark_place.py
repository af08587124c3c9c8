"""The place that a Spark job writes to: records and rejections, and last a manifest that says they are whole.

Everything goes through Spark's own readers and writers, so that a client of Spark Connect needs no access to the place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from audiencekit.errors import SourceRefused
from audiencekit.integrations.outcomes import REJECTION_FIELDS, TALLY
from audiencekit.integrations.tallies import read_tally
from audiencekit.records.tally import Tally

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT: Final = "audiencekit-spark/1"
_MISSING: Final = "PATH_NOT_FOUND"  # as Spark names the error


def records_of(outcomes: DataFrame) -> DataFrame:
    """The records, in the prepared format."""
    return outcomes.where(f"reason IS NULL AND {TALLY} IS NULL").drop(*REJECTION_FIELDS, TALLY)


def rejections_of(outcomes: DataFrame) -> DataFrame:
    """Row, column and reason of each rejection."""
    return outcomes.where("reason IS NOT NULL").select("row", *REJECTION_FIELDS)


def counts_of(outcomes: DataFrame) -> Tally:
    """The counts of all partitions. Runs a job; raises SourceRefused for counts that are damaged."""
    total = Tally()
    for row in outcomes.where(f"{TALLY} IS NOT NULL").select(TALLY).collect():
        total.add(read_tally(row[TALLY]))
    return total


@dataclass(frozen=True, slots=True)
class SparkPlace:
    """A directory or an address, without a slash at its end, that the cluster can read and write."""

    session: SparkSession
    address: str

    def manifest(self) -> dict[str, Any] | None:
        """The manifest; None where none was written to its end. Raises SourceRefused for a damaged one."""
        from pyspark.errors import AnalysisException

        try:
            rows = self.session.read.text(self._at("manifest"), wholetext=True).collect()
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
        if not isinstance(found, dict) or found.get("format") != FORMAT or not isinstance(found.get("tally"), str):
            raise SourceRefused("the manifest of the place is damaged", hint="write to another place")
        return found

    def write_outcomes(self, outcomes: DataFrame) -> Tally:
        """Run the one job that prepares all rows, write the rejections, and return the counts of the rows written."""
        outcomes.write.mode("overwrite").parquet(self._at("outcomes"))
        written = self.session.read.parquet(self._at("outcomes"))
        rejections_of(written).write.mode("overwrite").csv(self._at("rejections"), header=True)
        return counts_of(written)

    def write_records(self) -> None:
        """Write the records among the outcomes."""
        written = self.session.read.parquet(self._at("outcomes"))
        records_of(written).write.mode("overwrite").parquet(self._at("records"))

    def clear_outcomes(self) -> None:
        """Empty the outcomes, which hold each record once more."""
        self._frame([], f"{TALLY} STRING").write.mode("overwrite").parquet(self._at("outcomes"))

    def write_manifest(self, content: dict[str, Any]) -> None:
        """Say that records and rejections are whole."""
        text = json.dumps({"format": FORMAT, **content})
        self._frame([(text,)], "value STRING").coalesce(1).write.mode("overwrite").text(self._at("manifest"))

    def _at(self, name: str) -> str:
        return f"{self.address}/{name}"

    def _frame(self, rows: Iterable[tuple[str, ...]], schema: str) -> DataFrame:
        return self.session.createDataFrame(list(rows), schema)


def _name_of(error: Any) -> str:
    """The name of an error of Spark: version 4 calls it a condition."""
    return str(error.getCondition() if hasattr(error, "getCondition") else error.getErrorClass())
