"""Compiled numbering plans between runs: kept for who compiled them, taken only for what they were compiled from.

Digests say what that was: the metadata itself, as it stands in memory or, where it was not read yet, in the text it
will be read from, and the text of the modules that compile it. So neither another release of phonenumbers, nor a change
of ours, nor a program that changes the metadata is given what is not its own. No identifier is kept, but which regions
and calling codes were met is.
"""

from __future__ import annotations

import hashlib
import pkgutil
import struct
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import numpy as np
import orjson
import phonenumbers

from audiencekit.machine.caches import Cache
from audiencekit.preparation.columnar.phones.metadata import digest_in_memory, digest_of_unread, regions_of_code
from audiencekit.preparation.columnar.phones.states import DIGITS, StateRows

_NAME: Final = "numbering-plans"
_HEAD: Final = struct.Struct("<II")  # bytes of what is said of the plans in JSON, states
_ROW_ITEM: Final = np.dtype("<i4")
_READING_ITEM: Final = np.dtype("<i8")
_COMPILERS: Final = ("cache", "metadata", "patterns", "plans", "readings", "states", "tables", "trunks")


@dataclass(slots=True)
class _KeptPlan:
    """The states where the readings of one calling code begin, by region or code, and what its plan was compiled from.

    That is, by region, a digest of the metadata as it stood in memory, and one of the text from which it was read, as
    far as that is known.
    """

    in_memory: dict[str, str]
    texts: dict[str, str]
    starts: dict[str, int] = field(default_factory=dict)


class KeptPlans:
    """Where readings of digits begin among `states`, by calling code, as far as that is known."""

    def __init__(self, states: StateRows | None = None, plans: dict[str, _KeptPlan] | None = None) -> None:
        self.states = states or StateRows()
        self._plans = plans or {}
        self._compared: set[int] = set()
        self.is_new = False  # whether there is something that was not written

    def compare_again(self) -> None:
        """The plan of each calling code that is asked for from now on is compared with its metadata, once."""
        self._compared.clear()

    def start(self, name: str, calling_code: int) -> int | None:
        """The state where the region or code called `name` begins; None when it is not known, or not the same now."""
        if calling_code not in self._compared:
            plan = self._plans.get(str(calling_code))
            if plan is None or not self._is_same(plan, calling_code):
                self._plans[str(calling_code)] = _of_now(calling_code)
            self._compared.add(calling_code)
        return self._plans[str(calling_code)].starts.get(name)

    def add(self, name: str, calling_code: int, start: int) -> None:
        """Note that `name`, which `start` did not know, begins with the state `start`."""
        self._plans[str(calling_code)].starts[name] = start
        self.is_new = True

    def _is_same(self, plan: _KeptPlan, calling_code: int) -> bool:
        """Whether the metadata of `calling_code` is what `plan` was compiled from; it is read only where that is open.

        Then the text that gave the same metadata is noted.
        """
        if tuple(plan.in_memory) != regions_of_code(calling_code):
            return False
        for region, digest in plan.in_memory.items():
            text = digest_of_unread(calling_code, region)
            if text is not None and text == plan.texts.get(region):
                continue
            if digest_in_memory(calling_code, region) != digest:
                return False
            if text is not None:
                plan.texts[region] = text
                self.is_new = True
        return True

    def write(self, cache: Cache) -> None:
        """Keep all of it in `cache`, if it can be said what it was compiled from."""
        self.is_new = False
        if not _compilers():
            return
        named = orjson.dumps({"by": _compiled_by(), "plans": self._plans})
        rows, readings = self.states.arrays()
        written = rows.astype(_ROW_ITEM).tobytes(), readings.astype(_READING_ITEM).tobytes()
        cache.write(_NAME, b"".join([_HEAD.pack(len(named), len(self.states)), named, *written]))


def read_plans(cache: Cache | None) -> KeptPlans:
    """The plans kept in `cache`; nothing when that is missing or not whole."""
    content = cache.read(_NAME) if cache and _compilers() else None
    try:
        return KeptPlans() if content is None else _read(content)
    except (ValueError, KeyError, TypeError, AttributeError, struct.error):
        return KeptPlans()


def _read(content: bytes) -> KeptPlans:
    named_bytes, count = _HEAD.unpack_from(content)
    states_at = _HEAD.size + named_bytes
    named = orjson.loads(content[_HEAD.size : states_at])
    if named["by"] != _compiled_by():
        raise ValueError("these numbering plans are those of another release")
    plans = {code: _KeptPlan(**plan) for code, plan in named["plans"].items()}
    readings_at = states_at + count * DIGITS * _ROW_ITEM.itemsize
    rows = np.frombuffer(content[states_at:readings_at], dtype=_ROW_ITEM).astype(np.int32).reshape(count, DIGITS)
    readings = np.frombuffer(content[readings_at:], dtype=_READING_ITEM).astype(np.int64)
    starts = [start for plan in plans.values() for start in plan.starts.values()]
    places = np.concatenate([np.array(starts, dtype=np.int32), rows.ravel()])
    if len(readings) != count or (count and not 0 <= places.min() <= places.max() < count):
        raise ValueError("the states of kept numbering plans are not all there")
    return KeptPlans(StateRows(rows, readings), plans)


def _of_now(calling_code: int) -> _KeptPlan:
    """The inputs of a plan of `calling_code` that is compiled now."""
    regions = regions_of_code(calling_code)
    texts = {region: text for region in regions if (text := digest_of_unread(calling_code, region)) is not None}
    return _KeptPlan({region: digest_in_memory(calling_code, region) for region in regions}, texts)


def _compiled_by() -> str:
    return f"{phonenumbers.__version__} {_compilers().hex()}"


@cache
def _compilers() -> bytes:
    """A digest of the modules that compile; empty where their text is not there, and nothing can be kept."""
    digest = hashlib.sha256()
    for name in _COMPILERS:
        try:
            digest.update(pkgutil.get_data(__package__, f"{name}.py") or b"")
        except OSError:
            return b""
    return digest.digest()
