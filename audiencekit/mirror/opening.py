"""The door to a state in a bucket: opened for a command or a block of a program, in a private working copy."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from audiencekit.errors import CredentialsRefused, InputOutputFailed, UsageError
from audiencekit.mirror.mirror import PATIENCE_SECONDS, StateMirror
from audiencekit.mirror.objects import BucketObjects, Swaps
from audiencekit.mirror.records import Head, MirroredFile
from audiencekit.mirror.witness import PLACE, FileObjects
from audiencekit.process.programs import own_environment
from audiencekit.settings import read_key, state_address
from audiencekit.sources.remote.addresses import BUCKETS, SourceAddress
from audiencekit.sources.remote.remote_file import LoopThread
from audiencekit.state.directory import check_root
from audiencekit.state.durability import STATE, WITNESS, is_bucket, mirrored
from audiencekit.state.key_command import KeyCommand
from audiencekit.state.keys import StateKey, parse_key

HEAD_VARIABLE: Final = f"{STATE}_HEAD"


class _Door:
    """The mirror for other event loops than its own."""

    def __init__(self, mirror: StateMirror, loop: LoopThread, address: str) -> None:
        self.root, self.address = mirror.root, address
        self._mirror, self._loop = mirror, loop

    def note(self, directory: Path, content: tuple[str, bytes] | None = None) -> None:
        """See `durability.Mirror`."""
        self._mirror.note(directory, content)

    def when_stored(self, action: Callable[[], None]) -> None:
        """See `durability.Mirror`."""
        self._mirror.when_stored(action)

    async def stored(self) -> None:
        """See `durability.Mirror`."""
        await asyncio.wrap_future(self._loop.begin(self._mirror.stored()))


@dataclass(frozen=True, slots=True)
class KindOfFile:
    """The files of one kind, by the first part of their paths: how many, and the time of the last change (UTC)."""

    name: str
    files: int
    size_bytes: int
    changed_at: str


@dataclass(frozen=True, slots=True)
class StateSummary:
    """The head of a state, and its files by kind."""

    head: Head
    kinds: tuple[KindOfFile, ...]

    def to_json(self) -> dict[str, Any]:
        """change, head, held_by, files."""
        return {
            "change": self.head.generation,
            "head": self.head.note,
            "held_by": None if self.head.holder is None else self.head.holder.host,
            "files": {kind.name: _facts_of(kind) for kind in self.kinds},
        }


def _facts_of(kind: KindOfFile) -> dict[str, Any]:
    return {"files": kind.files, "bytes": kind.size_bytes, "changed_at": kind.changed_at}


def begin_state(address: str, environment: Mapping[str, str] | None = None, *, content: Path | None = None) -> Head:
    """Make a state at `address`, empty or with the files of the directory `content`, and return its head.

    Its witness notes the head. Raises UsageError for no address of a bucket, CredentialsRefused without a state key,
    InputOutputFailed.
    """
    environment = own_environment() if environment is None else environment
    mirror = _mirror(address, environment, Path())
    with contextlib.closing(LoopThread()) as loop:
        return loop.run(mirror.begin(content))


def accept_state(environment: Mapping[str, str] | None = None) -> Head:
    """Have the witness note the present head of the state, after it was restored or got a witness. Raises as
    `open_state`, and UsageError without a witness."""
    environment = own_environment() if environment is None else environment
    if not environment.get(WITNESS, "").strip():
        raise UsageError(f"{WITNESS} names no witness", hint="set it to s3://BUCKET/PREFIX, gs://…, az://… or a path")
    mirror = _mirror(state_address(environment), environment, Path())
    with contextlib.closing(LoopThread()) as loop:
        return loop.run(mirror.accept())


def look_at_state(address: str, environment: Mapping[str, str] | None = None) -> StateSummary:
    """Return what the state at `address` holds, of which no file is read. Raises as `open_state`."""
    environment = own_environment() if environment is None else environment
    mirror = _mirror(address, environment, Path())
    with contextlib.closing(LoopThread()) as loop:
        head, listed = loop.run(mirror.look(_known_head(environment, address)))
    kinds: dict[str, list[MirroredFile]] = {}
    for path, one in sorted(listed.files.items()):
        kinds.setdefault(path.partition("/")[0], []).append(one)
    return StateSummary(head, tuple(_kind_of(name, files) for name, files in kinds.items()))


def _kind_of(name: str, files: list[MirroredFile]) -> KindOfFile:
    changed_at = datetime.fromtimestamp(max(one.changed_at for one in files) // 10**9, UTC)
    return KindOfFile(name, len(files), sum(one.size for one in files), f"{changed_at:%Y-%m-%dT%H:%M:%SZ}")


@contextlib.contextmanager
def open_state(
    address: str | None = None,
    *,
    hold: bool = True,
    notify: Callable[[str], None] = lambda _: None,
    patience_seconds: float = PATIENCE_SECONDS,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Head]:
    """Have the state at `address`, AUDIENCEKIT_STATE by default, in a private directory meanwhile. Yields its head.

    `load_settings` finds it there. With `hold`, no other command can change the state, and the changes of this one are
    stored before each request leaves, and at the end. A holder that gives no sign of life for `patience_seconds` is
    taken for dead. Raises UsageError for no address of a bucket, CredentialsRefused without a state key, AudienceBusy
    when another command holds the state, InputOutputFailed for a state that is not there or cannot be reached, and
    StateRefused for one that is not as it was written.
    """
    environment = own_environment() if environment is None else environment
    if address is None or address == environment.get(STATE, "").strip():
        address = state_address(environment)
    with private_place() as place, contextlib.closing(LoopThread()) as loop:
        root = place / "state"
        mirror = _mirror(address, environment, root, patience_seconds=patience_seconds)
        head = loop.run(mirror.open(hold=hold, notify=notify, least=_known_head(environment, address)))
        with mirrored(_Door(mirror, loop, address)) if hold else mirrored(_Unwritten(root, address)):
            try:
                yield head
            finally:
                loop.run(mirror.close())


@contextlib.contextmanager
def named_state(address: str) -> Iterator[None]:
    """Have settings name the state at `address` meanwhile, of which nothing is read. Raises UsageError."""
    _bucket(address)
    with private_place() as place, mirrored(_Unwritten(place / "state", address)):
        yield


@contextlib.contextmanager
def private_place() -> Iterator[Path]:
    """Have a new directory for this user alone meanwhile. Raises InputOutputFailed."""
    place: Path | None = None
    with contextlib.suppress(OSError):
        place = Path(tempfile.mkdtemp(prefix="audiencekit-state-"))
    if place is None:
        raise InputOutputFailed(
            "there is no place for the working copy of the state",
            hint="set TMPDIR to a directory that can be written; a container mounts one in memory (tmpfs)",
        )
    try:
        check_root(place)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


class _Unwritten:
    """A working copy whose changes are dropped at the end."""

    def __init__(self, root: Path, address: str) -> None:
        self.root, self.address = root, address

    def note(self, directory: Path, content: tuple[str, bytes] | None = None) -> None:
        """Nothing is stored."""

    def when_stored(self, action: Callable[[], None]) -> None:
        """Call it at once: such a command changes nothing that lasts."""
        action()

    async def stored(self) -> None:
        """Nothing is to be stored: such a command sends no people."""


def _mirror(address: str, environment: Mapping[str, str], root: Path, **more: Any) -> StateMirror:
    key, bucket, witness = given_key(environment), _bucket(address), _witness(environment, address)
    return StateMirror(BucketObjects(bucket), key, root, witness=witness, **more)


def _known_head(environment: Mapping[str, str], address: str) -> str:
    """Return the least head of the state that the environment names; of another one nothing is known."""
    return _of_state(HEAD_VARIABLE, environment, address)


def _witness(environment: Mapping[str, str], address: str) -> Swaps | None:
    """Return the place of the witness of the state that the environment names; another one has none."""
    place = _of_state(WITNESS, environment, address)
    if not place:
        return None
    if not is_bucket(place):
        if not Path(place).is_absolute():
            raise UsageError(f"{WITNESS} is no absolute path and no address", hint="give one of them")
        return FileObjects(Path(place))
    if place.rstrip("/") == address.rstrip("/"):
        raise UsageError(f"{WITNESS} is the place of the state itself", hint="name another bucket, or a path")
    return BucketObjects(_bucket(place, WITNESS), PLACE)


def _of_state(variable: str, environment: Mapping[str, str], address: str) -> str:
    return environment.get(variable, "").strip() if address == environment.get(STATE, "").strip() else ""


def _bucket(address: str, variable: str = STATE) -> SourceAddress:
    if address.partition("://")[0] in BUCKETS:
        found = SourceAddress.read(address)
        if not found.query:
            return found
    raise UsageError(f"{variable} is no address of a bucket", hint="give s3://BUCKET/PREFIX, gs://… or az://…")


def given_key(environment: Mapping[str, str]) -> StateKey:
    """Return the state key that the environment gives. Raises CredentialsRefused where it gives none."""
    given = read_key(environment)
    if given is None:
        raise CredentialsRefused(
            "a state in a bucket needs its key from elsewhere",
            hint="set AUDIENCEKIT_KEY, AUDIENCEKIT_KEY_FILE or AUDIENCEKIT_KEY_COMMAND",
        )
    if isinstance(given, KeyCommand):
        return parse_key(given.read(), "the output of the key command")
    return parse_key(given, "AUDIENCEKIT_KEY")
