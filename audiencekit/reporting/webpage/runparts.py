"""The parts of a page about the run and its audience: requests over time, members, expiry, match rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Final

from audiencekit.reporting.webpage.pageparts import Cell, Columns, Document, Row, Section, code_in_words, count
from audiencekit.reporting.webpage.smallcounts import shown_counts

_CHANGES: Final = ("additions", "renewals", "removals", "returned", "unchanged", "members", "members_after")
_COUNTS: Final = {
    "records_sent": "records sent",
    "success_count": "records accepted, as the service says",
    "total_count": "records received, as the service says",
}
_MOST_SIZES: Final = 60  # days that a picture and its table show
_DATE: Final = len("2026-01-01")


def sending_part(document: Document) -> Section:
    """Requests, and their pace with retries and pauses, where any were sent."""
    requests = document["requests"]
    paces = [*document.get("earlier_paces", ()), *filter(None, [document.get("pace")])]
    return Section(
        heading="Requests",
        text=_told(paces),
        caption="Requests and what the service counted",
        columns=("requests", "count"),
        rows=[
            *(
                Row(name, [Cell(count(requests[name]), f"requests.{name}")])
                for name in ("planned", "confirmed", "attempts", "bytes")
            ),
            *(
                Row(words, [Cell(count(document["reconciliation"][name]), f"reconciliation.{name}")])
                for name, words in _COUNTS.items()
            ),
        ],
        pictures=[_drawn(number, pace, len(paces)) for number, pace in enumerate(paces) if len(pace["requests"]) > 1],
    )


def _told(paces: Sequence[Document]) -> str:
    again = sum(sum(pace["attempts"]) - sum(pace["requests"]) for pace in paces)
    waits = sum(sum(pace["waits"]) for pace in paces)
    parts = f"The run was sent in {len(paces)} parts. " if len(paces) > 1 else ""
    if not again and not waits:
        return parts.strip()
    return f"{parts}Orange: attempts after the first ({again:,}). A triangle: the service asked to wait ({waits:,})."


def _drawn(number: int, pace: Document, parts: int) -> Columns:
    step = pace["step_seconds"]
    steps = "one second" if step == 1 else f"{step} seconds"
    begun = f" of part {number + 1}, begun {pace['began_at']}" if parts > 1 and "began_at" in pace else ""
    return Columns(
        name=f"pace{number}",
        values=pace["requests"],
        more=[attempts - requests for attempts, requests in zip(pace["attempts"], pace["requests"], strict=True)],
        marked=[waits > 0 for waits in pace["waits"]],
        step=f"time{begun}, in steps of {steps}",
        of="requests that ended",
    )


def change_parts(document: Document) -> Iterator[Section]:
    """The people who came and went, of a sync."""
    changes = document.get("changes") or {}
    if names := [name for name in _CHANGES if name in changes]:
        yield Section(
            heading="Members",
            caption="What changed in the audience, in people",
            columns=("change", "people"),
            rows=[Row(code_in_words(name), [Cell(count(changes[name]), f"changes.{name}")]) for name in names],
        )


def calendar_parts(expiry: Document | None) -> Iterator[Section]:
    """When members expire, by month; of `Expiry.to_json()`."""
    if expiry is None or not expiry["days"]:
        return
    months: dict[str, int] = {}
    for day in expiry["days"]:
        months[day["date"][:7]] = months.get(day["date"][:7], 0) + day["members"]
    shown = shown_counts(months, [{one: 1, other: -1} for one, other in combinations(months, 2)])
    ordered = sorted(months.items()) if shown else []
    cells = [(month, shown.cell(month, number), shown.rounded(month, number)) for month, number in ordered if shown]
    picture = Columns(
        name="calendar", values=[members for *_, members in cells], step="month", of="members",
        names=[month for month, *_ in cells],
    )  # fmt: skip
    yield Section(
        heading="When members expire",
        text=f"{count(expiry['members'])} people are in the audience. `audiencekit renew` puts them in again in time.",
        caption="Members by the month in which their entry ends",
        columns=("month", "members"),
        rows=[Row(month, [Cell(cell.text)]) for month, cell, _ in cells],
        pictures=[picture] if len(cells) > 1 else (),
    )


def history_parts(document: Document) -> Iterator[Section]:
    """The match rate over time, as far as the service told sizes of the audience; of `size_history`."""
    history = (document.get("history") or ())[-_MOST_SIZES:]
    if not history:
        return
    first = len(document["history"]) - len(history)
    yield Section(
        heading="Match rate over time",
        text=(
            "The service tells how many users of the audience were active in the last 90 days. The match rate is this"
            " number over the members that the last sync before had left in the audience."
        ),
        caption="Users of the audience, as the service told them",
        columns=("day", "active users", "members", "match rate"),
        rows=[
            Row(
                each["seen_at"][:_DATE],
                (
                    Cell(count(each["audience_size"]), f"history.{place}.audience_size"),
                    Cell(count(each["members"]), None if each["members"] is None else f"history.{place}.members"),
                    Cell("not known" if each["match_rate"] is None else f"{100 * each['match_rate']:.0f} %"),
                ),
            )
            for place, each in enumerate(history, first)
        ],
        pictures=_over_time(history),
    )


def _over_time(history: Sequence[dict[str, Any]]) -> Sequence[Columns]:
    rates = [(each["seen_at"][:_DATE], 100 * each["match_rate"]) for each in history if each["match_rate"] is not None]
    sizes = [(each["seen_at"][:_DATE], each["audience_size"]) for each in history]
    points, of = (rates, "match rate, %") if len(rates) > 1 else (sizes, "active users")
    if len(points) < 2:
        return ()
    days, values = zip(*points, strict=True)
    return [Columns(name="history", values=values, step="day", of=of, names=days)]
