"""Orders of faults, read strictly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator.faults import FaultError, load_faults, read_fault, read_faults, read_rehearsal, rehearsals
from audiencekit.emulator.faults.catalogue import CATALOGUE


@pytest.mark.parametrize("number", [number for number, kind in CATALOGUE.items() if kind.outside is None])
def test_a_number_is_a_whole_order(number: int) -> None:
    """Each fault has a default for everything; what it comes to is an order that reads the same."""
    fault = read_fault({"fault": number})
    assert fault.place is CATALOGUE[number].places[0]
    assert read_fault(fault.document()) == fault


@pytest.mark.parametrize(("number", "words"), [(33, "fill the disk"), (34, "send the signals")])
def test_a_fault_outside_says_who_brings_it_about(number: int, words: str) -> None:
    """33 and 34 are none of a server's."""
    with pytest.raises(FaultError, match=f"{number} .* is outside .*{words}"):
        read_fault({"fault": number})


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ([], "expected an object"),
        ({}, '"fault": expected a number from 1 to 39'),
        ({"fault": 0}, '"fault"'),
        ({"fault": 40}, '"fault"'),
        ({"fault": "4"}, '"fault"'),
        ({"fault": True}, '"fault"'),
        ({"fault": 8, "statsu": 500}, "a member that it does not have; .*status"),
        ({"fault": 8, "status": 501}, '"status": expected one of 500, 502, 504'),
        ({"fault": 8, "where": "after_apply"}, '"where": expected before_apply or headers'),
        ({"fault": 8, "where": ["headers"]}, '"where"'),
        ({"fault": 8, "nth": 0}, '"nth"'),
        ({"fault": 8, "nth": 1.0}, '"nth"'),
        ({"fault": 8, "nth": True}, '"nth"'),
        ({"fault": 8, "p": 1.1}, '"p"'),
        ({"fault": 8, "p": False}, '"p"'),
        ({"fault": 8, "p": 0.5, "nth": 1}, "exclude each other"),
        ({"fault": 8, "times": 0}, '"times"'),
        ({"fault": 8, "seed": -1}, '"seed"'),
        ({"fault": 8, "match": "users"}, '"match"'),
        ({"fault": 8, "match": {"host": "x"}}, '"match"'),
        ({"fault": 8, "match": {"path": 1}}, '"match"'),
        ({"fault": 8, "match": {"path": ""}}, '"match"'),
        ({"fault": 12, "match": {"path": "/x"}}, "nothing is known of a request"),
        ({"fault": 1, "delay_seconds": -1}, '"delay_seconds"'),
        ({"fault": 1, "delay_seconds": None}, '"delay_seconds"'),
        ({"fault": 4, "reset": "later"}, '"reset"'),
        ({"fault": 4, "reset": None}, '"reset"'),
        ({"fault": 10, "retry_after": "soon"}, '"retry_after"'),
        ({"fault": 10, "retry_after": {"date": -2e8}}, '"retry_after"'),
        ({"fault": 20, "bad": -1}, '"bad"'),
        ({"fault": 20, "bad": []}, '"bad"'),
        ({"fault": 20, "bad": {"prefix": "XY"}}, '"bad"'),
        ({"fault": 20, "bad": {"share": 2}}, '"bad"'),
        ({"fault": 20, "bad": {"prefix": "a", "share": 0.5}}, '"bad"'),
        ({"fault": 20, "bad": "some"}, '"bad"'),
        ({"fault": 29, "bytes_per_second": 0}, '"bytes_per_second"'),
        ({"fault": 30, "location": "http://x/\r\nSet-Cookie: a"}, '"location"'),
    ],
)
def test_a_wrong_order_says_what_is_wrong(order: Any, words: str) -> None:
    """Which member, and what is expected of it."""
    with pytest.raises(FaultError, match=words):
        read_fault(order)


def test_a_list_says_which_of_its_faults_is_wrong() -> None:
    """Counted from 1; and there is a most."""
    with pytest.raises(FaultError, match=r'^fault 2 of 2: "nth"'):
        read_faults([{"fault": 8}, {"fault": 8, "nth": 0}])
    with pytest.raises(FaultError, match="expected a list"):
        read_faults({"fault": 8})
    with pytest.raises(FaultError, match="at most 1000"):
        read_faults([{"fault": 8}] * 1001)


@pytest.mark.parametrize(("order", "times"), [({}, 1), ({"p": 0.5}, None), ({"times": None}, None), ({"times": 3}, 3)])
def test_how_often_has_a_default(order: Any, times: int | None) -> None:
    """Once; with a probability, for ever; or as it is said."""
    assert read_fault({"fault": 8, **order}).times == times
    assert read_fault({"fault": 22}).times is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[\n{]", "line 2, column 2"),
        ('[{"fault": 99}]', "fault 1 of 1"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_a_file_says_where_it_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    """The line of JSON, or the fault."""
    path = tmp_path / "faults.json"
    path.write_text(text)
    with pytest.raises(FaultError, match=words):
        load_faults(str(path))


def test_a_file_is_read_and_a_missing_one_is_not(tmp_path: Path) -> None:
    """The system's message on the file is passed on."""
    path = tmp_path / "faults.json"
    path.write_text(json.dumps([{"fault": 4, "nth": 3}]))
    assert [(fault.number, fault.nth) for fault in load_faults(str(path))] == [(4, 3)]
    with pytest.raises(FileNotFoundError):
        load_faults(str(tmp_path / "none.json"))
    (tmp_path / "latin.json").write_bytes(b'["\xe9"]')
    with pytest.raises(FaultError, match="UTF-8"):
        load_faults(str(tmp_path / "latin.json"))


def test_every_rehearsal_can_be_read() -> None:
    """Those that come with the package, the storm among them."""
    assert "storm" in rehearsals()
    for name in rehearsals():
        assert read_rehearsal(name) == load_faults(name) != []
    with pytest.raises(FaultError, match="storm"):
        read_rehearsal("../storm")
