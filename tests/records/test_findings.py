"""The doctor: every cause of a loss, most values first, and what would save them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audiencekit.pipeline import check
from audiencekit.settings import load_settings
from tests.cases import each_case


def _findings(tmp_path: Path, lines: list[str], **keywords: Any) -> list[dict[str, Any]]:
    path = tmp_path / "list.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    plan = check(path, settings=load_settings({}, directory=tmp_path), doctor=True, **keywords)
    found: list[dict[str, Any]] = plan.to_json()["findings"]
    return found


def _emails(*values: str) -> list[str]:
    """A list of good addresses, and these."""
    return ["email", *(f"p{number}@example.com" for number in range(200)), *values]


def _phones(*values: str) -> list[str]:
    """A list of good numbers, and these."""
    return [
        "email,phone",
        *(f"p{n}@example.com,+1212{2_340_000 + n}" for n in range(200)),
        *(f",{one}" for one in values),
    ]


NATIONAL_DE = [f"0171 39200{number:02}" for number in range(60)]
NATIONAL_US = [f"(212) 234-{number:04}" for number in range(60)]
SHA = [f"{number:064x}" for number in range(1, 41)]

CASES: dict[str, tuple[list[str], dict[str, Any], dict[str, Any]]] = {
    "country missing": (
        _phones(*NATIONAL_US), {}, {"code": "no_country", "count": 60, "option": "`country='US'`", "saves": 60},
    ),
    "another country missing": (
        _phones(*NATIONAL_DE), {}, {"code": "no_country", "count": 60, "option": "`country='DE'`", "saves": 60},
    ),
    "country wrong": (
        _phones(*NATIONAL_DE), {"country": "US"},
        {"code": "not_possible", "count": 60, "option": "`country='DE'`", "saves": 60},
    ),
    "country not known": (
        ["email,phone,country", *(f"p{n}@example.com,+1212{2_340_000 + n},US" for n in range(200)),
         *(f",{one},Atlantis" for one in NATIONAL_DE)],
        {"country": "DE"},
        {"code": "no_country", "count": 60, "option": None, "saves": 0,
         "remedy": "their country is misspelt or not known: write the country of such rows as its ISO code (GB) or its"
         " full name"},
    ),
    "country missing and not known": (
        ["email,phone,country", *(f"p{n}@example.com,+1212{2_340_000 + n},US" for n in range(200)),
         *(f",{one},{'Atlantis' * (n < 20)}" for n, one in enumerate(NATIONAL_DE))],
        {}, {"code": "no_country", "count": 60, "option": "`country='DE'`", "saves": 40},
    ),
    "extension": (
        _phones(*(f"+1 212 234 {number:04} x12" for number in range(30))), {},
        {"code": "extension", "count": 30, "option": None},
    ),
    "several values": (
        _emails(*(f"a{n}@example.com|b{n}@example.org" for n in range(30))), {},
        {"code": "invalid_syntax", "count": 30, "option": "`split_cells='|'`", "saves": 30},
    ),
    "spreadsheet": (
        _phones(*(f"4.4{number}E+11" for number in range(10, 19))), {},
        {"code": "excel_mangled", "count": 9, "option": None},
    ),
    "hashes among raw": (_emails(*SHA[:5]), {}, {"code": "already_hashed", "count": 5, "option": None}),
    "hashes alone": (["email", *SHA], {}, {"code": "already_hashed", "count": 40, "option": "`hashed=['email']`"}),
    "names among handles": (
        ["handle", *(f"user_{n}" for n in range(200)), *["Ada Arden"] * 20], {},
        {"code": "invalid_syntax", "count": 20, "remedy": "20 of them are the name of a person"},
    ),
    "addresses beside names": (
        _emails(*(f"Ada Arden <a{n}@example.com>" for n in range(12))), {},
        {"code": "display_name", "count": 12, "remedy": "12 of them are an address beside a name"},
    ),
    "raw among hashes": (
        ["email hash", *SHA, *(f"p{n}@example.com" for n in range(9))], {"hashed": ["email"]},
        {"code": "wrong_hash", "count": 9, "remedy": "9 of them are a value that is not hashed"},
    ),
    "digests of nothing": (
        ["email hash", *SHA, *["e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"] * 7],
        {"hashed": ["email"]}, {"code": "hash_of_placeholder", "count": 7},
    ),
    "typing errors": (_emails(*(f"p{n}@gamil.com" for n in range(11))), {}, {"code": "typing_error", "count": 11}),
    "offices": (
        _emails("info@example.org", "Sales+7@example.org", "information-ada@example.org", "ada+info@example.org"), {},
        {"code": "role_address", "count": 2},
    ),
    "throwaway mailboxes": (_emails("a@mailinator.com"), {}, {"code": "throwaway_mailbox", "count": 1}),
    "no identifier": (["email,name", *(f"p{n}@example.com,x" for n in range(50)), *[",y"] * 8], {},
        {"code": "no_identifier", "column": None, "count": 8},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_cause_is_found(tmp_path: Path, case: str) -> None:
    """With its count, and the option that saves the values, by trying it."""
    lines, keywords, wanted = CASES[case]
    (found,) = [each for each in _findings(tmp_path, lines, **keywords) if each["code"] == wanted["code"]]
    assert {name: found[name] for name in wanted} == wanted


def _people(found: list[dict[str, Any]]) -> dict[str, tuple[int, int, int]]:
    return {each["code"]: (each["count"], each["people"], each["saves_people"]) for each in found}


def test_people_are_rows_without_a_valid_value(tmp_path: Path) -> None:
    """Of those that have an address no one is lost. A row that is lost for two reasons counts for both."""
    lines = [
        "email,phone",
        *(f"p{n}@example.com,+1212{2_340_000 + n}" for n in range(100)),
        *(f"q{n}@example.com,(212) 234-{n:04}" for n in range(30)),  # these have an address
        *(f",(212) 234-{n:04}" for n in range(30, 70)),
        *(f"r@r@{n},(212) 234-{n:04}" for n in range(70, 90)),  # lost for both, and the country saves them
        *(f"s@s@{n},+1 212 234 {n:04} x12" for n in range(10)),  # nothing saves them
    ]
    assert _people(_findings(tmp_path, lines)) == {
        "no_country": (90, 60, 60),
        "invalid_syntax": (30, 30, 0),
        "extension": (10, 10, 0),
    }


def test_most_people_come_first(tmp_path: Path) -> None:
    """Before losses of more values, whose people are reached by another one."""
    lines = [
        "email,phone",
        *(f"p{n}@example.com,(212) 234-{n:04}" for n in range(90)),
        *(f"r@r@{n}," for n in range(8)),
    ]
    assert [each["code"] for each in _findings(tmp_path, lines)] == ["invalid_syntax", "no_country"]


def test_people_of_shared_values(tmp_path: Path) -> None:
    """Those who have nothing else, of a value that others share."""
    lines = ["email,phone", *(f"p{n}@example.com,+12122340000" for n in range(20)), *[",+12122340000"] * 3]
    found = _people(_findings(tmp_path, lines))
    assert found["shared"] == (23, 3, 0)


def test_several_values_of_a_row_are_one_person(tmp_path: Path) -> None:
    """Of a cell that was divided, and of two columns."""
    lines = ["phone,phone 2", *(f"(212) 234-{n:04};(212) 235-{n:04},(212) 236-{n:04}" for n in range(30))]
    found = [each for each in _findings(tmp_path, lines, split_cells=";") if each["code"] == "no_country"]
    assert sorted((each["count"], each["people"], each["saves_people"]) for each in found) == [
        (30, 30, 30),
        (60, 30, 30),
    ]


def test_the_most_come_first(tmp_path: Path) -> None:
    """Whatever the column."""
    lines = _phones(*NATIONAL_US, *(f"+1 212 234 {number:04} x12" for number in range(30)), "12", "n/a")
    counts = [each["count"] for each in _findings(tmp_path, lines)]
    assert counts == sorted(counts, reverse=True)
    assert counts[:2] == [61, 30]  # 12 is no number of any country, and n/a is none at all


def test_the_advised_option_saves_as_many_rows_as_said(tmp_path: Path) -> None:
    """The option that is named, given to the same list."""
    lines = _phones(*NATIONAL_DE, *NATIONAL_US[:20])
    (found,) = [each for each in _findings(tmp_path, lines) if each["code"] == "no_country"]
    after = _findings(tmp_path, lines, country=found["option"].removeprefix("`country='").removesuffix("'`"))
    assert found["count"] - sum(each["count"] for each in after) == found["saves"]


def test_nothing_is_examined_unless_it_is_asked_for(tmp_path: Path) -> None:
    """A `check` alone has no findings; nor has the doctor of a list without a loss."""
    assert _findings(tmp_path, _emails()) == []
    (tmp_path / "list.csv").write_text("\n".join(_phones(*NATIONAL_US)))
    assert check(tmp_path / "list.csv", settings=load_settings({}, directory=tmp_path)).findings == ()


def test_no_value_is_told(tmp_path: Path) -> None:
    """Counts, names of columns, options, and providers of a closed list."""
    lines = _emails("Quin Quist <quin@example.com>", "a@b@c", "someone@gamil.com", "info@quist-and-sons.example.org")
    told = str(_findings(tmp_path, lines)).lower()
    assert [word for word in ("quin", "quist", "someone", "gamil", "a@b") if word in told] == []


@each_case(
    "lines",
    [
        ["phone,name", *(f"word: +1 212 234 {number:04},x" for number in range(30))],  # the word would be no value
        [
            "email",
            *(f"a/{n}@example.com" for n in range(99)),
            *("/".join([f"p{n}@example.com"] * 6) for n in range(20)),
        ],
        ["phone,name", *(f"+1 212 234 {n:04}:+1 212 235 {n:04},x" for n in range(9)), *["an office,x"] * 30],
    ],
)
def test_no_option_is_advised_that_is_refused_again_or_breaks_others(tmp_path: Path, lines: list[str]) -> None:
    """To divide cells where all parts of a cell are values, no valid one breaks, and the column is not refused then."""
    name = lines[0].partition(",")[0]
    found = _findings(tmp_path, lines, columns={"phone_number" if name == "phone" else name: name})
    assert found
    assert not any("split_cells" in (each["option"] or "") for each in found)
