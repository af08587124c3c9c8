"""`python -m tests.architecture`: the way of an address from its cell to the socket, and that of a 429, as traced.

An invented list is uploaded to an emulator, to an audience and to a do-not-reach list. Its last row is followed, which
stands behind the part that is sampled to recognise the file. A module is on the way of the address when one of its
functions is handed the address or its hash, in whatever form (text, bytes, an Arrow buffer, a wrapper), and hands on
what comes to the socket; functions that look at it and answer something else are beside the way (see `trace`). A module
is on the way of a 429 when it is handed the error or the answer that says so.

The order is that of the first time. Pools, caches and guards call what they are given, as the standard library does:
they are modules of the way, and no folder of it. A call is upward when the layers in `pyproject.toml` have the folder
that is called above the one that calls; a value that comes back, or is asked of an iterator, is none.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import hashlib
import re
import sys
import tempfile
import tomllib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from audiencekit.api.exchange import ApiResponse
from audiencekit.audiences.do_not_reach import do_not_reach_upload_async
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.emulator.faults.orders import read_faults
from audiencekit.errors import RateLimited
from audiencekit.personal import Personal
from audiencekit.pipeline import upload_async
from audiencekit.settings import load_settings
from tests.architecture.trace import BETWEEN, ROOT, Trace

ADDRESS = "only.one.person@canarymail.com"
SOCKET = "api/transport"  # hands the body to the HTTP library
_DIGEST = hashlib.sha256(ADDRESS.encode()).digest()
_FORM = re.compile(b"|".join(map(re.escape, (ADDRESS.encode(), _DIGEST, _DIGEST.hex().encode()))))
_DEPTH, _MOST_BYTES, _MOST_MEMBERS = 8, 1 << 22, 64
_ROWS_BEFORE, _REMARK = 2200, "-" * 500  # more than what is sampled
_TOO_MANY = {"fault": 4, "nth": 1, "match": {"path": "*/users"}, "reset": 1}


def holds_address(value: Any, depth: int = _DEPTH) -> bool:
    """Whether the address or its hash is in `value`."""
    if isinstance(value, str):
        return ADDRESS in value.lower() or _DIGEST.hex() in value
    octets = _octets_of(value)
    if octets is not None:
        return _FORM.search(octets) is not None
    return depth > 0 and any(holds_address(member, depth - 1) for member in _members_of(value))


def _octets_of(value: Any) -> memoryview | None:
    if isinstance(value, np.ndarray) and value.dtype != object:
        value = value.data if value.flags.c_contiguous else value.tobytes()
    if not isinstance(value, bytes | bytearray | memoryview | pa.Buffer):
        return None
    view = memoryview(value)
    return view.cast("B") if view.nbytes <= _MOST_BYTES and view.c_contiguous and view.nbytes else memoryview(b"")


def _members_of(value: Any) -> Iterable[Any]:
    if isinstance(value, Personal):
        return (getattr(value, "_hidden", None),)
    if isinstance(value, pa.RecordBatch | pa.Table):
        return value.columns
    if isinstance(value, pa.ChunkedArray):
        return value.chunks
    if isinstance(value, pa.Array):
        return [each for each in value.buffers() if each is not None]
    if isinstance(value, list | tuple | dict):
        return list(value.values() if isinstance(value, dict) else value)[:_MOST_MEMBERS]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, each.name, None) for each in dataclasses.fields(value)]
    return ()


def is_too_many_requests(value: Any) -> bool:
    """Whether `value` is the 429 as an answer or an error."""
    return isinstance(value, RateLimited) or (isinstance(value, ApiResponse) and value.status == 429)


# --- what is counted ---


def folders_of(modules: Iterable[str]) -> list[str]:
    """The rooms that are entered one after another: the top folder, or the module where there is none."""
    rooms = [module.partition("/")[0] for module in modules if module not in BETWEEN]
    return rooms[:1] + [room for before, room in pairwise(rooms) if room != before]


def upward(calls: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those calls whose module is in a higher layer than the module that calls."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [layer.replace("audiencekit.", "").split(" | ") for layer in contracts[0]["layers"]]
    place = {room: number for number, layer in enumerate(layers) for room in layer}

    def height(module: str) -> int:
        return -place.get(module.partition("/")[0], len(layers))

    return sorted((caller, called) for caller, called in calls if height(called) > height(caller))


@dataclass(frozen=True, slots=True)
class Way:
    """The modules that a value passes, in order, and the calls between them."""

    modules: list[str]
    calls: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, trace: Trace, modules: list[str]) -> Way:
        """The way through these `modules`."""
        return cls(modules, frozenset(call for call in trace.calls if set(call) <= set(modules)))

    @property
    def figures(self) -> tuple[int, int, int]:
        """Modules, changes of folder, calls upward."""
        return len(self.modules), len(folders_of(self.modules)) - 1, len(upward(self.calls))

    def to_text(self, name: str) -> str:
        """The figures, a line a module, and the calls upward."""
        figures = "{} modules, {} changes of folder, {} calls upward".format(*self.figures)
        up = [f"  upward: {caller} calls {called}" for caller, called in upward(self.calls)]
        return "\n".join([f"{name}: {figures}", *(f"  {module}" for module in self.modules), *up])


# --- what is traced ---


async def _traced(send: Callable[..., Awaitable[Any]], is_sought: Callable[[Any], bool], *faults: Any) -> Trace:
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "list.csv"
        others = "".join(f"{number}@example.com,{_REMARK}\n" for number in range(_ROWS_BEFORE))
        source.write_text(f"email,remark\n{others}{ADDRESS},-\n")
        async with Emulator(EmulatorOptions(faults=tuple(read_faults(list(faults))))) as emulator:
            settings = load_settings(emulator.env, directory=Path(directory), state_dir=Path(directory) / "state")
            with Trace(is_sought) as trace:
                await send(source, emulator, settings)
    return trace


async def _of_address(send: Callable[..., Awaitable[Any]]) -> Way:
    trace = await _traced(send, holds_address)
    return Way.of(trace, trace.way_to(SOCKET))


async def _of_too_many_requests() -> Way:
    trace = await _traced(_to_audience, is_too_many_requests, _TOO_MANY)
    return Way.of(trace, trace.modules())


async def _to_audience(source: Path, emulator: Emulator, settings: Any) -> None:
    await upload_async(source, audience=emulator.audience_id, settings=settings)


async def _to_list(source: Path, emulator: Emulator, settings: Any) -> None:
    await do_not_reach_upload_async(source, settings=settings)


WAYS: dict[str, Callable[[], Awaitable[Way]]] = {
    "an address to an audience": lambda: _of_address(_to_audience),
    "an address to the do-not-reach list": lambda: _of_address(_to_list),
    "a 429": _of_too_many_requests,
}


async def _way_of(trace: Callable[[], Awaitable[Way]]) -> Way:
    return await trace()


def main() -> int:
    argparse.ArgumentParser(prog="python -m tests.architecture", description=__doc__).parse_args()
    for name, trace in WAYS.items():
        print(asyncio.run(_way_of(trace)).to_text(name))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
