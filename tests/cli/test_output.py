"""Data, messages and failures of commands: where they go, in which form and colour."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from audiencekit.cli import output
from audiencekit.cli.globaloptions import Manner
from audiencekit.cli.output import insist, leave_with, print_report, say, say_document, tell
from audiencekit.destinations.target import Target
from audiencekit.errors import InputOutputFailed, PlanRefused, UsageError
from audiencekit.reporting.report import Report, RowCounts

REPORT = Report(
    run_id="20261124-1", state="incomplete", target=Target.audience("a1"), operation="update", rows=RowCounts(read=0),
    started_at="2026-11-24T00:00:00Z", problems=({"message": "say `max_rejected_share=1`", "hint": ""},),
).to_json()  # fmt: skip


def _is(monkeypatch: pytest.MonkeyPatch, manner: Manner) -> None:
    monkeypatch.setattr(output, "manner", lambda: manner)
    monkeypatch.setattr(output, "stderr_is_coloured", lambda: manner.colour == "always")


@pytest.mark.parametrize(
    ("line", "coloured"),
    [
        ("error: no", "\x1b[31m\x1b[1merror:\x1b[0m no"),
        ("bug: no", "\x1b[31m\x1b[1mbug:\x1b[0m no"),
        ("  what to do: this", "\x1b[36m\x1b[1m  what to do:\x1b[0m this"),
        ("note: a note", "\x1b[34m\x1b[1mnote:\x1b[0m a note"),
        ("problem: a problem", "\x1b[31mproblem: a problem\x1b[0m"),
        ("warning: a loss", "\x1b[33mwarning: a loss\x1b[0m"),
        ("verdict: refused", "\x1b[31mverdict: refused\x1b[0m"),
        ("verdict: ready with warnings", "\x1b[33mverdict: ready with warnings\x1b[0m"),
        ("verdict: ready", "\x1b[32mverdict: ready\x1b[0m"),
        ("state: complete", "\x1b[32mstate: complete\x1b[0m"),
        ("state: incomplete", "\x1b[33mstate: incomplete\x1b[0m"),
        ("state: refused", "\x1b[31mstate: refused\x1b[0m"),
        ("rows", "rows"),
        ("  note: a note", "  note: a note"),
    ],
)
def test_a_line_is_coloured_by_its_beginning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, coloured: str
) -> None:
    """On stdout a document only; messages on stderr."""
    _is(monkeypatch, Manner(colour="always"))
    say_document(f"rows\n{line}")
    say(line)
    tell(line)
    out, err = capsys.readouterr()
    assert (out, err) == (f"rows\n{coloured}\n{line}\n", f"{coloured}\n")


def test_a_quiet_command_keeps_messages_to_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """But no error and no question, and no data."""
    _is(monkeypatch, Manner(is_quiet=True))
    say("data")
    tell("a message")
    insist("a question")
    assert capsys.readouterr() == ("data\n", "a question\n")


@pytest.mark.parametrize("as_json", [True, False])
def test_a_report_is_printed_with_the_flags_of_commands(capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    """As JSON for programs, or as text."""
    print_report(REPORT, as_json=as_json)
    out, err = capsys.readouterr()
    told = json.loads(out)["problems"][0]["message"] if as_json else out.splitlines()[-3]
    assert told == ("" if as_json else "problem: ") + "say --max-rejected-share 1"
    assert err == ""


def _failure(kind: type[PlanRefused | UsageError], document: dict[str, Any] | None) -> PlanRefused | UsageError:
    error = kind("say `allow_empty=True`", hint="give `country=`")
    error.document = document
    return error


@pytest.mark.parametrize(
    ("kind", "document", "as_json", "code", "printed"),
    [
        (PlanRefused, None, False, 3, None),
        (PlanRefused, {"state": "refused"}, False, 3, None),
        (PlanRefused, REPORT, False, 3, "state: incomplete"),
        (UsageError, None, True, 2, {"state": "refused", "continue_with": None}),
        (PlanRefused, REPORT, True, 3, {**REPORT, "continue_with": None}),
    ],
)
def test_a_failure_leaves_with_what_is_known_and_its_code(
    capsys: pytest.CaptureFixture[str],
    kind: type[PlanRefused | UsageError],
    document: dict[str, Any] | None,
    as_json: bool,
    code: int,
    printed: Any,
) -> None:
    """The report of a run, when there is one; the message and what to do are the last lines of stderr."""
    with pytest.raises(SystemExit) as ended:
        leave_with(_failure(kind, document), as_json=as_json)
    out, err = capsys.readouterr()
    assert ended.value.code == code
    assert err == "error: say --allow-empty\n  what to do: give --country\n"
    if as_json:
        found = json.loads(out)
        assert found.pop("error") == {
            "type": kind.__name__, "message": "say --allow-empty", "hint": "give --country",
        }  # fmt: skip
        assert (found["state"], set(found)) == (printed["state"], set(printed))
    else:
        assert (out.splitlines() or [None])[-1] == printed


def test_the_remedy_is_said_where_stdout_takes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(InputOutputFailed, match="stdout cannot be written: it is closed"):
        leave_with(_failure(PlanRefused, REPORT), as_json=True)
    assert capsys.readouterr().err.endswith("  what to do: give --country\n")
