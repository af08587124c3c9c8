"""The patterns of telephone metadata as automata over digits.

They are regular expressions of a small grammar: digits, classes, groups, alternatives, bounded repetition, and `$`.
Two readings are needed: which patterns match the whole of a text, and where the match of one pattern ends that is
looked for at the beginning (of alternatives the first, of repetitions the longest: as `re` matches).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from audiencekit.errors import Bug

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
    """A mark that follows what is written in the place of a prefix: some digits, then the last group.

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
        """The state before the first digit, and what `step` says of a match."""
        if self._first is None:
            return (), None
        return self._cut(self._program.leaves(self._first, self._group.first, self._group))

    def step(self, threads: Threads, digit: int) -> tuple[Threads, Mark | None]:
        """The state behind `digit`, and the mark of the match that ends here; None: no match.

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
        """How to write the whole pattern."""
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
