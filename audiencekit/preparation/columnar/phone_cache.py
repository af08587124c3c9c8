"""Compiled numbering plans between runs: kept for who compiled them, taken only for what they were compiled from.

Of each calling code a digest says what that was: the metadata itself, as it stands in memory, and the text of the
modules that compile it. So neither another release of phonenumbers, nor a change of ours, nor a program that changes
the metadata is given what is not its own. No identifier is kept, but which regions and calling codes were met is.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import pkgutil
import struct
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np
import orjson
import phonenumbers
from phonenumbers import PhoneMetadata

from audiencekit.machine.caches import Cache

from .phone_states import DIGITS, StateRows

_NAME: Final = "numbering-plans"
_HEAD: Final = struct.Struct("<II")  # bytes of what is said of the plans in JSON, states
_ITEM: Final = np.dtype("<i4")
_COMPILERS: Final = ("cache", "patterns", "plans", "readings", "states", "tables", "trunks")


@dataclass(slots=True)
class _KeptPlan:
    """The states where the readings of one calling code begin, by region or code, and a digest of its plan."""

    digest: str
    starts: dict[str, int] = field(default_factory=dict)


class KeptPlans:
    """Where readings of digits begin among `states`, by calling code, as far as that is known."""

    def __init__(self, states: StateRows | None = None, plans: dict[str, _KeptPlan] | None = None) -> None:
        self.states = states or StateRows()
        self._plans = plans or {}
        self.is_new = False  # whether there is something that was not written

    def start(self, name: str, calling_code: int) -> int | None:
        """The state where the region or code called `name` begins; None when it is not known, or not the same now."""
        plan = self._plans.get(str(calling_code))
        return plan.starts.get(name) if plan and plan.digest == digest_of(calling_code) else None

    def add(self, name: str, calling_code: int, start: int) -> None:
        """Note that `name` begins with the state `start`; what was another plan of its code is forgotten."""
        plan, digest = self._plans.get(str(calling_code)), digest_of(calling_code)
        if plan is None or plan.digest != digest:
            plan = self._plans[str(calling_code)] = _KeptPlan(digest)
        plan.starts[name] = start
        self.is_new = True

    def write(self, cache: Cache) -> None:
        """Keep all of it in `cache`, if it can be said what it was compiled from."""
        self.is_new = False
        if not _compilers():
            return
        named = orjson.dumps({"by": _compiled_by(), "plans": self._plans})
        rows, readings = (array.astype(_ITEM).tobytes() for array in self.states.arrays())
        cache.write(_NAME, b"".join([_HEAD.pack(len(named), len(self.states)), named, rows, readings]))


def read_plans(cache: Cache | None) -> KeptPlans:
    """What was kept in `cache`; nothing when that is missing or not whole."""
    content = cache.read(_NAME) if cache and _compilers() else None
    try:
        return KeptPlans() if content is None else _read(content)
    except (ValueError, KeyError, TypeError, struct.error):
        return KeptPlans()


def _read(content: bytes) -> KeptPlans:
    named_bytes, count = _HEAD.unpack_from(content)
    states_at = _HEAD.size + named_bytes
    named = orjson.loads(content[_HEAD.size : states_at])
    if named["by"] != _compiled_by():
        raise ValueError("these numbering plans are those of another release")
    plans = {code: _KeptPlan(**plan) for code, plan in named["plans"].items()}
    numbers = np.frombuffer(content, dtype=_ITEM, offset=states_at).astype(np.int32)
    rows, readings = numbers[: count * DIGITS].reshape(count, DIGITS), numbers[count * DIGITS :]
    starts = [start for plan in plans.values() for start in plan.starts.values()]
    places = np.concatenate([np.array(starts, dtype=np.int32), rows.ravel()])
    if len(readings) != count or (count and not 0 <= places.min() <= places.max() < count):
        raise ValueError("the states of kept numbering plans are not all there")
    return KeptPlans(StateRows(rows, readings), plans)


def digest_of(calling_code: int) -> str:
    """What the plan of `calling_code` is compiled from, and by what."""
    regions = phonenumbers.COUNTRY_CODE_TO_REGION_CODE[calling_code]
    metadata = [PhoneMetadata.metadata_for_region_or_calling_code(calling_code, region) for region in regions]
    made_from = "\n".join([_compiled_by(), str(calling_code), *regions]).encode()
    return hashlib.sha256(b"\n".join([made_from, *map(_content_of, metadata)])).hexdigest()


def _content_of(metadata: Any) -> bytes:
    """All that `metadata` holds, the same whichever of its texts are one object: in the quickest way that there is."""
    content = io.BytesIO()
    pickler = pickle.Pickler(content, protocol=4)
    pickler.fast = True  # nothing is written as a reference
    pickler.dump(metadata)
    return content.getvalue()


def _compiled_by() -> str:
    return f"{phonenumbers.__version__} {_compilers().hex()}"


@cache
def _compilers() -> bytes:
    """A digest of the modules that compile; empty where their text is not there, and nothing can be kept."""
    digest = hashlib.sha256()
    for name in _COMPILERS:
        try:
            digest.update(pkgutil.get_data(__package__, f"phone_{name}.py") or b"")
        except OSError:
            return b""
    return digest.digest()
