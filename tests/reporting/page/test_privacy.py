"""No small count of a page can be computed from what the page shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.reporting.page.page_parts import FLOOR, Section
from audiencekit.reporting.page.parts import calendar_parts, list_parts
from audiencekit.reporting.page.privacy import masked, shown_counts

SETS = (("email",), ("phone_number",), ("email", "phone_number"))
CAUSES = ("placeholder", "too_long")
COUNTS = st.integers(0, 30)


def document_of(rows: list[int], lost: list[int]) -> dict[str, Any]:
    """The document of a list: its rows by SETS, and its lost emails by CAUSES. No phone number is lost."""
    emails, phones = rows[0] + rows[2], rows[1] + rows[2]
    return {
        "rows": {"read": sum(rows), "rejected": 0, "duplicate": 0, "superseded": 0, "suppressed": 0, "sent": sum(rows)},
        "rejections": {cause: number for cause, number in zip(CAUSES, lost, strict=True) if number},
        "identifiers": {
            "email": {"present": emails + sum(lost), "valid": emails, "rejected": sum(lost)},
            "phone_number": {"present": phones, "valid": phones, "rejected": 0},
        },
        "combinations": [{"kinds": kinds, "rows": number} for kinds, number in zip(SETS, rows, strict=True) if number],
        "warnings": [], "notes": [], "problems": [],
    }  # fmt: skip


def cells_of(parts: list[Section]) -> dict[tuple[str, str], str]:
    """The texts of the cells, by the name of their line and of their column."""
    return {
        (row.name, column): cell.text
        for part in parts
        for row in part.rows
        for column, cell in zip(part.columns[1:], row.cells, strict=True)
    }


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


def solutions(page: Readings, whole: int) -> Iterator[dict[tuple[str, str], int]]:
    """All counts that the cells may have, by the sums that hold between them; `whole` is the number of rows."""
    only = (page.of("email only", "rows"), page.of("phone number only", "rows"))
    for email, phone in product(*only):
        both = whole - email - phone
        losses = {sum(pair) for pair in product(*(page.of(cause.replace("_", " "), "values") for cause in CAUSES))}
        for lost in losses & set(page.of("email", "lost")):
            found = {
                ("email only", "rows"): email, ("phone number only", "rows"): phone,
                ("email + phone number", "rows"): both, ("email", "can be used"): email + both,
                ("phone number", "can be used"): phone + both, ("phone number", "filled cells"): phone + both,
                ("email", "lost"): lost, ("email", "filled cells"): email + both + lost,
            }  # fmt: skip
            if all(number in page.of(*place) for place, number in found.items()):
                for placeholder in page.of("placeholder", "values"):
                    if lost - placeholder in page.of("too long", "values"):
                        causes = {("placeholder", "values"): placeholder, ("too long", "values"): lost - placeholder}
                        yield found | causes


@given(rows=st.lists(COUNTS, min_size=3, max_size=3), lost=st.lists(COUNTS, min_size=2, max_size=2))
@settings(max_examples=60, deadline=None)
def test_a_hidden_count_of_a_list_could_be_another_one(rows: list[int], lost: list[int]) -> None:
    """For a reader who knows all sums and all rules, whatever the list."""
    parts = list_parts(document_of(rows, lost))
    page = Readings(cells_of(parts[1:]))
    possible: dict[tuple[str, str], set[int]] = {}
    for solution in solutions(page, sum(rows)) if page.hidden() else ():
        for place, number in solution.items():
            possible.setdefault(place, set()).add(number)
    assert [place for place in page.hidden() if len(possible[place]) < 2] == []


@given(st.dictionaries(st.integers(1, 9), st.integers(1, 40), min_size=1, max_size=4))
def test_a_hidden_month_could_have_other_members(months: dict[int, int]) -> None:
    """The members of all months are told, and the picture draws none that is hidden."""
    whole = sum(months.values())
    days = [{"date": f"2027-0{month}-01", "members": members} for month, members in months.items()]
    (part,) = calendar_parts({"members": whole, "days": days})
    page = Readings(cells_of([part]))
    ranges = {name: page.of(name, "members") for name, _ in cells_of([part])}
    for name, _ in page.hidden():
        others = [each for other, each in ranges.items() if other != name]
        sums = range(sum(each.start for each in others), sum(each.stop - 1 for each in others) + 1)
        assert len([members for members in ranges[name] if whole - members in sums]) > 1
    drawn = [number for picture in part.pictures for number in picture.values]
    assert not [number for number in drawn if 0 < number < FLOOR and len(ranges) > 1]


def test_counts_without_a_small_one_are_exact() -> None:
    """Nothing is rounded without need, and a count that others fix is shown as they are."""
    cells = cells_of(list_parts(document_of([40, 0, 500], [12, 25]))[1:])
    assert cells["email only", "rows"] == "40"
    assert cells["email", "lost"] == "37"
    alone = cells_of(list_parts(document_of([5, 0, 0], [0, 0]))[1:])
    assert alone["email only", "rows"] == "5"  # the rows of the list


def test_a_list_of_single_people_has_no_tables_of_values() -> None:
    """Two rows with other kinds: any table would tell each of them."""
    (part,) = list_parts(document_of([1, 1, 0], [0, 0]))
    assert "not shown" in part.text


def test_a_sum_does_not_tell_two_small_counts() -> None:
    """Of two causes with one value each, the values that were lost tell both, unless they are rounded."""
    shown = shown_counts({"a": 1, "b": 1, "all": 2}, [{"a": 1, "all": 1}, {"b": 1, "all": 1}, {"a": 1, "b": -1}])
    assert shown is not None
    assert shown.text("all", 2) == "fewer than 10"
    assert shown_counts({"a": 1, "b": 1}, [{"a": 1, "b": -1}]) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 number without a country", "fewer than 10 numbers without a country"),
        ("1 person is on the list", "fewer than 10 people are on the list"),
        ("3 values of 1,003 values", "fewer than 10 values of 1,003 values"),
        ("12 rows, version 3 of it", "12 rows, version 3 of it"),
        ("0.5 values", "0.5 values"),
    ],
)
def test_texts_tell_no_small_count(text: str, expected: str) -> None:
    """In good grammar."""
    assert masked(text) == expected
