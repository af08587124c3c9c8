"""Cheap cases of one rule as one test: to collect, set up and report a test takes longer than most of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def each_case(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call the test with every one of `cases`, as `pytest.mark.parametrize` lists them, and raise all failures at once.

    Fixtures are set up once, for all cases: only for tests that leave nothing behind in them. A failure names its case.
    """
    arguments = [name.strip() for name in names.split(",")]
    rows = [case if len(arguments) > 1 else (case,) for case in cases]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            failures = []
            for row in rows:
                try:
                    test(**fixtures, **dict(zip(arguments, row, strict=True)))
                except Exception as failure:
                    failure.add_note(f"{names} = {', '.join(map(repr, row))}")
                    failures.append(failure)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(rows)} cases", failures)

        assert rows, "a table without cases"
        assert not inspect.iscoroutinefunction(test), "no one would await its cases"
        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in arguments]
        assert len(left) + len(arguments) == len(signature.parameters), names
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate
