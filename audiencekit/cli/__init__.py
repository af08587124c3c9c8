"""The command line. Commands import large modules inside their functions, so that `--help` starts quickly."""

from __future__ import annotations

import io
import os
import re
import sys
import traceback
from collections.abc import Iterator
from importlib import import_module
from typing import Final

import click

from audiencekit.cli.command_help import Context, TooManyArguments, write_sections
from audiencekit.cli.main import begin_manner, end_manner, whole_tool_options
from audiencekit.cli.output import complain, insist, say_failure, say_version, take_any_letter, unwritten
from audiencekit.errors import AudiencekitError, Bug, UsageError
from audiencekit.personal import shortage_of
from audiencekit.process.memory import release_reserve
from audiencekit.process.signals import INTERRUPTED, hand_over_interrupt
from audiencekit.process.startup import end_own_process, set_up_own_process
from audiencekit.text import shown

# Each command and its module, with its name there where that is another; in the order and the groups of `--help`.
SECTIONS: Final = {
    "Main job": {
        "demo": "emulator",
        "check": "check",
        "upload": "upload",
        "sync": "sync",
        "run": "setup",
        "schedule": "schedule",
        "do-not-reach": "do_not_reach",
        "forget": "erasure",
        "prepare": "check",
    },
    "Audiences": {
        "audiences": "audiences",
        "flexible": "flexible",
        "renew": "sync",
        "expiry": "sync",
        "overlap": "overlap",
    },
    "Runs": {
        "runs": "runs",
        "report": "runs",
        "open": "runs:open_page",
        "resume": "upload",
        "rejections": "rejections",
        "purge": "runs",
        "state": "state",
        "audit": "audit",
    },
    "Account and keys": {
        "init": "init",
        "login": "login",
        "logout": "login",
        "whoami": "login",
        "doctor": "doctor",
        "key": "key",
        "forgotten": "erasure",
        "erasure": "erasure",
    },
    "Activity": {"activity": "activity"},
    "Tools": {
        "hash": "check:hash_values",
        "verify": "verify",
        "vectors": "verify",
        "api": "api",
        "emulator": "emulator",
        "completion": "completion",
        "man": "manual:print_manual",
    },
}
COMMANDS: Final = {name: place for commands in SECTIONS.values() for name, place in commands.items()}

_NEAR: Final = 0.7  # of the letters: a word of another language, such as prüfen, suggests no other command


class CommandGroup(click.Group):
    """The commands; each is imported when it is called."""

    context_class = Context

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; None when there is none."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        found = getattr(import_module(f"audiencekit.cli.{module}"), name or cmd_name.replace("-", "_"))
        return found if isinstance(found, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve as click does. For a misspelled name, the error suggests the nearest names."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches  # 1 ms of every start

            near = get_close_matches(name, COMMANDS, n=1, cutoff=_NEAR)
            ctx.fail(f"No such command {name!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups of commands. This imports each command, for its summary."""
        rows = {name: (name, command.get_short_help_str(limit=70)) for name, command in self._commands(ctx)}
        write_sections(formatter, {title: [rows[name] for name in names] for title, names in SECTIONS.items()})

    def _commands(self, ctx: click.Context) -> Iterator[tuple[str, click.Command]]:
        for name in COMMANDS:
            if (command := self.get_command(ctx, name)) is not None:
                yield name, command


@click.command(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=say_version,
    help="Show the version, and whether the kernels are in use, and exit.",
)  # fmt: skip
def cli() -> None:
    """Upload customer lists to ads audiences: hashed here, every row accounted for.

    Start with `audiencekit demo`. Then `audiencekit check FILE` reads a list of yours and sends nothing.
    """


cli.params += whole_tool_options()


def main() -> None:
    """Run the command line and leave with the exit code of the contract."""
    set_up_own_process()
    code = _run()
    end_manner(code)
    end_own_process(code)
    sys.exit(code)


def _show(error: click.ClickException) -> None:
    """Show an error of click. It may repeat arguments, which a shell may have made of file names of others."""
    told, message = io.StringIO(), error.format_message()
    error.show(told)
    # Choices of an argument and the help of a group have lines, and repeat nothing.
    is_ours = isinstance(error, click.MissingParameter | click.exceptions.NoArgsIsHelpError)
    insist(told.getvalue().rstrip("\n").replace(message, message.expandtabs() if is_ours else _without_people(message)))
    if example := _example_for(error):
        insist(f"  what to do: {example}")


_PERSONAL: Final = re.compile(r"@|[\d\s().+-]{7}")


def _without_people(message: str) -> str:
    """The message without the arguments that may be addresses or numbers: it goes into logs, too."""
    values = (word.partition("=")[2] for word in sys.argv[1:] if word.startswith("--"))
    for word in filter(_PERSONAL.search, [*sys.argv[1:], *values]):
        for told in (repr(word), word):
            message = message.replace(told, "(not repeated here)")
    return shown(message)


# Options of other tools, and ours for the same.
_MEANT: Final = {
    "-a": "--audience", "--name": "--audience", "--file": "--setup", "-f": "--setup", "-o": "--out",
    "--action": "--operation", "--remove": "--operation", "--delete": "--operation",
}  # fmt: skip
# Options that other commands of ours have, or had, for a look without sending.
_LOOKS: Final = {"--dry-run", "--offline", "--plan"}


def _example_for(error: click.ClickException) -> str:
    """Return a correct example where an argument is missing or unknown to the command; else ""."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if isinstance(error, click.NoSuchOption) and context is not None:
        if error.option_name == "--dry-run" and context.info_name == "check":  # others may change what is kept here
            return "leave it out: this command changes nothing at the service"
        if error.option_name in _LOOKS and context.info_name == "upload":
            return "`audiencekit check` reads the list and sends nothing"
        meant = _MEANT.get(error.option_name)
        has_it = any(meant in parameter.opts for parameter in context.command.get_params(context))
        return f"perhaps {meant}" if meant and has_it else ""
    examples = getattr(context.command, "examples", ()) if context is not None else ()
    is_of_argument = isinstance(error, click.BadParameter) and isinstance(error.param, click.Argument)
    if examples and (is_of_argument or isinstance(error, click.MissingParameter | TooManyArguments)):
        return f"for example `audiencekit {examples[0]}`"
    return ""


def _help_of(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return _example_for(error) or ("" if context is None else f"`{context.command_path} --help`")


def _run() -> int:
    try:
        hand_over_interrupt()
        begin_manner()
        take_any_letter()
        _prepare_completion()
        result = cli.main(prog_name="audiencekit", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except SystemExit as left:  # most commands have said how they ended, and leave so
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    except (click.exceptions.Abort, KeyboardInterrupt):
        insist("interrupted")
        say_failure(kind="Interrupted", message="interrupted")
        return INTERRUPTED
    except click.ClickException as error:
        _show(error)
        say_failure(kind=UsageError.__name__, message=_without_people(error.format_message()), hint=_help_of(error))
        return error.exit_code
    except AudiencekitError as error:
        release_reserve()
        say_failure(error)
        complain(error)
        return error.exit_code
    except BaseException as error:  # a panic of a library in Rust is no Exception
        release_reserve()
        if shortage := shortage_of(error):
            say_failure(shortage)
            complain(shortage)
            return shortage.exit_code
        if isinstance(error, OSError) and _is_clicks(error):
            complain(failure := unwritten(error))
            return failure.exit_code
        # Messages of foreign exceptions may quote values: only the type and the places are shown.
        places = " < ".join(
            f"{frame.name}:{frame.lineno}" for frame in reversed(traceback.extract_tb(error.__traceback__))
        )
        insist(f"bug: {type(error).__name__} in {places}; please report this line")
        say_failure(kind=Bug.__name__, message=f"{type(error).__name__} in {places}", hint="please report this")
        return 1


def _prepare_completion() -> None:
    """Import the module of the answers only when a shell asks for completions."""
    if "_AUDIENCEKIT_COMPLETE" in os.environ:
        from audiencekit.cli.completion import prepare_answers

        prepare_answers()


def _is_clicks(error: OSError) -> bool:
    """Return whether the error comes from click's own output, such as that of --help."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return str(frames[-1].f_globals.get("__name__")).startswith("click.")
