"""Parameters of endpoints: facts only. `audiencekit.api.validation` is what applies them.

A parameter is made by the function that is named for its type, so that a row of the catalogue reads as a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Literal, TypeAlias, TypedDict, Unpack

from audiencekit.limits import MAX_CURSOR_LENGTH, MAX_LIST_IDS, MAX_PAGE_ROWS, MAX_QUERY_LENGTH, SHA256_HEX_LENGTH
from audiencekit.service_words import ID_PATTERN

# `oauth` is the Authorization header of OAuth 1.0a; what stands in a `header` is made by the client itself.
ParameterPlace: TypeAlias = Literal["path", "query", "body", "form", "oauth", "header"]
# Where in a JSON body: its top, an operation, the operation's params, an entry of users, a segment, a criterion.
Level: TypeAlias = Literal["top", "item", "params", "user", "segment", "criterion"]
Required: TypeAlias = Literal[True, False, "conditional"]
Items: TypeAlias = Literal["text", "object", "array"]


class Type(StrEnum):
    """The types of values."""

    STRING = "string"
    BOOLEAN = "boolean"
    INT = "int"
    LONG = "long"  # ids of people and tweets, amounts in micro units: whole numbers that a float would round
    ENUM = "enum"
    DATETIME = "datetime"
    URL = "url"
    CURRENCY = "currency"
    HASHTAG = "hashtag"
    CSV_STRING = "csv_string"
    CSV_ENUM = "csv_enum"
    CSV_LONG = "csv_long"
    ARRAY = "array"
    OBJECT = "object"


LISTS: Final = frozenset({Type.CSV_STRING, Type.CSV_ENUM, Type.CSV_LONG})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter. Bounds that the specification does not state are None.

    `minimum` and `maximum` bound numbers; the lengths count characters, of a hashtag without its #; `min_items` and
    `max_items` bound the entries of a list. `pattern` holds for the whole text, in a list for each entry. `known` are
    values of a list that is not complete. `items` says what a JSON array holds; `at` where in a JSON body the parameter
    may stand. `default` is what the service takes when it is left out. `removable`: sent empty, it removes what is
    stored.
    `secret`: never shown, and never on a command line.
    """

    name: str
    type: Type
    place: ParameterPlace = "query"
    required: Required = False
    values: tuple[str | int, ...] = ()
    known: tuple[str, ...] = ()
    default: str | int | bool | None = None
    minimum: int | None = None
    maximum: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    pattern: str | None = None
    items: Items | None = None
    at: tuple[Level, ...] = ()
    whole_hours: bool = False
    removable: bool = False
    secret: bool = False
    note: str = ""


class ParameterFacts(TypedDict, total=False):
    """The facts of a parameter besides its name, type and values."""

    place: ParameterPlace
    required: Required
    known: tuple[str, ...]
    default: str | int | bool | None
    minimum: int | None
    maximum: int | None
    min_length: int | None
    max_length: int | None
    min_items: int | None
    max_items: int | None
    pattern: str | None
    at: tuple[Level, ...]
    whole_hours: bool
    removable: bool
    secret: bool
    note: str


def text(name: str, **facts: Unpack[ParameterFacts]) -> Parameter:
    """Any text."""
    return Parameter(name=name, type=Type.STRING, **facts)


def flag(name: str, **facts: Unpack[ParameterFacts]) -> Parameter:
    """true or false."""
    return Parameter(name=name, type=Type.BOOLEAN, **facts)


def whole(name: str, *values: int, **facts: Unpack[ParameterFacts]) -> Parameter:
    """A whole number; one of `values`, if there are any."""
    return Parameter(name=name, type=Type.INT, values=values, **facts)


def long(name: str, **facts: Unpack[ParameterFacts]) -> Parameter:
    """A whole number of up to 63 bits: the id of a person or a tweet, or an amount in micro units."""
    return Parameter(name=name, type=Type.LONG, **facts)


def one_of(name: str, *values: str, **facts: Unpack[ParameterFacts]) -> Parameter:
    """One of `values`; none are given where the specification does not state them."""
    return Parameter(name=name, type=Type.ENUM, values=values, **facts)


def some_of(name: str, *values: str, **facts: Unpack[ParameterFacts]) -> Parameter:
    """A comma-separated list out of `values`."""
    return Parameter(name=name, type=Type.CSV_ENUM, values=values, **facts)


def time(name: str, **facts: Unpack[ParameterFacts]) -> Parameter:
    """A moment, ISO 8601 in UTC."""
    return Parameter(name=name, type=Type.DATETIME, **facts)


def url(name: str, **facts: Unpack[ParameterFacts]) -> Parameter:
    """A web address."""
    return Parameter(name=name, type=Type.URL, **facts)


def currency(name: str, **facts: Unpack[ParameterFacts]) -> Parameter:
    """A currency, ISO 4217."""
    return Parameter(name=name, type=Type.CURRENCY, **facts)


def hashtag(name: str, **facts: Unpack[ParameterFacts]) -> Parameter:
    """A hashtag."""
    return Parameter(name=name, type=Type.HASHTAG, **facts)


def texts(name: str, **facts: Unpack[ParameterFacts]) -> Parameter:
    """A comma-separated list of texts."""
    return Parameter(name=name, type=Type.CSV_STRING, **facts)


def longs(name: str, **facts: Unpack[ParameterFacts]) -> Parameter:
    """A comma-separated list of ids that are numbers."""
    return Parameter(name=name, type=Type.CSV_LONG, **facts)


def array(name: str, items: Items, **facts: Unpack[ParameterFacts]) -> Parameter:
    """A JSON array of `items`."""
    return Parameter(name=name, type=Type.ARRAY, items=items, **facts)


def json_object(name: str, **facts: Unpack[ParameterFacts]) -> Parameter:
    """A JSON object."""
    return Parameter(name=name, type=Type.OBJECT, **facts)


def ids(name: str, **facts: Unpack[ParameterFacts]) -> Parameter:
    """A comma-separated list of up to MAX_LIST_IDS ids (specification part 1, section 4.0)."""
    return replace(texts(name, **facts), max_items=MAX_LIST_IDS, pattern=IDENTIFIER)


def card_uris(*, required: Required = False) -> Parameter:
    """A comma-separated list of up to MAX_LIST_IDS addresses of cards."""
    return texts("card_uris", max_items=MAX_LIST_IDS, pattern=CARD_URI, required=required)


def in_path(name: str) -> Parameter:
    """A part of the path that is an id."""
    return text(name, place="path", required=True, pattern=IDENTIFIER)


def card_in_path() -> Parameter:
    """The id of a card as a part of the path."""
    return text("card_id", place="path", required=True, pattern=CARD_ID)


def long_in_path(name: str) -> Parameter:
    """A part of the path that is the id of a person or a tweet."""
    return long(name, place="path", required=True)


def hashes(name: str) -> Parameter:
    """SHA-256 values in an entry of users: lower-case hex, so that nothing in the clear passes for one."""
    return array(name, "text", place="body", at=("user",), min_items=1, pattern=SHA256)


IDENTIFIER: Final = ID_PATTERN
SHA256: Final = f"[0-9a-f]{{{SHA256_HEX_LENGTH}}}"
CARD_ID: Final = "(?!all$)[0-9a-z]{1,32}"  # cards/all is another endpoint (specification part 2, section 4.7)
CARD_URI: Final = "card://[0-9a-z]{1,32}"  # specification part 2, section 2

WEBHOOK_ID: Final = "[0-9]{1,19}"  # specification part 0, section 4.9
EVENT_TYPE: Final = "[a-z_]{1,32}(?:\\.[a-z_]{1,32}){1,4}"  # specification part 0, section 6: no PascalCase
MINUTE: Final = "[0-9]{12}"  # the public service: YYYYMMDDHHMM

# --- parameters that many endpoints share: specification part 1, section 4.0 ---
ACCOUNT_ID: Final = in_path("account_id")
COUNT: Final = whole("count", default=200, minimum=1, maximum=MAX_PAGE_ROWS)
SHORT_COUNT: Final = whole("count", default=100, minimum=1, maximum=200)  # specification part 2, sections 4.7 and 4.9
CURSOR: Final = text("cursor", min_length=1, max_length=MAX_CURSOR_LENGTH)
SORT_BY: Final = texts("sort_by", pattern="[a-z][a-z_]{0,63}-(?:asc|desc)")
Q: Final = text("q", min_length=1, max_length=MAX_QUERY_LENGTH)
CARD_Q: Final = text("q", min_length=1, max_length=80)  # specification part 2, sections 4.7 and 4.8
WITH_DELETED: Final = flag("with_deleted", default=False)
WITH_TOTAL_COUNT: Final = flag("with_total_count", default=False)
LISTING: Final = (COUNT, CURSOR, SORT_BY, WITH_DELETED, WITH_TOTAL_COUNT)
