"""Lists, prepared directories and snapshots that are compared: which people are counted, and how exactly."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audiencekit.audiences.overlap import overlap
from audiencekit.destinations.known_audiences import KnownAudiences
from audiencekit.errors import MappingRefused, PlanRefused, SnapshotRefused, UsageError
from audiencekit.pipeline import prepare
from audiencekit.reporting.overlap import Overlap
from audiencekit.settings import Settings, load_settings
from tests.audiences.sync.service import AUDIENCE, Owner
from tests.cases import each_case

PEOPLE = [(str(number), str(number)) for number in range(100)]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({}, directory=tmp_path, state_dir=tmp_path / "state")


def _write(path: Path, rows: Sequence[str]) -> Path:
    path.write_text("\n".join(rows) + "\n")
    return path


def _emails(numbers: Sequence[int]) -> list[str]:
    return ["email", *(f"person{number}@example.com" for number in numbers)]


def _found(result: Overlap) -> list[tuple[int, int | None]]:
    return [(one.people, one.found) for one in result.found]


def test_people_are_those_that_an_upload_would_put_in(tmp_path: Path, settings: Settings) -> None:
    """Each once, without rejected rows, and found by any identifier, however it is written."""
    first = _write(
        tmp_path / "first.csv",
        [
            "email,phone,handle",
            "Ann@Example.com,+1 201 555 0123,ann",
            "ann@example.com,+12015550123,@Ann",
            "no address,,",
            ",(201) 555-0199,",
            "bo@example.com,,",
            "cy@example.com,,cy_",
        ],
    )
    second = _write(
        tmp_path / "second.csv",
        ["mail,mobile", "dee@example.com,+12015550123", "x@example.com,+12015550199", "cy@example.com,"],
    )
    found = overlap(first, second, country="US", settings=settings)
    assert [(one.name, one.people, one.only_here) for one in found.lists] == [("first.csv", 4, 1), ("second.csv", 3, 0)]
    assert _found(found) == [(4, 3), (3, 3)]
    kinds = {(one.of, each.kind): (each.people, each.found) for one in found.found for each in one.kinds}
    assert kinds == {
        ("first.csv", "email"): (3, 1),
        ("first.csv", "phone_number"): (2, 2),
        ("first.csv", "handle"): (2, 0),
        ("second.csv", "email"): (3, 1),
        ("second.csv", "phone_number"): (2, 2),
    }
    assert (found.floor, found.in_all, found.to_json()["found"][0]["found"]) == (0, 3, 3)


def test_a_prepared_directory_is_a_list_of_those_who_are_put_in(tmp_path: Path, settings: Settings) -> None:
    """Its Deletes are people to be taken out, and are not counted."""
    rows = [
        "email,operation",
        *(f"person{number}@example.com,{'delete' if number < 4 else 'update'}" for number in range(9)),
    ]
    prepare(
        _write(tmp_path / "mixed.csv", rows), out=tmp_path / "prepared", operation_column="operation", settings=settings
    )
    whole = _write(tmp_path / "whole.csv", _emails(range(9)))
    found = overlap(tmp_path / "prepared", [whole], settings=settings)
    assert _found(found) == [(5, 5), (9, 5)]
    assert found.lists[0].name == "prepared"


def test_lists_in_memory_and_of_equal_names_are_told_apart(tmp_path: Path, settings: Settings) -> None:
    """Three lists: two in directories of their own, and rows."""
    (tmp_path / "other").mkdir()
    paths = [tmp_path / "list.csv", tmp_path / "other" / "list.csv"]
    for path, numbers in zip(paths, (range(3), range(1, 5)), strict=True):
        _write(path, _emails(numbers))
    found = overlap(*paths, [{"email": "person1@example.com"}, {"email": "person9@example.com"}], settings=settings)
    assert [one.name for one in found.lists][:2] == ["list.csv", "list.csv (2)"]
    assert _found(found) == [(3, 2), (3, 1), (4, 2), (4, 1), (2, 1), (2, 1)]
    assert ([one.only_here for one in found.lists], found.in_all) == ([1, 2, 1], 1)


def test_a_list_that_would_be_refused_is_counted_with_a_note(tmp_path: Path, settings: Settings) -> None:
    """An overlap of nearly no one is then no surprise."""
    bad = _write(tmp_path / "bad.csv", ["email", "person1@example.com", *["nothing"] * 9])
    good = _write(tmp_path / "good.csv", _emails(range(3)))
    found = overlap(bad, good, settings=settings)
    assert _found(found) == [(1, 1), (3, 1)]
    assert any(note.startswith("bad.csv: `upload` would refuse it: ") for note in found.notes)


@pytest.mark.parametrize(
    "cells", [["email", "nothing", "neither"], ["email_sha256", "0" * 64, "1" * 64], ["color", "red"]]
)
def test_a_list_of_which_no_person_was_read_is_refused(tmp_path: Path, settings: Settings, cells: list[str]) -> None:
    """None of its people in the other list would be a finding that was not made."""
    bad, good = _write(tmp_path / "bad.csv", cells), _write(tmp_path / "good.csv", _emails(range(3)))
    with pytest.raises(PlanRefused, match=r"bad\.csv: no person was read"):
        overlap(good, bad, settings=settings)


def test_lists_without_a_common_kind_are_refused(tmp_path: Path, settings: Settings) -> None:
    """The same people may be in both."""
    numbers = _write(tmp_path / "numbers.csv", ["phone", "+493012345678", "+493012345679"])
    with pytest.raises(PlanRefused, match=r"numbers\.csv has phone_number alone, and list\.csv email"):
        overlap(numbers, _write(tmp_path / "list.csv", _emails(range(3))), settings=settings)


def test_counts_are_floored_to_be_shared(tmp_path: Path, settings: Settings) -> None:
    """Of two lists of the owner on demand only; nothing of the exact counts is left in the result."""
    lists = [_write(tmp_path / f"{start}.csv", _emails(range(start, start + 33))) for start in (0, 4)]
    exact, floored = (overlap(*lists, share=share, settings=settings) for share in (False, True))
    assert [(one.people, one.only_here) for one in exact.lists] == [(33, 4), (33, 4)]
    assert [(one.people, one.only_here) for one in floored.lists] == [(30, 0), (30, 0)]
    assert (_found(exact), _found(floored)) == ([(33, 29), (33, 29)], [(30, 30), (30, 30)])
    assert "29" not in f"{floored.to_json()}{floored}"
    assert any("below 10 are hidden" in note for note in floored.notes)


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Owner:
    """Whose audience has 80 members; their entries end after 20 and 90 days."""
    owner = Owner(tmp_path_factory.mktemp("synced"))
    asyncio.run(owner.sync(PEOPLE[:40], ttl_days=20))
    asyncio.run(owner.sync(PEOPLE[:40] + PEOPLE[60:], ttl_days=90))
    return owner


def test_members_of_an_audience_are_found_and_floored(owner: Owner, tmp_path: Path) -> None:
    """Without any option; by the name that this machine knows. Members whose entries have expired are not counted."""
    KnownAudiences(owner.settings.state_dir, owner.settings.account_id).note({AUDIENCE: "Spring customers"})
    listed = _write(tmp_path / "listed.csv", _emails(range(20, 80)))
    now = datetime.fromtimestamp(owner.clock.now(), UTC)

    def compare(days: int, audience: str) -> Overlap:
        return overlap(listed, audiences=[audience], settings=owner.settings, now=now + timedelta(days=days))

    found = compare(0, "Spring customers")
    assert [(one.name, one.source, one.people) for one in found.lists] == [
        ("listed.csv", "list", 60),
        ("Spring customers", "audience", 80),
    ]
    assert (_found(found), found.floor) == ([(60, 40), (80, 40)], 10)
    assert {each.kind for each in found.found[1].kinds} == {"email", "handle"}
    assert _found(compare(200, AUDIENCE)) == [(60, 0), (0, None)]


def test_a_small_list_learns_nothing_about_an_audience(owner: Owner, tmp_path: Path) -> None:
    """A list of a person who is a member, and of one who is not, have the same result."""
    results = []
    for number in (1, 50):
        listed = _write(tmp_path / "listed.csv", _emails([number]))
        results.append(overlap(listed, audiences=AUDIENCE, settings=owner.settings).to_json())
    assert results[0] == results[1]
    assert results[0]["found"][0]["found"] is None


def test_an_unsettled_or_changed_snapshot_is_told(owner: Owner, tmp_path: Path) -> None:
    """A run at work is a note; a snapshot that is gone is refused."""
    owner = owner.copied(tmp_path)
    listed = _write(tmp_path / "listed.csv", _emails(range(30)))
    directory = owner.settings.state_dir / "snapshots" / f"{owner.settings.account_id}-{AUDIENCE}"
    (directory / "changes").touch()
    notes = overlap(listed, audiences=[AUDIENCE], settings=owner.settings).notes
    assert any("a run is at work" in note for note in notes)
    (directory / "snapshot").unlink()
    with pytest.raises(SnapshotRefused):
        overlap(listed, audiences=[AUDIENCE], settings=owner.settings)


@each_case(
    "given, error, words",
    [
        ({"lists": 1}, UsageError, "1 was given"),
        ({"lists": 9}, UsageError, "9 were given"),
        ({"lists": 7, "audiences": ["1a2b", "1a2c"]}, UsageError, "9 were given"),
        ({"lists": 0, "audiences": ["1a2b", "1a2c"], "country": "DE"}, UsageError, "no list"),
        ({"lists": 1, "audiences": ["1a2b", "1a2b"]}, UsageError, "twice"),
        ({"lists": 1, "audiences": ["No such"]}, UsageError, "no audience is called"),
        ({"lists": 1, "audiences": ["1a2b"]}, PlanRefused, "not under sync"),
        ({"lists": 2, "columns": {"email": "nothing"}}, MappingRefused, "list0.csv"),
    ],
)
def test_other_lists_and_audiences_are_refused(
    tmp_path: Path, given: dict[str, Any], error: type[Exception], words: str
) -> None:
    """Too few, too many, twice, or not known here; and options without a list."""
    settings = load_settings(
        {"AUDIENCEKIT_ACCOUNT_ID": "18ce54d4x5t"}, directory=tmp_path, state_dir=tmp_path / "state"
    )
    lists = [_write(tmp_path / f"list{number}.csv", _emails([number])) for number in range(given["lists"])]
    with pytest.raises(error, match=words):
        overlap(*lists, settings=settings, **{name: value for name, value in given.items() if name != "lists"})


def test_standard_input_is_one_list(settings: Settings) -> None:
    """It can be read only once."""
    with pytest.raises(UsageError, match="standard input"):
        overlap("-", "-", settings=settings)
