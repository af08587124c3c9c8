"""The form of the help texts: options in groups, and examples at the end.

It is written here, since the library for it adds 40 ms of processor time to every start of a command.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from functools import cache, partial
from typing import Any, Final, Protocol, TypeVar

import click

from audiencekit.cli.command_state import state_of_command
from audiencekit.cli.main import manner, note_command, whole_tool_options
from audiencekit.process.memory import ask_for_memory

F = TypeVar("F", bound=Callable[..., Any])

_READING: Final = "How to read the source"
_PLAN: Final = "What is sent, and when it counts"
_JUDGEMENT: Final = "What is refused or left out"
_SUPPRESSION: Final = "People to keep out"
_SERVICE: Final = "Service and pace"
_RESULT: Final = "Results"
_OTHER: Final = "Other options"
_EVERY: Final = "Options of every command"
_GROUPS: Final = (_READING, _PLAN, _JUDGEMENT, _SUPPRESSION, _SERVICE, _RESULT, _OTHER)
_UNGROUPED: Final = 10  # options of a command that need no groups
# Shown by `--help` of a command that has more; the rest is for `--help-all`.
_EVERYDAY: Final = frozenset(
    {
        *(
            "columns",
            "country",
            "ignore",
            "hashed",
            "sheet",
            "encoding",
            "consent_column",
            "suppress",
            "audience",
            "audiences",
        ),
        *("operation", "replace", "run_id", "rejections", "doctor", "html", "dry_run", "out", "as_json"),
    }
)
_ALL: Final = "audiencekit.help_all"  # in the meta of a context
_WIDEST: Final = 30  # characters of an option in front of its text; the text of a wider one begins in the next line


class _GroupedOption(click.Option):
    """An option that is shown in a group of the help text."""

    def __init__(self, *args: Any, group: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


class Decorate(Protocol):
    """The type of `click.option`."""

    def __call__(self, *names: str, **more: Any) -> Callable[[F], F]:
        """A decorator that adds the option."""


# Each in its group.
reading_option: Final[Decorate] = partial(click.option, cls=_GroupedOption, group=_READING)
plan_option: Final[Decorate] = partial(click.option, cls=_GroupedOption, group=_PLAN)
judgement_option: Final[Decorate] = partial(click.option, cls=_GroupedOption, group=_JUDGEMENT)
suppression_option: Final[Decorate] = partial(click.option, cls=_GroupedOption, group=_SUPPRESSION)
service_option: Final[Decorate] = partial(click.option, cls=_GroupedOption, group=_SERVICE)
result_option: Final[Decorate] = partial(click.option, cls=_GroupedOption, group=_RESULT)


class _Help(click.HelpFormatter):
    """The formatter of help texts; headings are bold where output is coloured."""

    def write_heading(self, heading: str) -> None:
        """Write the heading of a section."""
        told = click.style(f"{heading}:", bold=True) if manner().is_coloured(sys.stdout) else f"{heading}:"
        self.write(f"{'':>{self.current_indent}}{told}\n")


class Context(click.Context):
    """The click context with this formatter."""

    formatter_class = _Help


_GIVEN: Final = "audiencekit.given"


def given_words(names: Collection[str]) -> list[str]:
    """Return the words that gave the parameters `names` of the running command: arguments, then options."""
    ctx = click.get_current_context()
    values, _, order = ctx.command.make_parser(ctx).parse_args(list(ctx.meta[_GIVEN]))
    words: list[str] = []
    for parameter in sorted(dict.fromkeys(order), key=lambda each: isinstance(each, click.Option)):
        value = values[parameter.name]
        if parameter.name in names and isinstance(value, list | tuple | str | bool):  # click marks what was not given
            words += _words_of(parameter, list(value) if isinstance(value, list | tuple) else [value])
    return words


def _words_of(parameter: click.Parameter, values: list[Any]) -> list[str]:
    if isinstance(parameter, click.Argument):
        return values
    if isinstance(parameter, click.Option) and parameter.is_flag:
        return [parameter.opts[0] if value is not False else parameter.secondary_opts[0] for value in values]
    return [word for value in values for word in (parameter.opts[0], value)]


class TooManyArguments(click.UsageError):
    """Arguments that the command does not take. They are counted and not repeated."""

    def __init__(self, count: int, context: click.Context) -> None:
        super().__init__(f"{count} argument{'' if count == 1 else 's'} too many", context)


class Command(click.Command):
    """A command whose options are shown in groups, and `examples` at the end: its words behind `audiencekit`.

    It takes the options of the whole tool, too.
    """

    context_class = Context

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its own parameters, `--help`, `--help-all` where that shows more, and those of the whole tool."""
        more = [_help_all()] if self._has_groups else []
        return [*super().get_params(ctx), *more, *whole_tool_options()]

    @property
    def _own_options(self) -> list[click.Option]:
        return [parameter for parameter in self.params if isinstance(parameter, click.Option)]

    @property
    def _has_groups(self) -> bool:
        return len(self._own_options) > _UNGROUPED

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does. Raises TooManyArguments for surplus arguments, which may be personal data."""
        ctx.allow_extra_args = True
        ctx.meta[_GIVEN] = list(args)
        rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            raise TooManyArguments(len(rest), ctx)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; its name goes into the log. Raises MemoryError when too little memory is left."""
        note_command(ctx)
        ask_for_memory()
        with state_of_command(ctx):
            return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options that are needed every day; with `--help-all` all of them, group by group."""
        if self._has_groups and _ALL not in ctx.meta:
            some = [option for option in self._own_options if option.name in _EVERYDAY]
            records = list(filter(None, (option.get_help_record(ctx) for option in [*some, _help_all()])))
            write_sections(formatter, {"Options": records})
            return
        own, is_grouped = self._own_options, self._has_groups
        sections: dict[str, list[tuple[str, str]]] = {title: [] for title in (_GROUPS if is_grouped else ["Options"])}
        for option in own:
            if record := option.get_help_record(ctx):
                sections[getattr(option, "group", _OTHER) if is_grouped else "Options"].append(record)
        others = [parameter for parameter in self.get_params(ctx) if parameter not in self.params]
        sections[_EVERY] = list(filter(None, (parameter.get_help_record(ctx) for parameter in others)))
        write_sections(formatter, {title: rows for title, rows in sections.items() if rows})

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}audiencekit {example}\n")


@cache
def _help_all() -> click.Option:
    return click.Option(
        ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all,
        help="Show all options and exit.",
    )  # fmt: skip


def _show_all(context: click.Context, _option: click.Parameter, is_wanted: bool) -> None:
    if is_wanted and not context.resilient_parsing:
        context.meta[_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


class CommandGroup(click.Group):
    """A group whose commands have such help texts."""

    command_class = Command
    context_class = Context

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its own parameters, `--help`, and those of the whole tool."""
        return [*super().get_params(ctx), *whole_tool_options()]


def write_sections(formatter: click.HelpFormatter, sections: dict[str, list[tuple[str, str]]]) -> None:
    """Write the rows of each section under its title; all texts begin in one column."""
    width = min(max(len(name) for rows in sections.values() for name, _ in rows), _WIDEST)
    for title, rows in sections.items():
        with formatter.section(title):
            formatter.write_dl([(name.ljust(width), text) for name, text in rows], col_max=_WIDEST)
