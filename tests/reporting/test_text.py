"""How long something took."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from audiencekit.destinations.target import Target
from audiencekit.errors import PlanRefused
from audiencekit.records.findings import Finding
from audiencekit.records.losses import Loss
from audiencekit.reporting.report import Plan, Report, RowCounts
from audiencekit.reporting.text import (
    describe_resumption,
    render_columns,
    render_plan,
    render_report,
    render_runs,
    runs_to_json,
    seconds_of,
    short_duration,
)
from tests.cases import each_case

# --- How long something took ---


@each_case(
    "seconds, text",
    [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1:00 min"),
        (65, "1:05 min"),
        (3_599, "59:59 min"),
        (3_600, "1:00 h"),
        (7_620, "2:07 h"),
    ],
)
def test_durations(seconds: int, text: str) -> None:
    assert short_duration(seconds) == text


@each_case(
    "document, seconds",
    [
        ({}, None),
        ({"started_at": "2026-11-22T21:56:18Z"}, None),
        ({"started_at": "2026-11-22T21:56:18Z", "finished_at": None}, None),
        ({"started_at": None, "finished_at": "2026-11-22T21:56:18Z"}, None),
        ({"started_at": "2026-11-22T21:56:18Z", "finished_at": "2026-11-23T00:56:19Z"}, 10_801),
    ],
)
def test_a_run_that_has_not_ended_took_no_time_yet(document: dict[str, Any], seconds: int | None) -> None:
    assert seconds_of(document) == seconds


# --- The table of runs and erasures ---

RUN = {
    "run_id": "20261122-215618-1fd80221", "state": "complete", "started_at": "2026-11-22T21:56:18Z",
    "finished_at": "2026-11-22T22:00:23Z", "operation": "update", "target": {"kind": "audience", "id": "hc6uc"},
    "audience_id": "hc6uc", "audience_name": "Spring customers", "source_names": ["us-500.csv"],
    "rows": {"sent": 1_499, "read": 1_500}, "resumable": False, "running": False,
}  # fmt: skip


def test_a_run_is_a_line_under_a_heading() -> None:
    """Of one that was killed early little is known."""
    older = {"run_id": "20261121-000000-1fd80221", "state": "incomplete", "resumable": True, "running": False}
    heading, newest, last = (re.split(r"  +", line) for line in render_runs([RUN, older]).splitlines())
    assert heading == ["run", "state", "started (UTC)", "took", "what", "to", "list", "sent", "of rows"]
    assert newest == [
        *(RUN["run_id"], "complete", "2026-11-22 21:56", "4:05 min", "update", "'Spring customers' (hc6uc)"),
        *("us-500.csv", "1,499", "1,500"),
    ]
    assert last == [older["run_id"], "incomplete", "resumable"]


def _cells(**changed: Any) -> list[str]:
    (line,) = render_runs([{**RUN, **changed}]).splitlines()[1:]
    return re.split(r"  +", line)


@each_case(
    "changed, cell",
    [
        ({"audience_name": None}, "audience hc6uc"),
        ({"audience_name": "a\x1b[2Jb"}, "'a\\x1b[2Jb' (hc6uc)"),
        ({"audiences": {"settled": 1_000, "known": 1_200}}, "1,000 of 1,200 audiences"),
        ({"source_names": ["one.csv", "two.csv"]}, "one.csv, two.csv"),
        ({"source_names": ["x" * 30]}, "x" * 30),
        ({"source_names": ["x" * 31]}, "x" * 29 + "…"),
    ],
)
def test_a_run_says_where_it_goes_and_what_it_read(changed: dict[str, Any], cell: str) -> None:
    """An erasure goes to audiences. A long list of names is cut."""
    assert cell in _cells(**changed)


@each_case(
    "changed, remark",
    [
        ({}, "1,500"),  # the number of rows is the last cell then
        ({"running": True, "resumable": True}, "running"),
        ({"resumable": True, "kept_until": "2026-12-22"}, "resumable"),
        ({"kept_until": "2026-12-22"}, "kept until 2026-12-22"),
        ({"journal": "no_journal"}, "never begun"),
        ({"journal": "not_begun", "kept_until": "2026-12-22"}, "never begun, kept until 2026-12-22"),
        ({"journal": "damaged"}, "the journal is damaged: what was confirmed is not known"),
        ({"journal": "of tomorrow"}, "the journal cannot be trusted: see `audiencekit report`"),
        (
            {"unknown_destination": "letters", "kept_until": "2026-12-22"},
            "the destination letters is not installed, kept until 2026-12-22",
        ),
        ({"unknown_destination": "letters", "running": True}, "running"),
    ],
)
def test_the_last_cell_says_whether_a_run_goes_on(changed: dict[str, Any], remark: str) -> None:
    """And why it cannot, or until when it is kept."""
    assert _cells(**changed)[-1] == remark


def test_numbers_are_beneath_the_end_of_their_heading() -> None:
    lines = render_runs([RUN, {**RUN, "rows": {"sent": 9, "read": 10}}]).splitlines()
    assert {len(line) for line in lines} == {len(lines[0])}
    assert lines[2].endswith("      9       10")


def test_a_run_for_programs_has_its_seconds() -> None:
    """Null while it has not ended."""
    running = {**RUN, "finished_at": None}
    assert runs_to_json([RUN, running]) == [{**RUN, "seconds": 245}, {**running, "seconds": None}]


# --- The texts of reports and plans, line by line ---

FILES = (
    {"name": "one.csv", "first_row": 1, "rows": 1_000},
    {"name": "second.csv", "first_row": 1_001, "rows": 234},
    {"name": "none.csv", "first_row": 1_235, "rows": 0},
)
LISTS = (
    {"name": "stop.csv", "columns": {"email": ["email"], "phone_number": ["home", "work"]}, "rows": 1, "unread": 0},
    {"name": "left.csv", "columns": {"email": ["mail"]}, "rows": 1_200, "unread": 3},
)
CHANGES = {
    "members": 2_000, "members_after": 2_900, "additions": 1_000, "renewals": 0, "removals": 100, "returned": 0,
    "unchanged": 5,
}  # fmt: skip
COLUMNS = {"email": ["email", "mail"], "phone_number": ["phone"]}
IDENTIFIERS = {"email": {"present": 1_234, "valid": 1_004, "rejected": 230}}
REPORT = Report(
    run_id="20261124-1", state="incomplete", target=Target.audience("a1"), operation="update", audience_name="Autumn",
    source_names=("one.csv", "second.csv"), sources=FILES, columns=COLUMNS, identifiers=IDENTIFIERS,
    rows=RowCounts(read=1_234, sent=1_000, rejected=230, duplicate=3, pending=1), changes=CHANGES,
    rejections={"empty": 5, "not_valid": 220, "already_hashed": 5}, suppression=LISTS,
    requests_planned=1_200, requests_confirmed=1_199, attempts=1_300, bytes=5_000_000, fill_ratio=0.9876,
    records_sent=1_000, success_count=999, total_count=1_000,
    miscounted=({"request": 7, "records_sent": 500, "success_count": 499, "total_count": 500},),
    expires_at="2027-12-24T00:00:00Z", started_at="2026-11-24T00:00:00Z", finished_at="2026-11-24T00:04:05Z",
    problems=({"message": "the disk is full", "hint": ""},), notes=("a note",),
    warnings=({"message": "a loss", "remedy": "a remedy"}, {"message": "another", "remedy": None}),
)  # fmt: skip
LOSS = Loss(code="empty", column=None, count=2, share=0.1, message="a loss")
PLAN = Plan(
    column_uses=tuple(
        {"column": column, "use": use, "why": why}
        for column, use, why in (
            ("email", "email", "by name"), ("mail", "email", "by content"), ("town", "not used", ""),
            ("Coach Email", "left out", "of other people"), ("land", "country", "as given"),
            ("Fax", "left out", "of other people"), ("old", "left out", "blank"),
        )
    ),
    source={"format": "delimited", "encoding": "utf-8", "header": True, "columns": 12, "sheet": None},
    sources=FILES[:1], columns=COLUMNS, identifiers=IDENTIFIERS, rejections={"empty": 1}, suppression=LISTS[:1],
    rows=RowCounts(read=1_234, rejected=230, superseded=4, pending=1_000), requests=1, operations=2_500, records=1_000,
    bytes=1_234_567, minutes=0.5, fill_ratio=None, plan_time="2026-11-24T00:00:00Z", expires_at="2027-12-24T00:00:00Z",
    effective_at=None, verdict="ready_with_warnings", warnings=(LOSS,),
    refusals=(PlanRefused("too few"),), notes=("a note",),
)  # fmt: skip


def test_a_report_says_all_that_it_counts() -> None:
    """Files that have rows, columns, rows that are not zero, what a sync changes, and what was noted, in this order."""
    assert render_report(REPORT.to_json(), details=True).splitlines() == [
        "Run 20261124-1: update audience 'Autumn' (a1)",
        "  list      one.csv, second.csv",
        "  started   2026-11-24T00:00:00Z, took 4:05 min",
        "",
        "1,000 of 1,231 people reached, 81.2%; 1 not confirmed yet; 3 rows repeat a person",
        "1,000 additions, 0 renewals, 100 removals; 2,000 members known before, 2,900 after",
        "230 people lost; identifiers rejected: 220 not valid, 5 already hashed, 5 empty",
        "",
        "sources",
        "  one.csv     rows 1 to 1,000",
        "  second.csv  rows 1,001 to 1,234",
        "  none.csv    no rows",
        "columns",
        "  email           email, mail",
        "  phone_number    phone",
        "rows",
        "  read               1,234",
        "  sent               1,000",
        "  rejected             230",
        "  duplicate              3",
        "  pending                1",
        "changes to 2,000 members, 2,900 after it",
        "  additions          1,000",
        "  renewals               0",
        "  removals             100",
        "  unchanged              5",
        "identifiers            present       valid    rejected",
        "  email                  1,234       1,004         230",
        "rejections",
        "  not_valid                        220",
        "  already_hashed                     5",
        "  empty                              5",
        "suppression sources",
        "  stop.csv: email in email; phone_number in home, work; 1 row",
        "  left.csv: email in mail; 1,200 rows, 3 of them could not be read",
        "requests",
        "  confirmed   1,199 of 1,200 planned, 1,300 attempts",
        "  bytes       5,000,000, bodies 98.8% full",
        "reconciliation",
        "  records sent 1,000, success_count 999, total_count 1,000: THEY DIFFER",
        "  request 7: records sent 500, success_count 499, total_count 500: THEY DIFFER",
        "  (received; the service does not tell who was matched)",
        "expires at    2027-12-24T00:00:00Z",
        "note: a note",
        "warning: a loss; a remedy",
        "warning: another",
        "problem: the disk is full",
        "",
        "state: incomplete",
    ]


def test_a_report_without_much_is_short() -> None:
    """Nothing stands there for what the run did not have."""
    report = Report(
        run_id="r1", state="complete", target=Target.from_json({"kind": "letters", "id": "b2"}), operation="delete",
        rows=RowCounts(read=0), started_at="2026-11-24T00:00:00Z", requests_planned=1, requests_confirmed=1, attempts=1,
    )  # fmt: skip
    assert render_report(report.to_json()).splitlines() == [
        "Run r1: delete letters b2",
        "  unknown   the destination letters is not installed",
        "  started   2026-11-24T00:00:00Z",
        "",
        "0 of 0 people taken out",
        "",
        "state: complete",
    ]


def test_a_plan_says_all_that_it_counts() -> None:
    """The form of the only file, then as a report does; the verdict is the last line."""
    assert render_plan(PLAN.to_json(), details=True).splitlines() == [
        "Source: one.csv, delimited, encoding utf-8, header, 12 columns",
        "  used      email: email, mail; country: land",
        "  left out  Coach Email, Fax (of other people); old (blank)",
        "  not used  town",
        "",
        "1,000 of 1,230 people ready, 81.3%; 4 rows repeat a person",
        "230 people lost; identifiers rejected: 1 empty",
        "",
        "rows",
        "  read               1,234",
        "  rejected             230",
        "  superseded             4",
        "  to send            1,000",
        "identifiers            present       valid    rejected",
        "  email                  1,234       1,004         230",
        "rejections",
        "  empty                              1",
        "suppression sources",
        "  stop.csv: email in email; phone_number in home, work; 1 row",
        "plan",
        "  1,000 records in 2,500 operations in 1 request",
        "  1,234,567 bytes, at least 30 seconds",
        "  expires at 2027-12-24T00:00:00Z",
        "  the run can be resumed as long as its source is unchanged",
        "note: a note",
        "warning: a loss",
        "problem: too few",
        "",
        "verdict: ready with warnings",
    ]


@each_case(
    "changed, lines",
    [
        ({"rejections": {}, "rows": RowCounts(read=2, pending=2)}, ["2 of 2 people ready, 100.0%"]),
        (
            {"rejections": {"empty": 9}, "rows": RowCounts(read=2, pending=2)},
            ["2 of 2 people ready, 100.0%", "no one lost; identifiers rejected: 9 empty"],
        ),
        (
            {"rejections": {}, "rows": RowCounts(read=8, pending=4, suppressed=3, duplicate=1)},
            ["4 of 7 people ready, 57.1%; 3 kept out; 1 row repeats a person"],
        ),
        (
            {"rejections": {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}, "rows": RowCounts(read=1, rejected=1)},
            ["0 of 1 people ready, 0.0%", "1 person lost; identifiers rejected: 5 e, 4 d, 3 c, 3 for other reasons"],
        ),
        (
            {"verdict": "refused", "rejections": {}, "rows": RowCounts(read=1, pending=1)},
            ["1 of 1 people ready but for the refusal below, 100.0%"],
        ),
        ({"rejections": {}, "rows": RowCounts(read=0)}, ["0 of 0 people ready"]),
    ],
)
def test_the_result_says_who_is_ready_and_who_is_lost(changed: dict[str, Any], lines: list[str]) -> None:
    """In as few lines as there is something to say."""
    text = render_plan(replace(PLAN, **changed).to_json()).splitlines()
    start = text.index("") + 1
    assert text[start : start + len(lines)] == lines
    assert text[start + len(lines)].startswith("notes: 1;")


def test_a_report_without_its_counts_says_so() -> None:
    """A journal that cannot be read does not know them."""
    document = REPORT.to_json()
    document["rows"] = {**document["rows"], "sent": None, "pending": None}
    assert "1,231 people in the list, reached: not known" in render_report(document).splitlines()
    document["rows"] = dict.fromkeys(document["rows"])
    assert "people reached: not known" in render_report(document).splitlines()


def test_the_columns_are_lines_beneath_each_other() -> None:
    """Each with what it is used as, and why."""
    assert render_columns(PLAN.column_uses).splitlines() == [
        "email        email     by name",
        "mail         email     by content",
        "town         not used",
        "Coach Email  left out  of other people",
        "land         country   as given",
        "Fax          left out  of other people",
        "old          left out  blank",
    ]


@each_case("width", [20, 40, 60, 80])
def test_a_narrow_table_breaks_no_word(width: int) -> None:
    """Each row is a block then, and blank cells are left out."""
    text = render_runs([RUN, {**RUN, "resumable": True}], width=width)
    assert "took           4:05 min" in text
    assert "resumable" in text
    assert {"20261122-215618-1fd80221", "'Spring", "customers'", "(hc6uc)", "us-500.csv"} <= set(text.split())
    assert all(len(line) <= max(width, 40) for line in text.splitlines())


def _finding(**facts: Any) -> Finding:
    return Finding(code="empty", column="email", count=9, share=0.1, message="9 are empty", **facts)


@each_case(
    "changed, line",
    [
        ({"source": {"format": "JSON", "header": False}}, "Source: one.csv, JSON, no header"),
        ({"source": {"format": "delimited", "header": True, "header_row": 1}}, "Source: one.csv, delimited, header"),
        (
            {"source": {"format": "delimited", "header": True, "header_row": 1_003}},
            "Source: one.csv, delimited, header in line 1,003 (row 1 is below it)",
        ),
        (
            {"source": {"format": "spreadsheet", "sheet": "a", "header": True, "header_row": 3}},
            "Source: one.csv, spreadsheet, sheet a, header in row 3 of the sheet (row 1 is below it)",
        ),
        ({"sources": FILES}, "Source: delimited, encoding utf-8, header, 12 columns"),
        ({"requests": 2, "operations": 1, "records": 1}, "  1 record in 1 operation in 2 requests"),
        ({"operations": 0}, "  1,000 records in 1 request"),
        ({"requests": 0, "operations": 0, "records": 0}, "  0 records in 0 operations in 0 requests"),
        ({"minutes": None}, "  1,234,567 bytes"),
        ({"minutes": 0.001}, "  1,234,567 bytes"),
        ({"minutes": 0.02}, "  1,234,567 bytes, at least 1 second"),
        ({"minutes": 1.0, "fill_ratio": 0.5}, "  1,234,567 bytes, bodies 50.0% full, at least 1.0 minutes"),
        ({"changes": {**CHANGES, "returned": 2}}, "  returned               2"),
        ({"changes": CHANGES}, "  if the run is interrupted, the same command continues it"),
        ({"findings": (_finding(),)}, "  9 are empty"),
        ({"findings": (_finding(people=1, remedy="fill them"),)}, "  9 are empty; 1 person lost; fill them"),
        ({"findings": (_finding(option="`x=1`", saves=1_000),)}, "  9 are empty; `x=1` saves 1,000"),
        (
            {"findings": (_finding(people=1_200, option="`x=1`", saves=1, saves_people=1),)},
            "  9 are empty; 1,200 people lost; `x=1` saves 1 value and 1 person",
        ),
        (
            {"findings": (_finding(people=2, option="`x=1`", saves=7, saves_people=2),)},
            "  9 are empty; 2 people lost; `x=1` saves 7 values and 2 people",
        ),
        ({"verdict": "refused"}, "verdict: refused"),
    ],
)
def test_a_line_of_a_plan(changed: dict[str, Any], line: str) -> None:
    """One or more of a thing, and what is left out where it is not there."""
    assert line in render_plan(replace(PLAN, **changed).to_json(), details=True).splitlines()


def test_texts_of_others_cannot_control_a_terminal() -> None:
    """Neither the name of an audience nor a message brings its control characters."""
    report = replace(
        REPORT, audience_name="a\x1b[2Jb", source_names=("c\x1b]0;d",), notes=("e\x9b1m",),
        problems=({"message": "f\x07", "hint": ""},),
    )  # fmt: skip
    assert set(render_report(report.to_json())) & set("\x1b\x9b\x07") == set()


@each_case(
    "is_repeatable, keeps_spool, again, expected",
    [
        (True, False, "", "unchanged"),
        (True, True, "", "sealed"),
        (False, True, "", "sealed"),
        (False, False, "", "data frames"),
        (True, False, "`audiencekit renew --audience 1a`", "`audiencekit renew --audience 1a` continues it"),
    ],
)
def test_the_needs_of_a_resumption_are_said(is_repeatable: bool, keeps_spool: bool, again: str, expected: str) -> None:
    """A sync and a renewal are not resumed, whatever they read."""
    assert expected in describe_resumption(is_repeatable, keeps_spool=keeps_spool, again=again)


def test_a_refused_run_does_not_say_that_people_were_reached() -> None:
    """Nor that members changed: both are what would be."""
    document = REPORT.to_json()
    rows = {**document["rows"], "sent": 0, "unchanged": 999, "pending": 2}
    lines = render_report({**document, "state": "refused", "rows": rows}, more="`report R`").splitlines()
    assert (
        "nothing was sent; 1,001 of 1,231 people ready but for the refusal below, 81.3%; 3 rows repeat a person"
        in lines
    )
    assert (
        "without the refusal: 1,000 additions, 0 renewals, 100 removals; 2,000 members known before, 2,900 after"
        in lines
    )
    assert [line for line in lines if line.startswith("notes:")] == [
        f"notes: {len(document['notes'])}; `report R` shows them, and all counts"
    ]
    unread = dict.fromkeys(rows, 0)
    refused = render_report({**document, "state": "refused", "rows": unread, "changes": None, "rejections": {}})
    assert "nothing was sent" in refused.splitlines()
    unjudged = {"state": "refused", "rows": {**unread, "read": 9, "pending": 9}, "identifiers": {}, "rejections": {}}
    assert "the rows of the list could not be read" in render_report({**document, **unjudged})
    still = {"state": "refused", "rows": unread, "changes": dict.fromkeys(document["changes"], 0)}
    assert "without the refusal" not in render_report({**document, **still})
