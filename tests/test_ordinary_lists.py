"""Lists as people have them: exports of contact managers and shops, read without an option."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import MappingRefused
from audiencekit.pipeline import check
from audiencekit.reporting.report import Plan
from audiencekit.settings import load_settings
from tests.cases import each_case

PEOPLE = 300


def _check(tmp_path: Path, head: str, line: str, *more: str, **keywords: Any) -> Plan:
    """The plan of a list of people; `line` has {n} for the number of each, and {four} for four digits of it."""
    lines = [line.format(n=number, four=f"{2_000 + number:04}") for number in range(PEOPLE)]
    (tmp_path / "list.csv").write_text("\n".join([head, *lines, *more, ""]), encoding="utf-8")
    return check(tmp_path / "list.csv", settings=load_settings({}, directory=tmp_path), **keywords)


def _warned(plan: Plan) -> list[tuple[str, str | None, int]]:
    return [(warning.code, warning.column, warning.count) for warning in plan.warnings]


def test_phone_numbers_with_extensions(tmp_path: Path) -> None:
    """They refuse no one whose address is good; the warning says what they are."""
    plan = _check(tmp_path, "Email,Phone Number", "p{n}@example.com,(212) 234-{four} x752", country="US")
    assert (plan.refusals, plan.records, plan.verdict) == ((), PEOPLE, "ready_with_warnings")
    assert _warned(plan) == [("extension", "Phone Number", PEOPLE)]


@each_case("way_on", [{"ignore": ["Phone"]}, {"max_rejected_column_share": 1}, {"country": "DE"}])
def test_a_country_that_is_wrong(tmp_path: Path, way_on: dict[str, Any]) -> None:
    """The refusal asks about the country, and each way on that it names goes on."""
    given = (tmp_path, "Email,Phone", "p{n}@example.com,0151 2312{four}")
    (problem,) = _check(*given, country="US").refusals
    hint = problem.hint or ""
    assert [
        word for word in ("`country=", "`ignore=['Phone']`", "`max_rejected_column_share=1`") if word not in hint
    ] == []
    plan = _check(*given, **{"country": "US", **way_on})
    assert (plan.refusals, plan.records) == ((), PEOPLE)


def test_phone_numbers_without_a_country(tmp_path: Path) -> None:
    """All are lost: that is no list that is simply ready."""
    plan = _check(tmp_path, "Email,Phone", "p{n}@example.com,(212) 234-{four}")
    assert plan.verdict == "ready_with_warnings"
    assert _warned(plan) == [("no_country", "Phone", PEOPLE)]
    assert "`country=`" in (plan.warnings[0].remedy or "")
    assert _check(tmp_path, "Email,Phone", "p{n}@example.com,(212) 234-{four}", country="US").verdict == "ready"


def test_warnings_as_refusals(tmp_path: Path) -> None:
    """A nightly task that is to fail when numbers are lost."""
    plan = _check(tmp_path, "Email,Phone", "p{n}@example.com,(212) 234-{four}", fail_on_warnings=True)
    assert (plan.verdict, plan.exit_code) == ("refused", 3)
    assert "`country=`" in (plan.refusals[0].hint or "")


@each_case("rows_before", [0, 1_200])
def test_maiden_names_are_no_device_ids(tmp_path: Path, rows_before: int) -> None:
    """Blank in the sample, with names further down."""
    blank = [f"q{number}@example.com," for number in range(rows_before)]
    plan = _check(tmp_path, "E-mail,Maiden Name", "p{n}@example.com,", *blank, "quin@example.com,Quist")
    assert (plan.refusals, plan.columns) == ((), {"email": ["E-mail"]})


def test_hashes_that_are_none(tmp_path: Path) -> None:
    """A kind that is said to be hashed, and whose only column is not, is no list to go on with."""
    with pytest.raises(MappingRefused, match="Email"):
        _check(tmp_path, "Email,Phone", "p{n}@example.com,+1212234{four}", hashed=["email"])


def test_several_values_in_a_cell(tmp_path: Path) -> None:
    """As Google Contacts writes them, also where few cells have them."""
    more = [f"a{number}@example.com ::: b{number}@example.com,+12122349{number:03}" for number in range(40)]
    plan = _check(tmp_path, "E-mail 1 - Value,Phone 1 - Value", "p{n}@example.com,+1212234{four}", *more)
    assert plan.identifiers["email"] == {"present": PEOPLE + 80, "valid": PEOPLE + 80, "rejected": 0}
    assert any(":::" in note for note in plan.notes)


def test_a_country_column_of_two_letters(tmp_path: Path) -> None:
    """As Mailchimp calls it."""
    plan = _check(tmp_path, "Email Address,Phone Number,CC", "p{n}@example.com,(212) 234-{four},US")
    assert plan.identifiers["phone_number"]["valid"] == PEOPLE


def test_columns_are_called_as_their_owner_calls_them(tmp_path: Path) -> None:
    """Also by words that are in no list of ours."""
    given = (tmp_path, "First Name,Email,City,Statie", "P,p{n}@example.com,x,y")
    with pytest.raises(MappingRefused) as refused:
        _check(*given, columns={"email": "Mail"})
    assert "City, Statie" in (refused.value.hint or "")


def test_screen_names_of_other_services(tmp_path: Path) -> None:
    """They are not sent as handles; a note names the option that does."""
    plan = _check(tmp_path, "Primary Email,Screen Name", "p{n}@example.com,pat{n}")
    assert plan.columns == {"email": ["Primary Email"]}
    assert any("Screen Name" in note and "`columns={'handle': " in note for note in plan.notes)
