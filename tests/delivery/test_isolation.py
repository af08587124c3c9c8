"""The search for bad records: nothing good is lost, nothing bad is kept, and it costs little."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from audiencekit.delivery.isolation import Isolation, SuspectGroup
from audiencekit.errors import AudiencekitError, CountMismatch, Outcome, RequestRefused
from audiencekit.limits import ISOLATION_REQUESTS


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
        isolation = Isolation(np.array(self.operation_of), error, is_trusted=lambda: is_trusted)
        while (group := isolation.next_group()) is not None:
            self.asked += 1
            records = group.records.tolist()
            assert records == sorted(set(records))
            assert len(records)
            if (error := self.judge(records)) is not None:
                isolation.refused(group, error)
            else:
                self.taken.extend(records)
                isolation.taken(group)
        isolation.finish()
        return isolation


NAMINGS = ["all", "first", "last", "zero", "beyond", "negative", "none", "one right, one beyond"]


@pytest.mark.parametrize("names", ["all", "first"])
@pytest.mark.parametrize("place", range(25))
def test_one_bad_record_among_25_costs_few_requests(place: int, names: str) -> None:
    """Fault 20: at most 10 further requests until the one is found and all others are sent."""
    for operation in (0, 1, 99):
        judge = Judge([number // 25 for number in range(2_500)], {operation * 25 + place}, names)
        isolation = judge.search()
        assert set(isolation.bad) == judge.bad
        assert len(judge.taken) == 2_499
        assert judge.asked <= 10


@pytest.mark.parametrize(("names", "most"), [("all", 10), ("first", 10), ("zero", 25), ("none", 20)])
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


@pytest.mark.parametrize("names", NAMINGS)
def test_everything_bad_halts(names: str) -> None:
    """When no record is taken, the mistake is ours: the search halts after few requests, and gives up no record."""
    judge = Judge([number // 24 for number in range(60_000)], set(range(60_000)), names)
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
    isolation = Isolation(np.zeros(records, dtype=np.int64), error, is_trusted=lambda: False)
    taken = asked = 0
    while (group := isolation.next_group()) is not None:
        asked += 1
        if len(group.records) > 300:
            isolation.refused(group, error)
        else:
            taken += len(group.records)
            isolation.taken(group)
    isolation.finish()
    assert (taken, isolation.bad, isolation.halted_by, asked) == (records, {}, None, 6)


def mismatch(records: int) -> CountMismatch:
    return CountMismatch(sent=records, success_count=records - 1, total_count=records)


def test_wrong_counts_are_halved_once() -> None:
    """Fault 17: two halves; when both count right, all is confirmed."""
    isolation = Isolation(np.arange(9), mismatch(9), is_trusted=lambda: False)
    groups = []
    while (group := isolation.next_group()) is not None:
        groups.append(group.records.tolist())
        isolation.taken(group)
    isolation.finish()
    assert sorted(groups) == [[0, 1, 2, 3], [4, 5, 6, 7, 8]]
    assert isolation.halted_by is None


def test_half_that_is_still_counted_wrong_halts() -> None:
    """Fault 17: what is wrong in a half as well is unconfirmed."""
    isolation = Isolation(np.arange(9), mismatch(9), is_trusted=lambda: True)
    group = isolation.next_group()
    assert group is not None
    error = mismatch(4)
    isolation.refused(group, error)
    assert isolation.next_group() is None
    assert isolation.halted_by is error


def test_search_has_an_end() -> None:
    """A service that changes its mind is asked a bounded number of times."""
    error = RequestRefused("refused", status=400)
    isolation = Isolation(np.arange(50_000), error, is_trusted=lambda: True)
    asked = 0
    while (group := isolation.next_group()) is not None:
        asked += 1
        if len(group.records) == 1 and asked % 2:
            isolation.taken(group)
        else:
            isolation.refused(group, error)
    assert asked <= ISOLATION_REQUESTS
    assert isolation.halted_by is error


def test_groups_are_compared_by_identity() -> None:
    """Arrays have no truth value: a group is itself and nothing else."""
    assert SuspectGroup(np.arange(3)) != SuspectGroup(np.arange(3))


def test_a_page_of_a_gateway_refuses_no_record() -> None:
    """A record that meets it alone is not confirmed, and not rejected either."""
    page = RequestRefused("a page", status=400, outcome=Outcome.UNKNOWN, is_of_service=False)
    isolation = Isolation(np.arange(8), page, is_trusted=lambda: True)
    taken = []
    while (group := isolation.next_group()) is not None:
        if 5 in group.records:
            isolation.refused(group, page)
        else:
            taken.extend(group.records.tolist())
            isolation.taken(group)
    assert isolation.halted_by is page
    assert isolation.bad == {}
    assert 5 not in taken
