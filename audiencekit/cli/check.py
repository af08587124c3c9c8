"""`hash`: the rules on single values, for trying them and for comparing with other tools."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import click

from audiencekit.cli.command_help import Command, given_words
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.main import manner
from audiencekit.cli.options import (
    OutputPath,
    as_keywords,
    json_option,
    plan_options,
    rejections_option,
    seal_rejections_option,
    source_options,
    suppression_options,
)
from audiencekit.cli.output import complain, leave_with, print_told, say, say_document, spelled, suggest
from audiencekit.cli.web_pages import html_option, require_page, write_plan_page
from audiencekit.errors import AudiencekitError, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.text import OPTION, option

if TYPE_CHECKING:
    from audiencekit.reporting.report import Plan


@click.command(
    "hash",
    cls=Command,
    examples=("hash email <<< '\"ada@example.com\"'", "hash phone_number --country DE < numbers.jsonl"),
)
@click.argument("kind", type=click.Choice([kind.value for kind in Kind if kind.is_hashed]))
@click.option("--country", help="Country of phone numbers without a country code.")
@click.option("--show-normalized", is_flag=True, help="Add what was hashed. It is personal data.")
@click.option("--phone-validity", type=click.Choice(["valid", "possible"]), default="valid", show_default=True)
def hash_values(kind: str, country: str | None, show_normalized: bool, phone_validity: Any) -> None:
    """Hash JSON strings, one a line.

    Each line of stdin gets an answer on stdout: {"sha256": …} or {"reason": …}.
    """
    from audiencekit.identifiers.definition import normalize_identifier
    from audiencekit.identifiers.kinds import Hashable, Reason, hash_normalized
    from audiencekit.planning.options import Keywords, read_keywords

    keywords: Keywords = {"country": country, "phone_validity": phone_validity}
    rules = read_keywords(keywords, command_settings().profile).rules
    for number, line in enumerate(sys.stdin.buffer, start=1):
        normalized = normalize_identifier(Kind(kind), _read_line(line, number), rules=rules)
        if isinstance(normalized, Reason):
            answer = {"reason": normalized.value}
        else:
            answer = {"sha256": hash_normalized(cast("Hashable", normalized))}
            answer |= {"normalized": normalized} if show_normalized else {}
        say(json.dumps(answer))


def _read_line(line: bytes, number: int) -> str:
    value: object = None
    try:
        value = json.loads(line) if line.strip() else ""
    except ValueError:
        value = None
    if not isinstance(value, str):
        raise UsageError(f"line {number} of stdin is not a JSON string", hint='write values like "someone@example.com"')
    return value


@click.command(cls=Command, examples=("check list.csv --country DE", "check list.csv --doctor"))
@source_options
@plan_options
@suppression_options
@rejections_option
@seal_rejections_option
@click.option("--doctor", is_flag=True, help="Say which options would save lost values, and how many.")
@html_option
@click.option("--columns", "only_columns", is_flag=True, help="Print only what each column is used as, and why.")
@json_option
def check(
    source: tuple[str, ...],
    as_json: bool,
    rejections: str | None,
    seal_rejections: str | None,
    doctor: bool,
    html: str | None,
    share: bool,
    only_columns: bool,
    **given: Any,
) -> None:
    """Read a list and say what `upload` would send.

    It reads the list to its end, sends nothing and needs no credentials.
    """
    from audiencekit.cli.command_progress import command_progress
    from audiencekit.pipeline import check as check_source

    if only_columns:
        _show_columns(source, given, as_json=as_json)
        return
    require_page(html, share=share)
    try:
        with command_progress() as progress:
            plan = check_source(
                source,
                rejections=rejections,
                progress=progress,
                settings=command_settings(),
                doctor=doctor,
                seal_rejections=seal_rejections,
                **as_keywords(given),
            )
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    if html is not None:
        write_plan_page(html, plan.to_json(), share=share)
    show_plan(plan, as_json=as_json)
    if not plan.refusals:
        is_lossy = bool(plan.rejections) and not doctor and rejections is None
        _suggest(plan, given_words({"source", "from_sql", "sql", *given}), is_lossy=is_lossy)
    sys.exit(plan.exit_code)


def _suggest(plan: Plan, words: list[str], *, is_lossy: bool) -> None:
    """Suggest the next command, with the list and the options of this one.

    It is no upload while a consent column of the list is not decided on, or an option would save identifiers.
    """
    refusing = next((loss for loss in plan.warnings if loss.code == "consent"), None)
    given = re.search(r"`consent_column=('.*?'|\".*?\")`", (refusing.remedy if refusing else None) or "")
    advised = (_words_of(finding.option) for finding in plan.findings if finding.option and finding.saves)
    more = next((advice for advice in advised if advice and advice[0] not in words), [])
    if given:
        more += ["--consent-column", ast.literal_eval(given[1])]
    if is_lossy and (given or refusing is None):
        more += ["--doctor", "--rejections", "rejections.csv"]
    if more:
        suggest("check", *words, *more)
    elif refusing is None:
        suggest(*_upload(words))


def _words_of(advice: str) -> list[str]:
    """Return an option that the doctor advises as words; none where its value cannot be shown in a line."""
    found = OPTION.fullmatch(advice)
    if found is None:
        return []
    value = ast.literal_eval(found[2])
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    return [spelled(option(found[1])), value] if isinstance(value, str) and value.isprintable() else []


def _upload(words: list[str]) -> list[str]:
    return ["upload", *words, "--audience", "NAME"]


def _show_columns(source: tuple[str, ...], given: dict[str, Any], *, as_json: bool) -> None:
    """Print how each column is used. Only the beginning of the list is read."""
    from dataclasses import asdict, replace

    from audiencekit.planning.options import read_keywords
    from audiencekit.reporting.text import render_columns
    from audiencekit.sources.source import open_source

    keywords: Any = as_keywords(given)
    options = read_keywords(keywords, command_settings().profile)
    opened = open_source(source, replace(options.source, puts_in=options.operation_type == "Update"))
    uses = [asdict(use) for use in opened.uses]
    if as_json:
        print_told({"column_uses": uses})
    else:
        say(spelled(render_columns(uses)))


@click.command(cls=Command, examples=("prepare list.csv --out hashed", "prepare list.csv --out hashed --requests"))
@source_options
@plan_options
@suppression_options
@click.option(
    "--out", required=True, type=OutputPath(file_okay=False), help="Directory to write to; created if missing."
)
@click.option("--requests", is_flag=True, help="Also write each request, byte for byte as it would be sent.")
@json_option
def prepare(source: tuple[str, ...], out: str, requests: bool, as_json: bool, **given: Any) -> None:
    """Write the hashed records of a list to a directory.

    The directory gets records.parquet, manifest.json and rejections.csv.
    """
    from audiencekit.cli.command_progress import command_progress
    from audiencekit.pipeline import prepare as prepare_source

    try:
        with command_progress() as progress:
            plan = prepare_source(
                source, out=Path(out), requests=requests, progress=progress, settings=command_settings(),
                **as_keywords(given),
            )  # fmt: skip
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    leave_with_plan(plan, as_json=as_json)


def leave_with_plan(plan: Plan, *, as_json: bool) -> NoReturn:
    """Print the plan, and exit with the code that `upload` would have before it sends."""
    show_plan(plan, as_json=as_json)
    sys.exit(plan.exit_code)


def show_plan(plan: Plan, *, as_json: bool) -> None:
    """Print the plan, and say why it would be refused."""
    if as_json:
        print_told(plan.to_json())
    else:
        say_document(plan.to_text(details=manner().is_verbose))
    for refusal in plan.refusals:
        complain(refusal)
