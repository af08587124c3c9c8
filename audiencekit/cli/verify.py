"""`vectors` and `verify`: invented values with their right results, and whether a pipeline gives these."""

from __future__ import annotations

import shlex
import sys
from itertools import islice
from typing import TYPE_CHECKING, Final

import click

from audiencekit.cli.command_help import Command
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.completion_words import columns as columns_of, kinds_of_columns
from audiencekit.cli.options import KindAndColumn, SourcePath, json_option
from audiencekit.cli.output import leave_with, print_told, say, say_document
from audiencekit.cli.web_pages import html_option, require_page, write_verification_page
from audiencekit.errors import AudiencekitError, UsageError
from audiencekit.identifiers.kinds import Kind

if TYPE_CHECKING:
    from audiencekit.reporting.verification import Verification

_AT_ONCE: Final = 1_000  # lines


@click.command(cls=Command, examples=("vectors > vectors.jsonl", "vectors --rule-set uid2 --kind email"))
@click.option(
    "--rule-set",
    type=click.Choice(["spec", "x", "google", "tiktok", "uid2"]),
    default="spec",
    show_default=True,
    help="Service whose rule decides.",
)
@click.option("--kind", type=click.Choice([kind.value for kind in Kind]), help="Only this kind.")
def vectors(rule_set: str, kind: str | None) -> None:
    """Print invented values and their right results.

    Each line of stdout is one vector as JSON: `input`, and `normalised` and `digest`, or `reason`.
    """
    import json

    from audiencekit.conformance.vectors import read_vectors

    lines = (json.dumps(vector.to_json()) for vector in read_vectors(rule_set) if kind in (None, vector.kind.value))
    while some := list(islice(lines, _AT_ONCE)):
        say("\n".join(some))


@click.command(
    cls=Command,
    examples=("verify list.csv hashed.csv --country DE", "verify --command 'python3 my_hash.py' --kind email"),
)
@click.argument("raw", metavar="[RAW", required=False, type=SourcePath())
@click.argument("hashed", metavar="HASHED]", required=False, type=SourcePath())
@click.option(
    "--map",
    "columns",
    type=KindAndColumn(),
    multiple=True,
    shell_complete=kinds_of_columns(),
    help="Column of a kind in RAW; repeatable.",
)
@click.option(
    "--hashed-map",
    "hashed_columns",
    type=KindAndColumn(),
    multiple=True,
    help="Column of the digests of a kind in HASHED; repeatable.",
)
@click.option("--country", help="Country of phone numbers without a country code: DE, or Germany.")
@click.option("--country-column", metavar="NAME", shell_complete=columns_of, help="Column of RAW with the countries.")
@click.option("--command", metavar="CMD", help="Program that gets the vectors, in place of two lists.")
@click.option("--sql", metavar="EXPRESSION", help="Digest of `value` and `country` in DuckDB, for the vectors.")
@click.option("--url", metavar="URL", help="Server on this machine that gets the vectors.")
@click.option("--kind", type=click.Choice([kind.value for kind in Kind if kind.is_hashed]), help="Kind of the vectors.")
@html_option
@json_option
def verify(
    raw: str | None,
    hashed: str | None,
    columns: tuple[tuple[str, str], ...],
    hashed_columns: tuple[tuple[str, str], ...],
    country: str | None,
    country_column: str | None,
    command: str | None,
    sql: str | None,
    url: str | None,
    kind: str | None,
    html: str | None,
    share: bool,
    as_json: bool,
) -> None:
    """Check the digests of your own pipeline, and name its faults.

    HASHED holds the digests of the people in RAW, row by row or in any order. Both are read here and nowhere else. CMD
    gets invented values, one a line, and prints one digest a line. A server gets them so in a POST.
    """
    require_page(html, share=share)
    try:
        given = {"command": command, "sql": sql, "url": url}
        if pipelines := {name: text for name, text in given.items() if text is not None}:
            if raw is not None or columns or hashed_columns or country_column is not None:
                raise UsageError(
                    f"`{next(iter(pipelines))}=` gets the vectors, and no list",
                    hint="leave out the lists and their columns",
                )
            found = _of_vectors(pipelines, kind, country)
        else:
            if raw is None or hashed is None:
                raise UsageError(
                    "two lists are needed: RAW and HASHED",
                    hint="or give `kind=KIND` with `command=CMD`, `sql=EXPRESSION` or `url=URL`",
                )
            if kind is not None:
                raise UsageError(
                    "`kind=` is for `command=`, `sql=` and `url=`",
                    hint="leave it out: lists have the kinds of their columns",
                )
            found = _of_lists(raw, hashed, columns, hashed_columns, country, country_column)
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    if html is not None:
        write_verification_page(html, found.to_json(), share=share)
    if as_json:
        print_told(found.to_json())
    else:
        say_document(found.to_text())
    sys.exit(found.exit_code)


def _of_vectors(pipelines: dict[str, str], kind: str | None, country: str | None) -> Verification:
    from audiencekit.conformance.verifying import verify_command, verify_sql, verify_url

    if len(pipelines) > 1:
        raise UsageError("several pipelines were given", hint="give one of `command=`, `sql=` and `url=`")
    [(name, text)] = pipelines.items()
    if kind is None:
        raise UsageError(f"`{name}=` needs `kind=KIND`", hint="a pipeline gets values of one kind")
    if name == "sql":
        return verify_sql(text, kind=kind, country=country)
    if name == "url":
        return verify_url(text, kind=kind, country=country)
    try:
        words = shlex.split(text)
    except ValueError:
        raise UsageError("a quote in `command=CMD` is not closed") from None
    return verify_command(words, kind=kind, country=country)


def _of_lists(
    raw: str,
    hashed: str,
    columns: tuple[tuple[str, str], ...],
    hashed_columns: tuple[tuple[str, str], ...],
    country: str | None,
    country_column: str | None,
) -> Verification:
    from audiencekit.conformance.verifying import verify as verify_lists

    return verify_lists(
        raw, hashed, columns=columns or None, hashed_columns=hashed_columns or None, country=country,
        country_column=country_column, settings=command_settings(),
    )  # fmt: skip
