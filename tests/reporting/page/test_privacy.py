"""No small count of a floored page can be computed from what the page shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import example, given, settings, strategies as st

from audiencekit.reporting.page.machine_page import machine_page
from audiencekit.reporting.page.page_parts import Section, View
from audiencekit.reporting.page.parts import (
    calendar_parts,
    change_parts,
    headline,
    history_parts,
    list_parts,
    sending_parts,
)
from audiencekit.reporting.page.privacy import FLOOR, list_counts, masked, row_counts, shown_counts
from tests.cases import each_case
from tests.examples import examples

SHARED = View(is_floored=True)
VALID, BLANK, CAUSES = "valid", "", ("placeholder", "too_long")
SENT, KEPT_OUT, TWICE, THERE = "sent", "suppressed", "duplicate", "unchanged"
Person = tuple[str, str, str]  # email, phone number, outcome
LOST: list[Person] = [(email, BLANK, "rejected") for email in (BLANK, *CAUSES)]
PEOPLE: list[Person] = LOST + [
    (email, phone, outcome)
    for email in (VALID, BLANK, *CAUSES)
    for phone in (VALID, BLANK)
    for outcome in (SENT, KEPT_OUT, TWICE, THERE)
    if VALID in (email, phone)
]
LISTS = st.dictionaries(st.sampled_from(PEOPLE), st.integers(1, 30), min_size=1, max_size=5).map(Counter)


def document_of(people: Counter[Person]) -> dict[str, Any]:
    """The report of a list of so many people of each sort, under sync: those who are sent were not there before."""
    rows, combined, causes = Counter[str](), Counter[tuple[str, ...]](), Counter[str]()
    email, phone = Counter[str](), Counter[str]()
    for (mail, number, outcome), times in people.items():
        rows[outcome] += times
        kinds = tuple(kind for kind, value in (("email", mail), ("phone_number", number)) if value == VALID)
        combined[kinds] += times if kinds else 0
        causes[mail if mail in CAUSES else "no_identifier" if not kinds else ""] += times
        for counts, value in ((email, mail), (phone, number)):
            counts["present"] += times if value else 0
            counts["valid"] += times if value == VALID else 0
            counts["rejected"] += times if value in CAUSES else 0
    names = ("sent", "rejected", "duplicate", "superseded", "suppressed", "pending", "unchanged")
    whole, sent = sum(people.values()), rows["sent"]
    changes = {"additions": sent, "renewals": 0, "removals": 0, "returned": 0, "unchanged": rows["unchanged"]}
    after = {"members": rows["unchanged"], "members_after": rows["unchanged"] + sent}
    return {
        "state": "complete", "operation": "sync", "changes": changes | after,
        "rows": {"read": whole, **{name: rows[name] for name in names}},
        "rejections": {cause: number for cause, number in sorted(causes.items()) if cause and number},
        "identifiers": {kind: {name: counts[name] for name in ("present", "valid", "rejected")}
                        for kind, counts in (("email", email), ("phone_number", phone))},
        "combinations": [{"kinds": [*kinds], "rows": number} for kinds, number in sorted(combined.items()) if number],
        "requests": {"planned": 1, "confirmed": 1, "attempts": 1, "bytes": 100 * sent},
        "reconciliation": dict.fromkeys(("records_sent", "success_count", "total_count"), sent),
        "warnings": [], "notes": [], "problems": [],
    }  # fmt: skip


def told_in_a_report(document: dict[str, Any]) -> str:
    """All that its own page says of it."""
    parts = [*list_parts(document, SHARED), *change_parts(document, SHARED), *sending_parts(document, SHARED)]
    return repr([headline(document, SHARED), *parts])


def told_on_a_machine(document: dict[str, Any]) -> str:
    """All that the page of a machine says of it, its only run."""
    target = {"kind": "audience", "id": "h1ab2"}
    facts = {"run_id": "20260101-1", "target": target, "started_at": "2026-01-01T00:00:00Z", "running": False}
    members = document["changes"]["members_after"]
    days = [{"date": "2027-01-01", "members": members}]
    place = {
        "target": target, "name": "Customers", "runs": [facts["run_id"]],
        "members": {"least": members, "most": members}, "expiry": {"members": members, "days": days, "within_days": {}},
        "history": [{"seen_at": "2026-01-02T00:00:00Z", "audience_size": 900, "members": members, "match_rate": 0.5}],
    }  # fmt: skip
    runs = [{**document, **facts, "resumable": False}]
    return machine_page({"seen_at": "2026-01-02T00:00:00Z", "places": [place], "runs": runs, "erasures": []}, SHARED)


Sort = TypeVar("Sort")


def neighbours(people: Counter[Sort], sorts: Sequence[Sort]) -> Iterator[Counter[Sort]]:
    """The lists with one person more, one fewer, or one of another of the `sorts`."""
    for gone in (None, *people):
        for new in (None, *sorts):
            other = Counter(people)
            other.update([] if new is None else [new])
            other.subtract([] if gone is None else [gone])
            yield +other


@pytest.mark.parametrize("told_by", [told_in_a_report, told_on_a_machine])
@given(people=LISTS)
@example(people=Counter({(VALID, BLANK, SENT): 3, (VALID, BLANK, THERE): 2_934, LOST[0]: 63}))
@example(people=Counter({(VALID, BLANK, SENT): 850, LOST[0]: 20, LOST[1]: 3}))
@settings(max_examples=examples(7), deadline=None)
def test_a_hidden_count_of_a_list_could_be_another_one(
    people: Counter[Person], told_by: Callable[[dict[str, Any]], str]
) -> None:
    """For a reader who knows all sums and all rules: another list with another such count has the same page."""
    document = document_of(people)
    counts, told = list_counts(document) | row_counts(document), told_by(document)
    small = {key for key, number in counts.items() if 0 < number < FLOOR}
    others = neighbours(people, PEOPLE) if small else ()
    for other in map(document_of, others):
        other_counts = list_counts(other) | row_counts(other)
        changed = {key for key in small if other_counts.get(key, 0) != counts[key]}
        if changed and told_by(other) == told:
            small -= changed
        if not small:
            break
    assert small == set()


def cells_of(parts: list[Section]) -> dict[tuple[str, str], str]:
    """The texts of the cells and bars, by the name of their line and of their column."""
    found = {
        (row.name, column): cell.text
        for part in parts
        for row in part.rows
        for column, cell in zip(part.columns[1:], row.cells, strict=True)
    }
    bars = [bar for part in parts for picture in part.pictures for bar in getattr(picture, "bars", ())]
    return {(bar.name, "bar"): bar.cell.text for bar in bars} | found


class Readings:
    """The counts that a page may stand for, for a reader who knows how it rounds."""

    def __init__(self, cells: dict[tuple[str, str], str]) -> None:
        self._cells = cells
        fewer = [
            int(found[1].replace(",", "")) for text in cells.values() if (found := re.match(r"fewer than (.+)", text))
        ]
        self._step = max([FLOOR, *fewer])  # where a count is rounded, a smaller one is on the page, too

    def of(self, line: str, column: str) -> range:
        """The range of one cell; a line that is not there is of none."""
        text = self._cells.get((line, column), "0")
        number = int(text.split()[-1].replace(",", ""))
        if text.startswith("fewer"):
            return range(1, number)
        if text.startswith("about"):
            return range(max(self._step, number - self._step // 2), number + self._step // 2)
        return range(number, number + 1)

    def hidden(self) -> set[tuple[str, str]]:
        """The cells whose count is not shown."""
        return {place for place, text in self._cells.items() if text.startswith("fewer")}


@given(st.dictionaries(st.integers(1, 9), st.integers(1, 40), min_size=1, max_size=4))
def test_a_hidden_month_could_have_other_members(months: dict[int, int]) -> None:
    """The members of all months are told, and the picture draws none that is hidden."""
    whole = sum(months.values())
    days = [{"date": f"2027-0{month}-01", "members": members} for month, members in months.items()]
    (part,) = calendar_parts({"members": whole, "days": days}, SHARED)
    page = Readings(cells_of([part]))
    ranges = {name: page.of(name, "bar") for name, _ in cells_of([part])}
    for name, _ in page.hidden():
        others = [each for other, each in ranges.items() if other != name]
        sums = range(sum(each.start for each in others), sum(each.stop - 1 for each in others) + 1)
        assert len([members for members in ranges[name] if whole - members in sums]) > 1
    drawn = [bar.length for picture in part.pictures for bar in picture.bars]
    assert not [number for number in drawn if 0 < number < FLOOR and len(ranges) > 1]


def test_counts_without_a_small_one_are_exact() -> None:
    """Nothing is rounded without need."""
    people = Counter({(VALID, BLANK, SENT): 43, (VALID, VALID, SENT): 501, LOST[1]: 12, LOST[2]: 25})
    cells = cells_of(list_parts(document_of(people), SHARED))
    assert cells["reached", "count"] == "544"
    assert cells["email", "lost"] == "37"


def test_a_list_of_single_people_tells_nothing() -> None:
    """Two rows with other kinds: any count would tell each of them."""
    document = document_of(Counter({(VALID, BLANK, SENT): 1, (BLANK, VALID, SENT): 1}))
    assert set(cells_of(list_parts(document, SHARED)).values()) <= {"fewer than 10", "0"}
    assert headline(document, SHARED).number == "fewer than 10"
    assert headline(document, View()).number == "2"


def test_days_are_not_compared_on_a_floored_page() -> None:
    """One member more and one active user more are the same page; their owner sees both."""
    days = [{"seen_at": "2026-01-01T00:00:00Z", "audience_size": size, "members": 2_000 + size, "match_rate": 0.5}
            for size in (1_201, 1_202)]  # fmt: skip
    shared = [repr([*history_parts({"history": [day]}, SHARED)]) for day in days]
    assert shared[0] == shared[1]
    assert repr([*history_parts({"history": days[:1]}, View())]) != repr(
        [*history_parts({"history": days[1:]}, View())]
    )


def test_a_sum_does_not_tell_two_small_counts() -> None:
    """Of two causes with one value each, the values that were lost tell both, unless they are rounded."""
    shown = shown_counts({"a": 1, "b": 1, "all": 2}, [{"a": 1, "all": 1}, {"b": 1, "all": 1}, {"a": 1, "b": -1}])
    assert shown is not None
    assert shown.text("all", 2) == "fewer than 10"
    assert shown_counts({"a": 1, "b": 1}, [{"a": 1, "b": -1}]) is None


@each_case(
    "text, expected",
    [
        ("1 number without a country", "fewer than 10 numbers without a country"),
        ("1 person is on the list", "fewer than 10 people are on the list"),
        ("3 values of 1,003 values", "fewer than 10 values of 1,003 values"),
        ("12 rows, version 3 of it", "12 rows, version 3 of it"),
        ("0.5 values", "0.5 values"),
        ("3 of 990 values of column email are not sent", "fewer than 10 of 990 values of column email are not sent"),
        ("2 of them are numbers", "fewer than 10 of them are numbers"),
        ("400 rows (no_country 3, too_long 22)", "400 rows (no_country fewer than 10, too_long 22)"),
        (
            "shared by more people, the most by 7: left out",
            "shared by more people, the most by fewer than 10: left out",
        ),
    ],
)
def test_texts_tell_no_small_count(text: str, expected: str) -> None:
    """In good grammar."""
    assert masked(text) == expected
