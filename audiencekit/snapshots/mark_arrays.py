"""Marks, and what comes of comparing entries with members, which both implementations of `MARK_LOOPS` take and give."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.selection.tag_arrays import Places

Begins: TypeAlias = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Halves:
    """Numbers by their first 64 bits and those after them."""

    high: npt.NDArray[np.uint64] = field(repr=False)
    low: npt.NDArray[Any] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayLimits:
    """Days that decide about a member, and the marks for the day of members in doubt, and of none."""

    lapsed_before: int
    renewed_to: int
    all_members: bool
    doubtful: int
    dropped: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many of the entries are `wanted`, and how many of these are new; the records that are sent, of those.

    `gone` are the places of the members that are to go.
    """

    wanted: int
    additions: int
    sent: Places = field(repr=False)
    gone: Places = field(repr=False)
