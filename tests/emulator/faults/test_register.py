"""When a fault strikes, and what is kept of it."""

from __future__ import annotations

from typing import Any

import pytest

from audiencekit.emulator.faults.fault import Place, Situation
from audiencekit.emulator.faults.kinds import Site
from audiencekit.emulator.faults.reading import read_faults
from audiencekit.emulator.faults.register import Register

USERS = Situation(place=Place.BEFORE_APPLY, method="POST", path="/12/accounts/a/custom_audiences/b/users")
LIST = Situation(place=Place.BEFORE_APPLY, method="GET", path="/12/accounts/a/custom_audiences")


def _struck(register: Register, *situations: Situation) -> list[int]:
    """The places, from 1, of the situations that were struck."""
    return [place for place, situation in enumerate(situations, 1) if register.meet(situation, place)]


def _register(*orders: dict[str, Any]) -> Register:
    return Register(read_faults(list(orders)))


@pytest.mark.parametrize(
    ("order", "struck"),
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


@pytest.mark.parametrize(
    ("match", "struck"),
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
