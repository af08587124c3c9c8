"""Reports, plans and lists of runs as text for people."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from textwrap import wrap
from typing import Any, Final

from audiencekit.destinations.destination import DestinationWords
from audiencekit.destinations.target import Target
from audiencekit.records.batches import LEFT_OUT, NOT_USED
from audiencekit.text import shown

# --- Reports and plans as text for people ---

Lines = list[str]
UNKNOWN = "not known"
_DIFFER: Final = ": THEY DIFFER"
_KIND_WIDTH: Final = 15  # letters of the longest kind of ours
NOT_INSTALLED = "the destination {} is not installed"


_ALL: Final = "`details=True`"


def render_report(document: Mapping[str, Any], *, details: bool = False, more: str = _ALL) -> str:
    """Return a run's report as text: its result in three lines, and problems and warnings.

    With `details` all counts and notes, too; without them it names `more`, which shows them. The last line always
    names the state.
    """
    lines = [*_heading(document, Target.from_json(document["target"])), "", *_result(document)]
    lines += ["", *_report_details(document)] if details else _differences(document)
    return "\n".join([*lines, *_remarks(document, details=details, more=more), "", f"state: {document['state']}"])


def _report_details(document: Mapping[str, Any]) -> Lines:
    requests, words = document["requests"], _words(document)
    confirmed, planned, attempts = requests["confirmed"], requests["planned"], requests["attempts"]
    lines = _sources(document.get("sources", ())) + _columns(document["columns"]) + _counts(document)
    lines += [
        "requests",
        f"  confirmed   {_count(confirmed)} of {planned:,} planned, {_attempts(attempts)}",
        f"  bytes       {requests['bytes']:,}{_fill(requests['fill_ratio'])}",
        "reconciliation",
        f"  {_reconciliation(document['reconciliation'], words)}",
        *(
            f"  request {each['request']:,}: {_reconciliation(each, words)}"
            for each in document.get("miscounted") or ()
        ),
        *([f"  {words.of_counts}"] if words.of_counts else []),
    ]
    return lines + ([f"expires at    {document['expires_at']}"] if document["expires_at"] else [])


def _heading(document: Mapping[str, Any], target: Target) -> Lines:
    """Return the first line: list, audience, time and duration of the run."""
    name = document.get("audience_name")
    named = f"{target.destination.words.noun} {shown(repr(name))} ({target.id})" if name else str(target)
    lines = [f"Run {document['run_id']}: {document['operation']} {named}"]
    if not target.is_known:
        lines.append(f"  unknown   {NOT_INSTALLED.format(target.destination.name)}")
    if names := document.get("source_names"):
        lines.append(f"  list      {shown(', '.join(names))}")
    seconds = seconds_of(document)
    took = "" if seconds is None else f", took {short_duration(seconds)}"
    return [*lines, f"  started   {document['started_at']}{took}"]


def _words(document: Mapping[str, Any]) -> DestinationWords:
    return Target.from_json(document["target"]).destination.words


def _differences(document: Mapping[str, Any]) -> Lines:
    """Return the counts of the service that are not ours."""
    words, whole = _words(document), _reconciliation(document["reconciliation"], _words(document))
    lines = [
        f"request {each['request']:,}: {_reconciliation(each, words)}" for each in document.get("miscounted") or ()
    ]
    return [*([whole] if whole.endswith(_DIFFER) else []), *lines]


def _reconciliation(counts: Mapping[str, int | None], words: DestinationWords) -> str:
    sent, success, total = (counts[name] for name in ("records_sent", "success_count", "total_count"))
    if sent is None:
        return f"records sent {UNKNOWN}"
    if sent == success == total:
        return f"records sent {sent:,} = {words.accepted} {success:,} = {words.received} {total:,}"
    said = f"{words.accepted} {_count(success)}, {words.received} {_count(total)}"
    return f"records sent {sent:,}, {said}{_DIFFER}"


def render_plan(document: Mapping[str, Any], *, details: bool = False) -> str:
    """Return a plan as text: how the list was understood, the result in three lines, problems and warnings.

    With `details` all counts and notes, too. The last line always names the verdict.
    """
    lines = [f"Source: {', '.join(_described(document))}", *_understood(document["column_uses"]), ""]
    lines += _result(document) + _findings(document["findings"])
    if details:
        lines += ["", *_plan_details(document)]
    elif not (document["plan"]["resumable"] or document["changes"]):
        lines.append(describe_resumption(False))
    verdict = f"verdict: {document['verdict'].replace('_', ' ')}"
    return "\n".join([*lines, *_remarks(document, details=details), "", verdict])


def _plan_details(document: Mapping[str, Any]) -> Lines:
    planned, again = document["plan"], "the same command" if document["changes"] else ""
    return [
        *_sources(document["sources"]),
        *_counts(document, planned=True),
        "plan",
        f"  {_number(planned, 'records')} in {_operations(planned)}{_number(planned, 'requests')}",
        f"  {planned['bytes']:,} bytes{_fill(planned['fill_ratio'])}{_minutes(planned['minutes'])}",
        *([f"  expires at {planned['expires_at']}"] if planned["expires_at"] else []),
        f"  {describe_resumption(planned['resumable'], again=again)}",
    ]


def _counts(document: Mapping[str, Any], *, planned: bool = False) -> Lines:
    return (
        _rows(document["rows"], planned=planned)
        + _changes(document.get("changes", {}))
        + _identifiers(document["identifiers"])
        + _rejections(document["rejections"])
        + _suppression(document.get("suppression", ()))
    )


# --- How a list was understood: which columns are used, which are left out and why ---

_MOST_NAMED: Final = 12  # columns in a line


def render_columns(uses: Sequence[Mapping[str, str]]) -> str:
    """Return a line for each column: its name, what it is used as, and why."""
    widths = [max((len(each[name]) for each in uses), default=0) for name in ("column", "use")]
    lines = (f"{each['column']:<{widths[0]}}  {each['use']:<{widths[1]}}  {each['why']}" for each in uses)
    return "\n".join(shown(line.rstrip()) for line in lines)


def _understood(uses: Sequence[Mapping[str, str]]) -> Lines:
    """Return at most three lines: the columns that are used, those that are left out and why, and the others."""
    by_use: dict[str, Lines] = {}
    by_reason: dict[str, Lines] = {}
    for each in uses:
        if each["use"] == LEFT_OUT:
            by_reason.setdefault(each["why"], []).append(each["column"])
        else:
            by_use.setdefault(each["use"], []).append(each["column"])
    others = by_use.pop(NOT_USED, [])
    lines = {
        "used": "; ".join(f"{use}: {_named(names)}" for use, names in by_use.items()),
        LEFT_OUT: "; ".join(f"{_named(names)} ({why})" for why, names in by_reason.items()),
        NOT_USED: _named(others),
    }
    return [f"  {name:<10}{shown(columns)}" for name, columns in lines.items() if columns]


def _named(names: Lines) -> str:
    rest = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


# --- The result in three lines: who is reached, who is lost and why, and what to do ---

_MOST_CAUSES: Final = 3
_MOVES: Final = ("addition", "renewal", "removal")


def _result(document: Mapping[str, Any]) -> Lines:
    """Return how many people are reached or ready, how many are lost and why, and what would save most of them."""
    if document["rows"].get("read") is None:
        return [f"people reached: {UNKNOWN}"]
    return [_reached(document), *_moved(document), *_lost(document), *_repaired(document)]


def _reached(document: Mapping[str, Any]) -> str:
    """Return the people who are reached, or ready, of those in the list, and their share."""
    rows, is_run = {name: count or 0 for name, count in document["rows"].items()}, "state" in document
    people = rows["read"] - rows["duplicate"] - rows["superseded"]
    there = rows["sent"] + rows.get("unchanged", 0) + (0 if is_run else rows["pending"])
    if document["rows"].get("sent") is None:
        return f"{people:,} people in the list, reached: {UNKNOWN}"
    if _is_unsent(document):
        if rows["read"] > rows["rejected"] and not document["identifiers"]:
            return "nothing was sent: the rows of the list could not be read"
        there, is_run = there + rows["pending"], False
    is_refused = "refused" in (document.get("state"), document.get("verdict"))
    done = "reached" if is_run else "ready but for the refusal below" if is_refused else "ready"
    if is_run and document["operation"] == "delete":
        done = "taken out"
    parts = ["nothing was sent"] if _is_unsent(document) else []
    if people or not parts:
        parts.append(f"{there:,} of {people:,} people {done}" + (f", {there / people:.1%}" if people else ""))
    if is_run and rows["pending"]:
        parts.append(f"{rows['pending']:,} not confirmed yet")
    if rows["suppressed"]:
        parts.append(f"{rows['suppressed']:,} kept out")
    if again := rows["duplicate"] + rows["superseded"]:
        parts.append(f"{again:,} row{' repeats' if again == 1 else 's repeat'} a person")
    return "; ".join(parts)


def _is_unsent(document: Mapping[str, Any]) -> bool:
    """Whether this is the report of a run that was refused before anything was sent."""
    return document.get("state") == "refused" and not document["rows"].get("sent")


def _moved(document: Mapping[str, Any]) -> Lines:
    """Return the changes of a sync in one line; none of a list that was refused before a change was known."""
    if not (changes := document.get("changes")) or (_is_unsent(document) and not any(changes.values())):
        return []
    moved = (f"{changes[f'{what}s']:,} {what}{'' if changes[f'{what}s'] == 1 else 's'}" for what in _MOVES)
    would = "without the refusal: " if _is_unsent(document) else ""
    return [
        f"{would}{', '.join(moved)}; {changes['members']:,} members known before, {changes['members_after']:,} after"
    ]


def _lost(document: Mapping[str, Any]) -> Lines:
    """Return the people who are lost, the causes of most losses, and what would save most values; empty without any."""
    lost, rejections = document["rows"].get("rejected") or 0, _by_number(document["rejections"])
    if not rejections:
        return []
    causes = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in rejections[:_MOST_CAUSES])
    more = sum(count for _, count in rejections[_MOST_CAUSES:])
    people = f"{_people(lost)} lost" if lost else "no one lost"
    return [f"{people}; identifiers rejected: {causes}" + (f", {more:,} for other reasons" if more else "")]


def _repaired(document: Mapping[str, Any]) -> Lines:
    """Return a line for the run whose rejected rows this one sent after a repair, and for each that did so with its
    own."""
    lines = []
    if (repair_of := document.get("repair_of")) and repair_of["rejected_rows"] is not None:
        sent, rejected = _count(document["rows"]["sent"]), repair_of["rejected_rows"]
        lines.append(f"repaired and sent: {sent} of {rejected:,} rows with a rejection in run {repair_of['run']}")
    for repair in document.get("repairs", ()):
        counts = f"{_count(repair['rows_sent'])} of {repair['rejected_rows']:,} rows with a rejection"
        lines.append(f"repaired and sent: {counts}, by run {repair['run']}")
    return lines


def _by_number(rejections: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(rejections.items(), key=lambda item: (-item[1], item[0]))


def describe_resumption(is_repeatable: bool, *, keeps_spool: bool = False, again: str = "") -> str:
    """Return a sentence on whether the run can be resumed after an interruption, and what it needs.

    `again` is the command to use for a sync or a renewal, which is repeated instead of resumed.
    """
    if again:
        return f"if the run is interrupted, {again} continues it"
    if keeps_spool:
        return "the run can be resumed: its records are kept, sealed, until it ends"
    if is_repeatable:
        return "the run can be resumed as long as its source is unchanged"
    return (
        "standard input, data frames, addresses with a query and queries to a database can be read only once: "
        "give `keep_spool=True` to be able to resume"
    )


def _described(document: Mapping[str, Any]) -> Iterator[str]:
    """Return the name of the only file, and its form: `list.csv`, `delimited`, `header`, `12 columns`."""
    if len(document["sources"]) == 1:
        yield shown(document["sources"][0]["name"])
    source, header_row = document["source"], document["source"].get("header_row")
    for name, value in source.items():
        if name == "header_row":
            continue
        if name == "header" and header_row not in (None, 1):
            place = f"line {header_row:,}" if source["format"] == "delimited" else f"row {header_row:,} of the sheet"
            yield f"header in {place} (row 1 is below it)"
        elif isinstance(value, bool):
            yield name if value else f"no {name}"
        elif name == "format":
            yield str(value)
        elif isinstance(value, int):
            yield f"{value:,} {name}"
        elif value is not None:
            yield f"{name} {value}"


def _sources(sources: Sequence[Mapping[str, Any]]) -> Lines:
    """Return which rows are from which file, if there are several."""
    width = max((len(source["name"]) for source in sources), default=0)
    lines = [
        f"  {source['name']:<{width}}  rows {source['first_row']:,} to {source['first_row'] + source['rows'] - 1:,}"
        if source["rows"]
        else f"  {source['name']:<{width}}  no rows"
        for source in sources
    ]
    return ["sources", *lines] if len(sources) > 1 else []


def _columns(columns: Mapping[str, list[str]]) -> Lines:
    if not columns:
        return []
    width = max(_KIND_WIDTH, *map(len, columns)) + 1
    return ["columns", *(f"  {kind:<{width}}{', '.join(names)}" for kind, names in columns.items())]


def _rows(rows: Mapping[str, int | None], *, planned: bool = False) -> Lines:
    names = {"sent": "to send" if planned else "sent", "pending": "to send" if planned else "pending"}
    shown = [(names.get(name, name), count) for name, count in rows.items() if count != 0 or name in ("read", "sent")]
    if planned:
        shown = [(name, count) for name, count in shown if not (name == "to send" and count == 0)]
    return ["rows", *(f"  {name:<12}{_count(count):>12}" for name, count in shown)]


def _changes(changes: Mapping[str, Any]) -> Lines:
    """Return the changes of a sync in the audience."""
    if not changes:
        return []
    shown = {name: changes[name] for name in ("additions", "renewals", "removals", "returned", "unchanged")}
    lines = [f"  {name:<12}{count:>12,}" for name, count in shown.items() if count or name != "returned"]
    return [f"changes to {changes['members']:,} members, {changes['members_after']:,} after it", *lines]


def _identifiers(identifiers: Mapping[str, Mapping[str, int]]) -> Lines:
    if not identifiers:
        return []
    width = max(_KIND_WIDTH, *map(len, identifiers)) + 1
    head = f"{'identifiers':<{width + 2}}{'present':>12}{'valid':>12}{'rejected':>12}"
    lines = [
        f"  {kind:<{width}}{counts['present']:>12,}{counts['valid']:>12,}{counts['rejected']:>12,}"
        for kind, counts in identifiers.items()
    ]
    return [head, *lines]


def _rejections(rejections: Mapping[str, int]) -> Lines:
    lines = (f"  {reason:<24}{count:>12,}" for reason, count in _by_number(rejections))
    return ["rejections", *lines] if rejections else []


def _suppression(sources: Sequence[Mapping[str, Any]]) -> Lines:
    """Return for each suppression source which columns were read, and how many of its rows."""
    return ["suppression sources", *(f"  {_suppression_line(source)}" for source in sources)] if sources else []


def _suppression_line(source: Mapping[str, Any]) -> str:
    columns = "; ".join(f"{kind} in {', '.join(names)}" for kind, names in source["columns"].items())
    unread = f", {source['unread']:,} of them could not be read" if source["unread"] else ""
    return f"{source['name']}: {columns}; {_number(source, 'rows')}{unread}"


def _remarks(document: Mapping[str, Any], *, details: bool, more: str = _ALL) -> Lines:
    """Return problems, warnings and notes; without `details` only the number of notes."""
    problems = [f"problem: {shown(problem['message'])}" for problem in document.get("problems", ())]
    warnings = [warning_line(warning) for warning in document.get("warnings", ())]
    notes = [f"note: {shown(note)}" for note in document.get("notes", ())]
    if notes and not details:
        notes = [f"notes: {len(notes):,}; {more} shows them, and all counts"]
    return notes + warnings + problems


def _findings(findings: Sequence[Mapping[str, Any]]) -> Lines:
    """Return each cause of a loss, and what would save how many values."""
    lines = []
    for each in findings:
        lost = f"; {_people(each['people'])} lost" if each["people"] else ""
        lines.append(f"  {shown(each['message'])}{lost}" + (f"; {shown(saved)}" if (saved := _saving(each)) else ""))
    return ["doctor", *lines] if lines else []


def _saving(finding: Mapping[str, Any]) -> str | None:
    if not finding["option"]:
        remedy: str | None = finding["remedy"]
        return remedy
    people = f" values and {_people(finding['saves_people'])}" if finding["people"] else ""
    if finding["saves"] == 1:
        people = people.replace("values", "value")
    return f"{finding['option']} saves {finding['saves']:,}{people}"


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def warning_line(warning: Mapping[str, Any]) -> str:
    """Return a warning of a plan or report, as documents have it, and behind it the remedy if one is known."""
    remedy = f"; {warning['remedy']}" if warning["remedy"] else ""
    return "warning: " + shown(warning["message"] + remedy)


def _number(counts: Mapping[str, int], name: str) -> str:
    return f"{counts[name]:,} {name if counts[name] != 1 else name.removesuffix('s')}"


def _attempts(count: int | None) -> str:
    return "1 attempt" if count == 1 else f"{_count(count)} attempts"


def _count(count: int | None) -> str:
    return UNKNOWN if count is None else f"{count:,}"


def _fill(ratio: float | None) -> str:
    return "" if ratio is None else f", bodies {ratio:.1%} full"


def _operations(planned: Mapping[str, Any]) -> str:
    """Return the number of operations and ` in `; an empty text for a destination without operations."""
    has_none = planned["requests"] and not planned["operations"]
    return "" if has_none else f"{_number(planned, 'operations')} in "


def _minutes(minutes: float | None) -> str:
    """Return the shortest time that the pace allows; an empty text if it does not matter."""
    if minutes is None:
        return ""
    if minutes >= 1:
        return f", at least {minutes:.1f} minutes"
    seconds = round(minutes * 60)
    return f", at least {seconds} second{'' if seconds == 1 else 's'}" if seconds else ""


# --- The list of runs and erasures as a table for people ---

_JOURNALS: Final = {
    "no_journal": "never begun",
    "not_begun": "never begun",
    "damaged": "the journal is damaged: what was confirmed is not known",
    "key": "the journal is of another state key, or was changed: what was confirmed is not known",
    "unreadable": "the journal cannot be read: what was confirmed is not known",
}
_HEADINGS: Final = ("run", "state", "started (UTC)", "took", "what", "to", "list", "sent", "of rows", "")
_NUMBERS: Final = frozenset({"took", "sent", "of rows"})
_LONGEST_LIST: Final = 30  # characters of the names of files; a longer text is cut


def render_runs(runs: Sequence[Mapping[str, Any]], *, width: int | None = None) -> str:
    """Return one line for each run, under a heading; where `width` is too small, as `render_table` does."""
    return render_table(_HEADINGS, [_cells(run) for run in runs], numbers=_NUMBERS, width=width)


def render_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Collection[str] = (),
    width: int | None = None,
) -> str:
    """Return a table, whose columns `numbers` are aligned to the right.

    If it is wider than `width` characters, each row becomes a block instead: its first cell, and a line for each of
    the others, under which it goes on when it is long. No word is broken.
    """
    table = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    if width is None or sum(widths) + 2 * (len(widths) - 1) <= width:
        return "\n".join(
            "  ".join(
                cell.rjust(size) if name in numbers else cell.ljust(size)
                for name, cell, size in zip(headings, cells, widths, strict=True)
            ).rstrip()
            for cells in table
        )
    indent = 2 + max(map(len, headings)) + 2
    lines = []
    for cells in rows:
        lines.append(cells[0])
        for name, cell in zip(headings[1:], cells[1:], strict=True):
            if cell:
                start = f"  {name:<{indent - 2}}"
                lines += wrap(
                    cell, max(width, indent + 20), initial_indent=start, subsequent_indent=" " * indent,
                    break_long_words=False, break_on_hyphens=False,
                )  # fmt: skip
    return "\n".join(lines)


def runs_to_json(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the same for programs, each with its `seconds`; null for one that has not ended."""
    return [{**run, "seconds": seconds_of(run)} for run in runs]


def _cells(run: Mapping[str, Any]) -> tuple[str, ...]:
    rows = run.get("rows") or {}
    seconds = seconds_of(run)
    return (
        run["run_id"] or f"not begun: {shown(run['setup'])}",
        run["state"],
        _moment(run.get("started_at")),
        "" if seconds is None else short_duration(seconds),
        run.get("operation") or "",
        _target(run),
        _lists(run.get("source_names") or ()),
        _run_count(rows.get("sent")),
        _run_count(rows.get("read")),
        _remark(run),
    )


def _moment(text: str | None) -> str:
    return datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M") if text else ""


def _run_count(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def _lists(names: Sequence[str]) -> str:
    listed = shown(", ".join(names))
    return listed if len(listed) <= _LONGEST_LIST else f"{listed[: _LONGEST_LIST - 1]}…"


def _target(run: Mapping[str, Any]) -> str:
    """Return the target of the run; empty for a run that was killed early."""
    if "audiences" in run:
        return f"{run['audiences']['settled']:,} of {run['audiences']['known']:,} audiences"
    if "target" not in run:
        return shown(run.get("audience_name") or "")
    target, name = Target.from_json(run["target"]), run.get("audience_name")
    return f"{shown(repr(name))} ({target.id})" if name else str(target)


def _remark(run: Mapping[str, Any]) -> str:
    """Return whether the run is at work or can be resumed, why its journal prevents it, and how long it is kept."""
    until = f"kept until {run['kept_until']}" if run.get("kept_until") else ""
    if run["run_id"] is None:  # an audience of a setup
        return f"{run['error']}, exit code {run['exit_code']}"
    if "journal" in run:
        why = _JOURNALS.get(run["journal"], "the journal cannot be trusted: see `audiencekit report`")
        return ", ".join(filter(None, (why, until)))
    if "unknown_destination" in run and not run["running"]:
        return ", ".join(filter(None, (NOT_INSTALLED.format(run["unknown_destination"]), until)))
    return "running" if run["running"] else "resumable" if run["resumable"] else until


# --- How long something took, for people ---

_MINUTE: Final = 60
_HOUR: Final = 3_600


def seconds_of(document: Mapping[str, Any]) -> int | None:
    """Return the seconds from `started_at` to `finished_at` of a report; None if it has not ended."""
    started, finished = document.get("started_at"), document.get("finished_at")
    if not started or not finished:
        return None
    return round((datetime.fromisoformat(finished) - datetime.fromisoformat(started)).total_seconds())


def short_duration(seconds: int) -> str:
    """`3 s`, `4:05 min`, `2:07 h`."""
    if seconds < _MINUTE:
        return f"{seconds} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE}:{seconds % _MINUTE:02} min"
    return f"{seconds // _HOUR}:{seconds % _HOUR // _MINUTE:02} h"
