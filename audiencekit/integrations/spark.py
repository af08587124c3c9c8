"""Spark: the preparation of one machine, on a cluster. Uploads never run there: one uploader reads what was written.

    prepared = prepare(frame, columns={"email": "mail", "phone_number": "mobile"}, country="DE")
    prepared.records.write.parquet("s3://…/records")
    prepared.require_sound()

The executors need this package and its dependencies, none of Spark's extras.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias, Unpack

import pyarrow as pa
import pyarrow.types as pt

from audiencekit.errors import MappingRefused, PlanRefused, Refused, UsageError
from audiencekit.identifiers.kinds import Reason
from audiencekit.integrations.outcomes import REJECTION_FIELDS, PartitionWork
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

# By the stage and the partition that they were counted in: a task that ran twice is counted once.
Tallies: TypeAlias = dict[tuple[int, int], Tally]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedFrame:
    """A frame of which every row is prepared when Spark runs a job over it.

    `outcomes` are records and rejections together (persist it when both are wanted, or each job prepares all rows),
    `records` the prepared format with hashes as bytes, `rejections` row, column and reason.
    """

    outcomes: DataFrame
    records: DataFrame
    rejections: DataFrame
    _work: PartitionWork = field(repr=False)
    _options: Options = field(repr=False)
    _counted: Any = field(repr=False)  # an accumulator of Tallies

    def report(self) -> dict[str, Any]:
        """Counts as `check` has them: `rows`, `identifiers`, `combinations`, `rejections`; `problems` forbid an upload.

        They are of the last job that read all rows. Raises UsageError when there was none.
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
        """Raises Refused, for the worst of them, when what was prepared has problems that forbid an upload."""
        if refusals := self._refusals(self._tally()):
            raise refusals[0]

    def _tally(self) -> Tally:
        stages: dict[int, Tally] = {}
        for (stage, _), tally in self._counted.value.items():
            stages.setdefault(stage, Tally()).add(tally)
        if not stages:
            raise UsageError("no row was prepared yet", hint="write `records`, or count `outcomes`, before this")
        # A job that needed a few rows only has counted fewer.
        return max(stages.items(), key=lambda item: (item[1].rows_read, item[0]))[1]

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
    )
    places = used_positions(mapping)
    if row_column is not None:
        places = [_row_place(names, types, row_column), *places]
    counted = _context_of(frame).accumulator({}, _Union())
    outcomes = _chosen(frame, places).mapInArrow(_to_run(work, counted), _schema_of(work))
    return PreparedFrame(
        outcomes=outcomes,
        records=outcomes.where("reason IS NULL").drop(*REJECTION_FIELDS),
        rejections=outcomes.where("reason IS NOT NULL").select("row", *REJECTION_FIELDS),
        _work=work,
        _options=options,
        _counted=counted,
    )


class _Union:
    """How Spark brings the counts of tasks together: what a partition counted twice, it counted once."""

    def zero(self, value: Tallies) -> Tallies:
        """The state that a task begins with."""
        return {}

    def addInPlace(self, value: Tallies, other: Tallies) -> Tallies:  # noqa: N802 - Spark calls it so
        """Both."""
        value.update(other)
        return value


def _to_run(work: PartitionWork, counted: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The function that `mapInArrow` calls for every partition."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        task: Any = TaskContext.get()
        place = (task.stageId(), task.partitionId())

        def count(tally: Tally) -> None:
            counted.add({place: tally})

        return work.outcomes(batches, before=task.partitionId() * PARTITION_ROWS, done=count)

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
    """Of the outcomes, as Spark has it."""
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


def _chosen(frame: DataFrame, places: Iterable[int]) -> DataFrame:
    """The columns at `places` and no other, under names that cannot be taken for one another."""
    renamed = frame.toDF(*(f"c{place}" for place in range(len(frame.schema.names))))
    return renamed.select(*(f"c{place}" for place in places))


def _context_of(frame: DataFrame) -> Any:
    try:
        return frame.sparkSession.sparkContext
    except Exception as error:
        kind = type(error).__name__
    raise UsageError(
        f"this Spark session has no context of its own ({kind})",
        hint="a session of Spark Connect cannot count rows: run the job in a classic session",
    )
