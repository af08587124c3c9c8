"""Reasons to stop a sync before it sends, and warnings."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from audiencekit.errors import PlanRefused, Refused
from audiencekit.limits import MAX_LOST_SHARE, MIN_TARGETABLE_PEOPLE, PROCESSING_HOURS, TOLERATED_LOST_MEMBERS
from audiencekit.snapshots.facts import SnapshotFacts

_PROCESSING_SECONDS: Final = timedelta(hours=PROCESSING_HOURS).total_seconds()
_EMPTY_HINT: Final = (
    "check that the source is complete; to empty an audience, delete it: `audiencekit audiences delete`"
)


def judge_size(wanted: int, members: int, *, lost: int, allowed_shrink: float) -> list[Refused]:
    """Why a source of `wanted` records must not take the place of `members`; nothing when it may.

    `lost` are the members without any key in the source: most of them are not lost in a list that goes on, so
    the source is of other people, and its size says nothing. A few are: in a list of three, two who change their
    addresses are most.
    """
    if not wanted:
        return [PlanRefused("no one in the source can be sent: the audience would be left empty", hint=_EMPTY_HINT)]
    if wanted < members * (1 - allowed_shrink):
        return [
            PlanRefused(
                f"the audience would shrink from {members:,} members to {wanted:,}, more than the share of"
                f" {allowed_shrink:g} allows",
                hint="check that the source is complete; if it is, allow a larger share with `allow_shrink=`, or give"
                " `replace=True`",
            )
        ]
    if lost > max(TOLERATED_LOST_MEMBERS, members * max(MAX_LOST_SHARE, allowed_shrink)):
        return [
            PlanRefused(
                f"{lost:,} of {members:,} members are not in the source at all: it looks like another list",
                hint="check that it is the source of this audience; if the audience is to hold others,"
                " say `replace=True`",
            )
        ]
    return []


def warn_of_pace(facts: SnapshotFacts, now: float, *, additions: bool, removals: bool) -> tuple[str, ...]:
    """A sentence for each kind of run that comes too soon after the last of its kind. `now` is in epoch seconds.

    Runs start in whole seconds, so what ended within the same one is not later.
    """
    found = []
    for what, at, wanted in (
        ("put in", facts.additions_at, additions),
        ("taken out", facts.removals_at, removals),
    ):
        if wanted and at is not None and 0 <= (ago := int(now) - int(at)) < _PROCESSING_SECONDS:
            found.append(
                f"people were {what} {_ago(ago)} ago: the service asks for one run of each in"
                f" {PROCESSING_HOURS:g} hours, and works on them only as often"
            )
    return tuple(found)


def warn_of_few(members: int) -> tuple[str, ...]:
    """A sentence when an audience of so many cannot be targeted."""
    if members >= MIN_TARGETABLE_PEOPLE:
        return ()
    needed = f"the service must know {MIN_TARGETABLE_PEOPLE} people of an audience before it can be targeted"
    return (f"the audience will have {members:,} members: {needed}",)


def _ago(seconds: int) -> str:
    minutes = seconds // 60
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
