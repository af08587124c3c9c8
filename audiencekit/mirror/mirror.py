"""A state directory that is a working copy of objects in a bucket.

`StateMirror.open` takes hold of the state and fills an empty directory. From then on every change that is durable in
the directory is noted (`state.durability`), and stored before the next request leaves: first the pieces of files and
the list of files under new names, then the head, if it still has the version that this holder wrote. A holder that was
overtaken cannot write the head, so it sends nothing more.

A kill leaves the last head that was written. All requests that may have left are in the journal of that state.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import socket
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from audiencekit.errors import AudienceBusy, AudiencekitError, Bug, InputOutputFailed, StateRefused
from audiencekit.mirror.file_versions import TICK_SECONDS, FileVersions
from audiencekit.mirror.objects import Objects, Overtaken, Repeated, Stored, Swaps
from audiencekit.mirror.records import (
    HEAD,
    LISTS,
    MARKS,
    PIECE_BYTES,
    PIECES,
    FileList,
    Head,
    Holder,
    MirroredFile,
    Sealer,
    digest_of,
    generation_of,
    mark_name,
    new_name,
    refusal,
)
from audiencekit.mirror.witness import Witness
from audiencekit.process.boot import boot_seconds
from audiencekit.state.files import NEW_FILE, make_private_directory
from audiencekit.state.keys import StateKey

PATIENCE_SECONDS: Final = 60.0  # a holder that gives no sign of life for so long, by the clock of the waiter, is dead
_BEATS: Final = 4  # signs of life of a holder within that time
_MISSED_BEATS: Final = 2  # without so many of them it sends nothing before another one
_OWN_HEADS: Final = 3  # attempts to write the head over earlier ones of the same holder
_LOOKS_IN_PATIENCE: Final = 20
_AT_ONCE: Final = 16  # objects read or written side by side
_KEPT_LISTS: Final = 2
_LOOKS: Final = 5  # attempts of a command that only looks, while others change the state
# Of this machine alone: keys and credentials never lie beside what they open, locks are those of processes.
_NOT_MIRRORED: Final = frozenset({"key", "key.entry", "credentials.json", "audiences.html", "locks", "limiter"})
JOURNAL: Final = "journal.sqlite"


_Inventory: TypeAlias = tuple[list[str], list[str], list[str], bytes | None, Stored | None]


class StateMirror:
    """The working copy at `root`, and the objects of its state. `monotonic` returns seconds, in which the sleep of a
    machine counts: one that was suspended may not take its hold for fresh. `sleep` takes seconds. `witness` is where
    the note of the last head is kept, too.

    One event loop runs all methods but `note`. Raises StateRefused, InputOutputFailed, and AudienceBusy for another
    holder that is at work.
    """

    def __init__(
        self,
        objects: Objects,
        key: StateKey,
        root: Path,
        *,
        witness: Swaps | None = None,
        patience_seconds: float = PATIENCE_SECONDS,
        monotonic: Callable[[], float] = boot_seconds,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._witness = None if witness is None else Witness(witness, sleep=sleep)
        self._head: Head
        self._files: FileList
        self._sealer: Sealer
        self.root, self._patience, self._beat_seconds = root, patience_seconds, patience_seconds / _BEATS
        self._objects, self._key, self._monotonic, self._sleep = Repeated(objects, sleep=sleep), key, monotonic, sleep
        self._guard = threading.Lock()
        self._noted = 0  # changes
        self._stored = 0
        self._directories: set[Path] = set()
        self._contents: dict[str, bytes] = {}
        self._actions: list[Callable[[], None]] = []
        self._open_files: set[str] = set()
        self._versions = FileVersions(root)
        self._marked = 0  # the generation that the last mark shows
        self._writing = asyncio.Lock()  # of a change
        self._heading = asyncio.Lock()  # of the head alone: signs of life are given while a large change is written
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._beating: asyncio.Task[None] | None = None
        self._cleaning: asyncio.Task[None] | None = None
        self._begun: set[asyncio.Task[None]] = set()
        self._failure: Exception | None = None

    # --- Beginning and end ---

    async def begin(self, content: Path | None = None) -> Head:
        """Make a state where there is none, empty or with the files of a directory, and return its head.

        Raises InputOutputFailed where there is one.
        """
        self._sealer = Sealer.new(self._key)
        await self._check_conditions()
        if self._witness is not None:
            await self._witness.check_free()
        files: dict[str, MirroredFile] = {}
        async with _side_by_side() as writes:
            for directory, _, _ in os.walk(content) if content is not None else ():
                for path, file in mirrored_files(Path(directory), content or Path()):
                    files[path] = await self._write_file(file, None, writes)
        name, listed = new_name(LISTS, 1), FileList(1, files).to_bytes()
        head = Head(1, name, digest_of(listed))
        await self._objects.write(name, self._sealer.seal(name, listed))
        await self._mark(1)
        try:
            await self._objects.swap(HEAD, self._sealer.seal_head(head), None)
        except Overtaken:
            raise InputOutputFailed(
                "there is a state at this place already", hint="use it, or name another prefix"
            ) from None
        if self._witness is not None:
            await self._witness.note(self._sealer, head)
        return head

    async def accept(self) -> Head:
        """Have the witness note the present head, whatever it saw before, and return it."""
        head = await self._read_head()
        await self._read_list(head, "", is_accepted=True)
        if self._witness is None:
            raise Bug("there is no witness")
        await self._witness.accept(self._sealer, head)
        return head

    async def open(self, *, hold: bool, notify: Callable[[str], None] = lambda _: None, least: str = "") -> Head:
        """Fill the directory, which is empty; with `hold`, be the one who may change the state. Return the head.

        `least` is the note of an earlier head: a state before it is refused.
        """
        if hold:
            head, reading = await self._take_hold(notify)
            self._beating = asyncio.create_task(self._beat())
            try:
                marks, lists, pieces, listed, seen = await reading
                self._marked = _check_last(head, marks, least)
                if self._witness is not None:
                    self._witness.check(seen, self._sealer, head)
                    await self._witness.note(self._sealer, head)  # of a command that was killed before it did
                self._files = self._sealer.open_list(head, listed)
                await self._fill()
                await self._sleep(TICK_SECONDS)
                self._versions.learn(filter(_is_known_by_version, self._files.files), self._versions.now())
            except BaseException as error:
                cause = await self._cause_of(error)
                await self._let_go()
                if cause is error:
                    raise
                raise cause from None
            self._cleaning = asyncio.create_task(self._remove_orphans(pieces, lists))
            return head
        await self._looked(self._read, least)
        return self._head

    async def _cause_of(self, error: BaseException) -> BaseException:
        """Return why the state could not be read: another command may have it by now, and have removed objects."""
        try:
            if isinstance(error, Overtaken):
                raise error
            if isinstance(error, StateRefused):
                async with self._heading:
                    await self._find_own(self._head)
        except Overtaken:
            return _overtaken()
        except InputOutputFailed as failure:
            return failure
        return error

    async def look(self, least: str = "") -> tuple[Head, FileList]:
        """Return the head and the list of the files, none of which is read. Raises as `open`."""
        await self._looked(self._read_list, least)
        return self._head, self._files

    async def _looked(self, read: Callable[[Head, str], Awaitable[None]], least: str) -> None:
        for number in range(_LOOKS):
            self._head = await self._read_head()
            version = self._version
            try:
                await read(self._head, least)
                break
            except StateRefused:  # a holder may have stored another change meanwhile, and removed what it replaced
                await self._read_head()
                if self._version == version or number + 1 == _LOOKS:
                    raise

    async def _read(self, head: Head, least: str) -> None:
        await self._read_list(head, least)
        try:
            await self._fill()
        except StateRefused:
            shutil.rmtree(self.root, ignore_errors=True)  # it was filled by this attempt
            raise

    async def _read_list(self, head: Head, least: str, *, is_accepted: bool = False) -> None:
        marks, listed, seen = await asyncio.gather(
            self._objects.names(MARKS), self._bytes(head.files), self._read_witness()
        )
        _check_last(head, marks, least)
        if self._witness is not None and not is_accepted:
            self._witness.check(seen, self._sealer, head)
        self._files = self._sealer.open_list(head, listed)

    async def _inventory(self, head: Head) -> _Inventory:
        """Return the names of marks, lists and pieces, none by this command yet, the list of files, and the note."""
        return await asyncio.gather(
            self._objects.names(MARKS),
            self._objects.names(LISTS),
            self._objects.names(PIECES),
            self._bytes(head.files),
            self._read_witness(),
        )

    async def _read_witness(self) -> Stored | None:
        return None if self._witness is None else await self._witness.read()

    async def close(self) -> None:
        """Store all that has changed, and let go of the state."""
        if self._beating is None:
            return
        try:
            self._open_files.clear()
            for directory, _, _ in os.walk(self.root):
                self.note(Path(directory))
            await self.stored()
        finally:
            await self._let_go()

    async def _let_go(self) -> None:
        if self._beating is not None:
            self._beating.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._beating
        while self._begun:
            await asyncio.wait(self._begun)
        if self._cleaning is not None:
            await self._cleaning
        if self._failure is None:
            with contextlib.suppress(
                Overtaken, InputOutputFailed
            ):  # the next one then waits until it is taken for dead
                await self._swap(replace(self._head, holder=None))

    # --- Who holds it ---

    async def _read_head(self) -> Head:
        found = await self._objects.read(HEAD)
        if found is None:
            raise InputOutputFailed(
                "there is no state at this place: nothing was sent",
                hint="check AUDIENCEKIT_STATE; `audiencekit state init` begins a new state there",
            )
        self._version = found.version
        self._sealer = Sealer.of_head(self._key, found.data)
        return self._sealer.open_head(found.data)

    async def _take_hold(self, notify: Callable[[str], None]) -> tuple[Head, asyncio.Task[_Inventory]]:
        """Be the holder; return the head, and its inventory, which is read while the hold is taken."""
        head = await self._read_head()
        seen, since = self._version, self._monotonic()
        is_told = False
        own = Holder(secrets.token_hex(16), socket.gethostname())
        while True:
            if head.holder is None or self._monotonic() - since >= self._patience:
                reading = asyncio.create_task(self._inventory(head))
                try:
                    await self._swap(held := replace(head, holder=own))
                except BaseException as error:
                    reading.cancel()
                    await asyncio.wait([reading])
                    if not isinstance(error, Overtaken):
                        raise
                    head = await self._read_head()
                    seen, since = self._version, self._monotonic()
                    continue
                return held, reading
            if not is_told:
                is_told = True
                notify(
                    f"the state is held by a command on {head.holder.host}: looking for {self._patience:.0f} s whether"
                    " it is alive"
                )
            await self._sleep(self._patience / _LOOKS_IN_PATIENCE)
            head = await self._read_head()
            if self._version == seen:
                continue
            if head.holder is not None:
                raise AudienceBusy(
                    f"another command (on {head.holder.host}) is at work on this state: nothing was sent",
                    hint="try again when it has ended",
                )
            seen, since = self._version, self._monotonic()

    async def _swap(self, head: Head) -> None:
        """Write the head in place of the last one of this holder. Raises Overtaken."""
        data = self._sealer.seal_head(head)
        for _ in range(_OWN_HEADS):
            begun = self._monotonic()
            try:
                self._version = await self._objects.swap(HEAD, data, self._version)
            except Overtaken:
                await self._find_own(head)
                continue
            self._renewed, self._head = begun, head
            return
        raise Overtaken

    async def _find_own(self, head: Head) -> None:
        """Take the version of an earlier head of this holder, whose answer was lost. Raises Overtaken for another."""
        found = await self._objects.read(HEAD)
        own = head.holder or self._head.holder
        with contextlib.suppress(StateRefused):  # others have changed it
            holder = None if found is None else self._sealer.open_head(found.data).holder
            if found is not None and holder is not None and own is not None and holder.token == own.token:
                self._version = found.version
                return
        raise Overtaken

    async def _beat(self) -> None:
        while self._failure is None:
            await self._sleep(self._beat_seconds)
            # `stored` refuses when none came through for long.
            with contextlib.suppress(InputOutputFailed, AudienceBusy):
                await self._renew(self._beat_seconds)

    async def _renew(self, age_seconds: float) -> None:
        """Give a sign of life, unless the last one is younger. Raises AudienceBusy."""
        async with self._heading:
            if self._failure is not None or self._monotonic() - self._renewed < age_seconds:
                return
            holder = self._head.holder
            if holder is None:
                raise Bug("only a holder gives signs of life")
            try:
                await self._swap(replace(self._head, holder=replace(holder, beat=holder.beat + 1)))
            except Overtaken:
                self._failure = _overtaken()
        if self._failure is not None:
            raise self._failure

    # --- What is stored ---

    def note(self, directory: Path, content: tuple[str, bytes] | None = None) -> None:
        """See `durability.Mirror`."""
        with self._guard:
            self._noted += 1
            if content is None:
                self._directories.add(directory)
            else:
                path = (directory / content[0]).relative_to(self.root).as_posix()
                self._contents[path] = content[1]
                self._open_files.add(path)

    def when_stored(self, action: Callable[[], None]) -> None:
        """See `durability.Mirror`."""
        with self._guard:
            if self._stored < self._noted:
                self._actions.append(action)
                return
        action()

    async def stored(self) -> None:
        """Return when all that was noted before is stored under the hold of this command. Raises as the class.

        A caller that is cancelled does not end the work.
        """
        await asyncio.shield(self._begin(self._store_until(self._noted)))

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._begun.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._begun.discard(task)
        if not task.cancelled():
            task.exception()  # `_failure` has it, also where no caller waits any more

    async def _store_until(self, target: int) -> None:
        async with self._writing:
            if self._failure is None and self._stored < target:
                await self._store()
        # The process may have been stopped meanwhile.
        if self._failure is None:
            await self._renew(_MISSED_BEATS * self._beat_seconds)
        if self._failure is not None:
            raise self._failure

    async def _store(self) -> None:
        with self._guard:
            noted, directories, contents, actions = self._noted, self._directories, self._contents, self._actions
            self._directories, self._contents, self._actions = set(), {}, []
        try:
            await self._store_changes(directories, contents)
        except Overtaken:
            self._failure = _overtaken()
        except AudiencekitError as error:
            self._failure = error
        except OSError as error:
            self._failure = InputOutputFailed(
                f"the working copy of the state cannot be read: {type(error).__name__}", hint="run the command again"
            )
        except BaseException:
            self._failure = Bug("a change of the state was not stored")
            raise
        else:
            with self._guard:
                self._stored = noted
            for action in actions:
                action()

    async def _store_changes(self, directories: set[Path], contents: dict[str, bytes]) -> None:
        files = {path: one for path, one in self._files.files.items() if (self.root / path).parent.is_dir()}
        changed: dict[str, Path | bytes] = {**contents}
        for directory in directories:
            there = dict(mirrored_files(directory, self.root)) if directory.is_dir() else {}
            for path in [path for path in files if (self.root / path).parent == directory and path not in there]:
                del files[path]
            for path, file in there.items():
                if path not in self._open_files:
                    changed.setdefault(path, file)
        now = self._versions.now()
        async with _side_by_side() as writes:
            if self._marked < self._head.generation:  # its own mark may be on its way still
                writes.create_task(self._mark(self._head.generation))
            for path, source in changed.items():
                with contextlib.suppress(FileNotFoundError):  # removed since, which is a change to come
                    files[path] = await self._write_changed(path, source, files.get(path), now, writes)
            if files == self._files.files:
                return
            generation = self._head.generation + 1
            before, listed = self._files, FileList(generation, files)
            name, content = new_name(LISTS, generation), listed.to_bytes()
            await self._slots.acquire()
            writes.create_task(self._write(name, content))
        async with self._heading:
            await self._swap(replace(self._head, generation=generation, files=name, digest=digest_of(content)))
        if self._witness is not None:
            await self._witness.note(self._sealer, self._head)
        self._files = listed
        self._cleaning = asyncio.create_task(self._clean(self._cleaning, generation, before.pieces - listed.pieces))

    async def _write_changed(
        self, path: str, source: Path | bytes, before: MirroredFile | None, now: int, writes: asyncio.TaskGroup
    ) -> MirroredFile:
        """Return a file as `_write_file` does; it is not read when it is known to be as it was stored."""
        if isinstance(source, bytes) or not _is_known_by_version(path):
            self._versions.forget(path)
            return await self._write_file(source, before, writes)
        if before is not None and self._versions.is_known(path):
            return before
        with self._versions.reading(path, now):
            return await self._write_file(source, before, writes)

    async def _write_file(
        self, source: Path | bytes, before: MirroredFile | None, writes: asyncio.TaskGroup
    ) -> MirroredFile:
        """Return a file, whose pieces are written if they are not stored yet. Raises OSError."""
        earlier = before.pieces if before is not None else ()
        pieces: list[tuple[str, str]] = []
        size = 0
        for place, piece in enumerate(_pieces_of(source)):
            size += len(piece)
            digest = digest_of(piece)
            if place < len(earlier) and earlier[place][1] == digest:
                pieces.append(earlier[place])
                continue
            name = new_name(PIECES)
            pieces.append((name, digest))
            await self._slots.acquire()  # no more than these are in memory
            writes.create_task(self._write(name, piece))
        if before is not None and tuple(pieces) == earlier:
            return before
        changed_at = source.stat().st_mtime_ns if isinstance(source, Path) else time.time_ns()
        return MirroredFile(size, changed_at, tuple(pieces))

    async def _write(self, name: str, content: bytes) -> None:
        """Write an object in the slot that the caller has taken."""
        try:
            await self._objects.write(name, self._sealer.seal(name, content))
        finally:
            self._slots.release()

    async def _mark(self, generation: int) -> None:
        """Mark a generation as reached. No head is two generations past the last mark."""
        name = mark_name(generation)
        await self._objects.write(name, self._sealer.seal(name, b""))
        self._marked = max(self._marked, generation)

    async def _clean(self, previous: asyncio.Task[None] | None, generation: int, pieces: set[str]) -> None:
        """Mark the generation as reached, and remove the objects that no list needs. A failure leaves them."""
        if previous is not None:
            await previous
        with contextlib.suppress(InputOutputFailed):
            if self._marked < generation:
                await self._mark(generation)
            lists, marks = await asyncio.gather(self._objects.names(LISTS), self._objects.names(MARKS))
            old = [name for name in lists if generation_of(name) <= generation - _KEPT_LISTS]
            old += [name for name in marks if generation_of(name) < generation]
            await self._objects.remove([*pieces, *old])

    async def _remove_orphans(self, pieces: list[str], lists: list[str]) -> None:
        """Remove the objects of changes that were cut short. A failure leaves them."""
        listed = self._files
        later = [name for name in lists if generation_of(name) >= listed.generation and name != self._head.files]
        with contextlib.suppress(InputOutputFailed):
            await self._objects.remove([*(set(pieces) - listed.pieces), *later])

    # --- What is read ---

    async def _fill(self) -> None:
        make_private_directory(self.root)
        paths = list(self._files.files)
        await asyncio.gather(*(self._fill_file(path, self._files.files[path]) for path in paths))
        newest: dict[Path, int] = {}
        for path, one in self._files.files.items():
            parent = (self.root / path).parent
            newest[parent] = max(newest.get(parent, 0), one.changed_at)
        for directory, changed_at in newest.items():
            os.utime(directory, ns=(changed_at, changed_at))

    async def _fill_file(self, path: str, one: MirroredFile) -> None:
        target = self.root / path
        for parent in reversed(target.relative_to(self.root).parents):
            make_private_directory(self.root / parent)
        with os.fdopen(os.open(target, NEW_FILE, 0o600), "wb") as stream:

            async def fill(place: int, name: str, digest: str) -> None:
                async with self._slots:
                    piece = await self._piece(name, digest)
                    stream.seek(place * PIECE_BYTES)
                    stream.write(piece)

            await asyncio.gather(*(fill(place, *piece) for place, piece in enumerate(one.pieces)))
        if target.stat().st_size != one.size:
            raise refusal("a file is shorter than its list says")
        os.utime(target, ns=(one.changed_at, one.changed_at))

    async def _piece(self, name: str, digest: str) -> bytes:
        content = self._sealer.open(name, await self._bytes(name))
        if digest_of(content) != digest:
            raise refusal("a piece of a file is another one")
        return content

    async def _bytes(self, name: str) -> bytes | None:
        found = await self._objects.read(name)
        return None if found is None else found.data

    async def _check_conditions(self) -> None:
        """Raise InputOutputFailed for a store that ignores the conditions of writes."""
        name = f"probe/{secrets.token_hex(8)}"
        version = await self._objects.swap(name, b"1", None)
        ignored = False
        with contextlib.suppress(Overtaken):
            await self._objects.swap(name, b"2", None)
            ignored = True
        with contextlib.suppress(Overtaken):
            later = await self._objects.swap(name, b"3", version)
            await self._objects.swap(name, b"4", version)
            ignored = ignored or bool(later)
        await self._objects.remove([name])
        if ignored:
            raise InputOutputFailed(
                "the bucket ignores the conditions of writes: two commands could not know of each other",
                hint="keep the state in another bucket, or in a directory",
            )


@contextlib.asynccontextmanager
async def _side_by_side() -> AsyncIterator[asyncio.TaskGroup]:
    """A group of tasks, of whose failures one is raised as it is."""
    failure: Exception
    try:
        async with asyncio.TaskGroup() as group:
            yield group
        return
    except ExceptionGroup as failures:
        known = failures.subgroup(AudiencekitError) or failures
        failure = known.exceptions[0]
    raise failure


def _check_last(head: Head, marks: list[str], least: str) -> int:
    """Return the generation of the last mark. Raises StateRefused for a head before one that it, or `least`, knows."""
    reached = max(map(generation_of, marks), default=0)
    if reached > head.generation:
        raise refusal(f"its head is of change {head.generation}, and change {reached} was reached: it was rolled back")
    if reached < head.generation - 1:
        raise refusal("marks of its changes are missing")
    generation, _, digest = least.partition(":")
    if least and (not generation.isdecimal() or not digest):
        raise InputOutputFailed("the note of a head is CHANGE:DIGEST", hint="`audiencekit state` prints it")
    if least and (head.generation < int(generation) or (head.generation == int(generation) and head.digest != digest)):
        raise refusal(f"its head is of change {head.generation}, before the one that is known, {generation}")
    return reached


def _overtaken() -> AudienceBusy:
    return AudienceBusy(
        "another command has taken the state over, since this one gave no sign of life: nothing more was sent",
        hint="run the command again when the other has ended",
    )


def mirrored_files(directory: Path, root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files directly in `directory` that are mirrored, by their paths below `root`."""
    if directory != root and directory.relative_to(root).parts[0] in _NOT_MIRRORED:
        return
    if any(part.startswith(".") for part in directory.relative_to(root).parts):
        return
    for entry in os.scandir(directory):
        is_ours = not entry.name.startswith(".") and not entry.name.endswith((".lock", "-journal"))
        if is_ours and entry.is_file(follow_symlinks=False) and not (directory == root and entry.name in _NOT_MIRRORED):
            yield Path(entry.path).relative_to(root).as_posix(), Path(entry.path)


def _is_known_by_version(path: str) -> bool:
    """Whether a file is what lies on the disk: a journal is its last commit, wherever the bytes of that are."""
    return not path.endswith(f"/{JOURNAL}")


def _pieces_of(source: Path | bytes) -> Iterator[bytes]:
    """Yield the pieces of a file; of a journal those of its last commit. Raises OSError."""
    if isinstance(source, Path) and source.name == JOURNAL:
        source = _read_journal(source)
    if isinstance(source, bytes):
        yield from (source[start : start + PIECE_BYTES] for start in range(0, len(source), PIECE_BYTES))
        return
    with open(source, "rb") as stream:
        while piece := stream.read(PIECE_BYTES):
            yield piece


def _read_journal(path: Path) -> bytes:
    if not path.is_file():
        raise FileNotFoundError
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return connection.serialize()
    except sqlite3.Error:  # a damaged one is kept as it is
        return path.read_bytes()
