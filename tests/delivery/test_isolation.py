"""The search for bad records: nothing good is lost, nothing bad is kept, and it costs little."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.delivery.isolation import Isolation, SuspectGroup
from audiencekit.delivery.request_sizes import LearnedSizes, RequestSize
from audiencekit.errors import AudiencekitError, CountMismatch, Outcome, RequestRefused
from audiencekit.limits import ISOLATION_REQUESTS
from tests.cases import each_case
from tests.examples import examples


class Body:
    """The places of records of one size in a body."""

    def __init__(self, operation_of: Any) -> None:
        self.operation_of = np.array(operation_of, dtype=np.int64)
        self.record_bytes = np.full(len(operation_of), 100, dtype=np.int64)
        self.operation_bytes = 60

    def spread(self, records: Any) -> Any:
        count = min(len(records), 2_500)
        return np.arange(len(records)) * count // len(records)

    def size(self, records: Any, operations: Any = None) -> RequestSize:
        count = len(np.unique(self.operation_of[records] if operations is None else operations))
        return RequestSize(len(records), count, 1 + 100 * len(records) + 60 * count)


def begin(operation_of: Any, error: Any, *, is_trusted: bool, sizes: LearnedSizes | None = None) -> Isolation:
    body = Body(operation_of)
    whole = body.size(np.arange(len(operation_of)))
    return Isolation(body, error, whole=whole, sizes=sizes or LearnedSizes(), is_trusted=lambda: is_trusted)


class Judge:
    """A service that refuses whatever holds a bad record. `names` says which operations it blames, and how well."""

    def __init__(self, operation_of: list[int], bad: set[int], names: str = "all", status: int = 400) -> None:
        self.operation_of, self.bad, self.names, self.status = operation_of, bad, names, status
        self.asked = 0
        self.taken: list[int] = []

    def judge(self, records: list[int]) -> AudiencekitError | None:
        bad = [record for record in records if record in self.bad]
        if not bad:
            return None
        operations = sorted({self.operation_of[record] for record in records})
        blamed = [operations.index(operation) for operation in sorted({self.operation_of[record] for record in bad})]
        named: dict[str, list[Any]] = {
            "all": blamed, "first": blamed[:1], "last": blamed[-1:], "zero": [0], "beyond": [len(operations)],
            "negative": [-1], "none": [], "one right, one beyond": [blamed[0], len(operations) + 5],
        }  # fmt: skip
        errors = dict.fromkeys(named[self.names], ("INVALID",))
        return RequestRefused("refused", status=self.status, codes=("INVALID",), operation_errors=errors)

    def search(self, *, is_trusted: bool = False) -> Isolation:
        """The search from its first refusal to its end."""
        error = self.judge(list(range(len(self.operation_of))))
        assert error is not None
        isolation = begin(self.operation_of, error, is_trusted=is_trusted)
        while (group := isolation.next_group()) is not None:
            self.asked += 1
            records = group.records.tolist()
            assert records == sorted(set(records))
            assert len(records)
            if (error := self.judge(records)) is not None:
                isolation.refused(group, error, Body(self.operation_of).size(group.records, group.operations))
            else:
                self.taken.extend(records)
                isolation.taken(group, Body(self.operation_of).size(group.records, group.operations))
        isolation.finish()
        return isolation


SMALL = RequestSize(1, 1, 161)
NAMINGS = ["all", "first", "last", "zero", "beyond", "negative", "none", "one right, one beyond"]


@each_case("names", ["all", "first"])
@each_case("place", range(0, 25, 4))
def test_one_bad_record_among_25_costs_few_requests(place: int, names: str) -> None:
    """Fault 20: at most 10 further requests until the one is found and all others are sent."""
    for operation in (0, 1, 99):
        judge = Judge([number // 25 for number in range(2_500)], {operation * 25 + place}, names)
        isolation = judge.search()
        assert set(isolation.bad) == judge.bad
        assert len(judge.taken) == 2_499
        assert judge.asked <= 10


@each_case("names, most", [("all", 10), ("first", 10), ("zero", 25), ("none", 20)])
def test_one_bad_record_of_60_000(names: str, most: int) -> None:
    """A full body is searched in a logarithm of requests, whatever the service names."""
    judge = Judge([number // 24 for number in range(60_000)], {31_337}, names)
    assert set(judge.search().bad) == {31_337}
    assert len(judge.taken) == 59_999
    assert judge.asked <= most


@given(
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=15),
    bad=st.sets(st.integers(0, 104), min_size=1, max_size=8),
    names=st.sampled_from(NAMINGS),
    status=st.sampled_from([400, 413, 422]),
)
def test_exactly_the_bad_ones_are_given_up(sizes: list[int], bad: set[int], names: str, status: int) -> None:
    """Wherever the bad ones are and whatever index is given: each good record is taken once, each bad one found.

    Only where nothing is taken of a request that holds several bad ones does the search halt.
    """
    operation_of = [operation for operation, size in enumerate(sizes) for _ in range(size)]
    judge = Judge(operation_of, {record % len(operation_of) for record in bad}, names, status)
    isolation = judge.search(is_trusted=True)
    assert len(judge.taken) == len(set(judge.taken))
    assert set(isolation.bad) <= judge.bad
    if isolation.halted_by is None:
        assert set(judge.taken) == set(range(len(operation_of))) - judge.bad
        assert set(isolation.bad) == judge.bad
        assert all(codes == ("INVALID",) for codes in isolation.bad.values())
    else:
        assert not judge.taken
        assert len(judge.bad) >= 5


@each_case("names", NAMINGS)
def test_everything_bad_halts(names: str) -> None:
    """When no record is taken, the mistake is ours: the search halts after few requests, and gives up no record."""
    judge = Judge([number // 24 for number in range(4_000)], set(range(4_000)), names)
    isolation = judge.search(is_trusted=True)
    assert isinstance(isolation.halted_by, RequestRefused)
    assert judge.asked <= 100


def test_all_operations_named_halt_at_once() -> None:
    """Fault 20: every operation blamed is systematic, and costs no further request."""
    judge = Judge(list(range(2_500)), set(range(2_500)))
    assert judge.search().halted_by is not None
    assert judge.asked == 0


def test_many_bad_operations_are_no_mistake_of_ours() -> None:
    """As long as something is taken, any number of records may be bad."""
    judge = Judge([number // 2 for number in range(600)], set(range(0, 300, 3)))
    assert set(judge.search().bad) == judge.bad
    assert len(judge.taken) == 500


@pytest.mark.parametrize("is_trusted", [False, True])
def test_single_record_is_judged_by_the_rest_of_the_run(is_trusted: bool) -> None:
    """A request of one record that is refused: bad if the service took others of this run, else a halt."""
    isolation = Judge([0], {0}).search(is_trusted=is_trusted)
    assert set(isolation.bad) == {0}
    assert (isolation.halted_by is None) is is_trusted


def test_too_large_is_halved_until_it_fits() -> None:
    """413 blames the size: each half is sent, none is suspected, and nothing is given up."""
    records = 1_000
    error = RequestRefused("too large", status=413)
    isolation = begin(np.zeros(records), error, is_trusted=False)
    taken = asked = 0
    while (group := isolation.next_group()) is not None:
        asked += 1
        size = Body(np.zeros(records)).size(group.records, group.operations)
        if len(group.records) > 300:
            isolation.refused(group, error, size)
        else:
            taken += len(group.records)
            isolation.taken(group, size)
    isolation.finish()
    assert (taken, isolation.bad, isolation.halted_by) == (records, {}, None)
    assert asked <= 6


def mismatch(records: int) -> CountMismatch:
    return CountMismatch(sent=records, success_count=records - 1, total_count=records)


def test_wrong_counts_are_halved_once() -> None:
    """Fault 17: two halves; when both count right, all is confirmed."""
    isolation = begin(np.arange(9), mismatch(9), is_trusted=False)
    groups = []
    while (group := isolation.next_group()) is not None:
        groups.append(group.records.tolist())
        isolation.taken(group, SMALL)
    isolation.finish()
    assert sorted(groups) == [[0, 1, 2, 3], [4, 5, 6, 7, 8]]
    assert isolation.halted_by is None


def test_half_that_is_still_counted_wrong_halts() -> None:
    """Fault 17: what is wrong in a half as well is unconfirmed."""
    isolation = begin(np.arange(9), mismatch(9), is_trusted=True)
    group = isolation.next_group()
    assert group is not None
    error = mismatch(4)
    isolation.refused(group, error, SMALL)
    assert isolation.next_group() is None
    assert isolation.halted_by is error


def test_search_has_an_end() -> None:
    """A service that changes its mind is asked a bounded number of times."""
    error = RequestRefused("refused", status=400)
    isolation = begin(np.arange(5_000), error, is_trusted=True)
    asked = 0
    while (group := isolation.next_group()) is not None:
        asked += 1
        if len(group.records) == 1 and asked % 2:
            isolation.taken(group, SMALL)
        else:
            isolation.refused(group, error, SMALL)
    assert asked <= ISOLATION_REQUESTS
    assert isolation.halted_by is error


def test_groups_are_compared_by_identity() -> None:
    """Arrays have no truth value: a group is itself and nothing else."""
    assert SuspectGroup(np.arange(3)) != SuspectGroup(np.arange(3))


class Limited:
    """A service that takes so many records, operations or bytes a request, and refuses bad records by no name."""

    def __init__(self, most: dict[str, int], bad: set[int] = frozenset(), status: int = 400) -> None:  # type: ignore[assignment]
        self.most, self.bad, self.status = most, bad, status
        self.sizes, self.asked = LearnedSizes(), 0

    def refusal(self, records: Any, size: RequestSize) -> AudiencekitError | None:
        self.asked += 1
        if any(getattr(size, kind) > most for kind, most in self.most.items()):
            return RequestRefused("too large", status=self.status)
        return RequestRefused("bad", status=400) if self.bad & set(records.tolist()) else None

    def send(self, operation_of: list[int]) -> Isolation | None:
        """One request, whole if that is not known to be too large; every record must be taken once or bad."""
        body, records = Body(operation_of), np.arange(len(operation_of))
        whole, error = body.size(records), None
        if not self.sizes.is_over(whole):
            error = self.refusal(records, whole)
            if error is None:
                self.sizes.take(whole)
                return None
        isolation = Isolation(body, error, whole=whole, sizes=self.sizes, is_trusted=lambda: True)
        taken: list[int] = []
        while (group := isolation.next_group()) is not None:
            size = body.size(group.records, group.operations)
            if (refusal := self.refusal(group.records, size)) is None:
                taken.extend(group.records.tolist())
                isolation.taken(group, size)
            else:
                isolation.refused(group, refusal, size)
        isolation.finish()
        if isolation.halted_by is None:
            assert sorted([*taken, *isolation.bad]) == records.tolist()
        return isolation


FULL = [place * 2_500 // 33_125 for place in range(33_125)]


@each_case(
    "most, measure, ideal",
    [({"records": 2_500}, "records", 14), ({"operations": 1_000}, "operations", 3), ({"bytes": 1_000_000}, "bytes", 4)],
)
def test_a_size_is_learned_and_kept_to(most: dict[str, int], measure: str, ideal: int) -> None:
    """Of 6 full requests the first pays for all; the others cost little more than they need."""
    service = Limited(most, status=413 if measure == "bytes" else 400)
    service.send(FULL)
    assert service.asked <= ideal + 14
    before = service.asked
    for _ in range(5):
        service.send(FULL)
    assert service.asked - before <= 5 * (ideal + 2)
    assert service.sizes.measure == measure
    limit = next(iter(most.values()))
    assert 0.85 * limit <= service.sizes.taken <= limit
    if measure == "records":
        assert service.sizes.note is not None
        assert f"`max_records_per_request={service.sizes.taken}`" in service.sizes.note


def test_too_large_names_the_bytes() -> None:
    """413 is about bytes; the option is that of bytes."""
    service = Limited({"bytes": 1_000_000}, status=413)
    service.send(FULL)
    assert service.sizes.measure == "bytes"
    assert service.sizes.note is not None
    assert f"`max_body_bytes={service.sizes.taken}`" in service.sizes.note


@given(
    limit=st.integers(5, 400),
    kind=st.sampled_from(["records", "operations", "bytes"]),
    bad=st.sets(st.integers(0, 999), max_size=6),
    count=st.integers(1, 1_000),
    operations=st.integers(1, 300),
)
def test_bad_records_are_found_under_a_limit_of_size(
    limit: int, kind: str, bad: set[int], count: int, operations: int
) -> None:
    """Exactly the bad ones are given up, and what was learned is no smaller than what the service takes."""
    most = {kind: limit * 160 if kind == "bytes" else limit}
    service = Limited(most, {place for place in bad if place < count})
    body = [place * min(operations, count) // count for place in range(count)]
    for _ in range(2):
        isolation = service.send(body)
        if isolation is None:
            assert not service.bad
        elif isolation.halted_by is None:
            assert set(isolation.bad) == service.bad
        else:
            assert len(service.bad) >= 5
    assert (service.sizes.note is None) == (service.sizes.measure is None)


@settings(max_examples=examples(25), deadline=None)
@given(bad=st.sets(st.integers(0, 32_000), min_size=1, max_size=4))
def test_bad_records_are_no_size(bad: set[int]) -> None:
    """A service without a limit is not believed to have one, however many refusals bad records cause."""
    service = Limited({}, bad)
    isolation = service.send(FULL)
    assert isolation is not None
    assert set(isolation.bad) == bad
    assert service.sizes.measure is None
    assert service.asked <= 45 * len(bad)


def test_a_page_of_a_gateway_refuses_no_record() -> None:
    """A record that meets it alone is not confirmed, and not rejected either."""
    page = RequestRefused("a page", status=400, outcome=Outcome.UNKNOWN, is_of_service=False)
    body, everything = Body(list(range(8))), np.arange(8)
    isolation = Isolation(body, page, whole=body.size(everything), sizes=LearnedSizes(), is_trusted=lambda: True)
    taken = []
    while (group := isolation.next_group()) is not None:
        if 5 in group.records:
            isolation.refused(group, page, body.size(group.records, group.operations))
        else:
            taken.extend(group.records.tolist())
            isolation.taken(group, body.size(group.records, group.operations))
    assert isolation.halted_by is page
    assert isolation.bad == {}
    assert 5 not in taken
