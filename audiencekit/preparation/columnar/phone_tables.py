"""The metadata of the installed phonenumbers package as one table of states, compiled as regions and codes are met.

A row of the table is a state, its columns are digits. Equal states are one state, whatever region asked for them. The
table lives in the process; nothing is written.
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

from .phone_plans import Plan
from .phone_readings import International, National
from .phone_trunks import UNKNOWN, Outcome, Reading

WIDTH: Final = 16  # places of a row: ten digits, and what makes the row a power of two

States: TypeAlias = npt.NDArray[np.int32]
Machine: TypeAlias = National | International

_OUTCOMES: Final = tuple(Outcome)
_BITS: Final = 8  # of a reading that tell the outcome, and as many that tell the digits in front
_LAST_BITS: Final = (1 << _BITS) - 1
_LONGEST_CODE: Final = 3  # digits of a country calling code


@dataclass(frozen=True, slots=True)
class Tables:
    """What was compiled so far. A state is the place of its row in `following`, so that a digit is only added.

    `national` (by region) and `international` (by calling code, -1: not yet) are where to begin; `readings` tell, by
    number of the row, what digits are that end there: see `unpacked`.
    """

    following: States
    readings: States
    national: dict[str, int]
    international: States


def number_of(outcome: Outcome) -> int:
    """How `Tables.outcomes` writes `outcome`."""
    return _OUTCOMES.index(outcome)


def _packed(reading: Reading) -> int:
    return number_of(reading.outcome) | reading.dropped << _BITS | reading.calling_code << 2 * _BITS


def unpacked(readings: States) -> tuple[States, States, npt.NDArray[np.int16]]:
    """Numbers of outcomes, digits before the national significant number, calling codes."""
    return readings & _LAST_BITS, readings >> _BITS & _LAST_BITS, (readings >> 2 * _BITS).astype(np.int16)


class PhoneTables:
    """Compiles on demand; may be asked by several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._plans: dict[int, Plan] = {}
        self._rows: list[tuple[int, ...]] = []
        self._readings: list[Reading] = []
        self._interned: dict[tuple[Reading, tuple[int, ...]], int] = {}
        self._national: dict[str, int] = {}
        self._international = np.full(10**_LONGEST_CODE, -1, dtype=np.int32)
        self._tables = self._snapshot()

    def covering(self, regions: Iterable[str], calling_codes: Iterable[int]) -> Tables:
        """Tables in which at least these regions and calling codes have their place."""
        wanted, codes = set(regions), set(calling_codes)
        tables = self._tables
        if wanted <= tables.national.keys() and all(tables.international[code] >= 0 for code in codes):
            return tables
        with self._lock:
            for region in sorted(wanted - self._national.keys()):
                code = phonenumbers.country_code_for_region(region)
                self._national[region] = self._compiled(code, partial(National, region=region))
            for code in sorted(codes):
                if self._international[code] < 0:
                    self._international[code] = self._compiled(code, International)
            self._tables = self._snapshot()
            return self._tables

    def _compiled(self, calling_code: int, make: Callable[[Plan], Machine]) -> int:
        """The place of the row where the machine begins that `make` gives for the plan of `calling_code`."""
        try:
            machine = make(self._plan(calling_code))
        except Bug:
            # Another release of phonenumbers may use patterns that are not known here: all is left to the definition.
            return self._intern(UNKNOWN, ()) * WIDTH
        return self._explored(machine, machine.start(), {}) * WIDTH

    def _plan(self, calling_code: int) -> Plan:
        if calling_code not in self._plans:
            self._plans[calling_code] = Plan(calling_code)
        return self._plans[calling_code]

    def _explored(self, machine: Any, position: Any, known: dict[Any, int]) -> int:
        """The row for `position`. Positions are as deep as the longest number, then they stay the same."""
        behind = machine.row(position)
        reading = machine.read(position)
        if behind[0] == position and behind.count(position) == len(behind):
            state = self._intern(reading, ())
        else:
            following = []
            for one in behind:
                found = known.get(one)
                following.append(self._explored(machine, one, known) if found is None else found)
            state = self._intern(reading, tuple(following))
        known[position] = state
        return state

    def _intern(self, reading: Reading, following: tuple[int, ...]) -> int:
        """The row for what digits are that end here, and the rows behind it; none: it stays."""
        key = (reading, following)
        state = self._interned.get(key)
        if state is None:
            state = self._interned[key] = len(self._rows)
            self._rows.append(following or (state,) * 10)
            self._readings.append(reading)
        return state

    def _snapshot(self) -> Tables:
        following = np.zeros((len(self._rows), WIDTH), dtype=np.int32)
        if self._rows:
            following[:, :10] = np.array(self._rows, dtype=np.int32) * WIDTH
        return Tables(
            following.reshape(-1),
            np.array([_packed(reading) for reading in self._readings], dtype=np.int32),
            dict(self._national),
            self._international.copy(),
        )


def calling_codes() -> npt.NDArray[np.int16]:
    """The country calling code for each first three digits of a number, 0 where there is none."""
    codes = np.zeros(10**_LONGEST_CODE, dtype=np.int16)
    for code in phonenumbers.COUNTRY_CODE_TO_REGION_CODE:
        span = 10 ** (_LONGEST_CODE - len(str(code)))
        codes[code * span : (code + 1) * span] = code
    return codes


@cache
def phone_tables() -> PhoneTables:
    """The tables of this process."""
    return PhoneTables()
