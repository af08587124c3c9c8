"""How phonenumbers reads national digits: with or without the trunk prefix, or after the region's own calling code.

States are explored on demand and numbered. A reading that would take a way that is not followed here is
`DigitOutcome.UNKNOWN`.
"""

from __future__ import annotations

import re
import zlib
from enum import Enum, auto
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from phonenumbers import PhoneMetadata

from audiencekit.identifiers.phone_number import ABROAD, FORMER_PREFIXES, MEXICO
from audiencekit.records.phones.plans import (
    MAX_NATIONAL,
    PASSING,
    Copying,
    Mark,
    NumberFacts,
    NumberingPlan,
    Opening,
    RegionalPlan,
    State,
    Threads,
)

MIN_NATIONAL: Final = 2  # digits; phonenumbers' shortest national number


class DigitOutcome(Enum):
    """The kind of the digits."""

    VALID = auto()
    NOT_VALID = auto()
    NOT_POSSIBLE = auto()
    NO_COUNTRY = auto()
    PLACEHOLDER = auto()
    INTERNATIONAL = auto()  # behind `dropped` digits the number goes on as behind a plus sign
    BAD_CODE = auto()  # no country calling code
    UNKNOWN = auto()


class Rewriting(NamedTuple):
    """The digits in the place of a prefix: `digits` of its rule (None: nothing is rewritten), then `kept` of those that
    were written; `skipped` ones behind these are left out."""

    digits: str | None = None
    kept: int = 0
    skipped: int = 0


AS_WRITTEN: Final = Rewriting()


class DigitReading(NamedTuple):
    """An outcome, and the number of digits before the national significant number, as it was written or not."""

    outcome: DigitOutcome
    dropped: int = 0
    calling_code: int = 0
    rewriting: Rewriting = AS_WRITTEN


UNKNOWN: Final = DigitReading(DigitOutcome.UNKNOWN)
_NOT_POSSIBLE: Final = DigitReading(DigitOutcome.NOT_POSSIBLE)
_NOT_VALID: Final = DigitReading(DigitOutcome.NOT_VALID)
_PLACEHOLDER: Final = DigitReading(DigitOutcome.PLACEHOLDER)

_RULE: Final = re.compile(r"([0-9]{0,4})\\([0-9])")  # how a prefix is rewritten: some digits, then one of its groups

# Where the longest match of the trunk prefix ended: digits before the number, its state, and how it is rewritten; None:
# in a way that is not followed here.
_Best: TypeAlias = tuple[int, State, Rewriting | None]
_Key: TypeAlias = tuple[Threads, State, _Best | None]


class Trunk:
    """National digits with or without the trunk prefix of one region (counted in the plan from 0)."""

    def __init__(self, plan: NumberingPlan, region: int) -> None:
        metadata = plan.metadata[region]
        self.plan = RegionalPlan(plan, region)
        self._rule = _rule_of(metadata)
        group = PASSING if self._rule is None else Copying(self.plan.rows, self._behind(self._rule))
        prefix = metadata.national_prefix_for_parsing
        self._is_former = prefix is None and plan.calling_code == MEXICO
        self._opening = Opening(FORMER_PREFIXES if self._is_former else prefix, group)
        self._transforms = bool(metadata.national_prefix_transform_rule)
        self.keys: list[_Key] = []
        self._ids: dict[_Key, State] = {}
        self._rows: list[tuple[State, ...] | None] = []
        self._passing: dict[Rewriting, bool] = {}
        threads, match = self._opening.start()
        self._state((threads, self.plan.start, None if match is None else self._best(0, match)))

    def row(self, state: State) -> tuple[State, ...]:
        """The states behind each of the ten digits."""
        found = self._rows[state]
        if found is None:
            found = self._rows[state] = self._stepped(self.keys[state])
        return found

    def facts(self, state: State) -> NumberFacts:
        """The kind of all the digits as a number."""
        return self.plan.facts[self.keys[state][1]]

    def is_settled(self, state: State) -> bool:
        """Whether further digits cannot change where the trunk prefix ends."""
        return not self.keys[state][0]

    def begins_anew(self, state: State) -> bool:
        """Whether the preferred match of the trunk prefix ends here."""
        best = self.keys[state][2]
        return best is not None and best[1] == self.plan.start

    def stripped(self, state: State) -> tuple[int, NumberFacts, Rewriting] | None:
        """How many digits phonenumbers takes off, the number, and how it is rewritten; None where that is not known."""
        threads, number, best = self.keys[state]
        facts = self.plan.facts
        at_end = self._opening.ends(threads)
        if at_end is not None:
            best = self._best(facts[number].length, at_end)
        if best is None or self._is_former:
            return 0, facts[number], AS_WRITTEN
        if best[2] is None or (at_end is not None and best[2] == AS_WRITTEN):
            return None
        if facts[number].is_general and not facts[best[1]].is_general:
            return 0, facts[number], AS_WRITTEN
        return best[0], facts[best[1]], best[2]

    def passes(self, rewriting: Rewriting) -> bool:
        """Whether the trunk prefix takes nothing off any number that is rewritten so."""
        if rewriting not in self._passing:
            states = {0}
            for digit in map(int, rewriting.digits or ""):
                states = {self.row(state)[digit] for state in states}
            for _ in range(rewriting.kept):
                states = {behind for state in states for behind in self.row(state)}
            self._passing[rewriting] = all(map(self._takes_nothing, states))
        return self._passing[rewriting]

    def _takes_nothing(self, state: State) -> bool:
        """Whether the trunk prefix ends nowhere, or before the first digit, whichever digits follow."""
        threads, number, best = self.keys[state]
        return not threads and best in (None, (0, number, AS_WRITTEN))

    def read(self, state: State, *, has_code: bool = False) -> DigitReading:
        """Return the kind of national digits; with `has_code` the calling code is before them."""
        reading = self._read(state)
        best = self.keys[state][2]
        if not self._is_former or best is None or reading is not _NOT_POSSIBLE:
            return reading
        dropped, rest, _ = best
        is_taken_off = has_code or dropped > len(ABROAD)
        found = self.judged(dropped, self.plan.facts[rest], AS_WRITTEN)
        return found if is_taken_off and found.outcome is DigitOutcome.VALID else reading

    def _read(self, state: State) -> DigitReading:
        number = self.facts(state)
        if number.length < MIN_NATIONAL:
            return _NOT_POSSIBLE
        stripped = self.stripped(state)
        if stripped is None:
            return UNKNOWN
        length = stripped[1].length
        if self.plan.lengths.are_possible(length) or self.plan.lengths.are_too_long(length):
            return self.judged(*stripped)
        return self.judged(0, number, AS_WRITTEN)

    def judged(self, dropped: int, number: NumberFacts, rewriting: Rewriting) -> DigitReading:
        """The kind of a number that `stripped` gave, as no further prefix is taken off."""
        if not MIN_NATIONAL <= number.length <= MAX_NATIONAL:
            return _NOT_POSSIBLE
        if number.is_repeated:
            return _PLACEHOLDER
        if number.is_valid:
            return DigitReading(DigitOutcome.VALID, dropped, self.plan.calling_code, rewriting)
        return _NOT_VALID if self.plan.first_lengths.are_possible(number.length) else _NOT_POSSIBLE

    def _state(self, key: _Key) -> State:
        state = self._ids.get(key)
        if state is None:
            state = self._ids[key] = len(self.keys)
            self.keys.append(key)
            self._rows.append(None)
        return state

    def _stepped(self, key: _Key) -> tuple[State, ...]:
        threads, number, best = key
        numbers = self.plan.rows[number]
        if threads:
            return tuple(self._opened(key, digit) for digit in range(10))
        if best is None:
            return tuple(self._state(((), one, None)) for one in numbers)
        dropped, rest, rewriting = best
        rests = self.plan.rows[rest]
        return tuple(
            self._state(((), one, (dropped, behind, rewriting))) for one, behind in zip(numbers, rests, strict=True)
        )

    def _best(self, length: int, mark: Mark) -> _Best:
        """Return the match that ends after this number of digits."""
        if self._rule is None:
            return length, self.plan.start, None if mark and self._transforms else AS_WRITTEN
        is_closed, before, kept, state = mark
        if is_closed is None:
            return length, self.plan.start, AS_WRITTEN
        return before, state, Rewriting(self._rule, kept, length - before - kept)

    def _behind(self, digits: str) -> State:
        """Return the state of the plan after `digits`."""
        state = self.plan.start
        for digit in digits:
            state = self.plan.rows[state][int(digit)]
        return state

    def _opened(self, key: _Key, digit: int) -> State:
        threads, number, best = key
        following = self.plan.rows[number][digit]
        waiting, match = self._opening.step(threads, digit)
        if match is not None:
            best = self._best(self.plan.facts[following].length, match)
        elif best is not None:
            best = (best[0], self.plan.rows[best[1]][digit], best[2])
        return self._state((waiting, following, best))


def _rule_of(metadata: PhoneMetadata) -> str | None:
    """Return the digits that replace a prefix, before its last group; None if the rule has another form."""
    form = _RULE.fullmatch(metadata.national_prefix_transform_rule or "")
    pattern = metadata.national_prefix_for_parsing
    return form[1] if form is not None and pattern and re.compile(pattern).groups == int(form[2]) else None


class Trunks:
    """The trunks of one plan; each is explored once."""

    def __init__(self, plan: NumberingPlan) -> None:
        self.plan = plan
        self._made: dict[int, Trunk] = {}

    def of(self, region: int) -> Trunk:
        """The trunk of a region of the plan; regions count from 0."""
        if region not in self._made:
            self._made[region] = Trunk(self.plan, region)
        return self._made[region]


class Prefixed:
    """Digits after the region's own calling code without a plus: first its trunk prefix, then once more.

    phonenumbers takes the region's prefix off, and later that of the first region that shares the calling code. A key
    is the state of `own`, that of `main` over all digits, and that of `main` behind the prefix that `own` found.
    """

    def __init__(self, own: Trunk, main: Trunk) -> None:
        self._own = own
        self._main = main
        self._keys: list[tuple[State, State, State]] = []
        self._ids: dict[tuple[State, State, State], State] = {}
        self._rows: list[tuple[State, ...] | None] = []
        self._state((0, 0, 0))

    def row(self, state: State) -> tuple[State, ...]:
        """The states behind each of the ten digits."""
        found = self._rows[state]
        if found is None:
            own, main, rest = self._keys[state]
            rows = zip(self._own.row(own), self._main.row(main), self._main.row(rest), strict=True)
            if self._own.is_settled(own):
                found = tuple(map(self._state, rows))
            else:
                found = tuple(self._state((o, m, 0 if self._own.begins_anew(o) else r)) for o, m, r in rows)
            self._rows[state] = found
        return found

    def read(self, state: State, whole: NumberFacts) -> DigitReading | None:
        """Their kind when `whole` is the number with the calling code; None: the code stays in the number."""
        own, main, rest = self._keys[state]
        stripped = self._own.stripped(own)
        if stripped is None:
            return UNKNOWN
        dropped, number, rewriting = stripped
        fits = not whole.is_general and number.is_general
        if not fits and not self._own.plan.lengths.are_too_long(whole.length):
            return None
        if rewriting != AS_WRITTEN:
            return self._own.judged(*stripped) if self._main.passes(rewriting) else UNKNOWN
        reading = self._main.read(rest if dropped else main, has_code=True)
        return reading._replace(dropped=dropped + reading.dropped)

    def read_as_plus(self, state: State) -> DigitReading:
        """Return the kind of the digits after a plus sign and the calling code."""
        return self._main.read(self._keys[state][1], has_code=True)

    def _state(self, key: tuple[State, State, State]) -> State:
        state = self._ids.get(key)
        if state is None:
            state = self._ids[key] = len(self._keys)
            self._keys.append(key)
            self._rows.append(None)
        return state


class PrefixPosition(NamedTuple):
    """The position of a national reading before the international prefix or calling code is decided.

    `waiting` waits for the international prefix, which `ended` so many digits ago from the front (-1: no match);
    `refused` says that a zero followed it. `own` counts the digits of the region's calling code seen so far, -1 when
    they are not there.
    """

    waiting: Threads
    ended: int
    refused: bool
    own: int
    trunk: State
    prefixed: State


# A DigitReading is final. Digits that begin with the calling code are a pair of states, others one state of the trunk.
Place: TypeAlias = PrefixPosition | DigitReading | State | tuple[State, State]


class National:
    """All digits of a number that a person in one region writes without a plus sign."""

    def __init__(self, trunks: Trunks, region: str) -> None:
        plan = trunks.plan
        index = plan.regions.index(region)
        self._code = tuple(map(int, str(plan.calling_code)))
        self._trunk = trunks.of(index)
        self._prefixed = Prefixed(self._trunk, trunks.of(0))
        self._dialled = Opening(plan.metadata[index].international_prefix)

    def start(self) -> Place:
        """Before the first digit."""
        waiting, _ = self._dialled.start()
        return PrefixPosition(waiting, -1, False, 0, 0, 0)

    def row(self, place: Place) -> tuple[Place, ...]:
        """Return the places after each of the ten digits."""
        if isinstance(place, int):
            return self._trunk.row(place)
        if isinstance(place, DigitReading):
            return (place,) * 10
        if isinstance(place, PrefixPosition):
            return self._stepped(place)
        return tuple(zip(self._trunk.row(place[0]), self._prefixed.row(place[1]), strict=True))

    def read(self, place: Place) -> DigitReading:
        """The kind of digits that end here."""
        if isinstance(place, int):
            return self._trunk.read(place)
        if isinstance(place, DigitReading):
            return place
        if not isinstance(place, PrefixPosition):
            return self._read_with_code(*place)
        if place.ended >= 0 and not place.refused:
            return UNKNOWN if place.own == len(self._code) else DigitReading(DigitOutcome.INTERNATIONAL, place.ended)
        if place.own == len(self._code):
            return self._read_with_code(place.trunk, place.prefixed)
        return self._trunk.read(place.trunk)

    def _read_with_code(self, trunk: State, prefixed: State) -> DigitReading:
        """Digits that begin with the region's own calling code: two readings that must not be two valid numbers."""
        reading = self._prefixed.read(prefixed, self._trunk.facts(trunk))
        if reading is None:
            reading = self._trunk.read(trunk)
        else:
            reading = reading._replace(dropped=reading.dropped + len(self._code))
        if reading.outcome is not DigitOutcome.VALID:
            return DigitReading(reading.outcome, 0, reading.calling_code)
        other = self._prefixed.read_as_plus(prefixed)
        if other.outcome is DigitOutcome.UNKNOWN or (
            other.outcome is DigitOutcome.VALID and other.rewriting != reading.rewriting
        ):
            return UNKNOWN
        if other.outcome is DigitOutcome.VALID and other.dropped + len(self._code) != reading.dropped:
            return DigitReading(DigitOutcome.NO_COUNTRY)
        return reading

    def _stepped(self, place: PrefixPosition) -> tuple[Place, ...]:
        trunks = self._trunk.row(place.trunk)
        is_behind = place.own == len(self._code)
        prefixeds = self._prefixed.row(place.prefixed) if is_behind else (0,) * 10
        return tuple(self._moved(place, digit, trunks[digit], prefixeds[digit]) for digit in range(10))

    def _moved(self, place: PrefixPosition, digit: int, trunk: State, prefixed: State) -> Place:
        waiting, match = self._dialled.step(place.waiting, digit)
        length = self._trunk.facts(trunk).length
        ended, refused = place.ended, place.refused
        if match is not None:
            ended, refused = length, False
        elif ended == length - 1:
            refused = digit == 0
        own = self._own(place.own, digit)
        if waiting or 0 <= own < len(self._code):
            return PrefixPosition(waiting, ended, refused, own, trunk, prefixed)
        if ended < 0 or refused:
            return trunk if own < 0 else (trunk, prefixed)
        if ended == length:
            return PrefixPosition(waiting, ended, refused, own, trunk, prefixed)
        return UNKNOWN if own >= 0 else DigitReading(DigitOutcome.INTERNATIONAL, ended)

    def _own(self, seen: int, digit: int) -> int:
        if seen == len(self._code) or seen < 0:
            return seen
        return seen + 1 if self._code[seen] == digit else -1


class International:
    """All digits after the plus of a number with one calling code."""

    def __init__(self, trunks: Trunks) -> None:
        self._code = tuple(map(int, str(trunks.plan.calling_code)))
        self._trunk = trunks.of(0)

    def start(self) -> tuple[int, State] | DigitReading:
        """Before the first digit."""
        return 0, 0

    def row(self, place: tuple[int, State] | DigitReading) -> tuple[tuple[int, State] | DigitReading, ...]:
        """Return the positions after each of the ten digits."""
        if isinstance(place, DigitReading):
            return (place,) * 10
        seen, state = place
        if seen == len(self._code):
            return tuple((seen, following) for following in self._trunk.row(state))
        bad = DigitReading(DigitOutcome.BAD_CODE)
        return tuple((seen + 1, 0) if digit == self._code[seen] else bad for digit in range(10))

    def read(self, place: tuple[int, State] | DigitReading) -> DigitReading:
        """The kind of digits that end here."""
        if isinstance(place, DigitReading):
            return place
        seen, state = place
        if seen < len(self._code):
            return DigitReading(DigitOutcome.BAD_CODE)
        reading = self._trunk.read(state, has_code=True)
        if reading.outcome is not DigitOutcome.VALID:
            return reading
        return reading._replace(dropped=reading.dropped + seen)


DIGITS: Final = 10

Numbers: TypeAlias = npt.NDArray[np.int32]
Readings: TypeAlias = npt.NDArray[np.int64]
_StateKey: TypeAlias = tuple[int, tuple[int, ...]]

_ROW_ITEM: Final = np.dtype("<i4")
_READING_ITEM: Final = np.dtype("<i8")
_STATE_BYTES: Final = DIGITS * _ROW_ITEM.itemsize + _READING_ITEM.itemsize


class StateRows:
    """Rows of states by number, each with a number that says what digits are that end there, and ten that follow it.

    `rows` (ten a line) and `readings` are those of an earlier process, which are not looked into before another comes.
    """

    def __init__(self, rows: Numbers | None = None, readings: Readings | None = None) -> None:
        self._earlier_rows = np.zeros((0, DIGITS), dtype=np.int32) if rows is None else rows
        self._earlier_readings = np.zeros(0, dtype=np.int64) if readings is None else readings
        self._rows: list[tuple[int, ...]] = []
        self._readings: list[int] = []
        self._numbers: dict[_StateKey, int] = {}

    @classmethod
    def unpacked(cls, content: bytes, count: int) -> StateRows:
        """The `count` states that `packed` wrote; ValueError for anything else."""
        try:
            planes = zlib.decompress(content)
        except zlib.error as error:
            raise ValueError("these are no packed states") from error
        if len(planes) != count * _STATE_BYTES:
            raise ValueError("these are not as many states as their head says")
        rows_end = count * DIGITS * _ROW_ITEM.itemsize
        steps = _of_planes(planes[:rows_end], _ROW_ITEM).astype(np.int32).reshape(count, DIGITS)
        rows = steps + np.arange(count, dtype=np.int32)[:, None]
        if count and not 0 <= rows.min() <= rows.max() < count:
            raise ValueError("a state leads to one that is not there")
        return cls(rows, _of_planes(planes[rows_end:], _READING_ITEM).astype(np.int64))

    def packed(self) -> bytes:
        """The states as a file holds them.

        Bytes of the same weight stand together, those of what follows a state as the distance from it: most are zero.
        """
        rows, readings = self.arrays()
        steps = (rows - np.arange(len(rows), dtype=np.int32)[:, None]).astype(_ROW_ITEM)
        return zlib.compress(_planes(steps) + _planes(readings.astype(_READING_ITEM)), level=9)

    def __len__(self) -> int:
        return len(self._earlier_readings) + len(self._readings)

    def intern(self, reading: int, following: tuple[int, ...]) -> int:
        """Return the number of the state with this reading and these transitions; a state without any leads to
        itself."""
        if not self._numbers:
            self._learn_earlier()
        key = (reading, following)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self)
            self._rows.append(following or (number,) * DIGITS)
            self._readings.append(reading)
        return number

    def _learn_earlier(self) -> None:
        rows = map(tuple, self._earlier_rows.tolist())
        for number, (reading, row) in enumerate(zip(self._earlier_readings.tolist(), rows, strict=True)):
            self._numbers[reading, () if row == (number,) * DIGITS else row] = number

    def arrays(self) -> tuple[Numbers, Readings]:
        """The states that follow each (ten a line), and the kind that it says."""
        if self._rows:
            rows = np.array(self._rows, dtype=np.int32)
            readings = np.array(self._readings, dtype=np.int64)
            self._earlier_rows = np.concatenate([self._earlier_rows, rows])
            self._earlier_readings = np.concatenate([self._earlier_readings, readings])
            self._rows, self._readings = [], []
        return self._earlier_rows, self._earlier_readings


def _planes(items: npt.NDArray[Any]) -> bytes:
    """The lowest byte of each of `items`, then the next one of each."""
    return np.ascontiguousarray(items.reshape(-1, 1).view(np.uint8).T).tobytes()


def _of_planes(planes: bytes, item: np.dtype[Any]) -> npt.NDArray[Any]:
    parts = np.frombuffer(planes, dtype=np.uint8).reshape(item.itemsize, -1)
    return np.ascontiguousarray(parts.T).view(item).reshape(-1)
