"""How phonenumbers reads digits, as automata: behind a plus sign, and as a person in one region would dial them."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from audiencekit.preparation.columnar.phones.patterns import Opening, Threads
from audiencekit.preparation.columnar.phones.plans import State
from audiencekit.preparation.columnar.phones.trunks import UNKNOWN, DigitOutcome, DigitReading, Prefixed, Trunks


class PrefixPosition(NamedTuple):
    """Where a national reading stands while international prefix or calling code are not settled.

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
        """The places behind each of the ten digits."""
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
    """All digits of a number behind a plus sign that begins with one calling code."""

    def __init__(self, trunks: Trunks) -> None:
        self._code = tuple(map(int, str(trunks.plan.calling_code)))
        self._trunk = trunks.of(0)

    def start(self) -> tuple[int, State] | DigitReading:
        """Before the first digit."""
        return 0, 0

    def row(self, place: tuple[int, State] | DigitReading) -> tuple[tuple[int, State] | DigitReading, ...]:
        """The positions behind each of the ten digits."""
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
