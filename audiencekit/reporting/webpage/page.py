"""A report, or a plan, as one page: `report --html` and `check --html`. Its numbers are those of the JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from audiencekit.destinations.target import Target
from audiencekit.errors import UsageError
from audiencekit.reporting.durationtext import in_short, seconds_of
from audiencekit.shown import shown

FLOOR: Final = 10  # a smaller count of lost values may point at one person

_STATES: Final = {
    "complete": "Complete",
    "incomplete": "Not finished",
    "refused": "Refused",
    "ready": "Ready to send",
    "ready_with_warnings": "Ready, with warnings",
    "empty": "Nothing to send",
}
_VERBS: Final = {"update": "Put people into", "delete": "Take people out of", "sync": "Sync", "renew": "Renew"}
_CHANGES: Final = ("additions", "renewals", "removals", "returned", "unchanged", "members", "members_after")

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a table: its text, and where it stands in the JSON document; None for one that is derived."""

    text: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table."""

    name: str
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One section of the page: a picture, the table of its numbers, and what saves what is lost."""

    heading: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Row]
    text: str = ""
    picture: str = ""
    remedies: Sequence[Mapping[str, Any]] = ()

    @property
    def wide(self) -> bool:
        """Whether a narrow window has to scroll the table."""
        return len(self.columns) > 3


def report_page(document: Document, *, expiry: Document | None = None) -> str:
    """The page of a run, of its `Report.to_json()`; `expiry` is `Expiry.to_json()` of an audience under sync.

    Raises UsageError where the extra `html` is not installed.
    """
    rows = document["rows"]
    target, name = Target.from_json(document["target"]), document.get("audience_name")
    verb = _VERBS.get(document["operation"], "Change")
    seconds = seconds_of(document)
    lead = f"{_many(rows['sent'], 'row')} of {_count(rows['read'])} reached the service and were confirmed."
    if rows.get("unchanged"):
        lead += f" {_many(rows['unchanged'], 'row')} needed no change."
    return _page(
        document,
        title=f"{verb} {target.destination.noun} {shown(name) if name else target.id}",
        state=document["state"],
        facts=(
            *((f"List: {shown(', '.join(document['source_names']))}",) if document.get("source_names") else ()),
            f"Run {document['run_id']}, begun {document['started_at']}"
            + ("" if seconds is None else f", took {in_short(seconds)}"),
        ),
        lead=f"{lead} The service never says which of them it knows.",
        parts=[*_parts(document), *_sending(document), *_changes(document), *_calendar(expiry)],
    )


def plan_page(document: Document) -> str:
    """The page of a plan, of its `Plan.to_json()`. Raises as `report_page`."""
    rows, plan = document["rows"], document["plan"]
    lead = f"{_many(rows['pending'], 'row')} of {_count(rows['read'])} would be sent. Nothing was sent by this check."
    names = [str(source.get("name")) for source in document.get("sources", ()) if source.get("name")]
    return _page(
        document,
        title="Check of a list",
        state=document["verdict"],
        facts=(*((f"List: {shown(', '.join(names))}",) if names else ()), f"Planned for {plan['plan_time']}"),
        lead=lead,
        parts=_parts(document),
    )


def _page(document: Document, *, title: str, state: str, facts: Sequence[str], lead: str, parts: Sequence[Part]) -> str:
    try:
        from jinja2 import Environment
    except ImportError:
        raise UsageError("a page needs the extra `html`", hint="pip install 'audiencekit[html]'") from None
    template = files("audiencekit.reporting.webpage").joinpath("page.html").read_text("utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(template).render(
        title=title, state=state, state_words=_STATES[state], facts=facts, lead=lead, parts=parts, floor=FLOOR,
        problems=[{name: shown(text or "") for name, text in each.items()} for each in document["problems"]],
        notes=[shown(note) for note in document["notes"]],
    )  # fmt: skip


def _parts(document: Document) -> list[Part]:
    return [_funnel(document), *_losses(document), *_identifiers(document)]


def _funnel(document: Document) -> Part:
    """From the rows that were read to those that were sent, or would be."""
    from audiencekit.reporting.webpage.pictures import draw_bars

    rows = {name: count or 0 for name, count in document["rows"].items()}
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
            Row(words[name], (Cell(_count(document["rows"][name]), f"rows.{name}"), _share(rows[name], rows["read"])))
            for name in names
        ],
        picture=draw_bars("funnel", [(name, count, f"{count:,}") for name, count in steps]),
    )


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


def _losses(document: Document) -> Iterator[Part]:
    """Values that were lost, by cause, most first, with what would save them."""
    from audiencekit.reporting.webpage.pictures import LOST, draw_bars

    lost = sorted(document["rejections"].items(), key=lambda each: -each[1])
    if not lost:
        return
    total = sum(document["rejections"].values())
    yield Part(
        heading="Lost values, and what saves them",
        text="A value is one cell of the list. A row that loses one may still be sent with another.",
        caption="Values by cause, most first",
        columns=("cause", "values", "share"),
        rows=[
            Row(cause.replace("_", " "), (_floored(count, f"rejections.{cause}"), _share(count, total, of_lost=True)))
            for cause, count in lost
        ],
        picture=draw_bars(
            "losses",
            [(cause.replace("_", " "), count, _at_least_floor(count)) for cause, count in lost if count >= FLOOR],
            colour=LOST,
        )
        if lost[0][1] >= FLOOR
        else "",
        remedies=[
            {"message": shown(each["message"]), "remedy": shown(each.get("remedy") or "")}
            for each in document.get("warnings", ())
        ],
    )


def _identifiers(document: Document) -> Iterator[Part]:
    from audiencekit.reporting.webpage.pictures import draw_bars

    kinds = document["identifiers"]
    if not kinds:
        return
    yield Part(
        heading="Kinds of identifiers",
        caption="Values of each kind",
        columns=("kind", "filled cells", "can be used", "lost"),
        rows=[
            Row(
                kind.replace("_", " "),
                [
                    Cell(_count(counts["present"]), f"identifiers.{kind}.present"),
                    Cell(_count(counts["valid"]), f"identifiers.{kind}.valid"),
                    _floored(counts["rejected"], f"identifiers.{kind}.rejected"),
                ],
            )
            for kind, counts in kinds.items()
        ],
        picture=draw_bars(
            "kinds",
            [(kind.replace("_", " "), counts["valid"], f"{counts['valid']:,}") for kind, counts in kinds.items()],
        ),
    )


def _sending(document: Document) -> Iterator[Part]:
    """Requests, and their pace with retries and waits, where any were sent."""
    from audiencekit.reporting.webpage.pictures import draw_steps

    requests, pace = document["requests"], document.get("pace") or {}
    retries = sum(pace["attempts"]) - sum(pace["requests"]) if pace else 0
    waits = sum(pace["waits"]) if pace else 0
    step = pace.get("step_seconds", 1)
    seconds = "second" if step == 1 else f"{step} seconds"
    yield Part(
        heading="Requests",
        text=(
            f"Orange: steps in which a request was sent again ({retries:,}) or the service asked to wait ({waits:,})."
            if retries or waits
            else ""
        ),
        caption="Requests and what the service counted",
        columns=("requests", "count"),
        rows=[
            Row("planned", [Cell(_count(requests["planned"]), "requests.planned")]),
            Row("confirmed", [Cell(_count(requests["confirmed"]), "requests.confirmed")]),
            Row("attempts", [Cell(_count(requests["attempts"]), "requests.attempts")]),
            Row("bytes", [Cell(_count(requests["bytes"]), "requests.bytes")]),
            *(
                Row(words, [Cell(_count(document["reconciliation"][name]), f"reconciliation.{name}")])
                for name, words in _COUNTS.items()
            ),
        ],
        picture=draw_steps(
            "pace",
            pace["requests"],
            step=f"time since the first request, in steps of one {seconds}" if step == 1 else f"steps of {seconds}",
            of="requests",
            marked=[a > r or w > 0 for a, r, w in zip(pace["attempts"], pace["requests"], pace["waits"], strict=True)],
        )
        if len(pace.get("requests", ())) > 1
        else "",
    )


_COUNTS: Final = {
    "records_sent": "records sent",
    "success_count": "records accepted, as the service says",
    "total_count": "records received, as the service says",
}


def _changes(document: Document) -> Iterator[Part]:
    """The people who came and went, of a sync."""
    changes = document.get("changes") or {}
    if names := [name for name in _CHANGES if name in changes]:
        yield Part(
            heading="Members",
            caption="What changed in the audience, in people",
            columns=("change", "people"),
            rows=[Row(name.replace("_", " "), [Cell(_count(changes[name]), f"changes.{name}")]) for name in names],
        )


def _calendar(expiry: Document | None) -> Iterator[Part]:
    """When members expire, by month."""
    if expiry is None or not expiry["days"]:
        return
    from audiencekit.reporting.webpage.pictures import draw_steps

    months: dict[str, int] = {}
    for day in expiry["days"]:
        months[day["date"][:7]] = months.get(day["date"][:7], 0) + day["members"]
    ordered = sorted(months.items())
    yield Part(
        heading="When members expire",
        text=f"{_count(expiry['members'])} people are in the audience. `audiencekit renew` puts them in again in time.",
        caption="Members by the month in which their entry ends",
        columns=("month", "members"),
        rows=[Row(month, [_floored(count, None)]) for month, count in ordered],
        picture=draw_steps(
            "calendar", [count for _, count in ordered], step="month", of="members", names=[name for name, _ in ordered]
        )
        if len(ordered) > 1
        else "",
    )


def _count(count: int | None) -> str:
    return "not known" if count is None else f"{count:,}"


def _many(count: int | None, one: str) -> str:
    return f"{_count(count)} {one}" if count == 1 else f"{_count(count)} {one}s"


def _at_least_floor(count: int) -> str:
    return f"fewer than {FLOOR}" if 0 < count < FLOOR else f"{count:,}"


def _floored(count: int, key: str | None) -> Cell:
    """A count of lost values; a small one has no place in the document, since it is not shown."""
    return Cell(_at_least_floor(count), None if 0 < count < FLOOR else key)


def _share(count: int, whole: int, *, of_lost: bool = False) -> Cell:
    if not whole or (of_lost and 0 < count < FLOOR):
        return Cell("")
    return Cell(f"{100 * count / whole:.1f} %")
