"""Secrets that no error of an exchange may show: the signed header, the credentials, the body."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType

TESTS = Path(__file__).parents[1]
CANARY = b"canary-of-the-body"


def _frames(error: BaseException) -> Iterator[FrameType]:
    traces: list[TracebackType | None] = [error.__traceback__]
    for inner in (error.__context__, error.__cause__):
        if inner is not None:
            yield from _frames(inner)
    for trace in traces:
        while trace is not None:
            yield trace.tb_frame
            trace = trace.tb_next


def assert_clean(error: BaseException) -> None:
    """No message, attribute or local variable of a frame of ours or of the library shows header, secret or body."""
    frames = [frame for frame in _frames(error) if TESTS not in Path(frame.f_code.co_filename).parents]
    shown = [str(error), repr(error), repr(vars(error)), *(repr(frame.f_locals) for frame in frames)]
    for text in shown:
        assert "oauth_" not in text
        assert "invented" not in text
        assert CANARY.decode() not in text
    assert error.__context__ is None
    assert error.__cause__ is None
