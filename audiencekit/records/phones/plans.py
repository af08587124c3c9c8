"""The patterns of telephone metadata as automata over digits.

They are regular expressions of a small grammar: digits, classes, groups, alternatives, bounded repetition, and `$`.
Two readings are needed: which patterns match the whole of a text, and where the match of one pattern ends that is
looked for at the beginning (of alternatives the first, of repetitions the longest: as `re` matches).
"""

from __future__ import annotations

import hashlib
import io
import pickle
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import phonenumbers
from phonenumbers import REGION_CODE_FOR_NON_GEO_ENTITY, PhoneMetadata, data as texts_of_metadata
from phonenumbers.phonemetadata import PhoneNumberDesc

from audiencekit.errors import Bug
from audiencekit.identifiers.texts import is_repeated

Digits: TypeAlias = frozenset[int]
# A leaf of a program, and what is known of the pattern's last group on the way to it: see Passing and Copying.
Mark: TypeAlias = Any
Thread: TypeAlias = tuple[int, Mark]
Threads: TypeAlias = tuple[Thread, ...]

_ANY: Final[Digits] = frozenset(range(10))
_PART: Final = re.compile(r"\\d|\[[0-9-]+\]|\(\?:|\(|\)|\||\?|\{\d+(?:,\d+)?\}|\$|\d")


class Node:
    """One instruction: `accept` is the number of a pattern at its end, `digits` what is consumed, else a fork.

    The last group of its pattern begins behind one that `opens`, and ends in front of one that `closes`.
    """

    __slots__ = ("accept", "at_end", "closes", "digits", "opens", "ways")

    def __init__(
        self,
        ways: tuple[int, ...] = (),
        *,
        digits: Digits | None = None,
        accept: int | None = None,
        opens: bool = False,
        closes: bool = False,
        at_end: bool = False,
    ) -> None:
        self.ways = ways
        self.digits = digits
        self.accept = accept
        self.opens = opens
        self.closes = closes
        self.at_end = at_end

    @property
    def is_leaf(self) -> bool:
        """Whether a thread waits here."""
        return self.digits is not None or self.accept is not None or self.at_end


class Passing:
    """A mark that says whether the way went through the last group."""

    first: Mark = False

    def opened(self, mark: Mark) -> Mark:
        """Behind the beginning of the group."""
        return True

    def closed(self, mark: Mark) -> Mark:
        """Behind its end."""
        return mark

    def moved(self, mark: Mark, digit: int) -> Mark:
        """Behind one more digit."""
        return mark


class Copying(Passing):
    """A mark for the replacement of a prefix: some digits, then the last group.

    `rows` are those of a plan, `begin` its state behind the digits. A mark is whether the group was closed (None: not
    opened), how many digits stand before it and in it, and the state of what is written.
    """

    first: Mark = (None, 0, 0, 0)

    def __init__(self, rows: Sequence[tuple[int, ...]], begin: int) -> None:
        self._rows = rows
        self._begin = begin

    def opened(self, mark: Mark) -> Mark:
        """Behind the beginning of the group."""
        return False, mark[1], 0, self._begin

    def closed(self, mark: Mark) -> Mark:
        """Behind its end."""
        return True, *mark[1:]

    def moved(self, mark: Mark, digit: int) -> Mark:
        """Behind one more digit."""
        is_closed, before, size, state = mark
        if is_closed is None:
            return None, before + 1, 0, 0
        return mark if is_closed else (False, before, size + 1, self._rows[state][digit])


PASSING: Final = Passing()


class Program:
    """Patterns compiled into nodes; what follows a node is written before it, so there are no loops."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def add(self, pattern: str, number: int) -> int:
        """The first node of `pattern`, which accepts with `number`. Raises Bug for what the grammar lacks."""
        return _Parser(pattern, self).whole()(self.node(Node(accept=number)))

    def node(self, node: Node) -> int:
        """The place of a new node."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def leaves(self, first: int, mark: Mark = False, group: Passing = PASSING) -> Threads:
        """The leaves that are reached from `first` without a digit, the preferred one first, none twice."""
        seen: dict[int, Mark] = {}
        for leaf, marked in self._ways(first, mark, group):
            seen.setdefault(leaf, marked)
        return tuple(seen.items())

    def _ways(self, place: int, mark: Mark, group: Passing) -> Iterator[Thread]:
        node = self.nodes[place]
        if node.is_leaf:
            yield place, mark
            return
        if node.opens:
            mark = group.opened(mark)
        elif node.closes:
            mark = group.closed(mark)
        for way in node.ways:
            yield from self._ways(way, mark, group)


class Opening:
    """Where the match of one pattern at the beginning of a text ends, digit by digit."""

    def __init__(self, pattern: str | None, group: Passing = PASSING) -> None:
        self._program = Program()
        self._group = group
        self._first = self._program.add(pattern, 0) if pattern else None
        self._memo: dict[tuple[Threads, int], tuple[Threads, Mark | None]] = {}

    def start(self) -> tuple[Threads, Mark | None]:
        """Return the state before the first digit, and the mark of a match, as `step` does."""
        if self._first is None:
            return (), None
        return self._cut(self._program.leaves(self._first, self._group.first, self._group))

    def step(self, threads: Threads, digit: int) -> tuple[Threads, Mark | None]:
        """Return the state after `digit`, and the mark of the match that ends here, None for no match.

        A later match is always preferred to an earlier one: what waits less preferred than a match is dropped.
        """
        found = self._memo.get((threads, digit))
        if found is None:
            found = self._memo[threads, digit] = self._cut(self._after(threads, digit))
        return found

    def ends(self, threads: Threads) -> Mark | None:
        """The mark of the match that there is because the text ends here; None: no match."""
        return next((mark for place, mark in threads if self._program.nodes[place].at_end), None)

    def _after(self, threads: Threads, digit: int) -> Threads:
        seen: dict[int, Mark] = {}
        for place, mark in threads:
            node = self._program.nodes[place]
            if node.digits is not None and digit in node.digits:
                moved = self._group.moved(mark, digit)
                for leaf, newly in self._program.leaves(node.ways[0], moved, self._group):
                    seen.setdefault(leaf, newly)
        return tuple(seen.items())

    def _cut(self, threads: Threads) -> tuple[Threads, Mark | None]:
        for index, (place, mark) in enumerate(threads):
            if self._program.nodes[place].accept is not None:
                return threads[:index], mark
        return threads, None


# Writes a part of a pattern in front of the node at the given place, and gives the part's first node.
Write: TypeAlias = Callable[[int], int]


class _Parser:
    """Reads one pattern, to write it into a program from its end to its beginning."""

    def __init__(self, pattern: str, program: Program) -> None:
        self._program = program
        self._left: list[str] = _PART.findall(pattern)
        if "".join(self._left) != pattern:
            raise Bug("a pattern of the telephone metadata is not in the known grammar")
        self._left.reverse()
        self._groups = 0

    def whole(self) -> Write:
        """Return the text of the complete pattern."""
        write = self._either()
        if self._left:
            raise Bug("a pattern of the telephone metadata closes a group that is not open")
        return write

    def _either(self) -> Write:
        branches = [self._sequence()]
        while self._left and self._left[-1] == "|":
            self._left.pop()
            branches.append(self._sequence())
        if len(branches) == 1:
            return branches[0]
        return lambda then: self._node(Node(tuple(write(then) for write in branches)))

    def _sequence(self) -> Write:
        parts: list[Write] = []
        while self._left and self._left[-1] not in {"|", ")"}:
            parts.append(self._quantified(self._atom(self._left.pop())))

        def write(then: int) -> int:
            for part in reversed(parts):
                then = part(then)
            return then

        return write

    def _atom(self, part: str) -> Write:
        if part in {"(", "(?:"}:
            return self._group(captures=part == "(")
        if part == "$":
            return lambda then: self._node(Node((then,), at_end=True))
        digits = _digits(part)
        return lambda then: self._node(Node((then,), digits=digits))

    def _group(self, *, captures: bool) -> Write:
        self._groups += captures
        number = self._groups
        inner = self._either()
        if not self._left or self._left.pop() != ")":
            raise Bug("a pattern of the telephone metadata leaves a group open")
        if not captures:
            return inner

        def write(then: int) -> int:
            if number < self._groups:  # how many there are is known when the pattern is written
                return inner(then)
            return self._node(Node((inner(self._node(Node((then,), closes=True))),), opens=True))

        return write

    def _quantified(self, write: Write) -> Write:
        if not self._left or self._left[-1][0] not in "?{":
            return write
        bounds = self._left.pop().replace("?", "0,1").strip("{}")
        least, _, most = bounds.partition(",")
        return lambda then: self._repeated(write, int(least), int(most or least), then)

    def _repeated(self, write: Write, least: int, most: int, then: int) -> int:
        first = then
        for _ in range(most - least):
            first = self._node(Node((write(first), then)))
        for _ in range(least):
            first = write(first)
        return first

    def _node(self, node: Node) -> int:
        return self._program.node(node)


def _digits(part: str) -> Digits:
    if part == r"\d":
        return _ANY
    if not part.startswith("["):
        return frozenset({int(part)})
    ranges = re.findall(r"(\d)-(\d)|(\d)", part)
    return frozenset(digit for first, last, one in ranges for digit in range(int(one or first), int(one or last) + 1))


def of_phonenumbers(reads: object) -> object | None:
    """Return `reads` if it is the function of phonenumbers; None if a program has replaced it."""
    code = getattr(reads, "__code__", None)
    return reads if code is not None and code.co_filename == texts_of_metadata.__file__ else None


# How phonenumbers reads a region's metadata, and where it notes whether it did; another release may do it otherwise.
_READ: Final = of_phonenumbers(vars(texts_of_metadata).get("_load_region"))
_REGIONS: Final[dict[object, Any]] = vars(PhoneMetadata).get("_region_available", {})
_CODES: Final[dict[object, Any]] = vars(PhoneMetadata).get("_country_code_available", {})


def regions_of_code(calling_code: int) -> tuple[str, ...]:
    """The regions that share `calling_code`, the first one first."""
    regions: tuple[str, ...] = phonenumbers.COUNTRY_CODE_TO_REGION_CODE[calling_code]
    return regions


def digest_in_memory(calling_code: int, region: str) -> str:
    """Return the digest of all metadata of `region`, which is in memory from now on."""
    metadata = PhoneMetadata.metadata_for_region_or_calling_code(calling_code, region)
    return hashlib.sha256(_content_of(metadata)).hexdigest()


def digest_of_unread(calling_code: int, region: str) -> str | None:
    """The digest of the text that the metadata of `region` will be read from.

    None when it was read, so that a program may have changed it, and when it cannot be said what will be read.
    """
    is_bare_code = region == REGION_CODE_FOR_NON_GEO_ENTITY
    name = calling_code if is_bare_code else region
    reads = (_CODES if is_bare_code else _REGIONS).get(name)
    if reads is None or reads is not _READ or f"{texts_of_metadata.__name__}.region_{name}" in sys.modules:
        return None
    try:
        text = pkgutil.get_data(texts_of_metadata.__name__, f"region_{name}.py")
    except OSError:
        return None
    return None if text is None else hashlib.sha256(text).hexdigest()


def _content_of(metadata: Any) -> bytes:
    """All that `metadata` holds, the same whichever of its texts are one object: in the quickest way that there is."""
    content = io.BytesIO()
    pickler = pickle.Pickler(content, protocol=4)
    pickler.fast = True  # nothing is written as a reference
    pickler.dump(metadata)
    return content.getvalue()


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
    """All national numbers of one country calling code, as states. A state is a number; 0 is the state before the
    first digit."""

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
        """Return the states after each of the ten digits."""
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
        """Return the leaves after `place`, one bit each."""
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
