"""The normalisers of other tools, their code as it is published, over the vectors: which classes of faults they have.

    python -m benchmarks.other_tools [--tool NAME ...] [--dir DIR] [--out docs/verify.md]

It downloads each tool at a pinned version with `pip` or `npm`, into an environment of its own below a temporary folder,
and runs its code there, with invented values only. With --dir the environments are kept for the next start.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from audiencekit.conformance.fault_classes import BY_CODE, LEFT_OUT
from audiencekit.conformance.verifying import Hash, verify_command, verify_function
from audiencekit.errors import InputOutputFailed
from audiencekit.identifiers.kinds import Kind
from audiencekit.process.programs import find_program, start_program
from audiencekit.reporting.verification import Verification
from benchmarks.benchmark import tell
from benchmarks.other_tools.environments import Environment, NotInstalled, install
from benchmarks.other_tools.rules import RULES, Forgiving, Rule
from benchmarks.other_tools.tools import TOOLS, ShowCountry, Tool
from benchmarks.sections import NoPlace, publish_section, split_at

BEGIN: Final = "<!-- other tools: what follows is written by python -m benchmarks.other_tools -->"
END: Final = "<!-- other tools: end -->"
NAMED: Final = 6  # classes of faults in a row


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The result of one kind of one tool: by the specification, and by the rule of the tool's service."""

    tool: Tool
    kind: Kind
    found: Verification
    by_rule: Verification


# --- One tool ---


def try_tool(environment: Environment) -> Iterator[Trial]:
    """Run the tool over the vectors of each of its kinds. Raises InputOutputFailed when its program fails.

    A program that refuses all values is one that fails: the call is wrong, or the package is another one.
    """
    tool = environment.tool
    for kind in tool.calls:
        show = tool.show_country(kind)
        verify = _verify_lines if show is None else _with_country(show)
        found = by_rule = verify(environment, kind, None)
        if not found.right and all(fault.code == LEFT_OUT[0] for fault in found.faults):
            raise InputOutputFailed(f"the program gave no digest of any {kind.value}")
        if (rule := tool.rule) is not None and (kind in rule.changes or rule.encode is not str):
            by_rule = verify(environment, kind, rule)
        yield Trial(tool=tool, kind=kind, found=found, by_rule=by_rule)


Verify = Callable[[Environment, Kind, Rule | None], Verification]


def _verify_lines(environment: Environment, kind: Kind, rule: Rule | None) -> Verification:
    """The tool takes no country: it gets a value a line, and of numbers those with their country code."""
    command = environment.command(kind, "lines")
    if rule is not None:
        program = find_program(command[0]) or command[0]
        filtering = [sys.executable, "-m", "benchmarks.other_tools.rules", rule.name, kind.value]
        command = [*filtering, program, *command[1:]]
    return verify_command(command, kind=kind.value)


def _with_country(show: ShowCountry) -> Verify:
    """The tool takes a country: it gets all vectors, each with its country as `show` writes it."""

    def verify(environment: Environment, kind: Kind, rule: Rule | None) -> Verification:
        forgiving = None if rule is None else Forgiving(rule, kind)
        with _answers(environment.command(kind, "pairs")) as answer:

            def digest_of(text: str, country: str | None) -> str | None:
                digest = answer(text, country and show(country))
                return forgiving.forgive(text, country, digest) if forgiving else digest

            return verify_function(digest_of, kind=kind.value)

    return verify


@contextmanager
def _answers(words: Sequence[str]) -> Iterator[Hash]:
    """A function that asks the program `words`. Raises InputOutputFailed at the end when it did not answer them all."""
    process = start_program(
        [find_program(words[0]) or words[0], *words[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    unanswered = 0

    def answer(text: str, country: str | None) -> str | None:
        nonlocal unanswered
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{json.dumps([text, country])}\n".encode())
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = b""
        unanswered += not line
        found = json.loads(line) if line else None
        return found if isinstance(found, str) else None

    try:
        yield answer
    finally:
        process.communicate()
    if unanswered:
        raise InputOutputFailed(f"the program did not answer {unanswered:,} values")


# --- The text ---


def make_text(trials: Sequence[Trial], left_out: Sequence[tuple[Tool, str]], day: str) -> str:
    """The section: the tools, the rules of their services, the result of each kind, and what could not be tried."""
    tools = list(dict.fromkeys(trial.tool.name for trial in trials))
    by_name = {trial.tool.name: trial.tool for trial in trials}
    used = {tool.rule.name: tool.rule for tool in by_name.values() if tool.rule is not None}
    parts = [
        f"Tried on {day} by `python -m benchmarks.other_tools --out docs/verify.md`.",
        _table(
            (
                "tool",
                "right",
                "by its service's rule",
                "fault classes",
                "classes, those of the most vectors first",
                "besides",
            ),
            [_result(trial) for trial in trials],
        ),
        _table(
            ("tool", "installed", "called", "it normalises", "numbers"),
            [_described(by_name[name]) for name in tools],
        ),
        _table(
            ("rule", "is written in", "so these are no fault"),
            [_ruled(rule) for name, rule in RULES.items() if name in used],
        ),
    ]
    parts += [f"Not tried: {tool.name}, as {reason}." for tool, reason in left_out]
    return "\n\n".join(parts)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" if cells[0] != "---" else f"|{'|'.join(cells)}|" for cells in lines)


def _result(trial: Trial) -> list[str]:
    rule = trial.tool.rule
    forgiven = rule.codes if rule else frozenset()
    faults = [fault for fault in trial.found.faults if fault.code in BY_CODE and fault.code not in forgiven]
    named = [f"`{fault.code}` {fault.rows:,}" for fault in faults[:NAMED]]
    more = len(faults) - len(named)
    others = [f"`{fault.code}` {fault.rows:,}" for fault in trial.found.faults if fault.code not in BY_CODE]
    return [
        f"{trial.tool.name}, `{trial.kind.value}`",
        _share(trial.found),
        f"{_share(trial.by_rule)}, `{rule.name}`" if rule else "–",
        str(len(faults)),
        ", ".join([*named, *([f"{more} more"] if more else [])]) or "–",
        ", ".join(others) or "–",
    ]


def _share(found: Verification) -> str:
    every = found.right + found.wrong
    return f"{found.right / every:.1%} of {every:,}" if every else "–"


def _described(tool: Tool) -> list[str]:
    numbers = "–"
    if Kind.PHONE_NUMBER in tool.calls:
        numbers = (
            "with their country code" if tool.show_country(Kind.PHONE_NUMBER) is None else "with the row's country"
        )
    return [tool.name, ", ".join(f"`{one}`" for one in tool.requirements), tool.called, tool.normalises, numbers]


def _ruled(rule: Rule) -> list[str]:
    return [f"`{rule.name}`", rule.source, ", ".join(f"`{code}`" for code in sorted(rule.codes)) or "–"]


# --- The command ---


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the tools and write the section; 1 when a tool could not be tried, and nothing is written when none could."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.other_tools", description="How others hash.")
    parser.add_argument(
        "--tool", action="append", choices=[tool.name for tool in TOOLS], help="only this one; the table is printed"
    )
    parser.add_argument("--dir", type=Path, help="where the environments are kept")
    parser.add_argument("--out", type=Path, help="the file that the table is written into")
    given = parser.parse_args(arguments)
    if given.tool and given.out:
        parser.error("--out is for the table of all tools: leave --tool out")
    if given.out is not None:
        try:
            split_at(given.out, given.out.read_text(encoding="utf-8"), begin=BEGIN, end=END)
        except (OSError, NoPlace) as error:
            parser.error(str(error))
    tools = [tool for tool in TOOLS if not given.tool or tool.name in given.tool]
    with TemporaryDirectory(prefix="audiencekit-other-tools-") as temporary:
        folder = (given.dir or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        trials, left_out = try_tools(tools, folder)
    if trials:
        text = make_text(trials, left_out, datetime.now(UTC).date().isoformat())
        publish_section(given.out, text, begin=BEGIN, end=END)
    return 1 if left_out else 0


def try_tools(tools: Sequence[Tool], folder: Path) -> tuple[list[Trial], list[tuple[Tool, str]]]:
    """Return the results, and the tools that could not be tried, with the reason. One does not stop the others."""
    trials, left_out = list[Trial](), list[tuple[Tool, str]]()
    for tool in tools:
        tell(f"{tool.name}: begins")
        try:
            trials += list(try_tool(install(tool, folder)))
        except (NotInstalled, InputOutputFailed) as error:
            tell(f"{tool.name}: {error}")
            left_out.append((tool, str(error)))
    return trials, left_out


if __name__ == "__main__":
    sys.exit(main())
