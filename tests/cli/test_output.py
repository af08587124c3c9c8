"""Each option that the library names has its flag, and only prose of ours is changed."""

from __future__ import annotations

import ast
import io
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given, strategies as st

import audiencekit
from audiencekit.cli import cli, output
from audiencekit.cli.main import Manner
from audiencekit.cli.output import insist, leave_with, print_report, say, say_document, spelled, spelled_document, tell
from audiencekit.destinations.target import Target
from audiencekit.errors import InputOutputFailed, PlanRefused, UsageError
from audiencekit.reporting.report import Report, RowCounts
from audiencekit.text import OPTION, option
from tests.cases import each_case

PACKAGE = Path(audiencekit.__file__).parent
_FLAG = re.compile(r"(?<![\w-])--[a-z]")
_NAMES_AN_OPTION = re.compile(r"--[a-z]|`\w+=|\boption\(")
_OF_GPG = re.compile(r"\bgpg --[a-z-]+")
_COMMAND = re.compile(r"`audiencekit [^`]*(?:`|$)")


@each_case(
    "name, value, expected",
    [
        ("country", None, "--country"),
        ("country", "US", "--country US"),
        ("allow_empty", True, "--allow-empty"),
        ("header", False, "--no-header"),
        ("suppress_header", False, "--suppress-no-header"),
        ("max_rejected_column_share", 1, "--max-rejected-column-share 1"),
        ("ignore", ["main phone"], "--ignore 'main phone'"),
        ("columns", {"handle": "Screen Name"}, "--map handle='Screen Name'"),
        ("columns", {"email": "COLUMN", "device_id": "COLUMN"}, "--map email=COLUMN, --map device_id=COLUMN"),
        ("split_cells", "/", "--split-cells '/'"),
        ("split_cells", "\n", "--split-cells $'\\n'"),
        ("ignore", ["a`b"], "--ignore 'a`b'"),
    ],
)
def test_an_option_becomes_its_flag(name: str, value: object, expected: str) -> None:
    """With values as a shell takes them."""
    assert spelled(f"say {option(name, value)}, or wait") == f"say {expected}, or wait"


def test_a_word_that_stands_for_a_value_is_kept() -> None:
    """FILE is no literal."""
    assert spelled("look at `rejections=FILE`") == "look at --rejections FILE"


@given(st.text())
def test_a_value_does_not_end_its_option(value: str) -> None:
    """Whatever a column is called."""
    found = OPTION.fullmatch(option("ignore", [value]))
    assert found is not None
    assert ast.literal_eval(found[2]) == [value]


def test_only_prose_is_changed() -> None:
    """Names of columns and values of others are data."""
    said = "say `country=`"
    document = {"name": said, "problems": [{"message": said, "columns": [said]}], "notes": [said], "hint": None}
    assert spelled_document(document) == {
        "name": said, "problems": [{"message": "say --country", "columns": [said]}], "notes": ["say --country"],
        "hint": None,
    }  # fmt: skip


@cache
def _texts() -> list[tuple[str, str]]:
    """The place and text of each string in the library that is no docstring, but for the command line and emulator."""
    return list(_found_texts())


def _found_texts() -> Iterator[tuple[str, str]]:
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(("cli/", "emulator/")):
            continue
        text = path.read_text(encoding="utf-8")
        if not _NAMES_AN_OPTION.search(text):  # to parse all files takes seconds
            continue
        nodes = list(ast.walk(ast.parse(text)))
        prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                yield f"{name}:{node.lineno}", node.value
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "option":
                yield (
                    f"{name}:{node.lineno}",
                    "".join(f"`{each.value}=`" for each in node.args[:1] if isinstance(each, ast.Constant)),
                )


def test_no_flag_is_spelled_elsewhere() -> None:
    """Python and Airflow have none; a whole command between backquotes is one at every door."""
    found = [place for place, text in _texts() if _FLAG.search(_COMMAND.sub("", _OF_GPG.sub("", text)))]
    others = (
        "process/signals.py",
        "sources/bytes/pgp.py",
        "reporting/page/",
    )  # reads `sys.argv`; starts gpg; colours of CSS
    assert [place for place in found if not place.startswith(others)] == []


def _flags(command: click.Command) -> set[str]:
    found = {flag for parameter in command.params for flag in parameter.opts}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            each = command.get_command(context, name)
            found |= _flags(each) if each is not None else set()
    return found


def test_every_option_that_is_named_exists() -> None:
    """As a flag of a command."""
    named = {found[1] for _, text in _texts() for found in OPTION.finditer(text)}
    assert len(named) > 30
    flags = _flags(cli)
    only_python = {"settings"}  # for a keyword that `upload` does not have
    unknown = {name for name in named if spelled(f"`{name}=`") not in flags}
    assert unknown == only_python


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


def test_on_a_terminal_lines_are_divided_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """And go on under the text that they belong to."""
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stdout", terminal)
    say_document("  used      email: " + ", ".join(f"column{number}" for number in range(12)))
    lines = terminal.getvalue().splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert [line[:12].strip() for line in lines] == ["used", *[""] * (len(lines) - 1)]
    assert "".join(lines).count("column") == 12


@pytest.mark.parametrize(
    "line",
    [
        f"export AUDIENCEKIT_CONSUMER_SECRET={'s' * 50}",
        "Next: audiencekit upload contacts.csv --audience 'Spring customers'",
        "open http://127.0.0.1:8080/oauth/authorize?oauth_token=t by hand",
    ],
)
def test_on_a_terminal_a_line_to_be_copied_stays_whole(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """In two lines, the shell would take an `export` without its variable for an order to list all of them."""
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stderr", terminal)
    tell(line)
    assert click.unstyle(terminal.getvalue()) == f"{line}\n"
