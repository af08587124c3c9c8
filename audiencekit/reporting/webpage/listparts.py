"""The parts of a page about the list: where its rows are, what is lost, which identifiers they have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from audiencekit.identifiers.kinds import Kind
from audiencekit.reporting.webpage.pageparts import (
    Bars,
    Cell,
    Document,
    Overlap,
    Row,
    Section,
    code_in_words,
    count,
    share,
)
from audiencekit.reporting.webpage.smallcounts import Shown, list_counts, list_moves, masked, numbers_told, shown_counts
from audiencekit.shown import shown as printable

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
    """Those of a report or of a plan."""
    shown = shown_counts(list_counts(document), list_moves(document), told=numbers_told(document))
    if shown is None:
        return [_funnel(document, _TOO_SMALL)]
    return [
        _funnel(document), *_losses(document, shown), *_kinds(document, shown), *_combinations(document, shown)
    ]  # fmt: skip


def _funnel(document: Document, text: str = "") -> Section:
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
    """Values that were lost, by cause, most first, with what would save them."""
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
    """The share of what is shown; empty where nothing is."""
    rounded = shown.rounded(key, number)
    return share(rounded, whole if rounded or not number else 0)


def _bars(name: str, shown: Shown, counts: Iterable[tuple[str, str, int]], *, is_loss: bool = False) -> Sequence[Bars]:
    """The picture of (word, place in the document, count); none where no count is shown."""
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
    """Which kinds the rows have together: the more a row has, the more likely the service knows the person."""
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
