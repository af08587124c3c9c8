"""`python -m tests.architecture`: the way of an address from its cell to the socket, and that of a 429, as traced.

One invented person is uploaded to an emulator, to an audience and to a do-not-reach list. A module is on the way of the
address when one of its functions is handed the address, or its hash, in whatever form: text, bytes, an Arrow buffer, a
wrapper. A module is on the way of a 429 when it is handed the error or the answer that says so. The order is that of
the first time. A change of folder is upward when the layers in `pyproject.toml` have the next one above.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import hashlib
import sys
import tempfile
import threading
import tomllib
from collections.abc import Awaitable, Callable, Iterable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pyarrow as pa

from audiencekit.api.exchange import ApiResponse
from audiencekit.audiences.do_not_reach import do_not_reach_upload_async
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.emulator.faults.reading import read_faults
from audiencekit.errors import RateLimited
from audiencekit.personal import Personal
from audiencekit.pipeline import upload_async
from audiencekit.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "only.one.person@canarymail.com"
_DIGEST = hashlib.sha256(ADDRESS.encode()).digest()
_FORMS = (ADDRESS.encode(), _DIGEST, _DIGEST.hex().encode())
_DEPTH, _MOST_BYTES, _MOST_MEMBERS = 4, 1 << 20, 64
_TOO_MANY = {"fault": 4, "nth": 1, "match": {"path": "*/users"}, "reset": 1}


class Trace:
    """Notes modules of ours, in order, when one of their functions is handed what `is_sought` says."""

    def __init__(self, is_sought: Callable[[Any], bool]) -> None:
        self._is_sought = is_sought
        self._folder = str(ROOT / "audiencekit") + "/"
        self.modules: list[str] = []

    def __enter__(self) -> Trace:
        threading.setprofile(self._look)
        sys.setprofile(self._look)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _look(self, frame: FrameType, event: str, argument: Any) -> None:
        path = frame.f_code.co_filename
        if event not in ("call", "return") or not path.startswith(self._folder) or "/emulator/" in path:
            return
        name = path.removeprefix(self._folder).removesuffix(".py")
        if name not in self.modules and any(map(self._is_sought, [*frame.f_locals.values(), argument])):
            self.modules.append(name)


def holds_address(value: Any, depth: int = _DEPTH) -> bool:
    """Whether the address or its hash is in `value`."""
    if isinstance(value, str):
        return ADDRESS in value.lower() or _DIGEST.hex() in value
    octets = _octets_of(value)
    if octets is not None:
        return any(form in octets for form in _FORMS)
    return depth > 0 and any(holds_address(member, depth - 1) for member in _members_of(value))


def _octets_of(value: Any) -> bytes | None:
    if isinstance(value, np.ndarray) and value.dtype != object and value.nbytes <= _MOST_BYTES:
        return value.tobytes()
    if isinstance(value, bytes | bytearray | memoryview | pa.Buffer):
        view = memoryview(value)
        return bytes(view) if view.nbytes <= _MOST_BYTES and view.contiguous else b""
    return None


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
    rooms = [module.partition("/")[0] for module in modules]
    return rooms[:1] + [room for before, room in pairwise(rooms) if room != before]


def upward(folders: list[str]) -> int:
    """How many changes of folder lead to a higher layer."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [layer.replace("audiencekit.", "").split(" | ") for layer in contracts[0]["layers"]]
    place = {room: number for number, layer in enumerate(layers) for room in layer}
    return sum(place.get(after, 0) < place.get(before, 0) for before, after in pairwise(folders))


def told(name: str, modules: list[str]) -> str:
    folders = folders_of(modules)
    lines = [f"{name}: {len(modules)} modules, {len(folders) - 1} changes of folder, {upward(folders)} upward"]
    return "\n".join([*lines, *(f"  {module}" for module in modules)])


# --- what is traced ---


async def _traced(send: Callable[..., Awaitable[Any]], is_sought: Callable[[Any], bool], *faults: Any) -> list[str]:
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "list.csv"
        source.write_text(f"email\n{ADDRESS}\n")
        async with Emulator(EmulatorOptions(faults=tuple(read_faults(list(faults))))) as emulator:
            settings = load_settings(emulator.env, directory=Path(directory), state_dir=Path(directory) / "state")
            with Trace(is_sought) as trace:
                await send(source, emulator, settings)
    return trace.modules


async def _to_audience(source: Path, emulator: Emulator, settings: Any) -> None:
    await upload_async(source, audience_id=emulator.audience_id, settings=settings)


async def _to_list(source: Path, emulator: Emulator, settings: Any) -> None:
    await do_not_reach_upload_async(source, settings=settings)


WAYS = {
    "an address to an audience": lambda: _traced(_to_audience, holds_address),
    "an address to the do-not-reach list": lambda: _traced(_to_list, holds_address),
    "a 429": lambda: _traced(_to_audience, is_too_many_requests, _TOO_MANY),
}


def main() -> int:
    argparse.ArgumentParser(prog="python -m tests.architecture", description=__doc__).parse_args()
    for name, trace in WAYS.items():
        print(told(name, asyncio.run(trace())))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
