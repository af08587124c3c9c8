"""A file of compiled numbering plans, each with what it was compiled from.

Digests say what that was: the metadata itself, as it stood in memory or in the text that it was read from, and the text
of the modules that compile it. No identifier is written, but which regions and calling codes were met is.
"""

from __future__ import annotations

import hashlib
import pkgutil
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import orjson

from audiencekit.preparation.columnar.phones.metadata import digest_in_memory, digest_of_unread, regions_of_code
from audiencekit.preparation.columnar.phones.states import StateRows

_HEAD: Final = struct.Struct("<I")  # bytes of what is said of the plans in JSON
_MODULES: Final = ("metadata", "patterns", "planfile", "plans", "readings", "states", "tables", "trunks")
_COMPILERS: Final = (
    *(("audiencekit.preparation.columnar.phones", f"{name}.py") for name in _MODULES),
    *(("audiencekit.identifiers", f"{name}.py") for name in ("phone_number", "texts")),
)


@dataclass(slots=True)
class CompiledPlan:
    """The plan of one calling code, and what it was compiled from.

    That is, by region, a digest of the metadata as it stood in memory, and one of the text from which it was read, as
    far as that is known. `starts` are the states where readings begin, by region or code, as far as they were compiled.
    """

    in_memory: dict[str, str]
    texts: dict[str, str]
    starts: dict[str, int] = field(default_factory=dict)
    states: StateRows = field(default_factory=StateRows)

    @classmethod
    def of_now(cls, calling_code: int) -> CompiledPlan:
        """One in which nothing is compiled yet, of the metadata as it is now."""
        regions = regions_of_code(calling_code)
        texts = {region: text for region in regions if (text := digest_of_unread(calling_code, region)) is not None}
        return cls({region: digest_in_memory(calling_code, region) for region in regions}, texts)

    def is_of_now(self, calling_code: int) -> bool:
        """Whether the plan was compiled from the metadata of `calling_code`, which is read only where that is open.

        Then the text that gave the same metadata is noted.
        """
        if tuple(self.in_memory) != regions_of_code(calling_code):
            return False
        for region, digest in self.in_memory.items():
            text = digest_of_unread(calling_code, region)
            if text is not None and text == self.texts.get(region):
                continue
            if digest_in_memory(calling_code, region) != digest:
                return False
            if text is not None:
                self.texts[region] = text
        return True


class PlanFile:
    """The plans of a file by calling code, which are read when they are asked for.

    A file that is not whole, or was compiled by another release of this package, holds none.
    """

    def __init__(self, content: bytes | None) -> None:
        self._content = content or b""
        self._plans: dict[str, Any] = {}
        self._at = 0
        try:
            self._read_head()
        except (ValueError, KeyError, TypeError, struct.error):
            self._plans = {}

    def _read_head(self) -> None:
        (head_bytes,) = _HEAD.unpack_from(self._content)
        head = orjson.loads(self._content[_HEAD.size : _HEAD.size + head_bytes])
        if head["by"] == compilers():
            self._at, self._plans = _HEAD.size + head_bytes, dict(head["plans"])

    def codes(self) -> list[int]:
        """The calling codes whose plans the file says it has."""
        return [int(code) for code in self._plans]

    def read(self, calling_code: int) -> CompiledPlan | None:
        """The plan of a calling code; None where it is not there or makes no sense."""
        said = self._plans.get(str(calling_code))
        try:
            return None if said is None else self._read(**said)
        except (ValueError, TypeError, AttributeError):
            return None

    def _read(
        self, in_memory: dict[str, str], texts: dict[str, str], starts: dict[str, int], states: int, place: list[int]
    ) -> CompiledPlan:
        begin, end = place
        read = StateRows.unpacked(self._content[self._at + begin : self._at + end], states)
        if not all(0 <= start < states for start in starts.values()):
            raise ValueError("a reading begins with a state that is not there")
        return CompiledPlan(dict(in_memory), dict(texts), dict(starts), read)


def written(plans: Mapping[int, CompiledPlan]) -> bytes:
    """A file of `plans` by calling code."""
    said, packed, at = {}, [], 0
    for code in sorted(plans):
        plan = plans[code]
        packed.append(plan.states.packed())
        place = [at, at := at + len(packed[-1])]
        said[str(code)] = {
            "in_memory": plan.in_memory,
            "texts": plan.texts,
            "starts": dict(sorted(plan.starts.items())),
            "states": len(plan.states),
            "place": place,
        }
    head = orjson.dumps({"by": compilers(), "plans": said})
    return b"".join([_HEAD.pack(len(head)), head, *packed])


@cache
def compilers() -> str:
    """A digest of the modules that compile; empty where their text is not there, and no plan can be known again."""
    digest = hashlib.sha256()
    for package, name in _COMPILERS:
        try:
            digest.update(pkgutil.get_data(package, name) or b"")
        except OSError:
            return ""
    return digest.hexdigest()
