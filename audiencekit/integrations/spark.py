"""Spark: the preparation of one machine, on a cluster. Uploads never run there: one uploader reads what was written.

    prepared = prepare(frame, columns={"email": "mail", "phone_number": "mobile"}, country="DE")
    prepared.write("s3://…/2026-11-29")

A session of Spark Connect does as well as a classic one: all that is counted travels as data. The executors need this
package and its dependencies, none of Spark's extras.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Unpack

import pyarrow as pa
import pyarrow.types as pt

from audiencekit import __version__
from audiencekit.errors import MappingRefused, PlanRefused, Refused, UsageError
from audiencekit.identifiers.kinds import Reason
from audiencekit.integrations.outcomes import PartitionWork
from audiencekit.integrations.spark_place import SparkPlace, counts_of, records_of, rejections_of
from audiencekit.integrations.tallies import read_tally, write_tally
from audiencekit.limits import tolerated_fault_rows
from audiencekit.planning.options import Keywords, Options, read_keywords, with_keywords
from audiencekit.records.batches import ColumnMapping
from audiencekit.records.refusal_bounds import judge
from audiencekit.records.tally import Tally
from audiencekit.reporting.report import combination_counts, identifier_counts
from audiencekit.settings import load_settings
from audiencekit.sources.arrow import TypedColumns, used_positions
from audiencekit.sources.columns.header import Header
from audiencekit.sources.columns.mapping import Mapper
from audiencekit.sources.sampling import Sample

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


# A partition has fewer rows than this; row n of partition p is row p * PARTITION_ROWS + n.
PARTITION_ROWS: Final = 2**33
# Options of files, of the moment of sending, or of the list as a whole.
_NOT_HERE: Final = frozenset(
    {"encoding", "delimiter", "header", "header_row", "sheet", "expires_at", "ttl_days", "effective_at", "plan_time"}
    | {"suppress", "consent_column", "fill_down"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedFrame:
    """A frame of which every row is prepared when Spark runs a job over it.

    `outcomes` are records, rejections and counts together, `records` the prepared format with hashes as bytes,
    `rejections` row, column and reason. Each job over one of them prepares all rows, unless `outcomes` is persisted;
    `write` runs one such job.
    """

    outcomes: DataFrame
    records: DataFrame
    rejections: DataFrame
    _source: DataFrame = field(repr=False)
    _work: PartitionWork = field(repr=False)
    _options: Options = field(repr=False)
    _given: str = field(repr=False)  # the keywords, as text
    _known: list[Tally] = field(repr=False, default_factory=list)  # the counts, once a job has told them

    def write(self, place: str) -> dict[str, Any]:
        """Write `place`/records (Parquet), `place`/rejections (CSV) and, when both are whole, `place`/manifest.

        `place` is a directory or an address that Spark can write to, for one list. Returns `report()`. A place that
        has a manifest of the same rows and options is left as it is, and its counts are returned: a job that runs
        again does nothing twice. Raises UsageError for a place of another list, and Refused for a list that must not
        be sent: only its rejections are written. A place whose job was killed is written anew.
        """
        there = SparkPlace(self._source.sparkSession, place.rstrip("/"))
        if (manifest := there.manifest()) is not None:
            if manifest.get("fingerprint") != self._fingerprint(*self._rows_now()):
                raise UsageError(
                    "the place holds the records of another list, or of other options, rules or versions",
                    hint="give each list a place, for example one with the date in its name",
                )
            self._know(read_tally(manifest["tally"]))
            return self.report()
        try:
            counts = there.write_outcomes(self.outcomes)
            tally = self._know(counts.tally)
            self.require_sound()
            parts = there.write_records(self.outcomes)
        finally:
            there.clear_outcomes()
        fingerprint = self._fingerprint(tally.rows_read, counts.digest_sum)  # of the rows that were written, no others
        there.write_manifest(parts, {"fingerprint": fingerprint, "tally": write_tally(tally)})
        return self.report()

    def report(self) -> dict[str, Any]:
        """Counts as `check` has them: `rows`, `identifiers`, `combinations`, `rejections`; `problems` forbid an upload.

        Runs a job unless `write` or an earlier call has the counts.
        """
        tally = self._tally()
        return {
            "columns": self._work.mapping.names_by_kind(),
            "rows": {"read": tally.rows_read, "rejected": tally.rows_rejected, "records": tally.records},
            "identifiers": identifier_counts(tally, self._work.mapping),
            "combinations": list(combination_counts(tally)),
            "rejections": dict(tally.reasons),
            "problems": [{"message": str(refusal), "hint": refusal.hint} for refusal in self._refusals(tally)],
        }

    def require_sound(self) -> None:
        """Raises Refused, for the worst of them, when the list has problems that forbid an upload. As `report`."""
        if refusals := self._refusals(self._tally()):
            raise refusals[0]

    def _tally(self) -> Tally:
        return self._known[0] if self._known else self._know(counts_of(self.outcomes).tally)

    def _know(self, tally: Tally) -> Tally:
        self._known[:] = [tally]
        return tally

    def _rows_now(self) -> tuple[int, int]:
        """How many rows the frame has, and the sum of their digests. Runs a job, which prepares none of them."""
        total = f"sum(cast({_digest_of(self._source)} AS decimal(20, 0)))"
        (row,) = self._source.selectExpr("count(1) AS rows", f"{total} AS sum").collect()
        return row["rows"], int(row["sum"] or 0)

    def _fingerprint(self, rows: int, digest_sum: int) -> dict[str, Any]:
        """A digest of rows, in any order, and of the options: equal for equal lists and options."""
        given = hashlib.sha256(self._given.encode("utf-8", "surrogatepass")).hexdigest()
        return {"rows": rows, "sum": str(digest_sum), "options": given}

    def _refusals(self, tally: Tally) -> list[Refused]:
        faulty = tally.reasons[Reason.ENCODING] + tally.reasons[Reason.TOO_LARGE]
        found: list[Refused] = list(judge(tally, self._work.mapping, self._options.bounds, notes=()))
        if faulty > tolerated_fault_rows(tally.rows_read):
            found.append(
                PlanRefused(f"{faulty:,} of {tally.rows_read:,} rows hold cells that are no text, or too large")
            )
        return found


@with_keywords(Keywords)
def prepare(
    frame: DataFrame, *, row_column: str | None = None, profile: str | None = None, **keywords: Unpack[Keywords]
) -> PreparedFrame:
    """The rows of `frame`, to be prepared by the executors; only the columns that are mapped are read.

    `columns` is required: nothing is looked at before a job runs. `row_column` has whole numbers that tell rows apart;
    without it, rows are numbered by partition. The other keywords are those of `audiencekit.check`. Raises
    MappingRefused and SourceRefused for columns that are missing, ambiguous or no text, UsageError for invalid
    keywords and frames.
    """
    if not hasattr(frame, "mapInArrow"):
        raise UsageError(
            "the source must be a Spark DataFrame", hint="one of pandas on Spark gives it: frame.to_spark()"
        )
    options = _read(keywords, profile)
    names, types = _columns_of(frame)
    mapping = _map(names, options)
    typed = TypedColumns(types, options.source.split_cells)
    typed.check(mapping)
    work = PartitionWork(
        mapping=mapping,
        typed=typed,
        rules=options.rules,
        operation_type=options.operation_type,
        names_rows=row_column is not None,
        has_digests=True,
    )
    places = used_positions(mapping)
    if row_column is not None:
        places = [_row_place(names, types, row_column), *places]
    source = _chosen(frame, places)
    outcomes = source.selectExpr(_digest_of(source), "*").mapInArrow(_to_run(work), _schema_of(work))
    return PreparedFrame(
        outcomes=outcomes,
        records=records_of(outcomes),
        rejections=rejections_of(outcomes),
        _source=source,
        _work=work,
        _options=options,
        # The rules are those of the profile, and of this version: other ones make other records of the same rows.
        _given=json.dumps([__version__, asdict(options.rules), sorted(keywords.items()), row_column], default=_plain),
    )


def _plain(keyword: Any) -> Any:
    """A keyword that JSON does not have: a set has no order, other things their text."""
    return sorted(map(str, keyword)) if isinstance(keyword, set | frozenset) else str(keyword)


def _to_run(work: PartitionWork) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The function that `mapInArrow` calls for every partition."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        task: Any = TaskContext.get()
        return work.outcomes(batches, before=task.partitionId() * PARTITION_ROWS)

    return run


def _read(keywords: Mapping[str, Any], profile: str | None) -> Options:
    given = {name: value for name, value in keywords.items() if value is not None}
    if alien := sorted(_NOT_HERE & set(given)):
        raise UsageError(f"{', '.join(alien)}: not an option on Spark", hint="give it when the records are uploaded")
    if not given.get("columns"):
        raise UsageError("columns is required on Spark", hint='for example columns={"email": "mail"}')
    settings = load_settings(profile=profile)
    return read_keywords(given, settings.profile)  # type: ignore[arg-type]


def _schema_of(work: PartitionWork) -> Any:
    """The schema of outcomes in types of Spark."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(work.schema)


def _columns_of(frame: DataFrame) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The names of the columns, and their types as Arrow has them."""
    from pyspark.sql.pandas.types import to_arrow_type

    def type_of(kind: Any) -> Any:
        try:
            return to_arrow_type(kind)
        except Exception:
            return pa.bool_()  # as good as any that no identifier has

    types = tuple(type_of(column.dataType) for column in frame.schema)
    return tuple(frame.schema.names), types


def _map(names: tuple[str, ...], options: Options) -> ColumnMapping:
    header = Header.of(names, len(names), options.source.wanted_names)
    return Mapper(header, Sample(names, tuple(() for _ in names)), options.source).map()


def _row_place(names: tuple[str, ...], types: Sequence[Any], row_column: str) -> int:
    place = Header.of(names, len(names), (row_column,)).find(row_column)
    if not pt.is_integer(types[place]):
        raise MappingRefused("the column of row numbers holds no whole numbers", hint="leave row_column out")
    return place


def _digest_of(source: DataFrame) -> str:
    """The expression of a digest of each row of `_chosen`."""
    return f"xxhash64({', '.join(source.columns)})"


def _chosen(frame: DataFrame, places: Iterable[int]) -> DataFrame:
    """The columns at `places` and no other, under names that cannot be taken for one another."""
    renamed = frame.toDF(*(f"c{place}" for place in range(len(frame.schema.names))))
    return renamed.select(*(f"c{place}" for place in places))
