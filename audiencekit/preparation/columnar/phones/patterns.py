"""The patterns of telephone metadata as automata over digits.

They are regular expressions of a small grammar: digits, classes, groups, alternatives, bounded repetition, and `$`.
Two readings are needed: which patterns match the whole of a text, and where the match of one pattern ends that is
looked for at the beginning (of alternatives the first, of repetitions the longest: as `re` matches).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from audiencekit.errors import Bug

Digits: TypeAlias = frozenset[int]
# A leaf of a program and whether the way to it went through the pattern's last group.
Thread: TypeAlias = tuple[int, bool]
Threads: TypeAlias = tuple[Thread, ...]

_ANY: Final[Digits] = frozenset(range(10))
_PART: Final = re.compile(r"\\d|\[[0-9-]+\]|\(\?:|\(|\)|\||\?|\{\d+(?:,\d+)?\}|\$|\d")


class Node:
    """One instruction: `accept` is the number of a pattern at its end, `digits` what is consumed, else a fork."""

    __slots__ = ("accept", "at_end", "digits", "marks", "ways")

    def __init__(
        self,
        ways: tuple[int, ...] = (),
        *,
        digits: Digits | None = None,
        accept: int | None = None,
        marks: bool = False,
        at_end: bool = False,
    ) -> None:
        self.ways = ways
        self.digits = digits
        self.accept = accept
        self.marks = marks
        self.at_end = at_end

    @property
    def is_leaf(self) -> bool:
        """Whether a thread waits here."""
        return self.digits is not None or self.accept is not None or self.at_end


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

    def leaves(self, first: int) -> Threads:
        """The leaves that are reached from `first` without a digit, the preferred one first, none twice."""
        seen: dict[int, bool] = {}
        for leaf, marked in self._ways(first, False):
            seen.setdefault(leaf, marked)
        return tuple(seen.items())

    def _ways(self, place: int, marked: bool) -> Iterator[Thread]:
        node = self.nodes[place]
        if node.is_leaf:
            yield place, marked
            return
        for way in node.ways:
            yield from self._ways(way, marked or node.marks)


class Opening:
    """Where the match of one pattern at the beginning of a text ends, digit by digit."""

    def __init__(self, pattern: str | None) -> None:
        self._program = Program()
        self._first = self._program.add(pattern, 0) if pattern else None
        self._memo: dict[tuple[Threads, int], tuple[Threads, bool | None]] = {}

    def start(self) -> tuple[Threads, bool | None]:
        """The state before the first digit, and what `step` says of a match."""
        return ((), None) if self._first is None else self._cut(self._program.leaves(self._first))

    def step(self, threads: Threads, digit: int) -> tuple[Threads, bool | None]:
        """The state behind `digit`, and whether the match that ends here went through the last group; None: no match.

        A later match is always preferred to an earlier one: what waits less preferred than a match is dropped.
        """
        found = self._memo.get((threads, digit))
        if found is None:
            found = self._memo[threads, digit] = self._cut(self._after(threads, digit))
        return found

    def ends(self, threads: Threads) -> bool:
        """Whether the pattern matches because the text ends here."""
        return any(self._program.nodes[place].at_end for place, _ in threads)

    def _after(self, threads: Threads, digit: int) -> Threads:
        seen: dict[int, bool] = {}
        for place, marked in threads:
            node = self._program.nodes[place]
            if node.digits is not None and digit in node.digits:
                for leaf, newly in self._program.leaves(node.ways[0]):
                    seen.setdefault(leaf, marked or newly)
        return tuple(seen.items())

    def _cut(self, threads: Threads) -> tuple[Threads, bool | None]:
        for index, (place, marked) in enumerate(threads):
            if self._program.nodes[place].accept is not None:
                return threads[:index], marked
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
        # How many groups there are is known when the pattern is written.
        return lambda then: self._node(Node((inner(then),), marks=number == self._groups))

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
