"""The page over everything on one machine: its audiences, their runs, and the next things to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from typing import Any, Final

from audiencekit.destinations.target import Target
from audiencekit.limits import MIN_TARGETABLE_PEOPLE, RENEW_BEFORE_DAYS
from audiencekit.reporting.page.drawing import draw, prose
from audiencekit.reporting.page.page import (
    badge,
    facts_html,
    foot,
    headline_html,
    inner_html,
    items,
    run_title,
    whole_page,
)
from audiencekit.reporting.page.page_parts import Fact, Section, View, code_in_words, many, percent
from audiencekit.reporting.page.parts import (
    calendar_parts,
    headline,
    losses_part,
    of_other_days,
    over_time,
    rows_part,
    said,
)
from audiencekit.reporting.page.privacy import FLOOR, PEOPLE, REACHED, Document, row_counts, shown_document
from audiencekit.reporting.text import seconds_of, short_duration
from audiencekit.text import option, shown

_WIDE: Final = 72  # rem
_DATE: Final = len("2026-01-01")
_MINUTE: Final = len("2026-01-01T00:00")
_RUNS_LISTED: Final = 5  # of one audience
_NOTHING: Final = (
    "Nothing, by what this machine knows. `audiencekit audiences health NAME` asks the service for size and match rate."
)
_AGAIN: Final = frozenset({"sync", "renew"})  # repeated, and not resumed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """A thing to do: where, what, and the anchor with more of it."""

    place: str
    text: str
    anchor: str


def machine_page(document: Document, view: View) -> str:
    """Return the page of a document of `look_at_machine`.

    On a floored page all counts are rounded to tens or more: those of several days could be compared.
    """
    places, runs = document["places"], {run["run_id"]: run for run in document["runs"]}
    now = datetime.fromisoformat(document["seen_at"])
    tasks = [task for place in places for task in _tasks(place, runs, now, view)]
    tasks += [_unsettled(erasure) for erasure in document["erasures"] if erasure["resumable"]]
    facts = f"{many(len(places), 'audience')} and {many(sum(len(place['runs']) for place in places), 'run')}"
    facts += f", as of <time>{_minute(document['seen_at'])}</time> (UTC)"
    head = f'<h1>Audiences of this machine</h1>\n<p class="facts">{facts}</p>\n'
    cards = "".join(_card(place, runs, view) for place in places)
    details = "".join(_run(run, _earlier(run, document["runs"]), view) for run in document["runs"])
    body = _todo(tasks) + (_grid("Audiences", cards) if cards else "")
    body += _grid("Runs", details, kind="cards wide") if details else "<p>There are no runs yet.</p>\n"
    body += _erasures(document["erasures"])
    own = f" On this machine, {view.spelled(option('own', True))} shows them." if view.is_floored else ""
    return whole_page(title="Audiences of this machine", head=head, body=body, foot=foot(view) + own, width=_WIDE)


def _grid(heading: str, cards: str, *, kind: str = "cards") -> str:
    return f'<h2 class="group">{heading}</h2>\n<div class="{kind}">\n{cards}</div>\n'


# --- The next things to do ---


def _tasks(place: Document, runs: Mapping[str, Document], now: datetime, view: View) -> Iterator[_Task]:
    """Return what the last run of an audience left to do, and what time will bring."""
    name, target = _name(place), Target.from_json(place["target"])
    if place["runs"]:
        yield from (
            _Task(place=name, text=text, anchor=f"run-{place['runs'][0]}")
            for text in _after_run(runs[place["runs"][0]], view)
        )
    anchor = f"place-{target.id}"
    if text := _expires(place, runs, now, view):
        yield _Task(place=name, text=text, anchor=anchor)
    if _is_too_small(place, runs):
        text = f"it cannot be targeted yet: {MIN_TARGETABLE_PEOPLE} matched people are needed; add people to it"
        yield _Task(place=name, text=text, anchor=anchor)


def _is_too_small(place: Document, runs: Mapping[str, Document]) -> bool:
    """Whether too few people matched, or, where the service was not asked, too few were ever sent.

    The page has the counts of the last runs only: where some are missing, nothing is said.
    """
    if place["history"]:
        return bool(place["history"][-1]["audience_size"] < MIN_TARGETABLE_PEOPLE)
    known = [runs.get(one, {}) for one in place["runs"]]
    sent: list[Any] = [(run.get("rows") or {}).get("sent") for run in known if run.get("operation") != "delete"]
    if None in sent:
        return False
    most = max(sum(sent), place["members"]["most"] if place["members"] else 0)
    return bool(0 < most < MIN_TARGETABLE_PEOPLE)


def _after_run(run: Document, view: View) -> Iterator[str]:
    if run["state"] == "refused":
        first = (run.get("problems") or [{"message": "the last run was refused", "hint": None}])[0]
        yield said("; ".join(filter(None, (first["message"], first["hint"]))), view)
    elif run["state"] == "unreadable":
        yield f"the report of the last run cannot be read: `audiencekit report {run['run_id']}` says why"
    elif run["state"] == "incomplete" and not run["running"]:
        if run["resumable"]:
            yield f"the last run was interrupted: `audiencekit resume {run['run_id']}` sends the rest"
        else:
            yield "the last run did not end: run the same command again"
    elif run["state"] == "complete":
        for each in run.get("warnings", ()):
            if each.get("remedy"):
                yield f"{code_in_words(each['code'])}: {said(each['remedy'], view)}"
                return


def _expires(place: Document, runs: Mapping[str, Document], now: datetime, view: View) -> str:
    """Return what to do about entries that expire within RENEW_BEFORE_DAYS; empty when none do."""
    if place["expiry"] is not None:
        soon = place["expiry"]["within_days"].get(str(RENEW_BEFORE_DAYS), 0)
        if not soon:
            return ""
        number = of_other_days(view).text("", soon)
        return f"{number} of its members expire within {RENEW_BEFORE_DAYS} days: `audiencekit renew` keeps them in"
    last = _end(place, runs)
    if last is None:
        return ""
    left = datetime.fromisoformat(last) - now
    if left < timedelta(0):
        return f"all its entries expired by {last[:_DATE]}: upload the list again"
    return f"its entries expire on {last[:_DATE]}: upload the list again" if left.days < RENEW_BEFORE_DAYS else ""


def _end(place: Document, runs: Mapping[str, Document]) -> str | None:
    """Return when the last entries end that a run has put in; None if that is not known."""
    sent = [runs[one] for one in place["runs"] if one in runs and (runs[one].get("rows") or {}).get("sent")]
    ends = (run.get("expires_at") for run in sent if run.get("operation") != "delete")
    return max(filter(None, ends), default=None)


def _unsettled(erasure: Document) -> _Task:
    return _Task(
        place="An erasure",
        text=f"it is not finished: `audiencekit resume {erasure['run_id']}` continues it",
        anchor="erasures",
    )


def _todo(tasks: Sequence[_Task]) -> str:
    lines = "".join(
        f'<li><a href="#{escape(task.anchor)}">{escape(task.place)}</a>: {prose(task.text)}</li>\n' for task in tasks
    )
    what = f"<ul>\n{lines}</ul>\n" if tasks else f"<p>{prose(_NOTHING)}</p>\n"
    return f"<section>\n<h2>What to do next</h2>\n{what}</section>\n"


# --- One audience ---


def _card(place: Document, runs: Mapping[str, Document], view: View) -> str:
    target = Target.from_json(place["target"])
    last = runs[place["runs"][0]] if place["runs"] else None
    kind = target.destination.words.noun
    head = f"{badge(last['state']) if last else ''}\n<h3>{escape(_name(place))}</h3>\n"
    head += f'<p class="facts">{escape(f"{kind} {target.id}")}</p>\n'
    pictures = "".join(draw(line) for line in over_time(place["history"], view))
    expiry = "".join(
        f"<h4>Members by the month in which they expire</h4>\n{draw(picture)}"
        for part in calendar_parts(place["expiry"], view, step=_step(view))
        for picture in part.pictures
    )
    lost = "".join(
        f"<h4>Lost in the last run</h4>\n{''.join(map(draw, part.pictures))}"
        for part in _losses(last, view, is_brief=True)
    )
    return (
        f'<article id="place-{escape(target.id)}">\n{head}{facts_html([*_facts(place, runs, view)])}'
        f"{pictures}{expiry}{lost}{_listed(place, runs, view)}</article>\n"
    )


def _facts(place: Document, runs: Mapping[str, Document], view: View) -> Iterator[Fact]:
    number, last = of_other_days(view), runs[place["runs"][0]] if place["runs"] else None
    if members := place["members"]:
        least, most = number.text("", members["least"]), number.text("", members["most"])
        yield Fact("Members", most if least == most else f"{least} to {most}")
    rated = [each for each in place["history"] if each["match_rate"] is not None]
    if rated:
        yield Fact("Match rate", f"{100 * rated[-1]['match_rate']:.0f}\u00a0%", rated[-1]["seen_at"][:_DATE])
    elif place["history"]:
        size = place["history"][-1]
        yield Fact("Active users", number.text("", size["audience_size"]), size["seen_at"][:_DATE])
    if place["expiry"] is not None and place["expiry"]["days"]:
        yield Fact("Expires from", min(day["date"] for day in place["expiry"]["days"]))
    elif end := _end(place, runs):
        yield Fact("Expires", end[:_DATE])
    if last is not None and (share := _reached(last, view)):
        yield Fact("Reached last time", share, _moment(last)[:_DATE])


def _reached(run: Document, view: View) -> str:
    """Return the share of the people who were reached, or if that is not known, nothing."""
    if not _has_counts(run):
        return ""
    shown_counts, counts = (
        shown_document(_whole(run), is_floored=view.is_floored, step=_step(view)),
        row_counts(_whole(run)),
    )
    if shown_counts is None or REACHED not in counts or not counts.get(PEOPLE):
        return ""
    reached = shown_counts.rounded(REACHED, counts[REACHED])
    if not reached and counts[REACHED]:
        return ""
    return percent(reached, shown_counts.rounded(PEOPLE, counts[PEOPLE]))


def _losses(run: Document | None, view: View, *, is_brief: bool = False) -> Iterator[Section]:
    """Return the causes of a run's losses; on a floored page only those that can be told."""
    if run is None or not _has_counts(run):
        return
    document = _whole(run)
    found = shown_document(document, is_floored=view.is_floored, step=_step(view))
    if found is None:
        return
    told = {
        cause: number
        for cause, number in document["rejections"].items()
        if found.rounded(f"rejections.{cause}", number)
    }
    yield from losses_part({**document, "rejections": told}, found, view, is_brief=is_brief)


def _folded(part: Section, summary: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>\n{inner_html(part)}</details>\n"


def _listed(place: Document, runs: Mapping[str, Document], view: View) -> str:
    lines = [
        f'<li><a href="#run-{escape(one)}">{escape(_moment(run))}</a> {escape(_in_short(run, view))}</li>\n'
        for one in place["runs"][:_RUNS_LISTED]
        if (run := runs.get(one)) is not None
    ]
    return f"<h4>Last runs</h4>\n<ul>\n{''.join(lines)}</ul>\n" if lines else "<p>No run on this machine.</p>\n"


def _in_short(run: Document, view: View) -> str:
    share = _reached(run, view)
    return ", ".join(filter(None, (run.get("operation"), run["state"], share and f"{share} reached")))


def _moment(run: Document) -> str:
    """Return when a run began, to the minute; its id where that is not known."""
    return _minute(str(run.get("started_at") or run["run_id"]))


def _minute(time: str) -> str:
    return time[:_MINUTE].replace("T", " ")


def _name(place: Document) -> str:
    target = Target.from_json(place["target"])
    return shown(place["name"]) if place["name"] else str(target)


# --- One run ---


def _run(run: Document, last: Document | None, view: View) -> str:
    seconds = seconds_of(run)
    took = "" if seconds is None else f", took {short_duration(seconds)}"
    names = shown(", ".join(run.get("source_names") or ()))
    facts = [
        f"Run {run['run_id']}, begun {_moment(run)}{took}",
        *([f"List: {names}"] if names else []),
    ]
    title = run_title(run) if "target" in run else "A run that never began"
    body = f"{badge(run['state'])}\n<h3>{escape(title)}</h3>\n"
    body += "".join(f'<p class="facts">{escape(fact)}</p>\n' for fact in facts)
    if _has_counts(run):
        document, step = _whole(run), _step(view)
        body += headline_html(headline(document, view, last=last, step=step))
        found = shown_document(document, is_floored=view.is_floored, step=step)
        body += "" if found is None else inner_html(rows_part(document, found, view))
        body += "".join(_folded(part, "Lost, and what saves it") for part in _losses(run, view))
    body += items(
        (said(each["message"] or "", view), said(each["hint"] or "", view)) for each in run.get("problems") or ()
    )
    return f'<article id="run-{escape(run["run_id"])}">\n{body}</article>\n'


def _earlier(run: Document, runs: Iterable[Document]) -> Document | None:
    """Return the last complete run before, of the same target and operation; `runs` are the newest first."""
    is_before = False
    for each in runs:
        same = all(each.get(name) == run.get(name) for name in ("target", "operation"))
        if is_before and same and each["state"] == "complete" and _has_counts(each):
            return _whole(each)
        is_before = is_before or each["run_id"] == run["run_id"]
    return None


def _has_counts(run: Document) -> bool:
    return bool(run.get("rows")) and "target" in run


def _whole(run: Document) -> dict[str, Any]:
    """Return a run with every key that its counts need, also where only the list of runs knows of it."""
    empty: dict[str, Any] = {
        "rejections": {},
        "identifiers": {},
        "combinations": [],
        "changes": {},
        "notes": [],
        "problems": [],
    }
    return {**empty, **run, "history": []}


def _step(view: View) -> int:
    return FLOOR if view.is_floored else 1


def _erasures(erasures: Sequence[Document]) -> str:
    if not erasures:
        return ""
    lines = "".join(
        f"<li>{escape(str(each.get('started_at') or each['run_id'])[:_DATE])}: {escape(each['state'])}</li>\n"
        for each in erasures
    )
    return f'<section id="erasures">\n<h2>Erasures</h2>\n<ul>\n{lines}</ul>\n</section>\n'
