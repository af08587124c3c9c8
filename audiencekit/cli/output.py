"""Data to stdout, everything else to stderr; failures leave with their report."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

import click

from audiencekit import __version__
from audiencekit.cli.main import manner, note_json_said, stderr_is_coloured
from audiencekit.errors import CONTINUE_WITH, AudiencekitError, InputOutputFailed, UsageError
from audiencekit.process.memory import release_reserve
from audiencekit.text import OPTION, ascii_json, shown, shown_json, shown_lines

# The beginnings of lines that are, or end in, a command for the shell.
NEXT: Final = "Next: "
EXPORT: Final = "export "
# As the library writes it, which does not know the words of a command.
_SYNC_AGAIN: Final = re.compile(r"audiencekit sync SOURCE --audience [0-9a-z]+")
# Where a flag is not the name of its option with dashes.
_FLAGS: Final = {
    "audience": "--audience",
    "account_id": "--account",
    "columns": "--map",
    "hashed_columns": "--hashed-map",
    "suppress_columns": "--suppress-map",
    "header": "--no-header",
    "suppress_header": "--suppress-no-header",
    "source": "--from",
    "details": "--verbose",
}
# Members of a document that are prose, at every depth; all others are data, and stay.
_PROSE: Final = frozenset({"message", "problem", "hint", "remedy", "option", "notes", "resumable", CONTINUE_WITH})


def spelled(text: str) -> str:
    """Return `text` with the flags of the command line in place of options in Python's spelling.

    A `sync` that is to be given again has the words of the running one.
    """
    return _SYNC_AGAIN.sub(_given_again, OPTION.sub(_flag, text))


def _given_again(found: re.Match[str]) -> str:
    context = click.get_current_context(silent=True)
    if context is None or context.info_name != "sync":
        return found[0]
    from audiencekit.cli.command_help import given_words

    names = {each.name for each in context.command.params if each.name} - {"dry_run"}
    return f"audiencekit sync {' '.join(shlex.quote(shown(word)) for word in given_words(names))}"


def spelled_document(document: Any) -> Any:
    """Return a plan, a report or a failure with flags in place of options, in our own sentences."""
    if isinstance(document, Mapping):
        return {
            name: _spelled_prose(value) if name in _PROSE else spelled_document(value)
            for name, value in document.items()
        }
    return list(map(spelled_document, document)) if isinstance(document, list | tuple) else document


def _spelled_prose(value: Any) -> Any:
    if isinstance(value, str):
        return spelled(value)
    return [_spelled_prose(each) for each in value] if isinstance(value, list | tuple) else spelled_document(value)


def _flag(found: re.Match[str]) -> str:
    name, literal = found.groups()
    flag = _FLAGS.get(name) or f"--{name.replace('_', '-')}"
    return flag if literal in ("", "True", "False") else ", ".join(f"{flag} {value}" for value in _values(literal))


def _values(literal: str) -> list[str]:
    """Return the values as a shell takes them. A word that is no literal, such as FILE, is a placeholder and stays."""
    try:
        value = ast.literal_eval(literal)
    except (SyntaxError, ValueError):
        return [literal]
    if isinstance(value, dict):
        return [f"{key}={shlex.quote(str(each))}" for key, each in value.items()]
    return list(map(_quoted, value if isinstance(value, list) else [value]))


def _quoted(value: Any) -> str:
    text = str(value)
    if text == "\n":
        return "$'\\n'"
    is_sign = len(text) == 1 and not text.isalnum() and text != "'"
    return f"'{text}'" if is_sign else shlex.quote(text)


def take_any_letter() -> None:
    """Let stdout escape letters that its encoding lacks, as stderr does, so that a file name causes no failure."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def say(text: str) -> None:
    """Print data to stdout. Raises InputOutputFailed when it cannot be written."""
    _write(shown_lines(text))


def tell(text: str) -> None:
    """Print a message to stderr, unless the command is quiet."""
    how, text = manner(), spelled(text)
    if how.log is not None:
        how.log.write("warning" if text.startswith("warning:") else "info", text)
    if not how.is_quiet:
        _tell(text)


def suggest(command: str, *words: str) -> None:
    """Print the suggested next command in one line; `words` are quoted for a shell."""
    tell(f"{NEXT}audiencekit {' '.join([command, *(shlex.quote(shown(word)) for word in words)])}")


def insist(text: str, *, level: str | None = "info") -> None:
    """Print an error or a question to stderr, also when the command is quiet. It is logged unless `level` is None."""
    text = spelled(text)
    if level is not None and (log := manner().log) is not None:
        log.write(level, text)
    _tell(text)


def _tell(text: str) -> None:
    is_coloured = stderr_is_coloured()
    lines = _folded(shown_lines(text), sys.stderr)
    click.echo("\n".join(map(_coloured, lines) if is_coloured else lines), err=True, color=is_coloured)


def terminal_width(stream: Any = None) -> int | None:
    """Return the width of `stream` (stdout by default) in characters; None when it is not a terminal."""
    stream = stream or sys.stdout
    if stream is None or not stream.isatty():
        return None
    with contextlib.suppress(OSError, ValueError):
        # A terminal that does not know its size says 0.
        return int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size(stream.fileno()).columns or None
    return None


def _folded(text: str, stream: Any) -> list[str]:
    """Return the lines of `text`, wrapped between words to the width of the terminal."""
    lines, width = text.split("\n"), terminal_width(stream)
    if width is None:
        return lines
    from textwrap import wrap

    is_long = [len(line) > width and not _is_copied(line) for line in lines]
    return [
        part
        for line, divides in zip(lines, is_long, strict=True)
        for part in (_divided(line, width, wrap) if divides else [line])
    ]


def _is_copied(line: str) -> bool:
    """Return whether the line holds an address or a command to copy, which is not wrapped."""
    return "://" in line or line.startswith((NEXT, EXPORT))


def _divided(line: str, width: int, wrap: Callable[..., list[str]]) -> list[str]:
    indent = len(line) - len(line.lstrip())
    named = re.match(r"\s*\S+(?: \S+)? {2,}", line)
    deeper = " " * (named.end() if named and named.end() < width // 2 else indent + 2)
    return wrap(
        line, max(width, 20), subsequent_indent=deeper, break_long_words=False, break_on_hyphens=False,
        drop_whitespace=True, replace_whitespace=False,
    )  # fmt: skip


def say_document(text: str, *, is_asked_for: bool = False) -> None:
    """Print a plan or a report as text, unless the command is quiet and did not request it. Raises as `say` does.

    On a terminal its problems and warnings are coloured.
    """
    if manner().is_quiet and not is_asked_for:
        return
    text = spelled(text)
    lines = _folded(shown_lines(text), sys.stdout)
    _write("\n".join(map(_coloured, lines) if manner().is_coloured(sys.stdout) else lines))


def _coloured(line: str) -> str:
    """Return the line, coloured by its beginning: the first word of a message, or the whole of a verdict."""
    start = next((start for start in _COLOURS if line.startswith(start)), None)
    if start is None:
        return line
    if start in _WORDS:
        return click.style(start, fg=_COLOURS[start], bold=True) + line.removeprefix(start)
    return click.style(line, fg=_COLOURS[start])


_WORDS: Final = frozenset({"error:", "  what to do:", "note:", "bug:"})
_COLOURS: Final = {
    "error:": "red",
    "bug:": "red",
    "  what to do:": "cyan",
    "note:": "blue",
    "problem:": "red",
    "warning:": "yellow",
    "verdict: refused": "red",
    "verdict: ready with warnings": "yellow",
    "verdict: ready": "green",
    "state: complete": "green",
    "state: refused": "red",
    "state: incomplete": "yellow",
}


def say_json(document: str) -> None:
    """Print a JSON document to stdout. Raises as `say` does."""
    text = shown_json(document)
    note_json_said()
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = ascii_json(text)
    _write(text)


def _write(text: str) -> None:
    if sys.stdout is None:
        raise InputOutputFailed("stdout cannot be written: it is closed", hint="direct it to a file, or to /dev/null")
    try:
        click.echo(text, color=manner().is_coloured(sys.stdout))
        sys.stdout.flush()
        return
    except OSError as error:
        failure = unwritten(error)
    raise failure


def unwritten(error: OSError) -> InputOutputFailed:
    """Return the error for a failed write to stdout, and write nothing more to it.

    When the reader has closed the pipe, as `| head` does, leave at once and without a message.
    """
    # Text that is still buffered must not fail once more when the interpreter ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        sys.exit(InputOutputFailed.exit_code)
    return InputOutputFailed(f"stdout cannot be written: {error.strerror or 'unknown reason'}")


def print_json(document: Mapping[str, Any] | list[Any] | None) -> None:
    """Print an indented JSON document to stdout."""
    import orjson

    say_json(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


def print_told(document: Mapping[str, Any]) -> None:
    """Print a plan, a report or a failure as JSON, with the flags of the command line in its messages."""
    print_json(spelled_document(document))


def print_report(document: Mapping[str, Any], *, as_json: bool, details: bool = False, is_kept: bool = True) -> None:
    """Print a report as JSON, or as text; the whole text with `--verbose`.

    One that `is_kept` is shown again by `report`: the same command with `--verbose` would send once more.

    With `details`, of a command that is to show it, also all of it, and also where the command is quiet.
    """
    from audiencekit.reporting.text import render_report

    if as_json:
        print_told(document)
    else:
        more = f"`audiencekit report {document['run_id']}`" if is_kept else "`details=True`"
        text = render_report(document, details=details or manner().is_verbose, more=more)
        say_document(text, is_asked_for=details)


def complain(error: AudiencekitError) -> None:
    """Print the message and the hint of an error to stderr."""
    insist(f"error: {error}", level="error")
    if error.hint:
        insist(f"  what to do: {shown(error.hint)}")


def leave_with(error: AudiencekitError, *, as_json: bool) -> NoReturn:
    """Print what is known of the failed run, complain, and exit with the error's code.

    The last line on stderr says what to do next, also when stdout cannot be written.
    """
    release_reserve()
    document = error.document
    try:
        if as_json:
            print_told(_failed(error))
        elif document is not None and "run_id" in document:
            print_report(document, as_json=False)
    finally:
        complain(error)
    sys.exit(error.exit_code)


def say_failure(error: AudiencekitError | None = None, *, kind: str = "", message: str = "", hint: str = "") -> None:
    """Print the JSON document of a command that failed before it printed one, when `--json` is given.

    Of errors of other libraries, `kind`, `message` and `hint` are printed. A failure of stdout is ignored.
    """
    if not _is_json_asked() or manner().has_said_json:
        return
    with contextlib.suppress(InputOutputFailed):
        if error is not None:
            print_told(_failed(error))
        else:
            state = "refused" if kind == UsageError.__name__ else "incomplete"
            failure = {"type": kind, "message": message, "hint": hint}
            print_told({"state": state, CONTINUE_WITH: None, "error": failure})


def _is_json_asked() -> bool:
    """Return whether `--json` is among the options, also when the line cannot be parsed."""
    words = sys.argv[1:]
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def _failed(error: AudiencekitError) -> dict[str, Any]:
    failure = {"type": type(error).__name__, "message": str(error), "hint": error.hint}
    return {"state": error.state, CONTINUE_WITH: None, **(error.document or {}), "error": failure}


NOT_IN_USE: Final = "not in use: large lists take several times as long, with the same results"
COMPILE: Final = (
    "install a Rust compiler, then `pip install --force-reinstall --no-cache-dir --no-deps .` in the checkout"
)


def say_version(context: click.Context, _option: click.Parameter, is_wanted: bool) -> None:
    """Print the version and leave, when it is asked for."""
    if not is_wanted or context.resilient_parsing:
        return
    with_kernels = "without kernels: the same results, more slowly" if kernels_warning() else "with kernels"
    say(f"audiencekit, version {__version__}, {with_kernels}")
    context.exit()


def kernels_warning() -> str | None:
    """Return a warning that the kernels are missing or of another version; None when they are in use."""
    from audiencekit.kernels.library import find_library

    return None if find_library() else f"the compiled kernels are {NOT_IN_USE}; {COMPILE}"
