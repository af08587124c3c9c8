"""The parts of a page about the list, and about the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, Final

from audiencekit.identifiers.kinds import Kind
from audiencekit.reporting.page.page_parts import (
    Bars,
    Cell,
    Columns,
    Document,
    Overlap,
    Row,
    Section,
    code_in_words,
    count,
    share,
)
from audiencekit.reporting.page.privacy import Shown, list_counts, list_moves, masked, printed_numbers, shown_counts
from audiencekit.text import shown as printable

# --- The parts of a page about the list: where its rows are, the losses, the kinds of identifiers ---

_TOO_SMALL: Final = "The list is so small that its values and their kinds would point at people. They are not shown."
_ROWS: Final = {
    "read": "read from the list",
    "rejected": "rejected: no identifier of theirs can be used",
    "duplicate": "duplicates: the same person stood there before",
    "superseded": "superseded: a later row says the opposite",
    "suppressed": "suppressed: on a list of people to keep out",
    "pending": "not confirmed",
    "unchanged": "unchanged: in the audience already",
    "sent": "confirmed by the service",
}


def list_parts(document: Document) -> list[Section]:
    """Return the parts about the list, of a report or of a plan."""
    shown = shown_counts(list_counts(document), list_moves(document), printed=printed_numbers(document))
    if shown is None:
        return [_funnel(document, _TOO_SMALL)]
    return [
        _funnel(document), *_losses(document, shown), *_kinds(document, shown), *_combinations(document, shown)
    ]  # fmt: skip


def _funnel(document: Document, text: str = "") -> Section:
    """Return the way from the rows that were read to those that were sent, or would be."""
    rows = {name: number or 0 for name, number in document["rows"].items()}
    usable = rows["read"] - rows["rejected"]
    once = usable - rows["duplicate"] - rows["superseded"]
    allowed = once - rows["suppressed"]
    steps = [("rows read", rows["read"]), ("with an identifier", usable), ("each person once", once)]
    is_run = "state" in document
    done = rows["sent"] + rows.get("unchanged", 0)
    steps += [("not kept out", allowed), ("in place", done)] if is_run else [("to send", allowed)]
    words = _ROWS if is_run else {**_ROWS, "pending": "to be sent"}
    names = [name for name in words if name in rows and (is_run or name != "sent")]
    return Section(
        heading="From the list to the service",
        text=text,
        caption="Where every row is",
        columns=("rows", "count", "share"),
        rows=[
            Row(words[name], (Cell(count(document["rows"][name]), f"rows.{name}"), share(rows[name], rows["read"])))
            for name in names
        ],
        pictures=[Bars(name="funnel", bars=[(name, number, f"{number:,}") for name, number in steps])],
    )


def _losses(document: Document, shown: Shown) -> Iterator[Section]:
    """Return the lost values by cause, most first, with the remedies."""
    lost = [(cause, f"rejections.{cause}", number) for cause, number in document["rejections"].items()]
    if not lost:
        return
    lost.sort(key=lambda each: (-shown.rounded(each[1], each[2]), each[0]))
    total = sum(shown.rounded(key, number) for _, key, number in lost)
    yield Section(
        heading="Lost values, and what saves them",
        text="A value is one cell of the list. A row that loses one may still be sent with another.",
        caption="Values by cause, most first",
        columns=("cause", "values", "share"),
        rows=[
            Row(code_in_words(cause), (shown.cell(key, number), _share(shown, key, number, total)))
            for cause, key, number in lost
        ],
        pictures=_bars("losses", shown, [(cause, key, number) for cause, key, number in lost], is_loss=True),
        remedies=[
            {"message": printable(masked(each["message"])), "remedy": printable(each.get("remedy") or "")}
            for each in document.get("warnings", ())
        ],
    )


def _share(shown: Shown, key: str, number: int, whole: int) -> Cell:
    """Return the share of the shown count; an empty text if it is not shown."""
    rounded = shown.rounded(key, number)
    return share(rounded, whole if rounded or not number else 0)


def _bars(name: str, shown: Shown, counts: Iterable[tuple[str, str, int]], *, is_loss: bool = False) -> Sequence[Bars]:
    """Return the picture of (word, place in the document, count); none if no count is shown."""
    bars = [(code_in_words(word), shown.rounded(key, number), shown.text(key, number)) for word, key, number in counts]
    drawn = [bar for bar in bars if bar[1] or bar[2] == "0"]
    return [Bars(name=name, bars=drawn, is_loss=is_loss)] if drawn else ()


def _kinds(document: Document, shown: Shown) -> Iterator[Section]:
    kinds = document["identifiers"]
    if not kinds:
        return
    valid = [(kind, f"identifiers.{kind}.valid", numbers["valid"]) for kind, numbers in kinds.items()]
    yield Section(
        heading="Kinds of identifiers",
        caption="Values of each kind",
        columns=("kind", "filled cells", "can be used", "lost"),
        rows=[
            Row(
                code_in_words(kind),
                [shown.cell(f"identifiers.{kind}.{name}", numbers[name]) for name in ("present", "valid", "rejected")],
            )
            for kind, numbers in kinds.items()
        ],
        pictures=_bars("kinds", shown, valid),
    )


def _combinations(document: Document, shown: Shown) -> Iterator[Section]:
    """Return which kinds the rows have together: a row with more kinds is more likely to match."""
    combinations = document.get("combinations") or ()
    if not combinations:
        return
    sets = [kind for kind in Kind if any(kind in each["kinds"] for each in combinations)]
    whole = sum(each["rows"] for each in combinations)
    counted = [(each["kinds"], f"combinations.{place}.rows", each["rows"]) for place, each in enumerate(combinations)]
    counted.sort(key=lambda each: (-shown.rounded(each[1], each[2]), len(each[0]), each[0]))
    drawn = [
        ([sets.index(kind) for kind in kinds], rounded)
        for kinds, key, rows in counted
        if (rounded := shown.rounded(key, rows))
    ]
    yield Section(
        heading="Identifiers of the same row",
        text="A row with several identifiers has more ways to be found. Each row with an identifier is counted once.",
        caption="Rows by the kinds that they have, most first",
        columns=("kinds", "rows", "share"),
        rows=[
            Row(
                " + ".join(map(code_in_words, kinds)) + (" only" if len(kinds) == 1 else ""),
                (shown.cell(key, rows), _share(shown, key, rows, whole)),
            )
            for kinds, key, rows in counted
        ],
        pictures=[Overlap(name="overlap", sets=[code_in_words(kind) for kind in sets], columns=drawn)] if drawn else (),
    )


# --- The parts of a page about the run and its audience: requests over time, members, expiry, match rate ---

_CHANGES: Final = ("additions", "renewals", "removals", "returned", "unchanged", "members", "members_after")
_COUNTS: Final = {
    "records_sent": "records sent",
    "success_count": "records accepted, as the service says",
    "total_count": "records received, as the service says",
}
_MOST_SIZES: Final = 60  # days that a picture and its table show
_DATE: Final = len("2026-01-01")


def sending_part(document: Document) -> Section:
    """Return the requests and their pace with retries and pauses, if any were sent."""
    requests = document["requests"]
    paces = [*document.get("earlier_paces", ()), *filter(None, [document.get("pace")])]
    return Section(
        heading="Requests",
        text=_pace_text(paces),
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


def _pace_text(paces: Sequence[Document]) -> str:
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
    """Return the additions and removals of a sync."""
    changes = document.get("changes") or {}
    if names := [name for name in _CHANGES if name in changes]:
        yield Section(
            heading="Members",
            caption="What changed in the audience, in people",
            columns=("change", "people"),
            rows=[Row(code_in_words(name), [Cell(count(changes[name]), f"changes.{name}")]) for name in names],
        )


def calendar_parts(expiry: Document | None) -> Iterator[Section]:
    """Return when members expire, by month, from `Expiry.to_json()`."""
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
    """Return the match rate over time, as far as the service gave sizes of the audience, from `size_history`."""
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
