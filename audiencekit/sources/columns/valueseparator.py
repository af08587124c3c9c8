"""The separator of values in cells that hold several, seen in the sampled cells of its column."""

from __future__ import annotations

from typing import Final

from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.columns.evidence import plausible_share
from audiencekit.sources.separators import GOOGLE, SEPARATORS, is_one_value

MIN_DIVIDED_SHARE: Final = 0.01  # of the filled cells hold it, but for Google's: there one cell is enough
MIN_DIVIDED_CELLS: Final = 3  # and so many, or half of a few: fewer are slips, and are rejected as such
MIN_PLAUSIBLE_CELLS: Final = 0.5  # more of the cells that hold it consist of values that could be of the kind


def find_separator(kind: Kind, filled: list[str]) -> str | None:
    """The separator of the values of a cell; None where cells hold one value each, as far as the sample shows."""
    if kind not in (Kind.EMAIL, Kind.PHONE_NUMBER):
        return None
    return next((separator for separator in SEPARATORS if _divides(separator, kind, filled)), None)


def _divides(separator: str, kind: Kind, filled: list[str]) -> bool:
    holding = [cell for cell in filled if separator in cell and not is_one_value(cell, separator)]
    least = max(MIN_DIVIDED_SHARE * len(filled), min(MIN_DIVIDED_CELLS, len(filled) / 2))
    if not holding or (separator != GOOGLE and len(holding) < least):
        return False
    several = sum(_are_values(kind, cell.split(separator)) for cell in holding)
    return several > MIN_PLAUSIBLE_CELLS * len(holding)


def _are_values(kind: Kind, parts: list[str]) -> bool:
    return plausible_share(kind, [part for part in parts if part.strip()]) == 1.0
