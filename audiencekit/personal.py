"""Types for what must never be shown: raw values, hashes and secrets.

An object of these types refuses `repr`, `str`, `format`, pickle and JSON. `guarded` keeps the second way out shut:
an unexpected exception whose frames hold values never leaves the function that worked on them.
"""

from __future__ import annotations

import errno
import functools
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Generic, NoReturn, ParamSpec, TypeVar

from audiencekit.errors import AudiencekitError, Bug, InputOutputFailed

T = TypeVar("T")
P = ParamSpec("P")
_RUST: Final = "pyo3_runtime"  # the module that panics are said to come from
# The last two are of an interpreter that lost its own MemoryError.
_SIGNS_OF_SHORTAGE: Final = ("failed to map segment", "without exception set", "without setting an exception")


class Personal(Generic[T]):
    """Holds one thing that must not be shown; `unwrap()` is the only way to it."""

    __slots__ = ("_hidden",)

    def __init__(self, hidden: T) -> None:
        self._hidden = hidden

    def unwrap(self) -> T:
        """The thing itself. Call it only inside functions that cannot raise, or that are `guarded`."""
        return self._hidden

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: not shown>"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is not to be stored or passed between processes")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and bool(self._hidden == other._hidden)

    def __hash__(self) -> int:
        return hash((type(self), self._hidden))


class Secret(Personal[str]):
    """A credential."""


class RawColumns(Personal[Any]):
    """An Arrow RecordBatch whose cells are as they stood in the source."""


class HashedRecords(Personal[Any]):
    """An Arrow RecordBatch of hashed identifiers. Hashes are personal data too."""


def guarded(function: Callable[P, T]) -> Callable[P, T]:
    """`function`, whose unexpected exceptions become a `Bug` that names type and place and carries no value.

    Errors of this project pass: they hold no values by construction. Arguments must be of the types above (or hold
    nothing personal), since the frame of the wrapper itself is part of the traceback.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        failure: AudiencekitError
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            if not is_failure(error):
                raise
            failure = without_frames(error)
        # Raised outside the handler, so that no context carries the frames of `function`.
        raise failure

    return call


def is_failure(error: BaseException) -> bool:
    """Whether `error` says that something failed: any Exception, and a panic of a library that is written in Rust.

    A panic is a BaseException, so that no handler catches it by chance; its text and its frames may hold values. All
    others interrupt from outside, such as the end of a task in Airflow, and go to their senders.
    """
    return isinstance(error, Exception) or type(error).__module__ == _RUST


def without_frames(error: BaseException) -> AudiencekitError:
    """`error` without its frames; one that is not ours as a `Bug` that names its type and place only."""
    if isinstance(error, AudiencekitError):
        return error.bare()
    if shortage := shortage_of(error):
        return shortage
    place = traceback.extract_tb(error.__traceback__)[-1]
    error.__traceback__ = error.__context__ = None  # a reference to the error holds no frames
    return Bug(f"{type(error).__name__} in {place.name} (line {place.lineno}); no values are shown")


def shortage_of(error: BaseException) -> InputOutputFailed | None:
    """The error for a lack of memory or threads; None for any other `error`."""
    text = str(error) if isinstance(error, RuntimeError | ImportError | SystemError) else ""
    if "can't start new thread" in text:
        return InputOutputFailed("the system gives this process no new thread", hint="raise its limit (`ulimit -u`)")
    is_refused = isinstance(error, OSError) and error.errno == errno.ENOMEM
    if isinstance(error, MemoryError) or is_refused or any(sign in text for sign in _SIGNS_OF_SHORTAGE):
        return InputOutputFailed("there is not enough memory", hint="give the process more, or end other programs")
    return None


@contextmanager
def short_of_memory() -> Iterator[None]:
    """Raises InputOutputFailed, with no frames, when memory or threads run out inside."""
    try:
        yield
    except Exception as error:
        shortage = shortage_of(error)
        if shortage is None:
            raise
        error.__traceback__ = error.__context__ = None  # the new one keeps it as its context
        raise shortage from None
