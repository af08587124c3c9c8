"""The metadata of the installed phonenumbers package as one table of states, compiled as regions and codes are met.

A row of the table is a state, its columns are digits. Equal states of a calling code are one state, whatever region
asked for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from threading import Lock
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import phonenumbers

from audiencekit.errors import Bug
from audiencekit.preparation.columnar.phones.compiledplans import CompiledPlans, supplied_plans
from audiencekit.preparation.columnar.phones.plans import NumberingPlan
from audiencekit.preparation.columnar.phones.readings import International, National
from audiencekit.preparation.columnar.phones.states import DIGITS, StateRows
from audiencekit.preparation.columnar.phones.trunks import UNKNOWN, DigitOutcome, DigitReading, Trunks
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
    """The tables of this process, which knows the plans of this package, and what was compiled for its user."""
    return PhoneTables(Cache.of_user(), supplied_plans())
