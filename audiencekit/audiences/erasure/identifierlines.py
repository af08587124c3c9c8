"""Identifiers one a line: the kind is recognised, or said as `KIND=VALUE`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import BinaryIO

from audiencekit.audiences.erasure.forms import Forms, keys_of, keys_of_hash
from audiencekit.audiences.erasure.subjects import Asked
from audiencekit.errors import UsageError
from audiencekit.identifiers.kind_table import likely_kind
from audiencekit.identifiers.kinds import Kind, Reason, looks_hashed
from audiencekit.identifiers.texts import trim
from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.personal import Personal, guarded


class Lines(Personal[Iterable[str]]):
    """Raw identifiers, one a line."""


@guarded
def read_identifier_lines(lines: Lines, *, country: str | None = None) -> Asked:
    """All people that `lines` name; blank lines are none. `country` is that of phone numbers which name none.

    Raises UsageError for what is no text.
    """
    asked = Asked()
    given: Iterable[object] = lines.unwrap()  # callers in Python may say what they like
    for number, line in enumerate(given, start=1):
        if not isinstance(line, str):
            raise UsageError(f"identifier {number} is no text: nothing was sent", hint="leave out what is missing")
        if trim(line):
            kind, forms = _read_line(line.rstrip("\r\n"), country)
            if kind is None or isinstance(forms, Reason):
                asked.reject(number, None, str(forms))
            else:
                asked.rows += 1
                asked.add(kind, forms)
    return asked


@guarded
def standard_input_lines(stream: BinaryIO | None = None) -> Lines:
    """The lines on standard input. Raises UsageError for a terminal, text that is not UTF-8, and a line too long."""
    live = stream if stream is not None else sys.stdin.buffer
    if live.isatty():
        raise UsageError("standard input is a terminal", hint="pipe identifiers into it, one a line; or give `source=`")
    lines: list[str] = []
    while line := live.readline(MAX_LINE_BYTES + 1):
        if len(line) > MAX_LINE_BYTES:
            raise UsageError(f"line {len(lines) + 1} of stdin is longer than {MAX_LINE_BYTES} bytes")
        lines.append(_decoded(line, len(lines) + 1))
    return Lines(lines)


def _decoded(line: bytes, number: int) -> str:
    text = line.decode("utf-8-sig" if number == 1 else "utf-8", errors="replace")
    if "\ufffd" in text:
        raise UsageError(f"line {number} of stdin is not UTF-8")
    return text


def _read_line(line: str, country: str | None) -> tuple[Kind | None, Forms | Reason]:
    name, separator, value = line.partition("=")
    kind = Kind(name.strip()) if separator and name.strip() in set(Kind) else None
    if kind is None:
        kind, value = likely_kind(line, country=country), line
    if kind is None:
        return None, Reason.NO_IDENTIFIER
    if kind.is_hashed and looks_hashed(trim(value)):
        return kind, keys_of_hash(value)
    return kind, keys_of(kind, value, default_country=country)
