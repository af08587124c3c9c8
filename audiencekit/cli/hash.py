"""`hash`: the rules on single values, for trying them and for comparing with other tools."""

from __future__ import annotations

import json
import sys
from typing import Any, cast

import click

from audiencekit.cli.commandhelp import Command
from audiencekit.cli.commandsettings import command_settings
from audiencekit.cli.output import say
from audiencekit.errors import UsageError
from audiencekit.identifiers.kinds import Kind


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
