"""`/__faults` over the wire."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator.faults.catalogue import CATALOGUE, Site
from audiencekit.emulator.faults.effects import Place, Situation
from audiencekit.emulator.faults.orders import (
    FaultError,
    Register,
    load_faults,
    read_fault,
    read_faults,
    read_rehearsal,
    rehearsals,
)
from tests.cases import each_case

# --- `/__faults` over the wire ---


async def test_a_list_replaces_and_an_object_adds(bench: Any) -> None:
    """The order is shown with every default, and with its counts."""
    shown = await bench.door("POST", [{"fault": 8}, {"fault": 10, "p": 0.5}])
    assert [fault["fault"] for fault in shown["faults"]] == [8, 10]
    shown = await bench.order(11, nth=3, match={"path": "*/users"})
    assert [fault["fault"] for fault in shown["faults"]] == [8, 10, 11]
    assert shown["faults"][2] == {
        "fault": 11,
        "where": "before_apply",
        "match": {"path": "*/users"},
        "nth": 3,
        "times": 1,
        "seed": 0,
        "status": 408,
        "body": "json",
        "met": 0,
        "fired": 0,
    }
    shown = await bench.door("POST", [{"fault": 9}])
    assert [fault["fault"] for fault in shown["faults"]] == [9]


async def test_a_rehearsal_is_set_by_its_name(bench: Any) -> None:
    """In place of what was set."""
    await bench.order(8)
    shown = await bench.door("POST", {"rehearsal": "storm"})
    assert len(shown["faults"]) > 10


async def test_faults_are_cleared(bench: Any) -> None:
    """With their record."""
    await bench.order(8)
    assert (await bench.upload()).status == 500
    assert await bench.door("DELETE") == {"faults": [], "fired": []}
    assert (await bench.upload()).status == 200


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not valid JSON"),
        (b"[", "not valid JSON"),
        (b'{"fault": 8, "fault": 9}', "repeats a key"),
        (b"8", "expected an object"),
        (b'[{"fault": 8}, {"fault": 8, "nth": 0}]', "fault 2 of 2"),
        (b'{"fault": 33}', "is outside"),
        (b'{"fault": 34}', "is outside"),
        (b'{"rehearsal": "sunshine"}', "storm"),
        (b'{"rehearsal": 1}', "storm"),
    ],
)
async def test_a_wrong_order_changes_nothing(bench: Any, body: bytes, words: str) -> None:
    """400 with what is wrong; the faults stay as they were."""
    await bench.order(10)
    reply = await bench.caller.send("POST", "/__faults", data=body)
    assert reply.status == 400
    assert words in reply.body["errors"][0]["message"]
    assert [fault["fault"] for fault in (await bench.door())["faults"]] == [10]


async def test_doors_are_not_struck(bench: Any) -> None:
    """A fault of every request strikes those of the API only."""
    await bench.door("POST", [{"fault": 13, "where": "headers", "times": None}])
    reply = await bench.caller.send("GET", "/__log")
    assert (reply.status, json.loads((await bench.caller.send("GET", "/__requests")).content)) == (200, [])


# --- Orders of faults, read strictly ---


@each_case("number", [number for number, kind in CATALOGUE.items() if kind.outside is None])
def test_a_number_is_a_whole_order(number: int) -> None:
    """Each fault has a default for everything; what it comes to is an order that reads the same."""
    fault = read_fault({"fault": number})
    assert fault.place is CATALOGUE[number].places[0]
    assert read_fault(fault.document()) == fault


@each_case("number, words", [(33, "fill the disk"), (34, "send the signals")])
def test_a_fault_outside_says_who_brings_it_about(number: int, words: str) -> None:
    """33 and 34 are none of a server's."""
    with pytest.raises(FaultError, match=f"{number} .* is outside .*{words}"):
        read_fault({"fault": number})


@each_case(
    "order, words",
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


@each_case("order, times", [({}, 1), ({"p": 0.5}, None), ({"times": None}, None), ({"times": 3}, 3)])
def test_how_often_has_a_default(order: Any, times: int | None) -> None:
    """Once; with a probability, for ever; or as it is said."""
    assert read_fault({"fault": 8, **order}).times == times
    assert read_fault({"fault": 22}).times is None


@each_case(
    "text, words",
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


# --- When a fault strikes, and what is kept of it ---

USERS = Situation(place=Place.BEFORE_APPLY, method="POST", path="/12/accounts/a/custom_audiences/b/users")
LIST = Situation(place=Place.BEFORE_APPLY, method="GET", path="/12/accounts/a/custom_audiences")


def _struck(register: Register, *situations: Situation) -> list[int]:
    """The places, from 1, of the situations that were struck."""
    return [place for place, situation in enumerate(situations, 1) if register.meet(situation, place)]


def _register(*orders: dict[str, Any]) -> Register:
    return Register(read_faults(list(orders)))


@each_case(
    "order, struck",
    [
        ({}, [1]),
        ({"nth": 3}, [3]),
        ({"nth": 3, "times": 2}, [3, 4]),
        ({"nth": 4, "times": None}, [4, 5, 6, 7, 8]),
        ({"p": 0}, []),
        ({"p": 1}, [1, 2, 3, 4, 5, 6, 7, 8]),
        ({"p": 1, "times": 3}, [1, 2, 3]),
    ],
)
def test_nth_times_and_p(order: dict[str, Any], struck: list[int]) -> None:
    """From the nth on, so often; or each with a probability, at most so often."""
    assert _struck(_register({"fault": 8, **order}), *[USERS] * 8) == struck


def test_a_seed_fixes_chance() -> None:
    """The same seed strikes the same requests; another, others; about as many as the probability says."""
    runs = [_struck(_register({"fault": 8, "p": 0.3, "seed": seed}), *[USERS] * 1000) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
    assert 200 < len(runs[0]) < 400


@each_case(
    "match, struck",
    [
        ({}, [1]),
        ({"method": "POST"}, [2]),
        ({"path": "*/users"}, [2]),
        ({"path": "/12/accounts/a/custom_audiences"}, [1]),
        ({"path": "/12/accounts/a"}, []),
        ({"method": "GET", "path": "*/users"}, []),
    ],
)
def test_only_what_matches_is_counted(match: dict[str, str], struck: list[int]) -> None:
    """Method and path, exact or with stars."""
    assert _struck(_register({"fault": 8, **({"match": match} if match else {})}), LIST, USERS) == struck


def test_a_fault_strikes_at_its_place_only() -> None:
    """Another place of the same request is not counted."""
    register = _register({"fault": 11, "where": "headers", "nth": 2})
    headers = Situation(place=Place.HEADERS, method="POST", path="/x")
    assert _struck(register, headers, USERS, USERS, headers) == [4]


def test_the_first_of_several_strikes_and_all_count() -> None:
    """A fault that is struck out by another has met its request all the same."""
    register = _register({"fault": 8, "nth": 1}, {"fault": 10, "nth": 2})
    assert _struck(register, USERS, USERS, USERS) == [1, 2]
    assert [each["fault"] for each in register.document()["fired"]] == [8, 10]


def test_a_struck_request_is_on_record() -> None:
    """Number, fault, place, request; and the counts of each fault."""
    register = _register({"fault": 8, "nth": 2})
    assert _struck(register, USERS, USERS, USERS) == [2]
    shown = register.document()
    assert shown["fired"] == [{"seq": 1, "fault": 8, "where": "before_apply", "request": 2, "applied": False}]
    assert [(each["met"], each["fired"]) for each in shown["faults"]] == [(2, 1)]


def test_replacing_keeps_the_record_and_clearing_does_not() -> None:
    """Counts begin anew with new faults."""
    register = _register({"fault": 8})
    assert _struck(register, USERS)
    register.replace(read_faults([{"fault": 10}, {"fault": 11}]))
    assert [fault.number for fault in register] == [10, 11]
    assert len(register.document()["fired"]) == 1
    register.clear()
    assert not register
    assert register.document() == {"faults": [], "fired": []}


def test_faults_of_other_addresses_strike_there_only() -> None:
    """Certificates at https, the proxy at the proxy."""
    register = _register({"fault": 32}, {"fault": 35}, {"fault": 12, "kind": "tls"})
    connect = Situation(place=Place.CONNECT)
    assert register.meet(connect) is None
    assert register.needs(Site.HTTPS)
    assert register.needs(Site.PROXY)
    assert not _register({"fault": 12}).needs(Site.HTTPS)
    met = [register.meet(connect, site=site) for site in (Site.HTTPS, Site.PROXY)]
    assert [each[1].fault if each else None for each in met] == [32, 35]
