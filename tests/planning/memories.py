"""Memories of invented people in directories that tests spoil."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from audiencekit.audiences.erasure.forms import ErasureKeys, to_records
from audiencekit.errors import MemoryRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords, Secret
from audiencekit.process.crash_points import set_hook
from audiencekit.selection.erased_people import read_forgotten, remember
from audiencekit.selection.erasure_witness import Witness
from audiencekit.state.keys import StateKey

GIVEN = Secret("6b" * 32)
KEY = StateKey(b"k" * 32)


def records_of(people: Iterable[int]) -> HashedRecords:
    """One key of each."""
    return to_records(ErasureKeys(frozenset((Kind.EMAIL, hashlib.sha256(b"%d" % one).hexdigest()) for one in people)))


class Killed(BaseException):
    """The process has ended."""


class Place:
    """A state directory, and what a user of a machine has seen of it."""

    def __init__(self, directory: Path, witness: Witness) -> None:
        self.directory, self.witness = directory, witness

    def forget(self, *people: int, receipt: bool = True, kill: str = "") -> None:
        """As `forget` does; `kill` ends it at that point."""
        set_hook(lambda point: _end(point, kill))
        try:
            mark, _ = remember(self.directory, KEY, records_of(people), self.witness)
        finally:
            set_hook(None)
        if receipt:
            self.write_receipt(f"forget-{mark.serial:08}", {"remembered": True, "memory": mark.to_json()})

    def write_receipt(self, name: str, document: Any) -> None:
        directory = self.directory / "erasures" / name
        directory.mkdir(parents=True)
        (directory / "receipt.json").write_bytes(orjson.dumps(document))

    def holds(self, *people: int) -> list[bool]:
        """Of each, whether uploads leave them out."""
        forgotten = read_forgotten(self.directory, GIVEN, self.witness)
        return [forgotten is not None and bool(forgotten.holds_any(records_of([one]))[0]) for one in people]

    def is_refused(self) -> bool:
        with contextlib.suppress(MemoryRefused):
            self.holds(1)
            return False
        return True

    def copy(self, place: Path) -> Path:
        """A backup."""
        if self.directory.exists():
            shutil.copytree(self.directory, place)
        else:
            place.mkdir(mode=0o700)
        return place

    def restore(self, backup: Path, *names: str) -> None:
        """Put these files back, all of them when none is named; those that the backup lacks are removed."""
        if not names:
            shutil.rmtree(self.directory, ignore_errors=True)
            shutil.copytree(backup, self.directory)
            return
        for name in names:
            (self.directory / name).unlink(missing_ok=True)
            if (backup / name).exists():
                shutil.copy2(backup / name, self.directory / name)

    def write_other_version(self) -> None:
        """A memory in the format of another version."""
        (self.directory / "forgotten").write_bytes(b"AKFORGT5" + bytes(48))
        (self.directory / "forgotten").chmod(0o600)


def _end(point: str, kill: str) -> None:
    if point == kill:
        raise Killed
