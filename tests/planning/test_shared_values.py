"""Plans of lists in which people share a value."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.destinations.ads import DO_NOT_REACH_LIST
from audiencekit.errors import Bug, PlanRefused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.planning.options import read_keywords
from audiencekit.planning.plan import PlannedRun, to_plan
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.planning.planner import plan_run
from audiencekit.planning.shared_values import LengthsOfShapes, Shapes
from audiencekit.profile import SPEC
from audiencekit.records.record_bits import Indices
from tests.examples import examples
from tests.planning.withheld import checked, sent_rows, write

# --- Plans of lists in which people share a value ---

OFFICE = "+493090182000"


def _office(path: Path, people: int, *more: str, head: str = "email,phone") -> Path:
    """People who have an email each, and one telephone together."""
    return write(path, head, *(f"p{number}@example.com,{OFFICE}" for number in range(people)), *more)


@pytest.mark.parametrize(
    ("people", "options", "left_out"),
    [
        (6, {}, 6),
        (5, {}, 0),
        (300, {"shared_values": "keep"}, 0),
        (300, {"shared_values": 300}, 0),
        (300, {"shared_values": 299}, 300),
        (2, {"shared_values": 1}, 2),
    ],
)
def test_more_people_than_few(tmp_path: Path, people: int, options: dict[str, Any], left_out: int) -> None:
    """Five by default: a household shares a phone, an office is none."""
    plan = checked(tmp_path, _office(tmp_path / "list.csv", people), **options)
    assert plan.identifiers["phone_number"] == {"present": people, "valid": people - left_out, "rejected": left_out}
    assert plan.rejections == ({"shared": left_out} if left_out else {})
    assert (plan.records, plan.rows.rejected) == (people, 0)


def test_a_record_of_nothing_else_is_rejected(tmp_path: Path) -> None:
    """Sums close, and every value left out has its line."""
    source = _office(tmp_path / "list.csv", 8, f",{OFFICE}", "quin@example.com,")
    rejections = tmp_path / "rejections.csv"
    plan = checked(tmp_path, source, rejections=rejections)
    assert (plan.rows.read, plan.rows.pending, plan.rows.rejected) == (10, 9, 1)
    assert plan.rejections == {"shared": 9}
    assert rejections.read_text().splitlines()[1:] == [f"{row},phone,shared" for row in range(1, 10)]


def test_combinations_are_those_that_are_left(tmp_path: Path) -> None:
    """With what is sent: the telephone of all is no kind of theirs."""
    source = _office(tmp_path / "list.csv", 8, f",{OFFICE}", "quin@example.com,+493090182001")
    plan = checked(tmp_path, source)
    assert plan.combinations == (
        {"kinds": ["email"], "rows": 8},
        {"kinds": ["email", "phone_number"], "rows": 1},
    )
    kept = checked(tmp_path, source, shared_values="keep")
    assert kept.combinations == (
        {"kinds": ["email", "phone_number"], "rows": 9},
        {"kinds": ["phone_number"], "rows": 1},
    )


def test_records_that_are_the_same_without_it(tmp_path: Path) -> None:
    """Two rows of one person, one of them with the office's telephone, are duplicates then."""
    source = _office(tmp_path / "list.csv", 8, "p3@example.com,")
    plan = checked(tmp_path, source)
    assert (plan.rows.pending, plan.rows.duplicate) == (8, 1)


def test_it_is_left_out_of_what_is_prepared(tmp_path: Path) -> None:
    """The records, and those of a second `prepare` of them, which has nothing left to leave out."""
    source = _office(tmp_path / "list.csv", 40)
    assert sent_rows(tmp_path, source) == list(range(1, 41))
    records = pq.read_table(tmp_path / "out" / "records.parquet")
    assert records.column("phone_number").null_count == 40
    again = checked(tmp_path, tmp_path / "out")
    assert (again.records, again.rejections) == (40, {})


def test_several_columns_of_the_kind(tmp_path: Path) -> None:
    """A record does not say from which one its value came: both are named."""
    head = "email,phone,mobile phone"
    source = write(tmp_path / "list.csv", head, *(f"p{n}@example.com,{OFFICE},+49151123450{n:02}" for n in range(20)))
    rejections = tmp_path / "rejections.csv"
    plan = checked(tmp_path, source, rejections=rejections)
    assert plan.identifiers["phone_number"] == {"present": 40, "valid": 20, "rejected": 20}
    assert rejections.read_text().splitlines()[1] == "1,phone or mobile phone,shared"


def test_a_warning_when_it_is_much_of_the_column(tmp_path: Path) -> None:
    """With its count, its share, and the option that sends it."""
    plan = checked(tmp_path, _office(tmp_path / "list.csv", 30))
    (warning,) = plan.to_json()["warnings"]
    assert {name: warning[name] for name in ("code", "column", "count", "share")} == {
        "code": "shared", "column": "phone", "count": 30, "share": 1.0,
    }  # fmt: skip
    assert "`shared_values=" in warning["remedy"]
    assert plan.verdict == "ready_with_warnings"


def test_people_to_keep_out_do_not_stop_a_delete(tmp_path: Path) -> None:
    """All of these are taken out: it does not matter who of them is on the list."""
    source = _office(tmp_path / "list.csv", 40)
    stop = write(tmp_path / "stop.csv", "email,phone", "," + OFFICE)
    plan = checked(tmp_path, source, suppress=[stop], operation="delete")
    assert (plan.refusals, plan.records) == ((), 40)


# Of 300 people who share a telephone, one is to be kept out: by the list of these, in one way or another.
SUPPRESSED = {
    "one of them": ("p7@example.com," + OFFICE, 299),
    "one of them by email": ("p7@example.com,", 299),
    "another person with the telephone": ("quin@example.com," + OFFICE, None),
    "the telephone alone": ("," + OFFICE, None),
    "another person": ("quin@example.com,+493090182001", 300),
}


@pytest.mark.parametrize("case", SUPPRESSED)
@pytest.mark.parametrize("answer", ["stop", "all", "none"])
def test_suppression_by_a_shared_value(tmp_path: Path, case: str, answer: str) -> None:
    """One is kept out, not all; where it may be any of them the run stops, and the answer decides."""
    line, left = SUPPRESSED[case]
    source = _office(tmp_path / "list.csv", 300)
    stop = write(tmp_path / "stop.csv", "email,phone", line)
    plan = checked(tmp_path, source, suppress=[stop], shared_suppression=answer)
    if OFFICE in line and answer == "all":
        assert (plan.records, plan.rows.suppressed) == (0, 300)
    elif left is None and answer == "stop":
        (problem,) = plan.refusals
        assert "1 row of people to keep out" in str(problem)
        assert "`shared_suppression=" in (problem.hint or "")
        assert OFFICE[1:] not in str(plan.to_json())
    else:
        assert (plan.refusals, plan.records) == ((), left or 300)


@pytest.mark.parametrize(
    ("line", "sent"), [(f"p3@example.com,{OFFICE},no", 39), (f",{OFFICE},no", None)], ids=["named", "unnamed"]
)
def test_consent_that_is_refused_with_a_shared_value(tmp_path: Path, line: str, sent: int | None) -> None:
    """A row that says no keeps out its own person; one that has nothing else may be any of them."""
    lines = [f"p{number}@example.com,{OFFICE},yes" for number in range(40)]
    source = write(tmp_path / "list.csv", "email,phone,marketing", *lines, line)
    plan = checked(tmp_path, source, consent_column="marketing=yes")
    if sent is None:
        assert [type(one) for one in plan.refusals] == [PlanRefused]
    else:
        assert (plan.refusals, plan.records) == ((), sent)


@pytest.mark.parametrize(("operation", "is_refused"), [("update", False), ("delete", True)])
def test_a_row_that_takes_people_out_by_it_alone(tmp_path: Path, operation: str, is_refused: bool) -> None:
    """It would take out all of them, and leaving it out would leave its person in: the run stops."""
    source = _office(tmp_path / "list.csv", 40, f",{OFFICE}")
    plan = checked(tmp_path, source, operation=operation)
    assert bool(plan.refusals) == is_refused
    if is_refused:
        assert "1 row to take people out" in str(plan.refusals[0])
        assert "`shared_values='keep'`" in (plan.refusals[0].hint or "")
        assert checked(tmp_path, source, operation=operation, shared_values="keep").records == 41


def test_a_do_not_reach_list_keeps_people_out(tmp_path: Path) -> None:
    """There it is the Update that must not be lost."""
    source = _office(tmp_path / "list.csv", 40, f",{OFFICE}")
    plan = checked(tmp_path, source, destination=DO_NOT_REACH_LIST)
    assert "1 row to take people out" in str(plan.refusals[0])


@pytest.mark.parametrize("given", [0, -1, 2.5, "many", True])
def test_numbers_of_people(tmp_path: Path, given: Any) -> None:
    """From one on, or keep."""
    with pytest.raises(UsageError, match="shared_values"):
        checked(tmp_path, _office(tmp_path / "list.csv", 3), shared_values=given)


@pytest.mark.parametrize("head", ["email,phone", "email,phone,partner_user_id"])
def test_a_plan_to_be_looked_at_says_the_same_without_records(tmp_path: Path, head: str) -> None:
    """`check` writes no hash where tags are enough; ids are measured again as texts, and need their records."""
    ids = "," if head.count(",") == 2 else ""
    people = [f"p{number}@example.com,{OFFICE}{ids and f',crm-{number % 3}'}" for number in range(40)]
    source = write(tmp_path / "list.csv", head, *people, f",{OFFICE}{ids}", f"quin@example.com,{ids}")
    said, written = [], []
    for keeps in (True, False):
        with ExitStack() as stack:
            terms = PlanTerms.pinned(read_keywords({}, SPEC), SPEC, now=datetime(2026, 1, 1, tzinfo=UTC))
            planned = plan_run(source, terms, PlanResources(stack=stack, spool_dir=tmp_path, keeps_records=keeps))
            said.append(to_plan(planned).to_json())
            written.append(_holds_records(planned))
    assert said[0] == said[1]
    assert written == [True, bool(ids)]


def _holds_records(planned: PlannedRun) -> bool:
    try:
        planned.batches.find(0, np.arange(1))
    except Bug:
        return False
    return True


# --- The shapes of records, and the length of a user by its shape ---

LINES = st.lists(
    st.lists(st.sampled_from([0, 0, 1, 1, 2, 7, 1_023, 1_024, 5_000]), min_size=len(Kind), max_size=len(Kind)),
    max_size=8,
)


@settings(max_examples=examples(100), deadline=None)
@given(LINES)
def test_lines_are_told_apart(lines: list[list[int]]) -> None:
    """However many values a record has."""
    shapes = Shapes.of(np.array(lines, dtype=np.int64).reshape(-1, len(Kind)))
    assert [shapes.distinct[place].tolist() for place in shapes.which] == lines
    seen = Counter(map(tuple, lines))
    found = zip(map(tuple, shapes.distinct.tolist()), shapes.records.tolist(), strict=True)
    assert dict(found) == seen
    kinds = [sum(1 << place for place, count in enumerate(shape) if count) for shape in shapes.distinct.tolist()]
    assert shapes.kinds() == kinds


def test_each_shape_is_measured_once() -> None:
    """By a record that has as many values of each kind."""
    measured = []

    def measure(records: HashedRecords) -> Indices:
        columns = [records.unwrap().column(kind.value).to_pylist() for kind in Kind]
        sizes = [[len(lists[row] or ()) for lists in columns] for row in range(records.unwrap().num_rows)]
        measured.extend(sizes)
        return np.array([sum(place * size for place, size in enumerate(each, 1)) for each in sizes])

    lengths, other = LengthsOfShapes(measure), [0] * (len(Kind) - 2)
    lines = np.array([[1, 1, *other], [0, 2, *other], [1, 1, *other]])
    assert lengths.of(Shapes.of(lines)).tolist() == [3, 4, 3]
    assert lengths.of(Shapes.of(lines[:2])).tolist() == [3, 4]
    assert sorted(measured) == sorted(lines[:2].tolist())
    assert not len(lengths.of(Shapes.of(lines[:0])))
