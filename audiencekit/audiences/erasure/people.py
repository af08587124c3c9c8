"""The people of an erasure: read from a list or from lines, with all their identifiers."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, NamedTuple

import pyarrow as pa

from audiencekit.api.client import AdsClient
from audiencekit.audiences.erasure.forms import ErasureKeys, Forms, Key, keys_of, keys_of_hash
from audiencekit.destinations.audience_look import READS_ONLY, READS_ONLY_HINT, may_only_read, viewing_permissions
from audiencekit.errors import (
    AudiencekitError,
    CredentialsRefused,
    ExchangeError,
    MappingRefused,
    NotFinished,
    NotFound,
    PlanRefused,
    Redirected,
    RequestRefused,
    Unauthorized,
    UsageError,
)
from audiencekit.identifiers.countries import country_of_row
from audiencekit.identifiers.kind_table import is_phone_shaped, likely_kind
from audiencekit.identifiers.kinds import Kind, Reason, looks_hashed
from audiencekit.identifiers.several_values import values_in
from audiencekit.identifiers.texts import trim
from audiencekit.limits import MAX_ERASURE_KEYS, MAX_LINE_BYTES
from audiencekit.personal import Personal, guarded
from audiencekit.planning.options import SourceKeywords, read_keywords
from audiencekit.profile import Profile
from audiencekit.records.batches import COUNTRY, ROW, ColumnMapping, MappedColumn, TextBatch
from audiencekit.records.refusal_bounds import NAME_COUNTRIES
from audiencekit.reporting.progress import Progress, ReadingProgress
from audiencekit.sources.files import AnySource, Item, items_of
from audiencekit.sources.frames import is_frame
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import open_source

# --- The input: identifiers one by one, or a source ---


@dataclass(frozen=True, slots=True)
class People:
    """The input of an erasure: identifiers, or a source; the other one is None.

    An identifier may belong to at most `shared_people` members of an audience, None for no limit.
    """

    lines: Lines | None
    source: tuple[Item, ...] | None
    options: SourceOptions
    shared_people: int | None

    @classmethod
    def given(
        cls,
        identifiers: Iterable[str] | None,
        source: AnySource | None,
        keywords: SourceKeywords,
        profile: Profile,
    ) -> People:
        """Return the checked input.

        Raises UsageError for invalid keywords, and unless exactly one of the two is given.
        """
        if (identifiers is None) is (source is None):
            raise UsageError("give identifiers or a source, not both")
        if isinstance(identifiers, str) or _has_columns(identifiers):
            raise UsageError("identifiers are a list of texts", hint="a data frame is a source: forget(source=frame)")
        given = {name for name, value in keywords.items() if value is not None and value != ()}
        alien = given - SourceKeywords.__annotations__.keys()
        if identifiers is not None:
            alien = given - {"country", "shared_values"}
        if alien:
            raise UsageError(f"{', '.join(sorted(alien))} cannot be used here", hint="they need a source")
        options = read_keywords(keywords, profile)
        items = None if source is None else items_of(source)
        return cls(None if identifiers is None else Lines(identifiers), items, options.source, options.shared_people)

    @property
    def noun(self) -> str:
        """The noun for an entry: line or row."""
        return "row" if self.lines is None else "line"

    def read(self, progress: Progress) -> Asked:
        """Read all people. Raises the errors of `read_rows` and `read_identifier_lines`."""
        if self.source is not None:
            return read_rows(self.source, self.options, progress)
        return read_identifier_lines(Lines(()) if self.lines is None else self.lines, country=self.options.country)


def _has_columns(identifiers: object) -> bool:
    """Whether it is a data frame. A single column, which supports Arrow as well, is a list."""
    return is_frame(identifiers) and hasattr(identifiers, "columns")


# --- The people that were read: the keys of every form, and the rejections ---

_MOST_NAMED = 5  # rejections that a message names; the others are counted


class Rejected(NamedTuple):
    """A row or line with a part that identifies no person. It has no value; `column` is None for the whole row."""

    row: int
    column: str | None
    reason: str


@dataclass(slots=True, kw_only=True)
class Asked:
    """The people that were read. `rows` counts lines or rows that qualified; those without any identifier did not.

    `identifiers` counts the values that were understood, by kind.
    """

    rows: int = 0
    identifiers: Counter[str] = field(default_factory=Counter)
    rejected: list[Rejected] = field(default_factory=list)
    _keys: set[Key] = field(default_factory=set, repr=False)

    def add(self, kind: Kind, forms: Forms) -> None:
        """Add one identifier. Raises PlanRefused beyond MAX_ERASURE_KEYS."""
        self.identifiers[kind.value] += 1
        self._keys.update((kind, form) for form in forms)
        if len(self._keys) > MAX_ERASURE_KEYS:
            raise PlanRefused(
                f"more than {MAX_ERASURE_KEYS:,} forms of identifiers: nothing was sent", hint="erase in several goes"
            )

    def reject(self, row: int, column: str | None, reason: str) -> None:
        """Note a line or row that identifies no person."""
        self.rejected.append(Rejected(row, column, str(reason)))

    @property
    def keys(self) -> ErasureKeys:
        """Return every form of every identifier."""
        return ErasureKeys(frozenset(self._keys))

    def check(self, *, what: str, skip_rejected: bool) -> None:
        """Raise PlanRefused when there is no person, or when a line cannot be read and that is not allowed."""
        if self.rejected and not skip_rejected:
            # Never to leave a person out: someone has asked to be erased.
            hint = f"correct such {what}s, so that none is missed"
            if any(one.reason == Reason.NO_COUNTRY for one in self.rejected):
                hint = f"say the country of numbers that name none, such as `country='DE'`, or {NAME_COUNTRIES}; {hint}"
            raise PlanRefused(f"{self.rejections_in_words(what)}: nothing was sent", hint=hint)
        if not self._keys:
            raise PlanRefused(
                "no one was named: nothing was sent", hint="give identifiers on stdin, or `source=SOURCE`"
            )

    def rejections_in_words(self, what: str) -> str:
        """Return which rows or lines (`what`) identify no person, and why; the first of them one by one."""
        named = [_in_words(one, what) for one in self.rejected[:_MOST_NAMED]]
        more = len(self.rejected) - len(named)
        return "; ".join(named) + (f"; and {more:,} more" if more else "")

    def reasons(self) -> dict[str, int]:
        """Return the number of each reason."""
        return dict(Counter(one.reason for one in self.rejected))


def _in_words(rejected: Rejected, what: str) -> str:
    place = f", column {rejected.column}" if rejected.column else ""
    return f"{what} {rejected.row}{place}: {reason_in_words(rejected) if what == 'line' else rejected.reason}"


def reason_in_words(rejected: Rejected) -> str:
    """Return why a line identifies no person."""
    return "its kind is not recognised" if rejected.reason == Reason.NO_IDENTIFIER else rejected.reason


# --- The people of a source: every identifier of every row, in every form ---

# A cell with one of these reasons holds no identifier of a person, so that none is missed.
_NO_PERSON: Final = frozenset({Reason.EMPTY, Reason.PLACEHOLDER, Reason.ZEROED, Reason.HASH_OF_PLACEHOLDER})


def read_rows(source: AnySource, options: SourceOptions, progress: Progress) -> Asked:
    """Return all people in the source, read to its end.

    Raises what `open_source` raises, and MappingRefused when no column holds identifiers.
    """
    opened, asked = open_source(source, options), Asked()
    if not opened.mapping.columns:
        raise MappingRefused(
            "no column with identifiers was recognised", hint="name one with `columns={'KIND': 'COLUMN'}`"
        )
    reading = ReadingProgress(progress, opened)
    for batch in opened.batches():
        _read_batch(batch, opened.mapping, options.country, asked)
        reading.step(opened.rows_read)
    return asked


@guarded
def _read_batch(batch: TextBatch, mapping: ColumnMapping, default_country: str | None, asked: Asked) -> None:
    columns = batch.columns.unwrap()
    for fault in batch.faults.to_pylist():
        asked.reject(fault["row"], fault["column"], fault["reason"])
    names = {column.position: column.name for column in mapping.columns}
    unread = batch.cell_faults.to_pylist()
    for fault in unread:
        asked.reject(fault["row"], names[fault["position"]], fault["reason"])
    are_unread = {fault["row"] for fault in unread}
    rows = columns.column(ROW).to_pylist()
    named = columns.column(COUNTRY).to_pylist() if mapping.country is not None else [None] * len(rows)
    cells = [(column, columns.column(mapping.field_name(column))) for column in mapping.columns]
    for place, (row, country) in enumerate(zip(rows, named, strict=True)):
        of_row = [(one, each[place]) for one, each in cells]
        found, wrong = _read_row(row, country_of_row(country or ""), default_country, of_row, asked)
        asked.rows += bool(found)
        if not found and not wrong and row not in are_unread:
            asked.reject(row, None, Reason.NO_IDENTIFIER)


def _read_row(
    row: int, country: str | None, default_country: str | None, cells: list[tuple[MappedColumn, Any]], asked: Asked
) -> tuple[int, int]:
    """Return how many of its values are identifiers, and how many are wrong."""
    found = wrong = 0
    for column, cell in cells:
        for text in _values(column, cell, country, default_country):
            forms = _forms(column, text, country, default_country)
            if not isinstance(forms, Reason):
                found += 1
                asked.add(column.kind, forms)
            elif forms not in _NO_PERSON:
                wrong += 1
                asked.reject(row, column.name, forms)
    return found, wrong


def _forms(column: MappedColumn, text: str, country: str | None, default_country: str | None) -> Forms | Reason:
    if column.hashed:
        return keys_of_hash(text)
    return keys_of(column.kind, text, country=country, default_country=default_country)


def _values(column: MappedColumn, cell: Any, country: str | None, default_country: str | None) -> Iterator[str]:
    """Return the values of one cell of `column`: of a shared one those of its kind, and several whole ones apart."""
    for text in _texts(cell):
        if column.is_shared and not column.hashed and ("@" in text) != (column.kind is Kind.EMAIL):
            continue
        parts = () if column.hashed else values_in(column.kind, text)
        if parts and _forms(column, text, country, default_country) is Reason.INVALID_SYNTAX:
            several = [_forms(column, part, country, default_country) for part in parts]
            yield from (text,) if any(isinstance(forms, Reason) for forms in several) else parts
        else:
            yield text


def _texts(cell: Any) -> Iterator[str]:
    """Return the values of one cell: one, several, or none."""
    value = cell.as_py()
    if isinstance(cell, pa.ListScalar | pa.LargeListScalar):
        yield from (text for text in value or () if text is not None)
    elif value is not None:
        yield value


# --- One identifier on each line: its kind is recognised, or given as `KIND=VALUE` ---


class Lines(Personal[Iterable[str]]):
    """Raw identifiers, one a line."""


@guarded
def read_identifier_lines(lines: Lines, *, country: str | None = None) -> Asked:
    """Return all people in `lines`; blank lines are ignored. `country` is that of phone numbers which name none.

    Raises UsageError for anything but text.
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


MOST_LINES_OF_A_PERSON: Final = 20  # identifiers that one person may have


def read_person(lines: Lines, *, country: str | None = None) -> Asked:
    """Return the one person of all `lines`.

    Raises PlanRefused for a line that cannot be read, and UsageError for more lines than one person has.
    """
    asked = read_identifier_lines(lines, country=country)
    asked.check(what="line", skip_rejected=False)
    if asked.rows > MOST_LINES_OF_A_PERSON:
        message = f"{asked.rows:,} identifiers: this is for one person, who has {MOST_LINES_OF_A_PERSON} at most"
        raise UsageError(f"{message}: nothing was changed", hint="give the identifiers of one person at a time")
    return asked


@guarded
def standard_input_lines(stream: BinaryIO | None = None) -> Lines:
    """Return the lines on standard input.

    Raises UsageError for a terminal, text that is not UTF-8, and a line too long.
    """
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
        is_national = country is None and is_phone_shaped(value)
        return None, Reason.NO_COUNTRY if is_national else Reason.NO_IDENTIFIER
    if kind.is_hashed and looks_hashed(trim(value)):
        return kind, keys_of_hash(value)
    return kind, keys_of(kind, value, default_country=country)


# --- The permission for an erasure, checked before anyone is remembered ---

_WHOAMI: Final = "`audiencekit whoami` shows which accounts these credentials can use, and what they may do"
_NOTHING: Final = "no one was remembered, and nothing was sent"


async def check_access(client: AdsClient, account_id: str) -> None:
    """Check that the service does not refuse us or says that this user or token may only view the account.

    Raises CredentialsRefused or PlanRefused. A service that is away is accepted: these people are left out of uploads
    from now on, and are erased when it is back.
    """
    refusal: AudiencekitError
    try:
        answer = await client.list_custom_audiences(count=1)
        if may_only_read(answer):
            raise CredentialsRefused(f"account {account_id}: {READS_ONLY}: {_NOTHING}", hint=READS_ONLY_HINT)
        if viewing := await viewing_permissions(client):
            may = f"this user may only look at it ({viewing})"
            raise CredentialsRefused(f"account {account_id}: {may}: {_NOTHING}", hint=_WHOAMI)
        return
    except Unauthorized as error:
        hint = error.hint or _WHOAMI
        refusal = CredentialsRefused(f"account {account_id}: {error}: {_NOTHING}", hint=hint)
    except (NotFound, RequestRefused, Redirected) as error:
        hint = error.hint or _WHOAMI
        refusal = PlanRefused(f"account {account_id}: {error}: {_NOTHING}", hint=hint)
    except ExchangeError:
        return
    except asyncio.CancelledError:
        refusal = NotFinished(f"interrupted: {_NOTHING}")
    raise refusal
