"""Long lists of cases: the first ones run by default, the others with `pytest -m slow`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def shortened(cases: Iterable[Any], count: int) -> list[Any]:
    """`cases` for `pytest.mark.parametrize`: those after the first `count` are slow. A tuple has several arguments."""
    arguments = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*each, marks=[pytest.mark.slow] * (place >= count)) for place, each in enumerate(arguments)]
