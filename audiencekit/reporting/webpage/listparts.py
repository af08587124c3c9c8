"""The parts of a page about the list: where its rows are, what is lost, which identifiers they have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from audiencekit.identifiers.kinds import Kind
from audiencekit.reporting.webpage.parts import (
    FLOOR,
    Bars,
    Cell,
    Document,
    Overlap,
    Part,
    Row,
    at_least_floor,
    count,
    floored,
    in_words,
    share,
)
from audiencekit.shown import shown

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


def list_parts(document: Document) -> list[Part]:
    """Those of a report or of a plan."""
    return [_funnel(document), *_losses(document), *_kinds(document), *_combinations(document)]


def _funnel(document: Document) -> Part:
    """From the rows that were read to those that were sent, or would be."""
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
    return Part(
        heading="From the list to the service",
        caption="Where every row is",
        columns=("rows", "count", "share"),
        rows=[
            Row(words[name], (Cell(count(document["rows"][name]), f"rows.{name}"), share(rows[name], rows["read"])))
            for name in names
        ],
        pictures=[Bars(name="funnel", bars=[(name, number, f"{number:,}") for name, number in steps])],
    )


def _losses(document: Document) -> Iterator[Part]:
    """Values that were lost, by cause, most first, with what would save them."""
    lost = sorted(document["rejections"].items(), key=lambda each: -each[1])
    if not lost:
        return
    total = sum(document["rejections"].values())
    drawn = [(in_words(cause), number, at_least_floor(number)) for cause, number in lost if number >= FLOOR]
    yield Part(
        heading="Lost values, and what saves them",
        text="A value is one cell of the list. A row that loses one may still be sent with another.",
        caption="Values by cause, most first",
        columns=("cause", "values", "share"),
        rows=[
            Row(in_words(cause), (floored(number, f"rejections.{cause}"), share(number, total, is_floored=True)))
            for cause, number in lost
        ],
        pictures=[Bars(name="losses", bars=drawn, is_loss=True)] if drawn else (),
        remedies=[
            {"message": shown(each["message"]), "remedy": shown(each.get("remedy") or "")}
            for each in document.get("warnings", ())
        ],
    )


def _kinds(document: Document) -> Iterator[Part]:
    kinds = document["identifiers"]
    if not kinds:
        return
    drawn = [(in_words(kind), numbers["valid"]) for kind, numbers in kinds.items()]
    yield Part(
        heading="Kinds of identifiers",
        caption="Values of each kind",
        columns=("kind", "filled cells", "can be used", "lost"),
        rows=[
            Row(
                in_words(kind),
                [floored(numbers[name], f"identifiers.{kind}.{name}") for name in ("present", "valid", "rejected")],
            )
            for kind, numbers in kinds.items()
        ],
        pictures=[Bars(name="kinds", bars=[(kind, valid, f"{valid:,}") for kind, valid in drawn if _is_shown(valid)])],
    )


def _combinations(document: Document) -> Iterator[Part]:
    """Which kinds the rows have together: the more a row has, the more likely the service knows the person."""
    combinations = document.get("combinations") or ()
    if not combinations:
        return
    sets = [kind for kind in Kind if any(kind in each["kinds"] for each in combinations)]
    whole = sum(each["rows"] for each in combinations)
    drawn = [([sets.index(kind) for kind in each["kinds"]], each["rows"]) for each in combinations]
    drawn = [(places, rows) for places, rows in drawn if _is_shown(rows)]
    yield Part(
        heading="Identifiers of the same row",
        text="A row with several identifiers has more ways to be found. Each row with an identifier is counted once.",
        caption="Rows by the kinds that they have, most first",
        columns=("kinds", "rows", "share"),
        rows=[
            Row(
                " + ".join(map(in_words, each["kinds"])) + (" only" if len(each["kinds"]) == 1 else ""),
                (floored(each["rows"], f"combinations.{place}.rows"), share(each["rows"], whole, is_floored=True)),
            )
            for place, each in enumerate(combinations)
        ],
        pictures=[Overlap(name="overlap", sets=[in_words(kind) for kind in sets], columns=drawn)] if drawn else (),
    )


def _is_shown(number: int) -> bool:
    return not 0 < number < FLOOR
