"""Options that several commands share, and what they become."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import click
from click.shell_completion import CompletionItem

from audiencekit.cli.command_help import (
    judgement_option,
    plan_option,
    reading_option,
    result_option,
    service_option,
    suppression_option,
)
from audiencekit.cli.completion_words import columns, columns_then, kinds_of_columns, runs
from audiencekit.cli.output import leave_with
from audiencekit.durations import parse_duration
from audiencekit.errors import AudiencekitError, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import (
    DEFAULT_MAX_REJECTED_COLUMN_SHARE,
    DEFAULT_MAX_REJECTED_SHARE,
    KEEP_SHARED,
    MAX_BODY_BYTES,
    MIN_BODY_BYTES,
    SHARED_PEOPLE,
)
from audiencekit.records.plan_times import format_time, parse_time

F = TypeVar("F", bound=Callable[..., Any])
_PEOPLE: Final = re.compile("[0-9]{1,18}")
KINDS = click.Choice([kind.value for kind in Kind])


class KindAndColumn(click.ParamType[Any]):
    """KIND=COLUMN."""

    name = "KIND=COLUMN"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """(kind, column name)."""
        if isinstance(value, tuple):
            return value
        kind, separator, column = value.partition("=")
        if not separator or not column or kind not in {kind.value for kind in Kind}:
            self.fail(f"write KIND=COLUMN with a kind of: {', '.join(kind.value for kind in Kind)}", param, ctx)
        return kind, column


class QueryFile(click.ParamType[Any]):
    """@FILE, read."""

    name = "@FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text of the file."""
        if not value.startswith("@"):
            self.fail("write @FILE: others can see a command line, and a query may name people", param, ctx)
        try:
            return Path(value[1:]).read_text("utf-8")
        except OSError as error:
            return self.fail(f"the file cannot be read: {error.strerror}", param, ctx)
        except ValueError:
            return self.fail("the file is not UTF-8", param, ctx)


class FiniteRange(click.FloatRange):
    """A number in a range. Click takes `nan` for one of every range, and `inf` for one of a range without an end."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{number} is not a finite number: write digits, such as 0.5", param, ctx)
        return number


SHARE: Final = FiniteRange(0, 1)


class PeopleOrKeep(click.ParamType[Any]):
    """A number of people, or the word keep."""

    name = "number of people"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or the word."""
        if value == KEEP_SHARED or isinstance(value, int):
            return value
        if not _PEOPLE.fullmatch(value) or not int(value):
            self.fail(f"{value!r} is neither a number of people from 1 on nor {KEEP_SHARED}", param, ctx)
        return int(value)


class OutputPath(click.Path):
    """A path to write to. `-` is standard input to a SOURCE; here it would be a file that no one looks for."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if value == "-":
            self.fail("this is a file, not standard output: give a name, such as ./-", param, ctx)
        if value == "":
            self.fail("the name is empty: is a variable of the shell not set?", param, ctx)
        return super().convert(value, param, ctx)


class SourcePath(click.ParamType[Any]):
    """The path of a source, which is checked when it is read; a shell completes files."""

    name = "source"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The shell knows its files."""
        return [CompletionItem(incomplete, type="file")]


def stacked(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """All of `decorators`, the first of them outermost."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def reading_options(function: F) -> F:
    """How to read a source."""
    return stacked(
        reading_option(
            "--map",
            "columns",
            type=KindAndColumn(),
            multiple=True,
            help="Column of a kind; repeatable.",
            shell_complete=kinds_of_columns(),
        ),
        reading_option("--country", help="Country of phone numbers without a country code: DE, or Germany."),
        reading_option(
            "--country-column", metavar="NAME", shell_complete=columns, help="Column with the country of each row."
        ),
        reading_option(
            "--country-code-column",
            metavar="NAME",
            shell_complete=columns,
            help="Column with the calling code of each row, such as 49.",
        ),
        reading_option(
            "--area-code-column",
            metavar="NAME",
            shell_complete=columns,
            help="Column with the area codes of phone numbers.",
        ),
        reading_option(
            "--fill-down",
            metavar="COLUMN",
            multiple=True,
            shell_complete=columns,
            help="Column whose blank cells are as the ones above; repeatable.",
        ),
        reading_option(
            "--hashed", type=KINDS, multiple=True, help="Kind whose columns hold SHA-256 hashes; repeatable."
        ),
        reading_option(
            "--ignore",
            metavar="COLUMN",
            multiple=True,
            shell_complete=columns,
            help="Column to ignore; repeatable.",
        ),
        reading_option("--split-cells", metavar="CHAR", help="Separator of several values in one cell."),
        reading_option("--encoding", help="Encoding of the file, when it is not UTF-8."),
        reading_option("--delimiter", metavar="CHAR", help="Delimiter of the file; recognised by default."),
        reading_option(
            "--header-row",
            type=click.IntRange(1),
            metavar="N",
            help="Line of the header, or its row in a sheet; recognised by default.",
        ),
        reading_option("--sheet", metavar="NAME", multiple=True, help="Sheet of a workbook, or * for all; repeatable."),
        reading_option(
            "--sql",
            type=QueryFile(),
            metavar="@FILE",
            help="FILE with one SELECT for the database of --from-sql.",
        ),
        reading_option(
            "--from-sql",
            metavar="URL",
            help="Database to query in place of files: postgresql://HOST/DATABASE, sqlite:///FILE …",
        ),
        reading_option("--no-header", is_flag=True, help="The file has no header; its columns are column1, column2 …"),
        perhaps_from_database,
    )(function)


_PHONE_VALIDITY = reading_option(
    "--phone-validity", type=click.Choice(["valid", "possible"]), default="valid", show_default=True,
    help="Take phone numbers in assigned ranges only, or all of a possible length.",
)  # fmt: skip


def several_lists_options(function: F) -> F:
    """SOURCE, of which each is a list of its own or none is given, and how to read all of them."""
    return stacked(
        click.argument("source", metavar="[SOURCE]...", nargs=-1, type=SourcePath()), reading_options, _PHONE_VALIDITY
    )(function)


def source_options(function: F) -> F:
    """SOURCE, which is one file, several, or - for standard input, how to read it, and how strictly."""
    return stacked(
        click.argument("source", metavar="SOURCE...", nargs=-1, type=SourcePath()),
        reading_options,
        _PHONE_VALIDITY,
        needs_source,
    )(function)


_OPERATIONS = (
    plan_option(
        "--operation",
        type=click.Choice(["update", "delete"]),
        help="Put the people in (update, the default), or take them out.",
    ),
    plan_option(
        "--operation-column",
        metavar="NAME",
        shell_complete=columns,
        help="Column that says update or delete for each row.",
    ),
)
_TTL = plan_option("--ttl-days", type=click.IntRange(1), metavar="N", help="Entries expire N days after the plan.")
_REJECTED_SHARE = judgement_option(
    "--max-rejected-share", type=SHARE, default=DEFAULT_MAX_REJECTED_SHARE, show_default=True,
    help="Refuse the list when a larger share of its rows is rejected.",
)  # fmt: skip
_REJECTED_COLUMN_SHARE = judgement_option(
    "--max-rejected-column-share", type=SHARE, default=DEFAULT_MAX_REJECTED_COLUMN_SHARE,
    show_default=True, help="Refuse the list when a larger share of a column is not of its kind.",
)  # fmt: skip
_SHARED = (
    judgement_option(
        "--shared-values", type=PeopleOrKeep(), metavar="N|keep", default=SHARED_PEOPLE, show_default=True,
        help="Leave out a value that more than N people share; `keep` sends all.",
    ),
    judgement_option(
        "--shared-suppression", type=click.Choice(["stop", "all", "none"]), default="stop", show_default=True,
        help="If a suppression list has a shared value: refuse the run, keep out all who share it, or ignore it.",
    ),
)  # fmt: skip
_FAIL_ON_WARNINGS = judgement_option(
    "--fail-on-warnings", is_flag=True, help="Refuse the list instead of warning of a large loss."
)
_CONFIRM_PARTNER_IDS = judgement_option(
    "--confirm-partner-ids", is_flag=True,
    help="The values in partner_user_id are your own ids, not personal data; they are sent unhashed.",
)  # fmt: skip
allow_name_option = click.option(
    "--allow-name", is_flag=True, help="The name may hold an address, a phone number or a device id."
)
_FEW_PEOPLE = judgement_option(
    "--few-people", type=click.Choice(["tell", "refuse", "allow"]),
    help="If fewer than ten people change: note it, refuse, or allow; AUDIENCEKIT_FEW_PEOPLE by default.",
)  # fmt: skip
_SIZES = (
    plan_option(
        "--max-records-per-request", type=click.IntRange(1), metavar="N",
        help="People in one request at most; as many as fit by default.",
    ),
    plan_option(
        "--max-records-per-operation", type=click.IntRange(1), metavar="N",
        help="People in one operation of a request at most; as many as fit by default.",
    ),
    plan_option(
        "--max-body-bytes", type=click.IntRange(MIN_BODY_BYTES, MAX_BODY_BYTES), metavar="N",
        help=f"Bytes of one request at most; {MAX_BODY_BYTES:,} by default.",
    ),
)  # fmt: skip
_JUDGEMENT = (
    plan_option("--plan-time", metavar="TIME", help="Time from which the plan counts; now by default."),
    _REJECTED_SHARE,
    _REJECTED_COLUMN_SHARE,
    *_SHARED,
    _FAIL_ON_WARNINGS,
    judgement_option("--allow-empty", is_flag=True, help="Accept a list without rows."),
)  # fmt: skip


def plan_options(function: F) -> F:
    """The operation on the rows, and its times."""
    return stacked(
        *_OPERATIONS,
        plan_option("--expires-at", metavar="TIME", help="When entries expire; 13 months after the plan by default."),
        _TTL,
        plan_option("--effective-at", metavar="TIME", help="When entries take effect; at once by default."),
        *_JUDGEMENT,
        _FEW_PEOPLE,
        _CONFIRM_PARTNER_IDS,
        *_SIZES,
    )(function)


def suppression_options(function: F) -> F:
    """Add the options that name people to keep out."""
    return stacked(
        suppression_option(
            "--suppress",
            metavar="SOURCE",
            multiple=True,
            help="List of people to keep out, hashed or not; repeatable.",
        ),
        suppression_option(
            "--suppress-map", "suppress_columns", type=KindAndColumn(), multiple=True,
            shell_complete=kinds_of_columns("--suppress"),
            help="Column of a kind in the --suppress lists; repeatable.",
        ),
        suppression_option("--suppress-split-cells", metavar="CHAR", help="Separator of values in one of their cells."),
        suppression_option("--suppress-encoding", help="Their encoding, when it is not UTF-8."),
        suppression_option("--suppress-delimiter", metavar="CHAR", help="Their delimiter; recognised by default."),
        suppression_option("--suppress-no-header", is_flag=True, help="They have no header."),
        suppression_option(
            "--suppress-sheet", metavar="NAME", multiple=True, help="Sheet of those that are workbooks; repeatable."
        ),
        suppression_option(
            "--suppress-max-rejected-share", type=SHARE, metavar="SHARE",
            help="Share of their rows that may be unreadable; none by default.",
        ),
        suppression_option("--consent-column", metavar="NAME=VALUE", shell_complete=columns_then("="),
            help="Put in only rows with VALUE in NAME."),
    )(function)  # fmt: skip


def list_options(function: F) -> F:
    """The same for a do-not-reach list, which takes effect at once and for less than 13 months."""
    text = "When entries expire; a day less than 13 months after the plan by default."
    return stacked(*_OPERATIONS, plan_option("--expires-at", metavar="TIME", help=text), _TTL, *_JUDGEMENT, *_SIZES)(
        function
    )


def sync_options(function: F) -> F:
    """The same for a sync, whose source says who is to be in."""
    text = "When what is put in expires; 13 months from now by default."
    return stacked(
        plan_option("--expires-at", metavar="TIME", help=text),
        _TTL,
        _REJECTED_SHARE,
        _REJECTED_COLUMN_SHARE,
        *_SHARED,
        _FAIL_ON_WARNINGS,
        _FEW_PEOPLE,
        _CONFIRM_PARTNER_IDS,
        *_SIZES,
    )(function)


max_minutes_option = service_option(
    "--max-minutes", type=FiniteRange(0, min_open=True), metavar="N", help="Stop after N minutes, as Ctrl-C would."
)
keep_spool_option = result_option(
    "--keep-spool", is_flag=True, help="Keep the records, sealed, so that `resume` needs no source."
)
run_id_option = result_option(
    "--run-id",
    metavar="ID",
    help="Name the run: the same command with the same ID finishes it, and sends nothing twice.",
)
shared_members_option = click.option(
    "--shared-values", type=PeopleOrKeep(), metavar="N|keep", default=SHARED_PEOPLE, show_default=True,
    help="Refuse an identifier that stands for more than N members; or keep it, and take out all who have it.",
)  # fmt: skip
run_argument = click.argument("run", default="last", shell_complete=runs)
dry_run_option = result_option("--dry-run", is_flag=True, help="Change nothing; say what would be sent.")
offline_option = result_option("--offline", is_flag=True, help="With --dry-run: do not ask the service either.")
json_option = result_option("--json", "as_json", is_flag=True, help="Print one JSON document to stdout.")


def rejections_option(function: F) -> F:
    """Where `rejections.csv` goes."""
    text = "Write row, column and reason of every rejection to FILE."
    return result_option("--rejections", metavar="FILE", type=OutputPath(dir_okay=False), help=text)(function)


seal_rejections_option = result_option(
    "--seal-rejections", metavar="RECIPIENT",
    help="Keep rows with a rejection, encrypted for RECIPIENT (age1… or `state`): `rejections open` shows them.",
)  # fmt: skip


def as_keywords(given: dict[str, Any]) -> dict[str, Any]:
    """The options of the command line as the keywords of `check`, `prepare` and `upload`."""
    keywords = {name: value for name, value in given.items() if value is not None and value != ()}
    keywords["header"] = False if keywords.pop("no_header", False) else None
    if keywords.pop("suppress_no_header", False):
        keywords["suppress_header"] = False
    return keywords


def perhaps_from_database(function: F) -> F:
    """`function` with the query to a database as its source, where there is one."""

    @wraps(function)
    def call(source: Any, from_sql: str | None, sql: str | None, **given: Any) -> Any:
        if from_sql is not None:
            source = _query(source, from_sql, sql, as_json=given.get("as_json", False))
        elif sql is not None:
            raise click.UsageError("--sql needs --from-sql URL: a database executes the query.")
        return function(source=source, **given)

    return cast("F", call)


def needs_source(function: F) -> F:
    """`function`, which needs files or a query."""

    @wraps(function)
    def call(source: Any, **given: Any) -> Any:
        if not source:
            raise click.MissingParameter(param_type="argument", param_hint="'SOURCE...'")
        return function(source=source, **given)

    return cast("F", call)


def _query(source: tuple[str, ...], url: str, sql: str | None, *, as_json: bool) -> Any:
    from audiencekit.sources.databases.databases import from_sql

    if source:
        raise click.UsageError("--from-sql stands in the place of files: give one of them.")
    if sql is None:
        raise click.UsageError("--from-sql needs --sql @FILE with the query that the database executes.")
    try:
        return from_sql(url, sql)
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)


_AGE: Final = re.compile(r"[0-9]+[a-z]", re.ASCII)


def moment_of(given: str, name: str, now: datetime) -> str:
    """Return the moment that the option `name` gives, as reports write times. Raises UsageError."""
    if _AGE.fullmatch(given):
        return format_time(now - parse_duration(given, name))
    try:
        return format_time(parse_time(given, name))
    except UsageError as error:
        error.hint = "write a time like 2026-12-31T00:00:00Z, or an age like 24h or 7d"
        raise
