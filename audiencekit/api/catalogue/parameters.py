"""Parameters of endpoints, and their rules: facts only. `validation` is what applies them.

A parameter is made by the function that is named for its type, so that a row of the catalogue reads as a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal, TypeAlias, TypedDict, Unpack

from audiencekit.limits import MAX_LIST_IDS, MAX_PAGE_ROWS, MAX_QUERY_LENGTH

Place: TypeAlias = Literal["path", "query", "body", "form", "header", "query_or_header", "unstated"]
Required: TypeAlias = Literal[True, False, "conditional"]


class Type(StrEnum):
    """What the text of a parameter must be."""

    STRING = "string"
    BOOLEAN = "boolean"
    INT = "int"
    LONG = "long"  # an id of the service: digits, never through a float
    ENUM = "enum"
    DATETIME = "datetime"  # ISO 8601, UTC
    URL = "url"
    CURRENCY = "currency"  # ISO 4217, three letters
    HASHTAG = "hashtag"
    CSV_STRING = "csv_string"
    CSV_ENUM = "csv_enum"
    CSV_LONG = "csv_long"
    ARRAY = "array"
    OBJECT = "object"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter. Bounds that the specification does not state are None.

    `minimum` and `maximum` bound numbers, the lengths count characters (of a hashtag without its #), `max_items`
    the entries of a list. `at` is the place inside a JSON body. `default` is what the service takes when it is left
    out. `unique` says that the service holds each value once in an account.
    """

    name: str
    type: Type
    place: Place = "query"
    required: Required = False
    values: tuple[str | int, ...] = ()
    default: str | int | bool | None = None
    minimum: int | None = None
    maximum: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    max_items: int | None = None
    pattern: str | None = None
    at: str | None = None
    note: str = ""


class Facts(TypedDict, total=False):
    """What a parameter may have besides its name and type."""

    place: Place
    required: Required
    default: str | int | bool | None
    minimum: int | None
    maximum: int | None
    min_length: int | None
    max_length: int | None
    max_items: int | None
    pattern: str | None
    at: str | None
    note: str


def text(name: str, **facts: Unpack[Facts]) -> Parameter:
    """Any text."""
    return Parameter(name=name, type=Type.STRING, **facts)


def flag(name: str, **facts: Unpack[Facts]) -> Parameter:
    """true or false."""
    return Parameter(name=name, type=Type.BOOLEAN, **facts)


def whole(name: str, **facts: Unpack[Facts]) -> Parameter:
    """A whole number."""
    return Parameter(name=name, type=Type.INT, **facts)


def long(name: str, **facts: Unpack[Facts]) -> Parameter:
    """A whole number of up to 64 bits: an id of a user or a tweet, or an amount in micro units."""
    return Parameter(name=name, type=Type.LONG, **facts)


def one_of(name: str, *values: str | int, **facts: Unpack[Facts]) -> Parameter:
    """One of `values`; none are given where the specification does not state them."""
    return Parameter(name=name, type=Type.ENUM, values=values, **facts)


def some_of(name: str, *values: str, **facts: Unpack[Facts]) -> Parameter:
    """A comma-separated list out of `values`; none are given where the specification does not state them."""
    return Parameter(name=name, type=Type.CSV_ENUM, values=values, **facts)


def time(name: str, **facts: Unpack[Facts]) -> Parameter:
    """A moment, ISO 8601 in UTC."""
    return Parameter(name=name, type=Type.DATETIME, **facts)


def url(name: str, **facts: Unpack[Facts]) -> Parameter:
    """A web address."""
    return Parameter(name=name, type=Type.URL, **facts)


def currency(name: str, **facts: Unpack[Facts]) -> Parameter:
    """A currency, ISO 4217."""
    return Parameter(name=name, type=Type.CURRENCY, **facts)


def hashtag(name: str, **facts: Unpack[Facts]) -> Parameter:
    """A hashtag."""
    return Parameter(name=name, type=Type.HASHTAG, **facts)


def texts(name: str, **facts: Unpack[Facts]) -> Parameter:
    """A comma-separated list of texts."""
    return Parameter(name=name, type=Type.CSV_STRING, **facts)


def longs(name: str, **facts: Unpack[Facts]) -> Parameter:
    """A comma-separated list of ids that are numbers."""
    return Parameter(name=name, type=Type.CSV_LONG, **facts)


def array(name: str, **facts: Unpack[Facts]) -> Parameter:
    """A JSON array."""
    return Parameter(name=name, type=Type.ARRAY, **facts)


def json_object(name: str, **facts: Unpack[Facts]) -> Parameter:
    """A JSON object."""
    return Parameter(name=name, type=Type.OBJECT, **facts)


def ids(name: str, **facts: Unpack[Facts]) -> Parameter:
    """A comma-separated list of up to MAX_LIST_IDS ids (specification part 1, section 4.0)."""
    return Parameter(name=name, type=Type.CSV_STRING, max_items=MAX_LIST_IDS, **facts)


def in_path(name: str) -> Parameter:
    """A part of the path."""
    return text(name, place="path", required=True)


# --- parameters that many endpoints share: specification part 1, section 4.0 ---
ACCOUNT_ID: Final = in_path("account_id")
COUNT: Final = whole("count", default=200, minimum=1, maximum=MAX_PAGE_ROWS)
CURSOR: Final = text("cursor")
SORT_BY: Final = texts("sort_by")
Q: Final = text("q", min_length=1, max_length=MAX_QUERY_LENGTH)
WITH_DELETED: Final = flag("with_deleted", default=False)
WITH_TOTAL_COUNT: Final = flag("with_total_count", default=False)


@dataclass(frozen=True, slots=True)
class NotTogether:
    """At most one of `names` is given; a flag counts as given when it is true."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExactlyOneOf:
    """One of `names` is given, and no other."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RequiredIf:
    """`name` is given when `other` is."""

    name: str
    other: str


@dataclass(frozen=True, slots=True)
class RequiredUnless:
    """`name` is given when `other` is not."""

    name: str
    other: str


@dataclass(frozen=True, slots=True)
class OnlyIf:
    """`name` is given only when `other` is `value`, be it given or by default."""

    name: str
    other: str
    value: Any


@dataclass(frozen=True, slots=True)
class NotAbove:
    """The number `name` is at most the number `other`."""

    name: str
    other: str


@dataclass(frozen=True, slots=True)
class LaterThan:
    """The moment `name` is later than the moment `other`."""

    name: str
    other: str


@dataclass(frozen=True, slots=True)
class ItemsTogether:
    """The lists `names` hold at most `max_items` entries together."""

    names: tuple[str, ...]
    max_items: int


@dataclass(frozen=True, slots=True)
class DaysBetween:
    """The moments `start` and `end` are at most `days` apart."""

    start: str
    end: str
    days: int


Rule: TypeAlias = (
    NotTogether
    | ExactlyOneOf
    | RequiredIf
    | RequiredUnless
    | OnlyIf
    | NotAbove
    | LaterThan
    | ItemsTogether
    | DaysBetween
)

CURSOR_OR_TOTAL: Final = NotTogether(("cursor", "with_total_count"))
