"""Follow a value through the functions of the package, and find its way: the hand-overs that end where it leaves.

A function is handed a value as an argument, in a buffer that a call fills, or as the result of a call; it hands it on
in the same ways. An object keeps what its methods are handed (a spool, a cache, a pool), and a method that was handed
nothing has it from its object. The way are the functions from which hand-overs lead to the last one. Functions that
look at the value and answer something else are beside it.
"""

from __future__ import annotations

import inspect
import sys
import threading
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import numpy as np

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = str(ROOT / "audiencekit") + "/"
# They call what they are given: pools, caches and guards stand between two functions as the standard library does.
_GOES_ON: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
BETWEEN: Final = frozenset({"process/workers", "personal"})


@dataclass(slots=True)
class Station:
    """One call, or one object that keeps the value. `first` is when each module was handed it."""

    first: dict[str, int] = field(default_factory=dict)
    sources: set[int] = field(default_factory=set)  # stations that handed it the value


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a function. `handed` are the arguments that held the value when it began, and their states."""

    code: CodeType
    number: int
    handed: dict[str, int]


class Trace:
    """Note which module hands a value that `is_sought` to which, within the block; the emulator is left out."""

    def __init__(self, is_sought: Callable[[Any], bool]) -> None:
        self._is_sought, self._numbers, self._now = is_sought, count(), 0
        self._stations: dict[int, Station] = defaultdict(Station)
        self._calls: dict[int, Call] = {}  # those under way, by the frame
        self._owners: list[object] = []  # kept, so that no two have one id
        self.calls: set[tuple[str, str]] = set()  # module that calls, module that is called with the value

    def __enter__(self) -> Trace:
        threading.setprofile(self._look)
        sys.setprofile(self._look)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def modules(self) -> list[str]:
        """All that were handed the value, in order."""
        return self._in_order(self._stations)

    def way_to(self, end: str) -> list[str]:
        """The modules from which hand-overs lead to the module `end`, in order."""
        on_way = {number for number, station in self._stations.items() if end in station.first}
        waiting = list(on_way)
        while waiting:
            new = self._stations[waiting.pop()].sources - on_way
            on_way |= new
            waiting += new
        return self._in_order(on_way)

    def _in_order(self, numbers: Iterable[int]) -> list[str]:
        first: dict[str, int] = {}
        for number in numbers:
            for module, event in self._stations[number].first.items():
                first[module] = min(event, first.get(module, event))
        return sorted(first, key=first.__getitem__)

    # --- the events ---

    def _look(self, frame: FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "return") or not _is_ours(frame):
            return
        self._now = next(self._numbers)
        if event == "call":
            self._called(frame)
        else:
            self._returned(frame, argument)

    def _called(self, frame: FrameType) -> None:
        call = self._calls.get(id(frame))
        if call is not None and call.code is frame.f_code:  # a generator or a coroutine goes on
            return
        handed = {name: _state_of(value) for name, value in frame.f_locals.items() if self._is_sought(value)}
        self._calls[id(frame)] = Call(frame.f_code, -next(self._numbers), handed)
        if handed.keys() - {"self"} and (caller := _caller_of(frame)) is not None:
            self._hand_over(caller, frame)
            self._note_call(caller, frame)

    def _returned(self, frame: FrameType, result: Any) -> None:
        if (self._is_sought(result) or self._has_filled(frame)) and (caller := _caller_of(frame)) is not None:
            self._hand_over(frame, caller)
        if not frame.f_code.co_flags & _GOES_ON:
            self._calls.pop(id(frame), None)

    def _has_filled(self, frame: FrameType) -> bool:
        """Whether an argument holds the value that did not when the call began: a buffer to be written into."""
        call = self._calls.get(id(frame))
        if call is None:
            return False
        code, values = frame.f_code, frame.f_locals
        return any(
            self._is_sought(values.get(name)) and call.handed.get(name, -1) != _state_of(values[name])
            for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            if name != "self"
        )

    def _hand_over(self, giver: FrameType, taker: FrameType) -> None:
        given, taken = self._number_of(giver), self._number_of(taker)
        for number, frame in ((given, giver), (taken, taker)):
            self._stations[number].first.setdefault(module_of(frame), self._now)
        if not self._stations[given].sources and (owner := self._owner_of(giver)) is not None:
            self._stations[given].sources.add(owner)  # it had the value from its object
        self._stations[taken].sources.add(given)
        if (owner := self._owner_of(taker)) is not None:
            self._stations[owner].sources.add(taken)

    def _number_of(self, frame: FrameType) -> int:
        if id(frame) not in self._calls:  # it was begun before the trace
            self._calls[id(frame)] = Call(frame.f_code, -next(self._numbers), {})
        return self._calls[id(frame)].number

    def _owner_of(self, frame: FrameType) -> int | None:
        code = frame.f_code
        if not code.co_argcount or code.co_varnames[0] != "self":
            return None
        owner = frame.f_locals["self"]
        self._owners.append(owner)
        return id(owner)

    def _note_call(self, caller: FrameType | None, frame: FrameType) -> None:
        """Remember the call, but for one of a generator: it is asked for values, and calls no one up."""
        while caller is not None and module_of(caller) in BETWEEN:
            caller = _caller_of(caller)
        if caller is not None and not frame.f_code.co_flags & inspect.CO_GENERATOR:
            self.calls.add((module_of(caller), module_of(frame)))


def module_of(frame: FrameType) -> str:
    """The module of the code of `frame`, below the package: `sources/files`."""
    return frame.f_code.co_filename.removeprefix(FOLDER).removesuffix(".py")


def _is_ours(frame: FrameType) -> bool:
    path = frame.f_code.co_filename
    return path.startswith(FOLDER) and not path.startswith(f"{FOLDER}emulator/")


def _callers(frame: FrameType) -> Iterator[FrameType]:
    while (back := frame.f_back) is not None:
        yield back
        frame = back


def _caller_of(frame: FrameType) -> FrameType | None:
    return next(filter(_is_ours, _callers(frame)), None)


def _state_of(value: Any) -> int:
    """A number that changes when `value`, a buffer, is written into. New memory may hold anything."""
    return zlib.crc32(value) if isinstance(value, np.ndarray) and value.flags.c_contiguous else 0
