"""Compiled plans are taken from another process only when they would come out the same."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import phonenumbers
import pytest
from phonenumbers import PhoneMetadata

from audiencekit.machine.caches import Cache
from audiencekit.preparation.columnar.phones import compiledplans, planfile, tables as phone_tables
from audiencekit.preparation.columnar.phones.compiledplans import CACHED, supplied_plans
from audiencekit.preparation.columnar.phones.planfile import PlanFile
from audiencekit.preparation.columnar.phones.tables import PhoneTables, Tables
from tests.conftest import ROOT

REGIONS, CODES = ["DE", "US", "CA"], [49, 1, 800]


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
    assert sorted(compiled) == [1, 49, 800]
    compiled.clear()
    assert _same(PhoneTables(cache).covering(REGIONS, CODES), first)
    assert compiled == []


def test_a_newly_compiled_plan_is_added(cache: Cache, compiled: list[int]) -> None:
    """A later process compiles what it lacks, and all that either has is kept."""
    PhoneTables(cache).covering(["DE"], [49])
    PhoneTables(cache).covering(["US"], ())
    assert compiled == [49, 1]
    both = PhoneTables(cache).covering(["DE", "US"], [49])
    assert compiled == [49, 1]
    fresh = PhoneTables().covering(["DE", "US"], [49])
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
    [(planfile, "compilers", lambda: "other"), (compiledplans, "CACHED", "x")],
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
    monkeypatch.setattr(compiledplans, "compilers", lambda: "")
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
from audiencekit.machine.caches import Cache
from audiencekit.preparation.columnar.phones import tables as phone_tables

def another(name):
    PhoneMetadata.register_region_loader(name, lambda _: None)
    PhoneMetadata.metadata_for_region("AT")
    PhoneMetadata._region_metadata[name] = PhoneMetadata.metadata_for_region("AT")

{before}
make = phone_tables.NumberingPlan
phone_tables.NumberingPlan = lambda code: print("compiled", code) or make(code)
tables = phone_tables.PhoneTables(Cache(Path({cache!r}))).covering(["DE", "US", "CA"], [49, 1, 800])
print("read", *sorted(name.removeprefix("phonenumbers.data.") for name in sys.modules if "data.region_" in name))
"""


def _in_another_process(cache: Path, before: str = "") -> str:
    script = UNREAD.format(before=before, cache=str(cache))
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


def test_the_metadata_of_known_plans_is_not_read(tmp_path: Path) -> None:
    """The text says that it would be the same; where that is not known it is read once more, and then it is."""
    first = _in_another_process(tmp_path / "cache", "PhoneMetadata.metadata_for_region('DE')")
    assert sorted(line for line in first.splitlines() if "compiled" in line) == [
        "compiled 1",
        "compiled 49",
        "compiled 800",
    ]
    assert _in_another_process(tmp_path / "cache").split() == ["read", "region_DE"]
    assert _in_another_process(tmp_path / "cache").split() == ["read"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "before",
    ["another('DE')", "sys.modules['phonenumbers.data.region_DE'] = None; another('DE')"],
    ids=["it is read by others", "it was put there"],
)
def test_metadata_of_others_is_not_taken_for_the_text(tmp_path: Path, before: str) -> None:
    """Where phonenumbers would not read its own text, what it has counts."""
    _in_another_process(tmp_path / "cache")
    assert "compiled 49" in _in_another_process(tmp_path / "cache", before)


def test_metadata_that_was_changed_is_not_taken_for_the_text(tmp_path: Path) -> None:
    """As soon as it is in memory, it is what counts."""
    _in_another_process(tmp_path / "cache")
    change = "\n".join(
        [
            "described = PhoneMetadata.metadata_for_region('DE').general_desc",
            "object.__setattr__(described, '_mutable', True)",
            "described.possible_length = (5,)",
        ]
    )
    assert "compiled 49" in _in_another_process(tmp_path / "cache", change)


@pytest.mark.slow
def test_another_text_is_read(tmp_path: Path) -> None:
    """And compiled, unless it comes to the same metadata."""
    _in_another_process(tmp_path / "cache")
    other = "import pkgutil; get = pkgutil.get_data"
    changed = f"{other}; pkgutil.get_data = lambda of, name: get(of, name) + (b'#' if name == 'region_DE.py' else b'')"
    assert _in_another_process(tmp_path / "cache", changed).split() == ["read", "region_DE"]
    assert _in_another_process(tmp_path / "cache", changed).split() == ["read"]
