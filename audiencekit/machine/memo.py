"""What was made last, for all threads that ask for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Memo(Generic[T]):
    """What `make` gives for a number, of the `most` numbers that were asked for last.

    Threads that ask for the same number at once wait for the one that makes it, where functools.lru_cache lets each
    make its own. What `make` raises is raised, and nothing is kept of it.
    """

    def __init__(self, make: Callable[[int], T], *, most: int) -> None:
        self._make, self._most = make, most
        self._slots: OrderedDict[int, _Slot[T]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, number: int) -> T:
        with self._lock:
            slot = self._slots.setdefault(number, _Slot())
            self._slots.move_to_end(number)
            if len(self._slots) > self._most:
                self._slots.popitem(last=False)
        return slot.get(self._make, number)


class _Slot(Generic[T]):
    def __init__(self) -> None:
        self._lock = Lock()
        self._made: list[T] = []

    def get(self, make: Callable[[int], T], number: int) -> T:
        with self._lock:
            if not self._made:
                self._made.append(make(number))
            return self._made[0]
