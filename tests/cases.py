"""Cheap cases of one rule as one test: to collect, set up and report a test takes longer than most of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any


def each_case(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Call the test with every one of `cases`, as `pytest.mark.parametrize` lists them, and raise all failures at once.

    Fixtures are set up once, for all cases: only for tests that leave nothing behind in them. A failure names its case.
    """
    arguments = [name.strip() for name in names.split(",")]
    rows = [case if len(arguments) > 1 else (case,) for case in cases]
    assert rows, "a table without cases"

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            failures: list[Exception] = []
            for row in rows:
                with _noted(names, row, failures):
                    test(**fixtures, **dict(zip(arguments, row, strict=True)))
            _raise(failures, len(rows))

        @functools.wraps(test)
        async def run_async(**fixtures: Any) -> None:
            failures: list[Exception] = []
            for row in rows:
                with _noted(names, row, failures):
                    await test(**fixtures, **dict(zip(arguments, row, strict=True)))
            _raise(failures, len(rows))

        chosen = run_async if inspect.iscoroutinefunction(test) else run
        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in arguments]
        assert len(left) + len(arguments) == len(signature.parameters), names
        chosen.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return chosen

    return decorate


@contextmanager
def _noted(names: str, row: Iterable[Any], failures: list[Exception]) -> Iterator[None]:
    try:
        yield
    except Exception as failure:
        failure.add_note(f"{names} = {', '.join(map(repr, row))}")
        failures.append(failure)


def _raise(failures: list[Exception], cases: int) -> None:
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {cases} cases", failures)
