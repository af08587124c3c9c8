"""Sealed rejections: the rows that have a rejection, with their cells, encrypted with age as they are met.

They are for the owner of the identity: audiencekit has the recipient only, and cannot open what it sealed; or they are
for the state key, where that does not lie beside them. The values are never in the clear on a disk.

    STATE/rejections/RUN_ID.age        of an upload
    STATE/rejections/check-ID.age      of a check
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

import orjson

from audiencekit.errors import InputOutputFailed, SourceRefused, UsageError
from audiencekit.personal import Personal, guarded
from audiencekit.records.rejected_rows import RejectedRows
from audiencekit.settings import Settings
from audiencekit.sources.bytes.encryption import AgeFile, AgeWriter, find_recipient, identity_of, is_age
from audiencekit.sources.bytes.files import RegularFile
from audiencekit.state.directory import make_directory
from audiencekit.state.files import explained, hint_for, open_new, overwrite_file, sync_directory
from audiencekit.state.key_places import place_of_key
from audiencekit.state.keys import StateKey, find_state_key, known_state_key

PLACE: Final = "rejections"  # in the state directory
KEPT_FOR: Final = timedelta(days=30)
_SUFFIX: Final = ".age"
SEALED_FILES: Final = f"{PLACE}/*{_SUFFIX}*"  # also those that a kill has left
_FORM: Final = b'{"form":"audiencekit-rejections/1"}\n'  # the first line
LAST: Final = "last"
_OWN: Final = re.compile(r"[0-9a-z][0-9a-z-]*\.age")
_PIECE_BYTES: Final = 1 << 20
_ELSEWHERE: Final = "check the space and the rights of the state directory, then run again"


# --- The recipient: that of an owner of an identity, or the state key ---

STATE: Final = "state"


def recipient_of(given: str, settings: Settings) -> str:
    """Return the recipient of age that `given` names; that of the state key for `state`.

    Raises UsageError for no recipient, and for a state key that is, or would be, beside the sealed rows.
    """
    if given != STATE:
        find_recipient(given)
        return given
    if place_of_key(settings.state_dir, settings.key) in (None, "file"):
        raise UsageError(
            "the state key lies beside the rows that would be sealed for it, and opens them",
            hint="`audiencekit key move` moves it to the keyring; or give it by AUDIENCEKIT_KEY or"
            " AUDIENCEKIT_KEY_COMMAND; or seal for a recipient of age (age1…)",
        )
    return str(_identity_of(find_state_key(settings.state_dir, settings.key)).to_public())


def identities_of_state(settings: Settings) -> list[Any]:
    """Return the identities of the state key and of those before it; none without a key, or without age."""
    key = known_state_key(settings.state_dir, settings.key)
    if key is None or importlib.util.find_spec("pyrage") is None:
        return []
    return [_identity_of(each) for each in (key, *key.earlier)]


def _identity_of(key: StateKey) -> Any:
    return identity_of(key.derive(PLACE))


# --- The file while it is written: encrypted in a stream, in bounded memory ---


@dataclass(frozen=True, slots=True)
class Sealing:
    """The rows with rejections of `name` are sealed for `recipient`, below `state_dir`. Raises UsageError.

    `prove` gives the proof of a row of a run.
    """

    state_dir: Path
    name: str
    recipient: str
    prove: Callable[[int], str] | None = None

    def __post_init__(self) -> None:
        find_recipient(self.recipient)

    @classmethod
    def of_check(cls, settings: Settings, given: str) -> Self:
        """Return that of a check, under a new name, as `recipient_of`."""
        now = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        name = f"check-{now}-{secrets.token_hex(4)}"
        return cls(settings.state_dir, name, recipient_of(given, settings))


class SealedRejections:
    """Seal rows as they come. The file gets its name when it is complete; without rows there is none.

    Raises InputOutputFailed when the disk fails.
    """

    def __init__(self, sealing: Sealing) -> None:
        self._sealing, self.rows = sealing, 0
        self.path = sealing.state_dir / PLACE / f"{sealing.name}{_SUFFIX}"
        self._partial = self.path.with_name(f".{self.path.name}.{os.getpid()}.partial")

    def __enter__(self) -> Self:
        directory = make_directory(self._sealing.state_dir, PLACE)
        with explained("rejections cannot be sealed", directory, hint=_ELSEWHERE):
            self._partial.unlink(missing_ok=True)
            self._file = open_new(self._partial)
        self._writer = AgeWriter(self._file, find_recipient(self._sealing.recipient))
        self._write(_FORM)
        return self

    @guarded
    def add(self, rows: RejectedRows) -> None:
        """Seal the next rows."""
        lines = rows.unwrap()
        self.rows += lines.count(b"\n")
        for begin in range(0, len(lines), _PIECE_BYTES):
            self._write(lines[begin : begin + _PIECE_BYTES])

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            with self._file:
                self._writer.end(is_complete=kind is None)
                if kind is None:
                    self._raise_failure()
                    os.fsync(self._file.fileno())
            if kind is None and self.rows:
                self._partial.replace(self.path)
                sync_directory(self.path.parent)
        except FileNotFoundError:
            raise InputOutputFailed(
                "an erasure removed the sealed rejections while they were written: nothing was sent", hint="run again"
            ) from None
        except OSError as failure:
            raise self._failure(failure) from None
        finally:
            with suppress(OSError):
                self._partial.unlink(missing_ok=True)

    def in_words(self) -> str:
        """Return where the rows are, for people."""
        if not self.rows:
            return "no row has a rejection: nothing was sealed"
        rows = "row with a rejection is" if self.rows == 1 else "rows with a rejection are"
        told = f"{self.rows:,} {rows} sealed for {KEPT_FOR.days} days"
        return f"{told}: `audiencekit rejections open {self._sealing.name}` shows them"

    def _write(self, piece: bytes) -> None:
        self._writer.encrypt(piece)
        self._raise_failure()

    def _raise_failure(self) -> None:
        if self._writer.failure is not None:
            raise self._failure(self._writer.failure)

    def _failure(self, error: OSError) -> InputOutputFailed:
        return InputOutputFailed(
            f"{str(self.path)!r} cannot be written: {error.strerror or 'unknown reason'}",
            hint=hint_for(error.errno, _ELSEWHERE),
        )


# --- The file when it is opened: all of it is proved before the first row is given out ---


def find_sealed(state_dir: Path, given: str) -> Path:
    """Return the file of the run or check with the id `given`, the latest for `last`, else the path `given`.

    Raises SourceRefused when there is none.
    """
    if given == LAST:
        files = [path for path in sealed_files(state_dir) if _OWN.fullmatch(path.name)]
        if not files:
            raise SourceRefused("no rejections are sealed here", hint="seal them with `seal_rejections=`")
        return max(files, key=lambda path: path.stat().st_mtime_ns)
    own = state_dir / PLACE / f"{given}{_SUFFIX}"
    if _OWN.fullmatch(own.name) and own.is_file():
        return own
    if not os.path.lexists(given):
        raise SourceRefused(
            f"{given}: no run or check of this id has sealed rejections here, and there is no such file",
            hint="give `last`, the id of a run that `audiencekit runs` lists, or the path of an .age file",
        )
    return Path(given)


def write_opened(rows: Iterator[OpenedRow], path: Path) -> int:
    """Write `rows` to a new file for its owner alone; return their number. Raises InputOutputFailed."""
    number, first = 0, next(rows, None)  # what is damaged is refused before there is a file
    what = "the opened rejections cannot be written"
    with explained(what, path, hint="give the name of a new file"), open_new(path) as file:
        for row in () if first is None else chain((first,), rows):
            file.write(f"{row.unwrap()}\n".encode())
            number += 1
    return number


class OpenedRow(Personal[str]):
    """A row as one line of JSON in ASCII, so that no terminal acts on it."""


def open_sealed(
    path: str | os.PathLike[str], identity_file: str | None = None, others: Sequence[Any] = ()
) -> Iterator[OpenedRow]:
    """Yield the rows that are sealed in the file at `path`, for the owner of an identity.

    The identity is in `identity_file`, in the file that AUDIENCEKIT_AGE_IDENTITY names, or one of `others`. Raises
    SourceRefused for another identity, and for a file that is damaged, cut or none of sealed rejections, before the
    first row is given out; UsageError without an identity.
    """
    file = RegularFile(os.fspath(path))
    if not is_age(file):
        raise SourceRefused("this is no file of sealed rejections", hint="they lie in STATE/rejections, as .age files")
    sealed = AgeFile(file, identity_file, others)
    for _ in _lines(sealed):
        pass
    yield from map(_opened, _lines(sealed))


def _lines(sealed: AgeFile) -> Iterator[bytes]:
    with closing(sealed.open()) as handle:
        lines = _cut(handle)
        if next(lines, b"") != _FORM:
            raise SourceRefused("this is no file of sealed rejections of this version of audiencekit")
        yield from lines


def _cut(handle: BinaryIO) -> Iterator[bytes]:
    """Yield each line of the decrypted bytes, with its end."""
    rest = bytearray()
    while piece := handle.read(_PIECE_BYTES):
        rest += piece
        *lines, last = bytes(rest).split(b"\n")
        yield from (line + b"\n" for line in lines)
        rest = bytearray(last)
    if rest:
        raise SourceRefused("the sealed rejections do not end with a row", hint="seal them again from the list")


@guarded
def _opened(line: bytes) -> OpenedRow:
    return OpenedRow(json.dumps(orjson.loads(line)))


# --- The files below a state directory: they go after 30 days, and whenever people are erased ---


def sealed_files(state_dir: Path) -> list[Path]:
    """Return all of them, and those that are written or that a kill has left. Raises InputOutputFailed."""
    directory = state_dir / PLACE
    with explained("the sealed rejections cannot be listed", directory):
        return sorted(directory.iterdir()) if directory.is_dir() else []


def remove_sealed(state_dir: Path) -> int:
    """Remove all of them, since only their owner can see who is in them; return how many there were.

    What is being written goes, too: its run then ends before it sends anything. Raises InputOutputFailed.
    """
    files = sealed_files(state_dir)
    for path in files:
        with explained("sealed rejections cannot be removed", path):
            overwrite_file(path)
            path.unlink(missing_ok=True)
    return len(files)
