"""The catalogue is whole, and the documentation is the catalogue."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator.faults.catalogue import CATALOGUE, Kind
from audiencekit.emulator.faults.effects import Place
from audiencekit.emulator.faults.orders import read_fault, rehearsals

PAGE = Path(__file__).resolve().parents[3] / "docs" / "emulator-faults.md"


def _written(kind: Kind) -> list[str]:
    """The cells of a row of the documentation, after its number."""
    places = ", ".join(f"`{place}`" for place in kind.places) or "outside"
    settings = ", ".join(f"`{name}`" for name in kind.settings) or "–"
    return [kind.name, places, settings, kind.outside or kind.does]


def test_every_number_can_be_injected_or_is_answered() -> None:
    """1 to 41; 40 is a kind of 16. Each has places and an act for each of them, or says who brings it about."""
    assert list(CATALOGUE) == [*range(1, 40), 41]
    for kind in CATALOGUE.values():
        assert bool(kind.places) != bool(kind.outside)
        assert all(kind.acts.get(place, kind.act) for place in kind.places)
        assert all(setting.accepts(setting.default) for setting in kind.settings.values())


def test_every_place_has_its_faults() -> None:
    """The six of them."""
    assert {place for kind in CATALOGUE.values() for place in kind.places} == set(Place)


def test_the_documentation_has_the_same_table() -> None:
    """Row by row; with the settings of each and what they take."""
    text = PAGE.read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in text.splitlines() if line.startswith("|")]
    shown = {int(row[0]): row[1:] for row in rows if row[0].isdigit()}
    assert shown == {number: _written(kind) for number, kind in CATALOGUE.items()}


def test_the_documentation_tells_every_setting() -> None:
    """By its name, in the table of settings."""
    text = PAGE.read_text(encoding="utf-8")
    told = {name for line in text.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line)}
    assert {name for kind in CATALOGUE.values() for name in kind.settings} <= told


_CALM = {"delay_seconds": 0.01, "bytes_per_second": 1e6, "skew_seconds": 1, "bytes": 1_000, "depth": 10}
_SECONDS_OPEN = 41  # keeps its connection open for seconds
_PLACED = [
    pytest.param(number, place.value, marks=[pytest.mark.slow] * (number == _SECONDS_OPEN))
    for number, kind in CATALOGUE.items()
    for place in kind.places
    if place is not Place.CONNECT and number not in (14, 21, 36)
]


@pytest.mark.parametrize(("number", "where"), _PLACED)
async def test_each_fault_at_each_place_strikes_and_lets_go(bench: Any, number: int, where: str) -> None:
    """It is on record with its place; what it says of having been applied is true; the next request is answered."""
    settings = {name: value for name, value in _CALM.items() if name in CATALOGUE[number].settings}
    if where == Place.LATE_APPLY:
        settings["meanwhile"] = "status"
    await bench.order(number, where=where, times=1, **settings)
    before = len(await bench.log())
    with contextlib.suppress(ConnectionResetError):
        await bench.exchange(bench.request(Connection="close"))
    fired = await bench.fired()
    assert [each[:3] for each in fired] == [(number, where, 1)]
    assert fired[0][3] is (len(await bench.log()) > before)
    await bench.door("DELETE")
    await _answered(bench)


async def _answered(bench: Any) -> None:
    while True:
        try:
            assert b" 200 OK\r\n" in await bench.exchange(bench.request(Connection="close"))
        except ConnectionError:
            continue
        return


def test_the_effect_of_a_fault_is_told_of_every_choice() -> None:
    """A default that is written out is an order that can be sent back."""
    for number, kind in CATALOGUE.items():
        if kind.outside is None:
            document = read_fault({"fault": number}).document()
            assert set(kind.settings) <= set(document)


def test_the_documentation_lists_the_rehearsals() -> None:
    """By name, all of them."""
    section = PAGE.read_text(encoding="utf-8").partition("| rehearsal |")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE)) == rehearsals()
