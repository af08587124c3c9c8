"""Letters that the definition takes, asked of many at once: most of a list's letters are taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence


def accepted(letters: Sequence[str], takes: Callable[[Sequence[str]], bool], *, at_once: int) -> Iterator[str]:
    """Those of `letters` that are taken alone. `takes` says of some whether they are taken beside each other.

    It is asked of `at_once` letters, and of each half of these again where it refuses them.
    """
    for begin in range(0, len(letters), at_once):
        yield from _accepted(letters[begin : begin + at_once], takes)


def _accepted(letters: Sequence[str], takes: Callable[[Sequence[str]], bool]) -> Iterator[str]:
    if takes(letters):
        yield from letters
    elif len(letters) > 1:
        middle = len(letters) // 2
        yield from _accepted(letters[:middle], takes)
        yield from _accepted(letters[middle:], takes)
