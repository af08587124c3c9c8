"""The help texts: groups, one-line summaries that are not cut, and examples that the commands accept."""

from __future__ import annotations

import shlex

import click
from click.testing import CliRunner

from audiencekit.cli import SECTIONS, cli
from tests.cases import each_case
from tests.commandtree import commands_of


def _leaves(group: click.Group, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], click.Command]]:
    found: list[tuple[tuple[str, ...], click.Command]] = []
    for name, command in commands_of(group):
        own = (*path, name)
        found += _leaves(command, own) if isinstance(command, click.Group) else [(own, command)]
    return found


LEAVES = _leaves(cli)


def _help(path: tuple[str, ...], command: click.Command) -> str:
    """The help of all options."""
    context = command.make_context(" ".join(path), [], resilient_parsing=True)
    done = CliRunner().invoke(cli, [*path, "--help-all"])
    return done.output if done.exit_code == 0 else command.get_help(context)


def test_commands_stand_in_their_groups_with_a_whole_summary() -> None:
    text = cli.get_help(cli.make_context("audiencekit", [], resilient_parsing=True))
    for title, names in SECTIONS.items():
        section = text.split(f"\n{title}:\n")[1].split("\n\n")[0].splitlines()
        assert [line.split()[0] for line in section] == list(names)
    assert not any(line.endswith("...") for line in text.split("\nMain job:\n")[1].splitlines())


@each_case(
    "arguments, told",
    [
        (["chek"], "No such command 'chek'. Did you mean 'check'?"),
        (["prüfen"], "No such command 'prüfen'.\n"),
        (["do-not-reech", "upload"], "No such command 'do-not-reech'. Did you mean 'do-not-reach'?"),
        (["blue"], "No such command 'blue'."),
    ],
)
def test_a_misspelled_command_is_refused_with_the_nearest_name(arguments: list[str], told: str) -> None:
    result = CliRunner().invoke(cli, arguments)
    assert (result.exit_code, told in result.output, "Did you" in result.output) == (2, True, "Did you" in told)


@each_case("path, command", LEAVES)
def test_each_command_has_a_summary_and_examples_that_it_accepts(path: tuple[str, ...], command: click.Command) -> None:
    summary, text = command.get_short_help_str(limit=70), _help(path, command)
    assert not summary.endswith("...")
    examples = text.split("\nExamples:\n")[1].splitlines()
    assert len(examples) == 2
    for line in examples:
        words = shlex.split(line.split("<")[0].split(">")[0].replace("$(", "").replace(")", ""))
        assert words[: len(path) + 1] == ["audiencekit", *path]
        command.make_context(path[-1], words[len(path) + 1 :])


@each_case("path, command", LEAVES)
def test_each_option_is_shown_once(path: tuple[str, ...], command: click.Command) -> None:
    """Commands share options: each has them in groups of its own."""
    lines = [line.strip() for line in _help(path, command).splitlines()]
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            name = parameter.opts[-1] if parameter.opts[-1].startswith("--") else parameter.opts[0]
            assert sum(name in line.split(" ")[:2] or f"{name}," in line for line in lines if line.startswith("-")) == 1


def test_options_of_the_main_job_are_in_groups() -> None:
    text = _help(("upload",), dict(LEAVES)["upload",])
    titles = [line for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles == [
        "How to read the source:",
        "What is sent, and when it counts:",
        "What is refused or left out:",
        "People to keep out:",
        "Service and pace:",
        "Results:",
        "Options of every command:",
        "Examples:",
    ]
    assert text.index("--rejections") > text.index("Results:") > text.index("--account")


def test_help_shows_what_is_needed_every_day() -> None:
    """And how to see the rest."""
    some = CliRunner().invoke(cli, ["upload", "--help"]).output
    everything = CliRunner().invoke(cli, ["upload", "--help-all"]).output
    assert "--help-all" in some
    assert "--audience" in some
    assert "--suppress-encoding" not in some
    assert "--suppress-encoding" in everything
    assert len(some.splitlines()) < len(everything.splitlines()) / 2
    assert "--help-all" not in CliRunner().invoke(cli, ["runs", "--help"]).output  # which has few options
