"""The parts of a page about the list, and about the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, Final

from audiencekit.identifiers.kinds import Kind, Reason
from audiencekit.records.losses import remedy_of_code
from audiencekit.records.refusal_bounds import NAME_COUNTRIES
from audiencekit.reporting.page.page_parts import (
    Bar,
    Bars,
    Colour,
    Columns,
    Fact,
    Headline,
    Line,
    Row,
    Section,
    Segment,
    Stack,
    View,
    code_in_words,
    count,
    percent,
)
from audiencekit.reporting.page.privacy import (
    BROKEN,
    FLOOR,
    PEOPLE,
    REACHED,
    REASONS_OF_ROWS,
    TENS,
    Cell,
    Document,
    Shown,
    masked,
    row_counts,
    shown_counts,
    shown_document,
)
from audiencekit.text import shown as printable

_DATE: Final = len("2026-01-01")

# --- The headline: how many of the people are at the service, and what is new since the last run ---


def headline(document: Document, view: View, *, last: Document | None = None, step: int = 1) -> Headline:
    """Return the big number of a report or a plan; `last` is the report of the run before it."""
    shown = shown_document(document, is_floored=view.is_floored, step=step)
    counts = row_counts(document)
    people, reached = counts.get(PEOPLE), counts.get(REACHED)
    done = "reached" if "state" in document else "ready"
    if document.get("verdict") == "refused":
        done = "could be sent if the list were not refused"
    if shown is None or people is None:
        return Headline(number=TENS.text(PEOPLE, people) if people else count(people), words="people in the list")
    of = f"of {shown.text(PEOPLE, people)} people {done}"
    if reached is None:
        return Headline(number="not known", words=f"how many {of}")
    share = percent(shown.rounded(REACHED, reached), shown.rounded(PEOPLE, people))
    is_told = share and (shown.rounded(REACHED, reached) or not reached)
    words = f"{of} – {share}" if is_told else of
    return Headline(number=shown.text(REACHED, reached), words=words, facts=[*_facts(document, view, last)])


def _facts(document: Document, view: View, last: Document | None) -> Iterator[Fact]:
    history = document.get("history") or ()
    if rate := next((each for each in reversed(history) if each["match_rate"] is not None), None):
        members = of_other_days(view).text("", rate["members"])
        yield Fact(
            "Match rate", f"{100 * rate['match_rate']:.0f}\u00a0%", f"of {members} members, {rate['seen_at'][:_DATE]}"
        )
    if last is not None and document["state"] == "complete" and (change := _change(document, last, view)):
        yield Fact("Since the last run", *change)


def _change(document: Document, last: Document, view: View) -> tuple[str, str] | None:
    """Return the change of the people who are reached since the last run, and a note about that run."""
    now, before = row_counts(document), row_counts(last)
    if REACHED not in now or not before.get(PEOPLE) or REACHED not in before:
        return None
    other = of_other_days(view)
    change = now[REACHED] - before[REACHED]
    text = "as many people" if not change else f"{other.text('', abs(change))} {'more' if change > 0 else 'fewer'}"
    if view.is_floored and abs(change) < FLOOR:
        text = "about as many people"
    was = f"{other.text('', before[REACHED])} of {other.text('', before[PEOPLE])}"
    if share := percent(other.rounded("", before[REACHED]), other.rounded("", before[PEOPLE])):
        was += f", {share}"
    return text, f"{str(last['started_at'])[:_DATE]}: {was}"


def of_other_days(view: View) -> Shown:
    """Return how to show counts of several days: on a floored page rounded, since their differences are few people."""
    return TENS if view.is_floored else Shown(1, frozenset({""}))


# --- The parts about the list: where its rows are, the losses, the kinds of identifiers ---

_TOO_SMALL: Final = "The list is so small that its counts would point at people. They are not shown."
_ROWS: Final = {
    "read": "rows of the list",
    "sent": "reached",
    "unchanged": "in the audience already",
    "pending": "not confirmed",
    "suppressed": "kept out: suppressed, or without consent",
    "duplicate": "duplicate rows",
    "superseded": "replaced by a later row",
    "rejected": "no usable identifier",
}
_COLOURS: Final[dict[str, Colour]] = {
    "sent": "good",
    "unchanged": "there",
    "pending": "wait",
    "suppressed": "kept",
    "duplicate": "same",
    "superseded": "same",
    "rejected": "lost",
}
_FIRST_CAUSES: Final = 3
_LOST: Final[tuple[Colour, ...]] = ("lost", "lost2", "lost3")


def list_parts(document: Document, view: View, *, last: Document | None = None) -> list[Section]:
    """Return the parts about the list, of a report or of a plan."""
    shown = shown_document(document, is_floored=view.is_floored)
    if shown is None:
        return [Section(heading="The rows of the list", text=_TOO_SMALL)]
    return [
        rows_part(document, shown, view), *losses_part(document, shown, view, last=last), *_doubts(document, view),
        *_kinds(document, shown), *_combinations(document, shown),
    ]  # fmt: skip


def rows_part(document: Document, shown: Shown, view: View) -> Section:
    """Return where every row is, as one bar."""
    rows = {name: number for name, number in document["rows"].items() if number is not None}
    words, colours = _words(document), _COLOURS
    if "state" not in document:
        colours = {**_COLOURS, "pending": "good"}
    read = shown.rounded("rows.read", rows.get("read", 0))
    segments: list[Segment] = []
    for name in (name for name in words if name != "read" and rows.get(name)):
        lost = _lost_rows(document) if name == "rejected" and not view.is_floored else []
        parts = lost or [(words[name], f"rows.{name}", rows[name])]
        for place, (word, key, number) in enumerate(parts):
            length = shown.rounded(key, number)
            colour = _LOST[min(place, len(_LOST) - 1)] if lost else colours[name]
            share = percent(length, read) if length else ""
            segments.append(Segment(name=word, length=length, cell=shown.cell(key, number), share=share, colour=colour))
    return Section(
        heading="The rows of the list",
        text=f"{_read(document, shown).capitalize()} were read.",
        pictures=[Stack(segments=segments)] if segments else (),
        caption="Where every row is",
        columns=("rows", "count"),
        rows=[
            Row(words[name], [_counted(document, shown, name)])
            for name in words
            if name in document["rows"] and document["rows"][name] != 0
        ],
    )


def _words(document: Document) -> dict[str, str]:
    """Return the words of the outcomes, the best first."""
    if "state" not in document:
        return {**_ROWS, "pending": "ready"}
    return {**_ROWS, "sent": "reached by this run"} if document["rows"].get("unchanged") else _ROWS


def _read(document: Document, shown: Shown) -> str:
    read = document["rows"]["read"]
    return "an unknown number of rows" if read is None else f"{shown.text('rows.read', read)} rows"


def _counted(document: Document, shown: Shown, name: str) -> Cell:
    number = document["rows"][name]
    return Cell(count(None)) if number is None else shown.cell(f"rows.{name}", number)


def _lost_rows(document: Document) -> list[tuple[str, str, int]]:
    """Return the rejected rows by cause, as far as each row has one: (word, place, rows).

    The other causes are those of values, of which a row may have several.
    """
    found = [
        (code_in_words(cause), f"rejections.{cause}", number)
        for cause, number in document["rejections"].items()
        if cause in REASONS_OF_ROWS and number
    ]
    if broken := row_counts(document)[BROKEN]:
        causes = [code_in_words(cause) for cause in document["rejections"] if cause not in REASONS_OF_ROWS]
        found.append((causes[0] if len(causes) == 1 else "no usable value", BROKEN, broken))
    return sorted(found, key=lambda each: -each[2])


def losses_part(
    document: Document, shown: Shown, view: View, *, last: Document | None = None, is_brief: bool = False
) -> Iterator[Section]:
    """Return the lost values by cause, most first, each with what saves it; if `is_brief`, the first causes alone."""
    lost = [(cause, f"rejections.{cause}", number) for cause, number in document["rejections"].items() if number]
    if not lost:
        return
    lost.sort(key=lambda each: (-shown.rounded(each[1], each[2]), each[0]))
    remedies = _remedies(document, view)
    bars = [
        Bar(
            name=code_in_words(cause),
            length=shown.rounded(key, number),
            cell=shown.cell(key, number),
            beside=_last_time(cause, last, view),
            remedies=() if is_brief else remedies.get(cause, ()),
        )
        for cause, key, number in lost[: _FIRST_CAUSES if is_brief else None]
    ]
    yield Section(
        heading="Lost, and what saves it",
        text="Each is one cell or one row of the list. A row that loses one cell may still be sent with another.",
        pictures=[Bars(bars=bars, is_loss=True)],
    )


def _last_time(cause: str, last: Document | None, view: View) -> str:
    """Return how many there were in the last run, for the owner of both."""
    return "" if last is None or view.is_floored else f"last time {last['rejections'].get(cause, 0):,}"


def _remedies(document: Document, view: View) -> dict[str, list[str]]:
    """Return what saves the values that are lost for each cause: by the doctor, or else by the rules."""
    found: dict[str, list[str]] = {}
    for each in document.get("findings", ()):
        if each["code"] in document["rejections"]:
            found.setdefault(each["code"], []).append(_finding(each, view))
    for each in document.get("warnings", ()):
        if each["code"] not in found and each.get("remedy"):
            found.setdefault(each["code"], []).append(each["remedy"])
    notes = document.get("notes", ())
    if any(NAME_COUNTRIES in note for note in notes):  # these rows have a country, and it is not known
        has_others = any(" without a country in " in note for note in notes)
        others = remedy_of_code(Reason.NO_COUNTRY) if has_others else None
        found.setdefault(Reason.NO_COUNTRY, [NAME_COUNTRIES, others or ""])
    for cause in document["rejections"]:
        if not any(found.get(cause, ())):
            found[cause] = [remedy_of_code(cause) or ""]
    return {cause: [said(text, view) for text in dict.fromkeys(texts) if text] for cause, texts in found.items()}


def _finding(finding: Document, view: View) -> str:
    """Return the remedy of a finding; with how many it saves for the owner of the list."""
    if not finding["option"]:
        return finding["remedy"] or ""
    where = f"{finding['column']}: " if finding["column"] else ""
    if view.is_floored:
        return f"{where}{finding['option']}"
    people = f", and {_people(finding['saves_people'])}" if finding["saves_people"] else ""
    return f"{where}{finding['option']} saves {finding['saves']:,} of them{people}"


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def _doubts(document: Document, view: View) -> Iterator[Section]:
    """Return what the doctor says of values that are sent."""
    found = [each for each in document.get("findings", ()) if each["code"] not in document["rejections"]]
    if texts := [said(each["message"], view) for each in found if not view.is_floored or each["count"] >= FLOOR]:
        yield Section(heading="Sent, and doubtful", messages=texts)


def said(text: str, view: View) -> str:
    """Return a text of ours for a page."""
    text = view.spelled(text)
    return printable(masked(text) if view.is_floored else text)


def _bars(shown: Shown, counts: Iterable[tuple[str, str, int]], *, whole: int = 0) -> Sequence[Bars]:
    """Return the picture of (word, place in the document, count); none if no count is shown."""
    bars = [
        Bar(
            name=word,
            length=shown.rounded(key, number),
            cell=shown.cell(key, number),
            beside=percent(shown.rounded(key, number), whole) if shown.rounded(key, number) else "",
        )
        for word, key, number in counts
    ]
    return [Bars(bars=bars)] if any(bar.length for bar in bars) else ()


def _kinds(document: Document, shown: Shown) -> Iterator[Section]:
    kinds = document["identifiers"]
    if not any(numbers["present"] for numbers in kinds.values()):
        return
    valid = [(code_in_words(kind), f"identifiers.{kind}.valid", numbers["valid"]) for kind, numbers in kinds.items()]
    yield Section(
        heading="Kinds of identifiers",
        text="Values that can be used.",
        caption="Values of each kind",
        columns=("kind", "filled cells", "can be used", "lost"),
        rows=[
            Row(
                code_in_words(kind),
                [shown.cell(f"identifiers.{kind}.{name}", numbers[name]) for name in ("present", "valid", "rejected")],
            )
            for kind, numbers in kinds.items()
        ],
        pictures=_bars(shown, valid),
    )


def _combinations(document: Document, shown: Shown) -> Iterator[Section]:
    """Return which kinds the rows have together: a row with more kinds is more likely to match."""
    found = document.get("combinations") or ()
    if len(found) < 2:  # of one, all is said by the kinds
        return
    counted = [(each["kinds"], f"combinations.{place}.rows", each["rows"]) for place, each in enumerate(found)]
    counted.sort(key=lambda each: (-shown.rounded(each[1], each[2]), len(each[0]), each[0]))
    whole = sum(shown.rounded(key, rows) for _, key, rows in counted)
    named = [(_combination(kinds), key, rows) for kinds, key, rows in counted]
    pictures = _bars(shown, named, whole=whole)
    yield Section(
        heading="Identifiers of the same row",
        text="A row with several identifiers has more ways to be found. Each row with an identifier is counted once.",
        pictures=pictures,
        caption="Rows by the kinds that they have",
        columns=("kinds", "rows"),
        rows=() if pictures else [Row(name, [shown.cell(key, rows)]) for name, key, rows in named],
    )


def _combination(kinds: Sequence[str]) -> str:
    ordered = [code_in_words(kind) for kind in Kind if kind in kinds]
    return " + ".join(ordered) + (" only" if len(ordered) == 1 else "")


# --- The parts about the run and its audience: requests over time, members, expiry, match rate ---

_CHANGES: Final = ("additions", "renewals", "removals", "returned", "unchanged", "members", "members_after")
_OF_CHANGE: Final = ("additions", "renewals", "removals", "returned")
_COUNTS: Final = {
    "records_sent": "records sent",
    "success_count": "records accepted, as the service says",
    "total_count": "records received, as the service says",
}
_MOST_SIZES: Final = 60  # days that a picture and its table show


def sending_parts(document: Document, view: View) -> Iterator[Section]:
    """Return the requests and their pace with retries and pauses, if any were planned."""
    requests = document["requests"]
    if not any(requests[name] for name in ("planned", "confirmed", "attempts")):
        return
    paces = [*document.get("earlier_paces", ()), *filter(None, [document.get("pace")])]
    shown = shown_document(document, is_floored=view.is_floored)
    # The bytes tell how many records there are, too.
    tells_records = not view.is_floored or (shown is not None and "rows.sent" in shown.fixed)
    names = ("planned", "confirmed", "attempts", *(("bytes",) if tells_records else ()))
    rows = [Row(name, [Cell(count(requests[name]), f"requests.{name}")]) for name in names]
    if tells_records:
        counts = document["reconciliation"]
        rows += [Row(words, [Cell(count(counts[name]), f"reconciliation.{name}")]) for name, words in _COUNTS.items()]
    yield Section(
        heading="Requests",
        text=_pace_text(paces) or f"{count(requests['confirmed'])} of {count(requests['planned'])} are confirmed.",
        caption="Requests" + (" and what the service counted" if tells_records else ""),
        columns=("requests", "count"),
        rows=rows,
        pictures=[_drawn(number, pace, len(paces)) for number, pace in enumerate(paces) if len(pace["requests"]) > 1],
    )


def _pace_text(paces: Sequence[Document]) -> str:
    again = sum(sum(pace["attempts"]) - sum(pace["requests"]) for pace in paces)
    waits = sum(sum(pace["waits"]) for pace in paces)
    parts = f"The run was sent in {len(paces)} parts. " if len(paces) > 1 else ""
    if not again and not waits:
        return parts.strip()
    return f"{parts}Orange: attempts after the first ({again:,}). A dot: the service asked to wait ({waits:,})."


def _drawn(number: int, pace: Document, parts: int) -> Columns:
    step = pace["step_seconds"]
    steps = "one second" if step == 1 else f"{step} seconds"
    begun = f" of part {number + 1}, begun {pace['began_at']}" if parts > 1 and "began_at" in pace else ""
    return Columns(
        values=pace["requests"],
        more=[attempts - requests for attempts, requests in zip(pace["attempts"], pace["requests"], strict=True)],
        marked=[waits > 0 for waits in pace["waits"]],
        step=f"time{begun}, in steps of {steps}",
        of="requests that ended",
    )


def change_parts(document: Document, view: View) -> Iterator[Section]:
    """Return the additions and removals of a sync, if there are any."""
    changes = document.get("changes") or {}
    shown = shown_document(document, is_floored=view.is_floored)
    if shown is None or not any(changes.get(name) for name in _OF_CHANGE):
        return
    counted = [(name, f"changes.{name}", changes[name]) for name in _CHANGES if changes.get(name)]
    yield Section(
        heading="Members of the audience",
        text="The changes that this run made, in people.",
        caption="Members",
        columns=("members", "people"),
        rows=[Row(code_in_words(name), [shown.cell(key, number)]) for name, key, number in counted],
        pictures=_bars(
            shown, [(code_in_words(name), key, number) for name, key, number in counted if name in _OF_CHANGE]
        ),
    )


def calendar_parts(expiry: Document | None, view: View, *, step: int = 1) -> Iterator[Section]:
    """Return when members expire, by month, from `Expiry.to_json()`."""
    if expiry is None or not expiry["days"]:
        return
    months: dict[str, int] = {}
    for day in expiry["days"]:
        months[day["date"][:7]] = months.get(day["date"][:7], 0) + day["members"]
    moves = [{one: 1, other: -1} for one, other in combinations(months, 2)] if view.is_floored else []
    moves += [{month: 1} for month in months] if step > 1 else []  # then their sum is rounded, too
    shown = shown_counts(months, moves, step=step)
    members = of_other_days(view).text("", expiry["members"]) if step > 1 or shown is None else count(expiry["members"])
    ordered = sorted(months.items()) if shown else []
    cells = [(month, shown.cell(month, number), shown.rounded(month, number)) for month, number in ordered if shown]
    bars = [Bar(name=month, length=drawn, cell=Cell(cell.text)) for month, cell, drawn in cells]
    yield Section(
        heading="When members expire",
        text=f"{members} people are in the audience. `audiencekit renew` puts them in again in time.",
        pictures=[Bars(bars=bars)] if bars else (),
    )


def history_parts(document: Document, view: View) -> Iterator[Section]:
    """Return the match rate over time, as far as the service gave sizes of the audience, from `size_history`."""
    history = (document.get("history") or ())[-_MOST_SIZES:]
    if not history:
        return
    first, shown = len(document["history"]) - len(history), of_other_days(view)
    rated = [each for each in history if each["match_rate"] is not None]

    def cell(place: int, name: str, number: int | None) -> Cell:
        key = None if number is None or view.is_floored else f"history.{place}.{name}"
        return Cell(count(None) if number is None else shown.text("", number), key)

    yield Section(
        heading="Match rate over time" if len(rated) > 1 else "Active users over time",
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
                    cell(place, "audience_size", each["audience_size"]),
                    cell(place, "members", each["members"]),
                    Cell("not known" if each["match_rate"] is None else f"{100 * each['match_rate']:.0f} %"),
                ),
            )
            for place, each in enumerate(history, first)
        ],
        pictures=over_time(history, view),
    )


def over_time(history: Sequence[dict[str, Any]], view: View) -> Sequence[Line]:
    """Return the line of the match rates, or else of the sizes; none of fewer than two."""
    shown = of_other_days(view)
    rates = [(each["seen_at"][:_DATE], 100 * each["match_rate"]) for each in history if each["match_rate"] is not None]
    sizes = [(each["seen_at"][:_DATE], shown.rounded("", each["audience_size"])) for each in history]
    if len(rates) > 1:
        return [Line(points=rates, of="match rate", unit=" %", most=100)]
    return [Line(points=sizes, of="active users")] if len(sizes) > 1 else ()
