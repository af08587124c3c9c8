"""Types for what must never be shown."""

from __future__ import annotations

import asyncio
import errno
import json
import pickle
import traceback
from collections.abc import Callable

import pyarrow as pa
import pytest

from audiencekit.errors import AudiencekitError, Bug, InputOutputFailed, SourceRefused
from audiencekit.personal import HashedRecords, Personal, RawColumns, Secret, guarded, short_of_memory, without_frames
from tests.cases import each_case

VALUE = "ada.lovelace@example.com"


@each_case("kind", [Personal, Secret, RawColumns, HashedRecords])
def test_values_are_never_shown(kind: Callable[[str], Personal[str]]) -> None:
    """repr, str, format and percent formatting say the type and nothing else; unwrap gives the value."""
    hidden = kind(VALUE)
    for shown in (repr(hidden), str(hidden), f"{hidden}", f"{hidden:>50}", "%s %r" % (hidden, hidden), repr([hidden])):  # noqa: UP031
        assert "ada" not in shown
        assert kind.__name__ in shown  # type: ignore[attr-defined]
    assert hidden.unwrap() == VALUE


@pytest.mark.parametrize("store", [pickle.dumps, json.dumps])
def test_values_are_never_stored(store: Callable[[object], object]) -> None:
    """Pickle and JSON refuse, without quoting the value."""
    with pytest.raises(TypeError) as caught:
        store(Secret(VALUE))
    assert "ada" not in str(caught.value)


def test_hidden_values_compare_by_value_and_type() -> None:
    """Two secrets of one text are equal; a secret is no other type."""
    assert Secret(VALUE) == Secret(VALUE)
    assert Secret(VALUE) != Secret("other")
    assert Secret(VALUE) != Personal(VALUE)
    assert len({Secret(VALUE), Secret(VALUE)}) == 1


@guarded
def _stumble(hidden: Secret) -> None:
    text = hidden.unwrap()
    int(text)


@guarded
def _refuse(hidden: Secret) -> None:
    text = hidden.unwrap()
    try:
        int(text)
    except ValueError:
        raise SourceRefused("row 3 is no number", row=3) from None


@pytest.mark.parametrize(("function", "error"), [(_stumble, Bug), (_refuse, SourceRefused)])
def test_no_frame_of_a_guarded_function_leaves_it(
    function: Callable[[Secret], None], error: type[AudiencekitError]
) -> None:
    """Neither message, cause, context nor the locals of any frame hold the value."""
    with pytest.raises(error) as caught:
        function(Secret(VALUE))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    # The frame of this test holds the value itself, so it is left out.
    shown = traceback.TracebackException(
        type(caught.value),
        caught.value,
        caught.value.__traceback__.tb_next,
        capture_locals=True,  # type: ignore[union-attr]
    )
    assert "ada" not in "".join(shown.format())


def test_a_bug_names_type_and_place() -> None:
    """Enough to report it."""
    with pytest.raises(Bug, match=r"ValueError in _stumble \(line \d+\)"):
        _stumble(Secret(VALUE))


@each_case(
    "error, told",
    [
        (MemoryError(), "not enough memory"),
        (pa.ArrowMemoryError("malloc of size 1 failed"), "not enough memory"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "not enough memory"),
        (ImportError("x.so: failed to map segment from shared object"), "not enough memory"),
        (SystemError("error return without exception set"), "not enough memory"),
        (RuntimeError("can't start new thread"), "no new thread"),
        (OSError(errno.EACCES, "no"), None),
        (RuntimeError("ada@example.com"), None),
    ],
)
def test_a_shortage_is_no_bug(error: Exception, told: str | None) -> None:
    """The machine gives no more: 74, and what to do. Anything else is what it was."""
    if told is None:
        with pytest.raises(type(error)), short_of_memory():
            raise error
        assert isinstance(_caught(error), Bug)
        return
    with pytest.raises(InputOutputFailed, match=told) as caught, short_of_memory():
        raise error
    assert caught.value.exit_code == 74
    assert error.__traceback__ is None, "its frames may hold values"
    assert isinstance(_caught(error), InputOutputFailed)


def _caught(error: Exception) -> AudiencekitError:
    try:
        raise error
    except Exception as raised:
        return without_frames(raised)


# As libraries in Rust raise it.
PanicException = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})


@guarded
def _raise(hidden: Secret, kind: type[BaseException]) -> None:
    raise kind(hidden.unwrap())


def test_a_panic_is_a_bug() -> None:
    """It is no Exception, and its text may quote a value."""
    with pytest.raises(Bug, match="PanicException in _raise") as caught:
        _raise(Secret(VALUE), PanicException)
    assert "ada" not in str(caught.value)


@each_case("kind", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError, BaseException])
def test_an_interruption_is_for_who_sent_it(kind: type[BaseException]) -> None:
    """Airflow ends a task by an exception of its own, which is no Exception either."""
    with pytest.raises(kind):
        _raise(Secret(VALUE), kind)
