"""The choice between the two ways to decide values: kernels, or rules for whole columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from audiencekit.kernels.library import choose
from audiencekit.records.compiled_values import CompiledValues

if TYPE_CHECKING:
    from audiencekit.records.plain_values import PlainValues


def _plain() -> PlainValues:
    from audiencekit.records.plain_values import PlainValues  # its patterns and tables take their time

    return PlainValues()


VALUE_LOOPS: Final = choose(CompiledValues, _plain)
