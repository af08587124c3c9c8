"""The words that people read of a destination: in plans, reports, pages and messages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationWords:
    """`noun` is one place of the destination. The others fit any, where they are not given.

    `not_found` says what to do for a `{place}` that `{account}` does not have, and `few_people` what a change of so few
    `{people}` tells. `accepted` and `received` name the two counts of the service; `of_counts` stands beneath them in a
    report, and `of_matches` in its page.
    """

    noun: str
    not_found: str = "there is no {place}: give the id of one that there is"
    few_people: str = "this changes {people}"
    accepted: str = "accepted"
    received: str = "received"
    of_counts: str = ""
    of_matches: str = ""
