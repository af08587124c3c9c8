"""The keyword arguments of all functions that read a list, and their signatures as people see them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import date
from functools import partial, wraps
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, ParamSpec, TypeAlias, TypedDict, TypeVar

from audiencekit.errors import UsageError
from audiencekit.limits import (
    DEFAULT_MAX_REJECTED_COLUMN_SHARE,
    DEFAULT_MAX_REJECTED_SHARE,
    DEFAULT_MAX_UNREAD_SHARE,
    MAX_BODY_BYTES,
    SHARED_PEOPLE,
)
from audiencekit.settings import FewPeople
from audiencekit.sources.files import FilePath

# --- Signatures as people see them: `**keywords` written out, with types and defaults; unknown names are refused ---
#
# Type checkers read `Unpack[Keywords]` by themselves; `help()`, notebooks and consoles ask for the signature.

P = ParamSpec("P")
T = TypeVar("T")
_NO_MORE: Final[Mapping[str, object]] = MappingProxyType({})


def with_keywords(keywords: type, more: Mapping[str, object] = _NO_MORE) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function whose `**keywords` are those of the TypedDict `keywords`.

    The signature and the docstring of the decorated function list each of them. `more` are the defaults of keywords
    that are not in `ABOUT`, which the docstring of the function explains itself. The function raises UsageError for an
    unknown name, with the right name if there is one, and TypeError for a missing argument.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        signature = _written_out(inspect.signature(function), keywords, more)
        known = signature.parameters.keys()

        @wraps(function)
        def call(*given: P.args, **named: P.kwargs) -> T:
            refuse_unknown_keywords(named, known, function.__name__.removesuffix("_async"))
            signature.bind(*given, **named)
            work = [partial(function, *given, **named)]
            del given, named  # no traceback of what follows is to show a data frame, or identifiers
            return work.pop()()

        call.__doc__ = f"{function.__doc__}\n    Keywords:\n\n" + "\n".join(_lines(keywords)) + "\n    "
        call.__signature__ = signature  # type: ignore[attr-defined]  # as `inspect` wants it
        return call

    return decorate


def refuse_unknown_keywords(given: Iterable[str], known: Collection[str], function: str = "this") -> None:
    """Raise UsageError for a name of `given` that `function` does not know (`known`), with the right name."""
    for name in given:
        if name in known:
            continue
        hint = f"the keywords are: {', '.join(sorted(known))}"
        if name in ABOUT:
            raise UsageError(f"`{function}` does not take `{name}`", hint=hint)
        from difflib import get_close_matches  # 0.2 MB, which only this mistake needs

        near = get_close_matches(name, known, n=1)
        instead = ELSEWHERE.get(name) or (f"perhaps `{near[0]}`" if near else "")
        raise UsageError(f"there is no `{name}`" + (f"; {instead}" if instead else ""), hint=hint)


def _written_out(signature: inspect.Signature, keywords: type, more: Mapping[str, object]) -> inspect.Signature:
    defaults = {**more, **{name: about.default for name, about in ABOUT.items()}}
    named = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    written = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=kind.__forward_arg__)
        for name, kind in keywords.__annotations__.items()
    ]
    return signature.replace(parameters=[*named, *written])


def _lines(keywords: type) -> Iterator[str]:
    return (f"    {name}: {ABOUT[name].text}" for name in keywords.__annotations__ if name in ABOUT)


# --- The keywords of `check`, `prepare`, `upload`, `sync` and `forget`: names, types, defaults, and a line each ---
#
# The types stand in the classes, for checkers of types; the rest in `ABOUT`, for `help()` and the documentation.

Columns: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]]
Time: TypeAlias = str | date  # ISO 8601, a day, or a `datetime` (a subclass of `date`) that has a time zone


class SourceKeywords(TypedDict, total=False):
    """How to read a source."""

    columns: Columns | None
    country: str | None
    country_column: str | None
    country_code_column: str | None
    area_code_column: str | None
    fill_down: str | Iterable[str] | None
    hashed: str | Iterable[str] | None
    ignore: str | Iterable[str] | None
    split_cells: str | None
    encoding: str | None
    delimiter: str | None
    header: bool | None
    header_row: int | None
    sheet: str | Iterable[str] | None
    shared_values: int | Literal["keep"]


class SyncKeywords(SourceKeywords, total=False):
    """How to read a source that says who should be in an audience, and when to refuse it."""

    phone_validity: Literal["valid", "possible"]
    expires_at: Time | None
    ttl_days: int | None
    max_rejected_share: float
    max_rejected_column_share: float
    confirm_partner_ids: bool
    fail_on_warnings: bool
    suppress: FilePath | Iterable[FilePath] | None
    suppress_columns: Columns | None
    suppress_split_cells: str | None
    suppress_encoding: str | None
    suppress_delimiter: str | None
    suppress_header: bool | None
    suppress_sheet: str | Iterable[str] | None
    suppress_max_rejected_share: float
    consent_column: str | None
    shared_suppression: Literal["stop", "all", "none"]
    few_people: FewPeople | None
    max_records_per_request: int | None
    max_records_per_operation: int | None
    max_body_bytes: int | None


class Keywords(SyncKeywords, total=False):
    """How to read a source and what to do with its rows."""

    operation: Literal["update", "delete"] | None
    operation_column: str | None
    effective_at: Time | None
    plan_time: Time | None
    allow_empty: bool


class Keyword(NamedTuple):
    """The default of a keyword, and one line about it. For a default of None the line says what applies."""

    default: Any
    text: str


ABOUT: Final[Mapping[str, Keyword]] = MappingProxyType(
    {
        "columns": Keyword(None, "{kind: column}, or pairs of them; recognised by default."),
        "country": Keyword(None, "Country of phone numbers that do not name theirs: 'DE', or 'Germany'."),
        "country_column": Keyword(None, "Column with the country of each row."),
        "country_code_column": Keyword(None, "Column with the calling code of each row, such as 49."),
        "area_code_column": Keyword(None, "Column with the area codes of the phone numbers beside it."),
        "fill_down": Keyword(None, "Columns whose blank cells are as the ones above them: the country of child rows."),
        "hashed": Keyword(None, "Kinds whose columns are SHA-256 already."),
        "ignore": Keyword(None, "Columns to ignore."),
        "split_cells": Keyword(None, "Separator of several values in one cell."),
        "encoding": Keyword(None, "Encoding of the file, when it is not UTF-8."),
        "delimiter": Keyword(None, "Delimiter of the file; recognised by default."),
        "header": Keyword(None, "False when the first line is a row; recognised by default."),
        "header_row": Keyword(None, "Line of the header, or its row in a sheet; recognised by default."),
        "sheet": Keyword(None, "Sheet of a workbook, or several with one header; `*` for all with cells."),
        "shared_values": Keyword(
            SHARED_PEOPLE, "Leave a value out of its records when more people than so many have it; 'keep' keeps all."
        ),
        "phone_validity": Keyword("valid", "Take phone numbers in assigned ranges only, or all of a possible length."),
        "expires_at": Keyword(None, "When entries expire; 13 months after the plan by default."),
        "ttl_days": Keyword(None, "Entries expire so many days after the plan."),
        "max_rejected_share": Keyword(
            DEFAULT_MAX_REJECTED_SHARE, "Refuse the source when a larger share of its rows is rejected, 0 to 1."
        ),
        "max_rejected_column_share": Keyword(
            DEFAULT_MAX_REJECTED_COLUMN_SHARE,
            "Refuse the source when a larger share of the values of a column is not of its kind, 0 to 1.",
        ),
        "confirm_partner_ids": Keyword(
            False, "The numbers in columns of partner_user_id are ids, not phone numbers: they leave unhashed."
        ),
        "fail_on_warnings": Keyword(False, "Refuse the list instead of warning of a large loss."),
        "suppress": Keyword(None, "Files of people who must not be put in, hashed or not."),
        "suppress_columns": Keyword(None, "As `columns`, for those of `suppress` that have them."),
        "suppress_split_cells": Keyword(None, "As `split_cells`, for `suppress`."),
        "suppress_encoding": Keyword(None, "As `encoding`, for `suppress`."),
        "suppress_delimiter": Keyword(None, "As `delimiter`, for `suppress`."),
        "suppress_header": Keyword(None, "As `header`, for `suppress`."),
        "suppress_sheet": Keyword(None, "As `sheet`, for `suppress`."),
        "suppress_max_rejected_share": Keyword(
            DEFAULT_MAX_UNREAD_SHARE, "The share of the rows of `suppress` that may be unreadable, 0 to 1."
        ),
        "consent_column": Keyword(None, "'NAME=VALUE': put in only rows with VALUE in the column NAME."),
        "shared_suppression": Keyword(
            "stop", "A shared value of people to keep out stops the run, keeps out all who have it, or none."
        ),
        "few_people": Keyword(
            None,
            "If fewer than ten people change: note it, refuse, or allow; AUDIENCEKIT_FEW_PEOPLE by default.",
        ),
        "max_records_per_request": Keyword(None, "Records of one request at most; as many as fit by default."),
        "max_records_per_operation": Keyword(None, "Records of one operation at most; as many as fit by default."),
        "max_body_bytes": Keyword(None, f"Bytes of one request at most; {MAX_BODY_BYTES:,} by default."),
        "operation": Keyword(None, "What to do with every row; 'update' by default."),
        "operation_column": Keyword(None, "Column that says update or delete for each row."),
        "effective_at": Keyword(None, "When entries take effect; at once by default."),
        "plan_time": Keyword(None, "Time from which the plan counts; now by default."),
        "allow_empty": Keyword(False, "Accept a list without rows."),
    }
)

# Options of the command line that a program gives in another way.
ELSEWHERE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "map": "it is `columns`",
        "no_header": "it is `header=False`",
        "suppress_map": "it is `suppress_columns`",
        "suppress_no_header": "it is `suppress_header=False`",
        "audience_id": "it is `audience`, an id or a name",
        "from": "it is `source`",
        "from_sql": "give `from_sql(URL, QUERY)` as the source",
        "sql": "give `from_sql(URL, QUERY)` as the source",
        "account": "give `settings=load_settings(account_id=…)`",
        "account_id": "give `settings=load_settings(account_id=…)`",
        "profile": "give `settings=load_settings(profile=…)`",
        "concurrency": "give `settings=load_settings(concurrency=…)`",
        "requests_per_minute": "give `settings=load_settings(requests_per_minute=…)`",
        "events": "give `settings=load_settings(events=…)`",
        "purpose": "give `settings=load_settings(purpose=…)`",
        "basis": "give `settings=load_settings(basis=…)`",
        "notify": "only the command line notifies; a program has the report, or the error",
        "notify_on": "only the command line notifies; a program has the report, or the error",
        "dry_run": "`check` reads the source and sends nothing",
        "offline": "`plan_sync` makes the plan and sends nothing",
        "json": "call `to_json()` of the result",
        "yes": "Python asks no question",
        "max_minutes": "put `asyncio.timeout` around the function that ends in `_async`",
    }
)
