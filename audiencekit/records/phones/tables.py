"""The metadata of the installed phonenumbers package as one table of states, compiled as regions and codes are met.

A row of the table is a state, its columns are digits. Equal states of a calling code are one state, whatever region
asked for them.
"""

from __future__ import annotations

import hashlib
import pkgutil
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from threading import Lock
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson
import phonenumbers

from audiencekit.errors import Bug
from audiencekit.records.phones.plans import NumberingPlan, digest_in_memory, digest_of_unread, regions_of_code
from audiencekit.records.phones.readings import (
    DIGITS,
    UNKNOWN,
    DigitOutcome,
    DigitReading,
    International,
    National,
    StateRows,
    Trunks,
)
from audiencekit.state.directory import Cache

WIDTH: Final = 16  # places of a row: ten digits, and what makes the row a power of two
STAY: Final = 15  # the place of a row that leads to itself: for numbers that are shorter than those beside them

States: TypeAlias = npt.NDArray[np.int32]
Readings: TypeAlias = npt.NDArray[np.int64]
Machine: TypeAlias = National | International

_OUTCOMES: Final = tuple(DigitOutcome)
_BITS: Final = 8  # of a reading that tell the outcome, and as many that tell the digits in front
_LAST_BITS: Final = (1 << _BITS) - 1
_REWRITING: Final = 32  # the bit from which on a reading tells how the number is rewritten
_CODE_BITS: Final = (1 << 2 * _BITS) - 1
_LONGEST_CODE: Final = 3  # digits of a country calling code
# As `country_code_for_region` says, which reads all that is known of the region.
_CODE_OF_REGION: Final = {
    region: code for code, regions in phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items() for region in regions
}


@dataclass(frozen=True, slots=True)
class Tables:
    """The plans compiled so far. A state is the place of its row in `following`, so that a digit is only added.

    `national` (by region) and `international` (by calling code, -1: not yet) are where to begin; `readings` tell, by
    number of the row, what digits are that end there: see `unpacked_outcomes`.
    """

    following: States
    readings: Readings
    national: dict[str, int]
    international: States


def number_of(outcome: DigitOutcome) -> int:
    """How `Tables.readings` writes `outcome`."""
    return _OUTCOMES.index(outcome)


@cache
def _packed(reading: DigitReading) -> int:
    packed = number_of(reading.outcome) | reading.dropped << _BITS | reading.calling_code << 2 * _BITS
    digits, kept, skipped = reading.rewriting
    if digits is None:
        return packed
    # Behind a one, so that zeros in front are digits.
    return packed | (int(f"1{digits}") | (kept | skipped << _BITS) << 2 * _BITS) << _REWRITING


def unpacked_outcomes(readings: Readings) -> tuple[States, States, npt.NDArray[np.int16]]:
    """Numbers of outcomes, digits before the national significant number, calling codes; only kernels rewrite."""
    outcomes = np.where(readings >> _REWRITING, number_of(DigitOutcome.UNKNOWN), readings & _LAST_BITS).astype(np.int32)
    dropped = (readings >> _BITS & _LAST_BITS).astype(np.int32)
    return outcomes, dropped, (readings >> 2 * _BITS & _CODE_BITS).astype(np.int16)


class PhoneTables:
    """Compiles on demand; may be asked by several threads.

    Compiled plans that are known are taken from `supplied`, a file of plans, and from `cache`, which gets the others.
    """

    def __init__(self, cache: Cache | None = None, supplied: bytes | None = None) -> None:
        self._lock = Lock()
        self._read = partial(CompiledPlans, cache, supplied)
        self._plans: CompiledPlans | None = None  # read when they are first asked for
        self._trunks: dict[int, Trunks] = {}  # while something is compiled
        self._places = _Places()
        self._tables = self._places.tables()

    def covering(self, regions: Iterable[str], calling_codes: Iterable[int]) -> Tables:
        """Tables in which at least these regions and calling codes have their place."""
        wanted, codes = set(regions), set(calling_codes)
        tables = self._tables
        if wanted <= tables.national.keys() and all(tables.international[code] >= 0 for code in codes):
            return tables
        with self._lock:
            plans = self._plans = self._plans or self._read()
            plans.compare_again()
            for region in sorted(wanted - self._places.national.keys()):
                code = _CODE_OF_REGION[region]
                self._places.national[region] = self._place(plans, region, code, partial(National, region=region))
            for code in sorted(codes - self._places.international.keys()):
                self._places.international[code] = self._place(plans, str(code), code, International)
            plans.write()
            self._trunks.clear()
            self._tables = self._places.tables()
            return self._tables

    def _place(self, plans: CompiledPlans, name: str, calling_code: int, make: Callable[[Trunks], Machine]) -> _Place:
        """Where the machine begins that `make` gives for the plan of `calling_code`."""
        plan = plans.of(calling_code)
        if name not in plan.starts:
            plans.add(calling_code, name, self._compiled(plan.states, calling_code, make))
        return plan.states, plan.starts[name]

    def _compiled(self, states: StateRows, calling_code: int, make: Callable[[Trunks], Machine]) -> int:
        try:
            machine = make(self._trunks_of(calling_code))
        except Bug:
            # Another release of phonenumbers may use patterns that are not known here: all is left to the definition.
            return states.intern(_packed(UNKNOWN), ())
        return _explored(machine, machine.start(), states, {})

    def _trunks_of(self, calling_code: int) -> Trunks:
        if calling_code not in self._trunks:
            self._trunks[calling_code] = Trunks(NumberingPlan(calling_code))
        return self._trunks[calling_code]


# A state, and the rows that it is one of.
_Place: TypeAlias = tuple[StateRows, int]


class _Places:
    """Where readings begin, by region and by calling code, and one table of all states that they need.

    The table only grows: earlier `Tables` are views of the same rows. The rows of a calling code that got more of them
    stand behind the others once more.
    """

    def __init__(self) -> None:
        self.national: dict[str, _Place] = {}
        self.international: dict[int, _Place] = {}
        self._following = np.zeros((0, WIDTH), dtype=np.int32)
        self._readings = np.zeros(0, dtype=np.int64)
        self._count = 0
        self._firsts: dict[
            StateRows, tuple[int, int]
        ] = {}  # their first row in the table, and how many they have there

    def tables(self) -> Tables:
        """All that is placed."""
        for states, _ in (*self.national.values(), *self.international.values()):
            if self._firsts.get(states, (0, 0))[1] < len(states):
                self._append(states)
        international = np.full(10**_LONGEST_CODE, -1, dtype=np.int32)
        for code, place in self.international.items():
            international[code] = self._row(*place)
        national = {region: self._row(*place) for region, place in self.national.items()}
        return Tables(
            self._following[: self._count].reshape(-1), self._readings[: self._count], national, international
        )

    def _row(self, states: StateRows, start: int) -> int:
        return (self._firsts[states][0] + start) * WIDTH

    def _append(self, states: StateRows) -> None:
        first, end = self._count, self._count + len(states)
        if end > len(self._readings):
            room = max(end, 2 * len(self._readings)) - first
            self._following = np.concatenate([self._following[:first], np.zeros((room, WIDTH), dtype=np.int32)])
            self._readings = np.concatenate([self._readings[:first], np.zeros(room, dtype=np.int64)])
        rows, self._readings[first:end] = states.arrays()
        self._following[first:end, :DIGITS] = (rows + np.int32(first)) * np.int32(WIDTH)
        self._following[first:end, STAY] = np.arange(first, end) * WIDTH
        self._firsts[states], self._count = (first, len(states)), end


def _explored(machine: Any, position: Any, states: StateRows, known: dict[Any, int]) -> int:
    """The state for `position`. Positions are as deep as the longest number, then they stay the same."""
    behind = machine.row(position)
    reading = _packed(machine.read(position))
    if behind[0] == position and behind.count(position) == len(behind):
        state = states.intern(reading, ())
    else:
        following = []
        for one in behind:
            found = known.get(one)
            following.append(_explored(machine, one, states, known) if found is None else found)
        state = states.intern(reading, tuple(following))
    known[position] = state
    return state


def calling_codes() -> npt.NDArray[np.int16]:
    """The country calling code for each first three digits of a number, 0 where there is none."""
    codes = np.zeros(10**_LONGEST_CODE, dtype=np.int16)
    for code in phonenumbers.COUNTRY_CODE_TO_REGION_CODE:
        span = 10 ** (_LONGEST_CODE - len(str(code)))
        codes[code * span : (code + 1) * span] = code
    return codes


@cache
def phone_tables() -> PhoneTables:
    """Return the tables of this process: the plans of this package, and those compiled for its user."""
    return PhoneTables(Cache.of_user(), supplied_plans())


# The file beside this module; compiled from the metadata of phonenumbers (Apache License 2.0) by `-m generators`.
SUPPLIED: Final = "numbering-plans.bin"
CACHED: Final = "numbering-plans"  # and the name in the cache of a user


class CompiledPlans:
    """Plans by calling code. `supplied` is a file that is only read; what is compiled is written to `cache`."""

    def __init__(self, cache: Cache | None, supplied: bytes | None) -> None:
        self._cache = cache if compilers() else None
        self._cached = PlanFile(self._cache.read(CACHED) if self._cache else None)
        self._supplied = PlanFile(supplied)
        self._plans: dict[int, CompiledPlan] = {}
        self._compared: set[int] = set()
        self._unwritten: set[int] = set()

    def compare_again(self) -> None:
        """The plan of each calling code that is asked for from now on is compared with its metadata, once."""
        self._compared.clear()

    def of(self, calling_code: int) -> CompiledPlan:
        """The plan of a calling code as far as it is known, perhaps with nothing compiled."""
        if calling_code not in self._compared:
            plan = self._plans.get(calling_code)
            if plan is None or not plan.is_of_now(calling_code):
                self._plans[calling_code] = self._found(calling_code) or CompiledPlan.of_now(calling_code)
            self._compared.add(calling_code)
        return self._plans[calling_code]

    def _found(self, calling_code: int) -> CompiledPlan | None:
        for file in (self._cached, self._supplied):
            plan = file.read(calling_code)
            texts = dict(plan.texts) if plan else {}
            if plan and plan.is_of_now(calling_code):
                if plan.texts != texts:
                    self._unwritten.add(calling_code)
                return plan
        return None

    def add(self, calling_code: int, name: str, start: int) -> None:
        """Note that the region or code called `name` begins with the state `start` of the plan of `calling_code`."""
        self._plans[calling_code].starts[name] = start
        self._unwritten.add(calling_code)

    def write(self) -> None:
        """Store plans that no file has yet for later processes, where the digest of their source is known."""
        if not self._unwritten or not self._cache:
            return
        plans = {code: plan for code in self._cached.codes() if (plan := self._cached.read(code))}
        plans |= {code: self._plans[code] for code in self._unwritten}
        self._cache.write(CACHED, content := written(plans))
        self._cached = PlanFile(content)
        self._unwritten.clear()


def supplied_plans() -> bytes | None:
    """The file of plans that comes with this package; None where it is not there."""
    try:
        return pkgutil.get_data(__package__, SUPPLIED)
    except OSError:
        return None


_HEAD: Final = struct.Struct("<I")  # bytes of what is said of the plans in JSON
_MODULES: Final = ("plans", "readings", "tables")
_COMPILERS: Final = (
    *(("audiencekit.records.phones", f"{name}.py") for name in _MODULES),
    *(("audiencekit.identifiers", f"{name}.py") for name in ("phone_number", "texts")),
)


@dataclass(slots=True)
class CompiledPlan:
    """The plan of one calling code, and the digest of its source.

    That is, by region, a digest of the metadata as it stood in memory, and one of the text from which it was read, as
    far as that is known. `starts` are the states where readings begin, by region or code, as far as they were compiled.
    """

    in_memory: dict[str, str]
    texts: dict[str, str]
    starts: dict[str, int] = field(default_factory=dict)
    states: StateRows = field(default_factory=StateRows)

    @classmethod
    def of_now(cls, calling_code: int) -> CompiledPlan:
        """A plan in which nothing is compiled yet, for the present metadata."""
        regions = regions_of_code(calling_code)
        texts = {region: text for region in regions if (text := digest_of_unread(calling_code, region)) is not None}
        return cls({region: digest_in_memory(calling_code, region) for region in regions}, texts)

    def is_of_now(self, calling_code: int) -> bool:
        """Whether the plan was compiled from the metadata of `calling_code`, which is read only where that is open.

        Then the text that gave the same metadata is noted.
        """
        if tuple(self.in_memory) != regions_of_code(calling_code):
            return False
        for region, digest in self.in_memory.items():
            text = digest_of_unread(calling_code, region)
            if text is not None and text == self.texts.get(region):
                continue
            if digest_in_memory(calling_code, region) != digest:
                return False
            if text is not None:
                self.texts[region] = text
        return True


class PlanFile:
    """The plans of a file by calling code, which are read when they are asked for.

    A file that is not whole, or was compiled by another release of this package, holds none.
    """

    def __init__(self, content: bytes | None) -> None:
        self._content = content or b""
        self._plans: dict[str, Any] = {}
        self._at = 0
        try:
            self._read_head()
        except (ValueError, KeyError, TypeError, struct.error):
            self._plans = {}

    def _read_head(self) -> None:
        (head_bytes,) = _HEAD.unpack_from(self._content)
        head = orjson.loads(self._content[_HEAD.size : _HEAD.size + head_bytes])
        if head["by"] == compilers():
            self._at, self._plans = _HEAD.size + head_bytes, dict(head["plans"])

    def codes(self) -> list[int]:
        """The calling codes whose plans the file says it has."""
        return [int(code) for code in self._plans]

    def read(self, calling_code: int) -> CompiledPlan | None:
        """The plan of a calling code; None where it is not there or makes no sense."""
        said = self._plans.get(str(calling_code))
        try:
            return None if said is None else self._read(**said)
        except (ValueError, TypeError, AttributeError):
            return None

    def _read(
        self, in_memory: dict[str, str], texts: dict[str, str], starts: dict[str, int], states: int, place: list[int]
    ) -> CompiledPlan:
        begin, end = place
        read = StateRows.unpacked(self._content[self._at + begin : self._at + end], states)
        if not all(0 <= start < states for start in starts.values()):
            raise ValueError("a reading begins with a state that is not there")
        return CompiledPlan(dict(in_memory), dict(texts), dict(starts), read)


def written(plans: Mapping[int, CompiledPlan]) -> bytes:
    """A file of `plans` by calling code."""
    said, packed, at = {}, [], 0
    for code in sorted(plans):
        plan = plans[code]
        packed.append(plan.states.packed())
        place = [at, at := at + len(packed[-1])]
        said[str(code)] = {
            "in_memory": plan.in_memory,
            "texts": plan.texts,
            "starts": dict(sorted(plan.starts.items())),
            "states": len(plan.states),
            "place": place,
        }
    head = orjson.dumps({"by": compilers(), "plans": said})
    return b"".join([_HEAD.pack(len(head)), head, *packed])


@cache
def compilers() -> str:
    """A digest of the modules that compile; empty where their text is not there, and no plan can be known again."""
    digest = hashlib.sha256()
    for package, name in _COMPILERS:
        try:
            digest.update(pkgutil.get_data(package, name) or b"")
        except OSError:
            return ""
    return digest.hexdigest()
