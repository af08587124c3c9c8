"""Tables grow as regions and calling codes are asked for, and stay what they were."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import phonenumbers
import pytest
from phonenumbers import PhoneMetadata

from audiencekit.records.phones import plans as phone_plans, tables as phone_tables, tables as planfile
from audiencekit.records.phones.readings import DigitOutcome, StateRows
from audiencekit.records.phones.tables import (
    CACHED,
    WIDTH,
    CompiledPlan,
    PhoneTables,
    PlanFile,
    Tables,
    calling_codes,
    number_of,
    supplied_plans,
    unpacked_outcomes,
    written,
)
from audiencekit.state.directory import Cache
from tests.cases import each_case
from tests.conftest import ROOT


def _end(tables: Tables, start: int, digits: str) -> int:
    place = start
    for digit in digits:
        place = int(tables.following[place + int(digit)])
    return place // WIDTH


def _read(tables: Tables, start: int, digits: str) -> tuple[DigitOutcome, int]:
    outcome, dropped, _ = unpacked_outcomes(tables.readings[_end(tables, start, digits)])
    return list(DigitOutcome)[int(outcome)], int(dropped)


@pytest.fixture(scope="module")
def growing() -> PhoneTables:
    """Tables that have what earlier tests asked for."""
    return PhoneTables()


@each_case(
    "region, digits, expected",
    [
        ("US", "4155550132", (DigitOutcome.VALID, 0)),
        ("US", "14155550132", (DigitOutcome.VALID, 1)),
        ("US", "0114915112345678", (DigitOutcome.INTERNATIONAL, 3)),
        ("US", "415555", (DigitOutcome.NOT_POSSIBLE, 0)),
        ("US", "0005550132", (DigitOutcome.NOT_VALID, 0)),
        ("DE", "015112345678", (DigitOutcome.VALID, 1)),
        ("DE", "4915112345678", (DigitOutcome.NO_COUNTRY, 0)),
        ("DE", "0049", (DigitOutcome.INTERNATIONAL, 2)),
        ("IT", "0612345678", (DigitOutcome.VALID, 0)),
        ("HU", "0612345678", (DigitOutcome.VALID, 2)),
        ("GB", "447911123456", (DigitOutcome.VALID, 2)),
        ("GB", "4407911123456", (DigitOutcome.VALID, 3)),
        ("GG", "756789", (DigitOutcome.UNKNOWN, 0)),
    ],
)
def test_national(growing: PhoneTables, region: str, digits: str, expected: tuple[DigitOutcome, int]) -> None:
    """Digits are read as a person in the region dials them."""
    tables = growing.covering([region], ())
    assert _read(tables, tables.national[region], digits) == expected


@each_case(
    "code, digits, expected",
    [
        (49, "4915112345678", (DigitOutcome.VALID, 2)),
        (49, "49015112345678", (DigitOutcome.VALID, 3)),
        (49, "4", (DigitOutcome.BAD_CODE, 0)),
        (49, "48", (DigitOutcome.BAD_CODE, 0)),
        (49, "4915", (DigitOutcome.NOT_POSSIBLE, 0)),
        (39, "390612345678", (DigitOutcome.VALID, 2)),
        (800, "80012345678", (DigitOutcome.VALID, 3)),
    ],
)
def test_international(growing: PhoneTables, code: int, digits: str, expected: tuple[DigitOutcome, int]) -> None:
    """Digits are read as behind a plus sign."""
    tables = growing.covering((), [code])
    assert _read(tables, int(tables.international[code]), digits) == expected


def test_tables_grow() -> None:
    """Compiled regions are not compiled again, and earlier tables stay right."""
    growing = PhoneTables()
    first = growing.covering(["FR"], ())
    assert growing.covering(["FR"], ()) is first
    second = growing.covering(["FR", "DE"], [44])
    assert second.national["FR"] == first.national["FR"]
    assert _read(first, first.national["FR"], "0612345678") == _read(second, second.national["FR"], "0612345678")
    assert first.international[44] < 0 <= second.international[44]


def test_unknown_patterns_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Metadata with patterns that are not understood leaves its numbers to the definition, and those alone."""
    known = phone_plans._leading
    monkeypatch.setattr(phone_plans, "_leading", lambda metadata: "1+" if metadata.id == "FR" else known(metadata))
    tables = PhoneTables().covering(["FR", "DE"], [33])
    assert _read(tables, tables.national["FR"], "0612345678") == (DigitOutcome.UNKNOWN, 0)
    assert _read(tables, int(tables.international[33]), "33612345678") == (DigitOutcome.UNKNOWN, 0)
    assert _read(tables, tables.national["DE"], "015112345678") == (DigitOutcome.VALID, 1)


def test_equal_states_are_one() -> None:
    """The regions that share a calling code share most of their states."""
    alone = len(PhoneTables().covering(["NO"], ()).readings)
    both = len(PhoneTables().covering(["NO", "SJ"], ()).readings)
    assert both < alone * 1.5


def test_calling_codes() -> None:
    """The first three digits tell the calling code, as phonenumbers extracts it."""
    codes = calling_codes()
    for head in range(1000):
        found = phonenumbers.phonenumberutil._extract_country_code(f"{head:03}0000000")[0]
        assert codes[head] == found


def test_numbers_of_outcomes() -> None:
    """Each outcome has its own number."""
    assert len({number_of(outcome) for outcome in DigitOutcome}) == len(DigitOutcome)


def test_the_code_of_each_region_is_that_of_the_library() -> None:
    """It is told without reading what else is known of the region."""
    known = {region: phonenumbers.country_code_for_region(region) for region in phonenumbers.SUPPORTED_REGIONS}
    assert known.items() <= phone_tables._CODE_OF_REGION.items()


def test_a_calling_code_that_gets_more_states_keeps_its_earlier_ones() -> None:
    """Regions of one calling code that are met one after the other are read as those that are met at once."""
    growing = PhoneTables()
    first = growing.covering(["NO"], ())
    later = growing.covering(["SJ", "FR"], [47])
    at_once = PhoneTables().covering(["SJ", "FR", "NO"], [47])
    for region, number in (("NO", "40612345"), ("SJ", "79123456"), ("FR", "0612345678")):
        expected = _read(at_once, at_once.national[region], number)
        assert expected[0] is DigitOutcome.VALID
        assert _read(later, later.national[region], number) == expected
    assert _read(first, first.national["NO"], "40612345") == (DigitOutcome.VALID, 0)
    assert _read(later, int(later.international[47]), "4740612345") == (DigitOutcome.VALID, 2)


REGIONS, CODES = ["DE", "NO", "SJ"], [49, 47, 800]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """An empty one."""
    return Cache(tmp_path / "cache")


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The calling codes whose plans are compiled from now on."""
    codes: list[int] = []
    make = phone_tables.NumberingPlan
    monkeypatch.setattr(phone_tables, "NumberingPlan", lambda code: codes.append(code) or make(code))  # type: ignore[func-returns-value]
    return codes


def _same(one: Tables, other: Tables) -> bool:
    equal = np.array_equal(one.following, other.following) and np.array_equal(one.readings, other.readings)
    return equal and one.national == other.national and np.array_equal(one.international, other.international)


def test_nothing_is_compiled_twice(cache: Cache, compiled: list[int]) -> None:
    """A later process has the same tables, and compiles nothing."""
    first = PhoneTables(cache).covering(REGIONS, CODES)
    assert sorted(compiled) == [47, 49, 800]
    compiled.clear()
    assert _same(PhoneTables(cache).covering(REGIONS, CODES), first)
    assert compiled == []


def test_a_newly_compiled_plan_is_added(cache: Cache, compiled: list[int]) -> None:
    """A later process compiles what it lacks, and all that either has is kept."""
    PhoneTables(cache).covering(["DE"], [49])
    PhoneTables(cache).covering(["FR"], ())
    assert compiled == [49, 33]
    both = PhoneTables(cache).covering(["DE", "FR"], [49])
    assert compiled == [49, 33]
    fresh = PhoneTables().covering(["DE", "FR"], [49])
    assert len(both.readings) == len(fresh.readings)


@pytest.mark.slow
def test_the_plans_of_this_package(compiled: list[int]) -> None:
    """They are those of every region that are compiled here; `python -m generators` writes them anew."""
    regions, codes = phonenumbers.SUPPORTED_REGIONS, phonenumbers.COUNTRY_CODE_TO_REGION_CODE
    supplied = PhoneTables(supplied=supplied_plans()).covering(regions, codes)
    if _is_the_pinned_release():
        assert compiled == []
    assert _same(supplied, PhoneTables().covering(regions, codes))


def _is_the_pinned_release() -> bool:
    pinned = re.search(r"^phonenumbers==(.+)$", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
    return pinned is not None and pinned[1] == phonenumbers.__version__


def test_a_plan_that_differs_from_that_of_this_package(
    cache: Cache, compiled: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is compiled once, and kept for its user; the others are taken from the package and not written again."""
    earlier = Cache(tmp_path / "earlier")
    PhoneTables(earlier).covering(["DE", "FR"], [33, 49])
    supplied = earlier.read(CACHED)
    compiled.clear()
    metadata = PhoneMetadata.metadata_for_region("DE")
    assert metadata is not None
    monkeypatch.setattr(metadata.general_desc, "_mutable", True)
    monkeypatch.setattr(metadata.general_desc, "possible_length", (5,))
    for _ in range(2):
        PhoneTables(cache, supplied).covering(["DE", "FR"], [33])
    assert compiled == [49]
    assert PlanFile(cache.read(CACHED)).codes() == [49]


def test_other_metadata_is_not_taken_for_the_same(
    cache: Cache, compiled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Changed metadata of a region makes a new plan; the plans of other regions stay."""
    unchanged = PhoneTables(cache).covering(["DE", "FR"], ())
    compiled.clear()
    metadata = PhoneMetadata.metadata_for_region("DE")
    assert metadata is not None
    monkeypatch.setattr(metadata.general_desc, "_mutable", True)
    monkeypatch.setattr(metadata.general_desc, "possible_length", (5,))
    changed = PhoneTables(cache).covering(["DE", "FR"], ())
    assert compiled == [49]
    assert not _same(changed, unchanged)
    assert _same(changed, PhoneTables().covering(["DE", "FR"], ()))


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [(planfile, "compilers", lambda: "other"), (planfile, "CACHED", "x")],
    ids=["another compiler", "another form"],
)
def test_plans_compiled_by_another_release_are_not_taken(
    cache: Cache, compiled: list[int], monkeypatch: pytest.MonkeyPatch, place: Any, name: str, value: Any
) -> None:
    """Plans of another release of this package are compiled anew, once."""
    PhoneTables(cache).covering(["DE"], [49])
    monkeypatch.setattr(place, name, value)
    for _ in range(2):
        PhoneTables(cache).covering(["DE"], [49])
    assert compiled == [49, 49]


def test_another_release_of_phonenumbers_with_the_same_metadata(
    cache: Cache, compiled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most releases change a few regions; the plans of the others are taken."""
    PhoneTables(cache).covering(["DE"], [49])
    monkeypatch.setattr(phonenumbers, "__version__", "0")
    PhoneTables(cache).covering(["DE"], [49])
    assert compiled == [49]


def test_without_the_text_of_the_compilers_nothing_is_kept(
    cache: Cache, compiled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installation without sources cannot say what it compiles with."""
    monkeypatch.setattr(planfile, "compilers", lambda: "")
    for _ in range(2):
        PhoneTables(cache).covering(["DE"], ())
    assert compiled == [49, 49]
    assert cache.read(CACHED) is None


def test_a_file_that_cannot_be_read_is_written_anew(cache: Cache, compiled: list[int]) -> None:
    """A file that is whole and makes no sense is as good as none."""
    first = PhoneTables(cache).covering(["DE"], [49])
    cache.write(CACHED, b"[]" * 100)
    assert _same(PhoneTables(cache).covering(["DE"], [49]), first)
    assert compiled == [49, 49]
    assert PlanFile(cache.read(CACHED)).codes() == [49]


@pytest.mark.parametrize(("supplied", "files"), [(supplied_plans(), 0), (None, 1)], ids=["supplied", "compiled"])
def test_the_tables_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, supplied: bytes | None, files: int
) -> None:
    """Columns are decided with the plans of the package, and those in the cache of the user, which gets the others."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(phone_tables, "supplied_plans", lambda: supplied)
    phone_tables.phone_tables.cache_clear()
    try:
        phone_tables.phone_tables().covering(["DE"], ())
    finally:
        phone_tables.phone_tables.cache_clear()
    assert len(list(tmp_path.glob("audiencekit/*"))) == files


UNREAD = """
import sys
from pathlib import Path
import phonenumbers
from phonenumbers import PhoneMetadata
from audiencekit.state.directory import Cache
from audiencekit.records.phones import tables as phone_tables

def another(name):
    PhoneMetadata.register_region_loader(name, lambda _: None)
    PhoneMetadata.metadata_for_region("AT")
    PhoneMetadata._region_metadata[name] = PhoneMetadata.metadata_for_region("AT")

{before}
make = phone_tables.NumberingPlan
phone_tables.NumberingPlan = lambda code: print("compiled", code) or make(code)
tables = phone_tables.PhoneTables(Cache(Path({cache!r}))).covering(["DE", "NO", "SJ"], [49, 47, 800])
print("read", *sorted(name.removeprefix("phonenumbers.data.") for name in sys.modules if "data.region_" in name))
"""


def _in_another_process(cache: Path, before: str = "") -> str:
    script = UNREAD.format(before=before, cache=str(cache))
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the plans of a process that had read the metadata of Germany before."""
    cache = tmp_path_factory.mktemp("phones") / "cache"
    first = _in_another_process(cache, "PhoneMetadata.metadata_for_region('DE')")
    compiled = {line for line in first.splitlines() if "compiled" in line}
    assert compiled == {"compiled 47", "compiled 49", "compiled 800"}
    return cache


def test_the_metadata_of_known_plans_is_not_read(filled: Path, tmp_path: Path) -> None:
    """The text says that it would be the same; where that is not known it is read once more, and then it is."""
    cache = shutil.copytree(filled, tmp_path / "cache")
    assert _in_another_process(cache).split() == ["read", "region_DE"]
    assert _in_another_process(cache).split() == ["read"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "before",
    ["another('DE')", "sys.modules['phonenumbers.data.region_DE'] = None; another('DE')"],
    ids=["it is read by others", "it was put there"],
)
def test_metadata_of_others_is_not_taken_for_the_text(filled: Path, tmp_path: Path, before: str) -> None:
    """Where phonenumbers would not read its own text, what it has counts."""
    assert "compiled 49" in _in_another_process(shutil.copytree(filled, tmp_path / "cache"), before)


def test_metadata_that_was_changed_is_not_taken_for_the_text(filled: Path, tmp_path: Path) -> None:
    """As soon as it is in memory, it is what counts."""
    change = "\n".join(
        [
            "described = PhoneMetadata.metadata_for_region('DE').general_desc",
            "object.__setattr__(described, '_mutable', True)",
            "described.possible_length = (5,)",
        ]
    )
    assert "compiled 49" in _in_another_process(shutil.copytree(filled, tmp_path / "cache"), change)


@pytest.mark.slow
def test_another_text_is_read(filled: Path, tmp_path: Path) -> None:
    """And compiled, unless it comes to the same metadata."""
    cache = shutil.copytree(filled, tmp_path / "cache")
    other = "import pkgutil; get = pkgutil.get_data"
    changed = f"{other}; pkgutil.get_data = lambda of, name: get(of, name) + (b'#' if name == 'region_DE.py' else b'')"
    assert _in_another_process(cache, changed).split() == ["read", "region_DE"]
    assert _in_another_process(cache, changed).split() == ["read"]


def _plan(calling_code: int, *readings: int) -> CompiledPlan:
    """A plan of the metadata as it is now: each of `readings` leads to the one before."""
    plan = CompiledPlan.of_now(calling_code)
    state = plan.states.intern(readings[0], ())
    for reading in readings[1:]:
        state = plan.states.intern(reading, (state,) * 10)
    plan.starts[str(calling_code)] = state
    return plan


PLANS = {49: _plan(49, 1, 2, 3), 800: _plan(800, 4)}


def test_plans_are_read_as_they_were_written() -> None:
    """Each by its calling code, whatever stands beside it."""
    file = PlanFile(written(PLANS))
    assert file.codes() == [49, 800]
    for code, plan in PLANS.items():
        read = file.read(code)
        assert read is not None
        assert (read.in_memory, read.texts, read.starts) == (plan.in_memory, plan.texts, plan.starts)
        rows, readings = read.states.arrays()
        assert [rows.tolist(), readings.tolist()] == [part.tolist() for part in plan.states.arrays()]
    assert file.read(33) is None


def _leading_away(plan: CompiledPlan) -> CompiledPlan:
    rows, readings = plan.states.arrays()
    away = rows.copy()
    away[-1, 0] = len(rows)
    return replace(plan, states=StateRows(away, readings))


def _beginning_away(plan: CompiledPlan) -> CompiledPlan:
    return replace(plan, starts={"49": len(plan.states)})


@each_case(
    "broken",
    [
        lambda _: b"",
        lambda _: b"[]" * 100,
        lambda content: content[: len(content) // 2],
        lambda content: content.replace(b'"states":3', b'"states":2'),
        lambda content: content.replace(b'"place"', b'"plaze"'),
        lambda content: content[:-30] + bytes(30),
        lambda _: written({49: _leading_away(PLANS[49])}),
        lambda _: written({49: _beginning_away(PLANS[49])}),
    ],
)
def test_a_plan_that_makes_no_sense_is_not_read(broken: Callable[[bytes], bytes]) -> None:
    """It is then compiled."""
    content = written({49: PLANS[49]})
    assert PlanFile(content).read(49) is not None
    assert PlanFile(broken(content)).read(49) is None


def test_plans_of_other_modules_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of how plans are compiled makes each file out of date."""
    content = written(PLANS)
    monkeypatch.setattr(planfile, "compilers", lambda: "other")
    assert PlanFile(content).codes() == []
    assert PlanFile(content).read(49) is None
