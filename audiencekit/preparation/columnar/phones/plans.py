"""Numbering plans: what phonenumbers knows of the national numbers behind one country calling code, as an automaton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias, TypeVar

import phonenumbers
from phonenumbers import PhoneMetadata
from phonenumbers.phonemetadata import PhoneNumberDesc

from audiencekit.errors import Bug
from audiencekit.identifiers.texts import is_repeated
from audiencekit.preparation.columnar.phones.patterns import Program

MAX_NATIONAL: Final = 17  # digits; phonenumbers reads no longer national number
_BEYOND: Final = MAX_NATIONAL + 1  # stands for every greater length
_NO_DIGIT: Final = -1

_TYPES: Final = ("fixed_line", "toll_free", "premium_rate", "shared_cost", "personal_number", "voip", "pager", "uan")

State: TypeAlias = int
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths of national numbers in digits: `whole` ones, and those that are dialled locally only."""

    whole: tuple[int, ...]
    local: tuple[int, ...]

    def are_possible(self, length: int) -> bool:
        """Whether a number of `length` digits is possible at all."""
        return length in self.whole and length not in self.local

    def are_too_long(self, length: int) -> bool:
        """Whether `length` is more than the plan knows."""
        return length not in self.local and length > self.whole[-1]


class NumberFacts(NamedTuple):
    """The kind of a number that ends in a state. More than MAX_NATIONAL digits are counted as one more.

    `is_repeated`: one digit over and over, a placeholder. `is_general`: of the region's general form. `is_valid`:
    phonenumbers calls it valid.
    """

    length: int
    is_repeated: bool
    is_general: bool
    is_valid: bool


@dataclass(frozen=True, slots=True)
class _Typed:
    """The patterns of one region: numbers of accepting nodes, and the lengths that each allows (none: every)."""

    leading: int | None
    general: tuple[int, frozenset[int]]
    types: tuple[tuple[int, frozenset[int]], ...]


class NumberingPlan:
    """All national numbers of one country calling code, as states. A state is a number; 0 stands before any digit."""

    def __init__(self, calling_code: int) -> None:
        self.calling_code = calling_code
        self.regions = phonenumbers.COUNTRY_CODE_TO_REGION_CODE[calling_code]
        self.metadata: list[PhoneMetadata] = [_metadata(calling_code, region) for region in self.regions]
        self.lengths = [_lengths(_present(metadata.general_desc)) for metadata in self.metadata]
        self._program = Program()
        self._starts: list[int] = []
        self._regions = [self._typed(metadata) for metadata in self.metadata]
        self._follow: dict[int, int] = {}
        self._accepts = sum(1 << i for i, node in enumerate(self._program.nodes) if node.accept is not None)
        self._numbers = {i: node.accept for i, node in enumerate(self._program.nodes) if node.accept is not None}
        self._states: list[tuple[int, int, int]] = []
        self._ids: dict[tuple[int, int, int], State] = {}
        self._rows: list[tuple[State, ...] | None] = []
        self._matched: list[frozenset[int]] = []
        first = 0
        for start in self._starts:
            first |= self._mask(start)
        self._state(first, 0, _NO_DIGIT)

    def row(self, state: State) -> tuple[State, ...]:
        """The states behind each of the ten digits."""
        found = self._rows[state]
        if found is None:
            found = self._rows[state] = self._stepped(state)
        return found

    def length(self, state: State) -> int:
        """How many digits there were; more than MAX_NATIONAL are counted as one more."""
        return self._states[state][1]

    def is_repeated(self, state: State) -> bool:
        """Whether the number is one digit over and over, so often that it is a placeholder."""
        _, length, digit = self._states[state]
        return digit != _NO_DIGIT and is_repeated(str(digit) * length)

    def is_general(self, state: State, region: int) -> bool:
        """Whether the number has the general form of the plan's `region`, counted from 0."""
        return self._regions[region].general[0] in self._matched[state]

    def is_valid(self, state: State) -> bool:
        """Whether phonenumbers calls the number valid: for the first of the regions that it belongs to."""
        matched = self._matched[state]
        if not matched:
            return False
        length = self.length(state)
        for region in self._regions:
            if region.leading is None or len(self._regions) == 1:
                if _is_valid(region, matched, length):
                    return True
            elif region.leading in matched:
                return _is_valid(region, matched, length)
        return False

    def _typed(self, metadata: PhoneMetadata) -> _Typed:
        types = [getattr(metadata, name) for name in (*_TYPES, "voicemail")]
        if not metadata.same_mobile_and_fixed_line_pattern:
            types.append(metadata.mobile)
        leading = _leading(metadata)
        return _Typed(
            self._add(leading) if leading else None,
            self._described(_present(metadata.general_desc)),
            tuple(self._described(desc) for desc in types if desc is not None and desc.national_number_pattern),
        )

    def _described(self, desc: PhoneNumberDesc) -> tuple[int, frozenset[int]]:
        return self._add(_present(desc.national_number_pattern)), frozenset(desc.possible_length)

    def _add(self, pattern: str) -> int:
        number = len(self._starts)
        self._starts.append(self._program.add(pattern, number))
        return number

    def _mask(self, place: int) -> int:
        """The leaves behind `place`, one bit each."""
        mask = self._follow.get(place)
        if mask is None:
            mask = self._follow[place] = sum(1 << leaf for leaf, _ in self._program.leaves(place))
        return mask

    def _state(self, mask: int, length: int, repeated: int) -> State:
        key = (mask, length, repeated)
        state = self._ids.get(key)
        if state is None:
            state = self._ids[key] = len(self._states)
            self._states.append(key)
            self._rows.append(None)
            self._matched.append(frozenset(self._numbers[i] for i in _bits(mask & self._accepts)))
        return state

    def _stepped(self, state: State) -> tuple[State, ...]:
        mask, length, repeated = self._states[state]
        if length == _BEYOND:
            return (state,) * 10
        masks = [0] * 10
        nodes = self._program.nodes
        for leaf in _bits(mask & ~self._accepts):
            follow = self._mask(nodes[leaf].ways[0])
            for digit in nodes[leaf].digits or ():
                masks[digit] |= follow
        if length + 1 == _BEYOND:
            return (self._state(0, _BEYOND, _NO_DIGIT),) * 10
        are_same = [not length or digit == repeated for digit in range(10)]
        return tuple(
            self._state(found, length + 1, digit if are_same[digit] else _NO_DIGIT) for digit, found in enumerate(masks)
        )


class RegionalPlan:
    """A plan as one of its regions sees it (counted from 0): equal states are one."""

    def __init__(self, plan: NumberingPlan, region: int) -> None:
        self.calling_code = plan.calling_code
        self.lengths = plan.lengths[region]
        self.first_lengths = plan.lengths[0]  # these decide what is possible for all regions of the code
        self.rows: list[tuple[State, ...]] = []
        self.facts: list[NumberFacts] = []
        self._ids: dict[tuple[NumberFacts, tuple[State, ...]], State] = {}
        self.start = self._fold(plan, region, 0, {})

    def _fold(self, plan: NumberingPlan, region: int, state: State, known: dict[State, State]) -> State:
        row = plan.row(state)
        facts = NumberFacts(
            plan.length(state), plan.is_repeated(state), plan.is_general(state, region), plan.is_valid(state)
        )
        folded: tuple[State, ...] = ()
        if row[0] != state:
            folded = tuple(known[one] if one in known else self._fold(plan, region, one, known) for one in row)
        found = self._ids.get((facts, folded))
        if found is None:
            found = self._ids[facts, folded] = len(self.rows)
            self.rows.append(folded or (found,) * 10)
            self.facts.append(facts)
        known[state] = found
        return found


def _is_valid(region: _Typed, matched: frozenset[int], length: int) -> bool:
    return _matches(region.general, matched, length) and any(_matches(one, matched, length) for one in region.types)


def _matches(desc: tuple[int, frozenset[int]], matched: frozenset[int], length: int) -> bool:
    return desc[0] in matched and (not desc[1] or length in desc[1])


def _metadata(calling_code: int, region: str) -> PhoneMetadata:
    return _present(PhoneMetadata.metadata_for_region_or_calling_code(calling_code, region))


def _present(found: T | None) -> T:
    if found is None:
        raise Bug("a calling code has no telephone metadata")
    return found


def _leading(metadata: PhoneMetadata) -> str | None:
    """The pattern that a number with the region's leading digits matches as a whole."""
    return f"(?:{metadata.leading_digits})\\d{{0,{MAX_NATIONAL}}}" if metadata.leading_digits else None


def _lengths(desc: PhoneNumberDesc) -> Lengths:
    return Lengths(tuple(desc.possible_length), tuple(desc.possible_length_local_only))


def _bits(mask: int) -> list[int]:
    bits: list[int] = []
    while mask:
        lowest = mask & -mask
        bits.append(lowest.bit_length() - 1)
        mask ^= lowest
    return bits
