"""The last results of a function, for all threads that ask for them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Memo(Generic[T]):
    """The results of `make` for numbers, of the `most` numbers that were asked for last.

    Threads that ask for the same number at once wait for the one that makes it, where functools.lru_cache lets each
    make its own. Of numbers that are asked for in their order, up to `end`, who would only wait makes the next one
    meanwhile. What `make` raises is raised, and nothing is kept of it.
    """

    def __init__(self, make: Callable[[int], T], *, most: int, end: int = 0) -> None:
        self._make, self._most, self._end = make, most, end
        self._slots: OrderedDict[int, _Slot[T]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, number: int) -> T:
        slot = self._slot(number)
        if slot.is_begun and not slot.is_made and number + 1 < self._end:
            following = self._slot(number + 1)
            if not following.is_begun:
                with suppress(Exception):  # who asks for it tries again, and is told
                    following.get(self._make, number + 1)
        return slot.get(self._make, number)

    def _slot(self, number: int) -> _Slot[T]:
        with self._lock:
            slot = self._slots.setdefault(number, _Slot())
            self._slots.move_to_end(number)
            if len(self._slots) > self._most:
                self._slots.popitem(last=False)
            return slot


class _Slot(Generic[T]):
    def __init__(self) -> None:
        self._lock = Lock()
        self._made: list[T] = []

    @property
    def is_made(self) -> bool:
        return bool(self._made)

    @property
    def is_begun(self) -> bool:
        return self.is_made or self._lock.locked()

    def get(self, make: Callable[[int], T], number: int) -> T:
        with self._lock:
            if not self._made:
                self._made.append(make(number))
            return self._made[0]
