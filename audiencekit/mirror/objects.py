"""Named objects with conditional writes: the interface that a mirror needs, and a bucket behind it (by obstore).

An answer can be lost. So the repeat of a write must do no harm: `write` is for names that are used once, and `swap`
looks whether its own bytes are there before it says that another writer was faster.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from audiencekit.errors import AudiencekitError, InputOutputFailed, UsageError
from audiencekit.sources.remote.addresses import SourceAddress
from audiencekit.sources.remote.buckets import open_bucket
from audiencekit.text import install_extra

T = TypeVar("T")

ATTEMPTS: Final = 5
BUCKET: Final = "the bucket of the state"  # in messages
_REMOVED_AT_ONCE: Final = 16
_FIRST_WAIT_SECONDS: Final = 0.2  # doubled after each failed attempt


class Overtaken(Exception):
    """The object has another version than was expected: another writer was faster."""


class NotReached(Exception):
    """The store did not answer, or its answer was lost: whether the call had an effect is not known."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The bytes of an object, and its version: two texts are equal only for the same write."""

    data: bytes
    version: str


class Swaps(Protocol):
    """Objects by name that are read and swapped. Each method makes one attempt. Raises NotReached, and
    InputOutputFailed for good."""

    async def read(self, name: str) -> Stored | None:
        """Return the object, None when there is none."""

    async def swap(self, name: str, data: bytes, version: str | None) -> str:
        """Write an object that has `version`, or none at all for None; return the new version. Raises Overtaken."""


class Objects(Swaps, Protocol):
    """A store of such objects."""

    async def write(self, name: str, data: bytes) -> None:
        """Write an object whatever is there."""

    async def names(self, prefix: str) -> list[str]:
        """Return the names that begin with `prefix`, which ends in a slash."""

    async def remove(self, names: Iterable[str]) -> None:
        """Remove objects; those that are not there are passed over."""


class SwapsRepeated:
    """The same methods with several attempts each, over lost calls and lost answers. `sleep` takes seconds, `place` is
    for messages."""

    def __init__(self, swaps: Swaps, *, sleep: Callable[[float], Awaitable[None]], place: str) -> None:
        self._swaps, self._sleep, self._place = swaps, sleep, place

    async def read(self, name: str) -> Stored | None:
        """See `Swaps`."""
        return await self._attempt(lambda: self._swaps.read(name))

    async def swap(self, name: str, data: bytes, version: str | None) -> str:
        """See `Swaps`. Bytes that are there already are ours: no two writers write the same bytes."""

        async def attempt() -> str:
            try:
                return await self._swaps.swap(name, data, version)
            except Overtaken:
                found = await self._swaps.read(name)
                if found is not None and found.data == data:
                    return found.version
                raise

        return await self._attempt(attempt)

    async def _attempt(self, call: Callable[[], Awaitable[T]]) -> T:
        for number in range(ATTEMPTS):
            try:
                return await call()
            except NotReached as error:
                why = str(error)
            if number + 1 < ATTEMPTS:
                await self._sleep(_FIRST_WAIT_SECONDS * 2**number)
        raise InputOutputFailed(
            f"{self._place} cannot be used: {why} ({ATTEMPTS} attempts)",
            hint="check the network and the bucket, then run the command again",
        )


class Repeated(SwapsRepeated):
    """The same of all methods of Objects."""

    def __init__(self, objects: Objects, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        super().__init__(objects, sleep=sleep, place=BUCKET)
        self._objects = objects

    async def write(self, name: str, data: bytes) -> None:
        """See `Objects`."""
        await self._attempt(lambda: self._objects.write(name, data))

    async def names(self, prefix: str) -> list[str]:
        """See `Objects`."""
        return await self._attempt(lambda: self._objects.names(prefix))

    async def remove(self, names: Iterable[str]) -> None:
        """See `Objects`."""
        await self._attempt(lambda: self._objects.remove(names))


class BucketObjects:
    """The objects below `address`, a bucket and a prefix, which messages call `place`. Raises as `open_bucket`."""

    def __init__(self, address: SourceAddress, place: str = BUCKET) -> None:
        if importlib.util.find_spec("obstore") is None:
            raise UsageError("a state in a bucket needs the package obstore", hint=install_extra("cloud"))
        self._store, self._in_our_words = open_bucket(address), partial(_in_our_words, place)
        self._prefix = f"{address.path.strip('/')}/" if address.path.strip("/") else ""

    async def read(self, name: str) -> Stored | None:
        """See `Objects`."""
        import obstore

        async def call() -> Stored | None:
            answer = await obstore.get_async(self._store, self._prefix + name)
            return Stored(bytes(await answer.bytes_async()), _version_of(answer.meta))

        found: Stored | None = await self._in_our_words(call, missing=None)
        return found

    async def write(self, name: str, data: bytes) -> None:
        """See `Objects`."""
        import obstore

        await self._in_our_words(lambda: obstore.put_async(self._store, self._prefix + name, data, use_multipart=False))

    async def swap(self, name: str, data: bytes, version: str | None) -> str:
        """See `Objects`."""
        import obstore

        mode: Any = "create" if version is None else json.loads(version)
        answer = await self._in_our_words(
            lambda: obstore.put_async(self._store, self._prefix + name, data, mode=mode, use_multipart=False)
        )
        return _version_of(answer)

    async def names(self, prefix: str) -> list[str]:
        """See `Objects`."""
        import obstore

        async def call() -> list[str]:
            found: list[str] = []
            async for page in obstore.list(self._store, self._prefix + prefix):
                found += [entry["path"].removeprefix(self._prefix) for entry in page]
            return found

        found: list[str] = await self._in_our_words(call)
        return found

    async def remove(self, names: Iterable[str]) -> None:
        """See `Objects`."""
        import obstore

        left = list(names)
        while left:
            some, left = left[:_REMOVED_AT_ONCE], left[_REMOVED_AT_ONCE:]
            calls = [partial(obstore.delete_async, self._store, self._prefix + name) for name in some]
            results = await asyncio.gather(
                *(self._in_our_words(call, missing=None) for call in calls), return_exceptions=True
            )
            for result in results:
                if isinstance(result, BaseException):
                    raise result


def _version_of(meta: Any) -> str:
    """Return what a later write can be made to depend on: the ETag, and the generation where there is one."""
    found = {name: meta[name] for name in ("e_tag", "version") if meta.get(name)}
    if not found:
        raise InputOutputFailed(
            "the bucket of the state gives no ETag: two commands could not know of each other",
            hint="keep the state in a bucket of S3, Google Cloud Storage or Azure, or in a directory",
        )
    return json.dumps(found, sort_keys=True)


_RAISE: Final = object()


async def _in_our_words(place: str, call: Callable[[], Awaitable[Any]], *, missing: Any = _RAISE) -> Any:
    """Return the result of `call`, `missing` for no object. Errors of obstore quote addresses and keys."""
    from obstore import exceptions

    try:
        return await call()
    except AudiencekitError:
        raise
    except (exceptions.NotFoundError, FileNotFoundError):
        if missing is not _RAISE:
            return missing
        failure: Exception = InputOutputFailed(
            f"{place} is not there", hint="create it, or check the address in the environment"
        )
    except (exceptions.AlreadyExistsError, exceptions.PreconditionError, FileExistsError):
        failure = Overtaken()
    except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError, PermissionError):
        failure = InputOutputFailed(
            f"{place} does not allow it",
            hint="the credentials of the environment must be allowed to read, write, list and delete below its prefix",
        )
    except (exceptions.NotSupportedError, NotImplementedError):
        failure = InputOutputFailed(
            f"{place} has no conditional writes: two commands could not know of each other",
            hint="keep the state in another bucket, or in a directory",
        )
    except Exception as error:
        failure = NotReached(type(error).__name__)
    raise failure
