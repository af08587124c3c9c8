"""Rows of the catalogue: their fields, the sections that make them, the words for them, and the permissions they
ask for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from audiencekit.api.catalogue.parameters import (
    ACCOUNT_ID,
    CARD_ID,
    CARD_URI,
    CURSOR,
    EVENT_TYPE,
    IDENTIFIER,
    LISTS,
    MINUTE,
    SHA256,
    SORT_BY,
    WEBHOOK_ID,
    WITH_TOTAL_COUNT,
    Parameter,
    Type,
    in_path,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL, Rule
from audiencekit.limits import REQUESTS_PER_WINDOW, WINDOW_SECONDS

Method: TypeAlias = Literal["GET", "POST", "PUT", "DELETE"]
Base: TypeAlias = Literal["ads_url", "ads_sandbox_url", "base_url"]
BodyShape: TypeAlias = Literal["json_array_of_operations", "json_object"]
# `user` signs with the token of a person, `app` without one (OAuth 1.0a both); `basic` is the pair of the application.
Auth: TypeAlias = Literal["user", "app", "basic", "bearer"]
# `pairs` and `credential` hold secrets; a `page` is for a browser; a `stream` is one object a line.
AnswerForm: TypeAlias = Literal["json", "v2", "pairs", "credential", "page", "stream"]

_VARIABLE: Final = re.compile(r"{(\w+)}")
VERSION: Final = "12"  # the version segment that most paths are written with; the older ones keep theirs


@dataclass(frozen=True, slots=True, kw_only=True)
class RateWindow:
    """At most `requests` in `seconds`."""

    requests: int
    seconds: float


# Specification part 2, section 8: the users of audiences and of do-not-reach lists.
USERS_WINDOW: Final = RateWindow(requests=REQUESTS_PER_WINDOW, seconds=WINDOW_SECONDS)
WITH_TOTAL_COUNT_WINDOW: Final = RateWindow(requests=200, seconds=900.0)  # specification part 1, section 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One endpoint. A limit or window that the specification does not state is None.

    `parameters` are all that the endpoint knows: in the path, the query and the body. `rules` are those that hold
    between them. `operations` bounds the items of a batch and `leaves` the audiences in one tree; `params_of` names the
    row that the params of an operation follow, by its type. `ambiguities` say what the specification leaves open and
    how it is read here; `notes` what a caller should know. `ends_token`: a token is
    worth nothing afterwards. `shown` says whether the specification shows it, or names it and leaves its form to the
    public service. `part` and `section` are its place in the specification.
    """

    name: str
    group: str
    method: Method
    path: str
    part: int
    section: str
    parameters: tuple[Parameter, ...] = ()
    rules: tuple[Rule, ...] = ()
    base: Base = "ads_url"
    body: BodyShape | None = None
    auth: Auth = "user"
    answer: AnswerForm = "json"
    window: RateWindow | None = None
    operations: int | None = None
    body_bytes: int | None = None
    leaves: int | None = None
    params_of: tuple[tuple[str, str], ...] = ()
    ambiguities: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    ends_token: bool = False
    shown: bool = True

    @property
    def destroys(self) -> bool:
        """Whether something is gone behind every call."""
        return self.method == "DELETE" or self.ends_token

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of all parameters, in the order of the row."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def needs_account(self) -> bool:
        """Whether the path names the account."""
        return ACCOUNT_ID in self.parameters

    @property
    def is_paged(self) -> bool:
        """Whether answers come page by page, each with the cursor of the next."""
        return CURSOR in self.parameters

    @property
    def sandbox_only(self) -> bool:
        """Whether only the sandbox serves it."""
        return self.base == "ads_sandbox_url"

    @property
    def window_with_total_count(self) -> RateWindow | None:
        """The tighter window of lists that are asked for their total."""
        return WITH_TOTAL_COUNT_WINDOW if WITH_TOTAL_COUNT in self.parameters else None

    def parameter(self, name: str) -> Parameter:
        """The parameter called `name`. Raises KeyError for one that it does not know."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Section:
    """A group of endpoints that one section of the specification shows: it makes their rows.

    A variable of the path is an id, unless the row says otherwise. `columns` are fields of an `Endpoint` that its rows
    share.
    """

    group: str
    part: int = field(kw_only=True)
    section: str = field(kw_only=True)
    columns: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), kw_only=True)

    def get(self, name: str, path: str, *parameters: Parameter, **columns: Any) -> Endpoint:
        """The row of a GET; `columns` are the other fields of an `Endpoint`."""
        return self._row(name, "GET", path, parameters, columns)

    def post(self, name: str, path: str, *parameters: Parameter, **columns: Any) -> Endpoint:
        """The row of a POST."""
        return self._row(name, "POST", path, parameters, columns)

    def put(self, name: str, path: str, *parameters: Parameter, **columns: Any) -> Endpoint:
        """The row of a PUT."""
        return self._row(name, "PUT", path, parameters, columns)

    def delete(self, name: str, path: str, *parameters: Parameter, **columns: Any) -> Endpoint:
        """The row of a DELETE."""
        return self._row(name, "DELETE", path, parameters, columns)

    def _row(
        self, name: str, method: Method, path: str, parameters: tuple[Parameter, ...], columns: dict[str, Any]
    ) -> Endpoint:
        said = {parameter.name for parameter in parameters if parameter.place == "path"}
        ids = (in_path(variable) for variable in _VARIABLE.findall(path) if variable not in said)
        has_total = CURSOR in parameters and WITH_TOTAL_COUNT in parameters
        return Endpoint(
            name=name,
            group=self.group,
            method=method,
            path=path,
            part=self.part,
            section=self.section,
            parameters=(*ids, *parameters),
            **{"rules": (CURSOR_OR_TOTAL,) if has_total else (), **self.columns, **columns},
        )


# Of an endpoint that the specification only names.
NAMED: Final = "named in the specification and not shown: the form is that of the public service"
AMBIGUITIES: Final = (
    "Bodies of answers are not shown: the result stands in `data`, one object also as a list of one.",
    "The member with the token of the next page is not shown: `next_cursor`, which is null on the last page.",
    "How calls of the ads API are signed is not shown: by OAuth 1.0a with the token of a person, as in part 0.",
    "Statuses and codes of most refusals are not stated: what the service answers is passed on, status and codes.",
    "Whether the sandbox serves more than what is for the sandbox only is not stated: the rest goes elsewhere.",
    "Part 2 does not repeat that single writes take their parameters in the query: they do, as in part 1.",
    "Only recommendations are said to have version 5 in the path, and tailored permissions have it too: both do.",
    "How times with an offset are taken is not stated: every time is sent in UTC and whole seconds.",
)


_PATTERNS: Final = {
    IDENTIFIER: "an id of 1 to 32 lower-case letters and digits",
    CARD_ID: "an id of 1 to 32 lower-case letters and digits, not all",
    CARD_URI: "an address of a card such as card://abc1",
    SHA256: "a SHA-256 of 64 lower-case hex digits",
    SORT_BY.pattern: "the name of an attribute that ends in -asc or -desc",
    "[A-Z]{2}": "two capital letters",
    WEBHOOK_ID: "1 to 19 digits",
    EVENT_TYPE: "a name in lower case with dots",
    MINUTE: "12 digits",
}
_ITEMS: Final = {"text": "texts", "object": "objects", "array": "arrays"}


def expectation(parameter: Parameter) -> str:
    """The values of `parameter` in words, such as `a whole number from 1 to 1000`."""
    if parameter.type in LISTS:
        return _list(parameter)
    return _WORDS[parameter.type](parameter)


def _list(parameter: Parameter) -> str:
    bound = f" of at most {parameter.max_items}" if parameter.max_items else ""
    return f"a comma-separated list{bound}, each {_entry(parameter)}"


def _entry(parameter: Parameter) -> str:
    if parameter.values:
        return f"one of {_join(parameter.values)}"
    if parameter.type is Type.CSV_LONG:
        return "a whole number of up to 63 bits"
    return _PATTERNS[parameter.pattern] if parameter.pattern else "a text"


def _string(parameter: Parameter) -> str:
    if parameter.pattern:
        return _PATTERNS[parameter.pattern]
    return f"a text{_length(parameter)}"


def _length(parameter: Parameter) -> str:
    low = parameter.min_length or (1 if parameter.required is True else 0)
    if parameter.max_length is None:
        return " that is not empty" if low else ""
    return f" of {low} to {parameter.max_length} characters"


def _whole(parameter: Parameter) -> str:
    if parameter.values:
        return f"one of {_join(parameter.values)}"
    if parameter.minimum is not None and parameter.maximum is not None:
        return f"a whole number from {parameter.minimum} to {parameter.maximum}"
    if parameter.minimum is not None:
        return f"a whole number of at least {parameter.minimum}"
    return "a whole number"


def _array(parameter: Parameter) -> str:
    of = _ITEMS[parameter.items or "object"]
    bounds = f"{parameter.min_items} to {parameter.max_items} " if parameter.min_items and parameter.max_items else ""
    least = f", at least {parameter.min_items}" if parameter.min_items and not parameter.max_items else ""
    return f"a JSON array of {bounds}{of}{least}" + (
        f", each {_PATTERNS[parameter.pattern]}" if parameter.pattern else ""
    )


def _join(values: tuple[str | int, ...]) -> str:
    return ", ".join(map(str, values))


_WORDS: Final[dict[Type, Callable[[Parameter], str]]] = {
    Type.STRING: _string,
    Type.BOOLEAN: lambda _: "true or false",
    Type.INT: _whole,
    Type.LONG: lambda _: "a whole number of up to 63 bits",
    Type.ENUM: lambda parameter: f"one of {_join(parameter.values)}" if parameter.values else "a word",
    Type.DATETIME: lambda parameter: (
        "a time such as 2026-12-31T00:00:00Z" + (", a whole hour" if parameter.whole_hours else "")
    ),
    Type.URL: lambda _: "a web address that begins with http:// or https://",
    Type.CURRENCY: lambda _: "a currency such as EUR (ISO 4217)",
    Type.HASHTAG: lambda parameter: f"a hashtag of 1 to {parameter.max_length} characters, its # not counted",
    Type.ARRAY: _array,
    Type.OBJECT: lambda _: "a JSON object",
}


_ADMIN: Final = ("ACCOUNT_ADMIN",)
_MANAGERS: Final = ("ACCOUNT_ADMIN", "AD_MANAGER")
_VIEWERS: Final = (*_MANAGERS, "CAMPAIGN_ANALYST")
_CREATORS: Final = (*_MANAGERS, "CREATIVE_MANAGER")

_CAMPAIGNS: Final = (_VIEWERS, _MANAGERS)
_CREATIVES: Final = ((*_CREATORS, "CAMPAIGN_ANALYST"), _CREATORS)
_AUDIENCES: Final = ((*_VIEWERS, "PARTNER_AUDIENCE_MANAGER"), (*_MANAGERS, "PARTNER_AUDIENCE_MANAGER"))
_SETTINGS: Final = ((), _ADMIN)
# By group: to look, and to change.
_OF_GROUP: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "accounts": _SETTINGS,
    "tax": _SETTINGS,
    "features": _SETTINGS,
    "audience_estimate": ((), (*_VIEWERS, "ANALYST")),
    **dict.fromkeys(
        (
            "campaigns",
            "funding_instruments",
            "line_items",
            "promoted",
            "recommendations",
            "targeting",
            "tracking_tags",
            "do_not_reach",
        ),
        _CAMPAIGNS,
    ),
    **dict.fromkeys(
        (
            "account_media",
            "cards",
            "conversation_cards",
            "draft_tweets",
            "media_creatives",
            "scheduled_tweets",
            "tweet_previews",
            "tweets",
        ),
        _CREATIVES,
    ),
    **dict.fromkeys(
        (
            "custom_audiences",
            "custom_audience_users",
            "custom_audience_permissions",
            "tailored_audience_permissions",
        ),
        _AUDIENCES,
    ),
}
# Of another area than the rest of their group.
_OF_NAME: Final[Mapping[str, tuple[str, ...]]] = {
    "create_account": (),
    "list_account_apps": (),
    "get_account_history": _VIEWERS,
    "list_custom_audience_targeted": _VIEWERS,
    "create_line_item_curated_category": _MANAGERS,
    "update_line_item_curated_category": _MANAGERS,
    "delete_line_item_curated_category": _MANAGERS,
}
# A tweet in the name of a user who is not the caller (specification part 2, section 4.9).
COMPOSED: Final = frozenset({"create_tweet", "create_scheduled_tweet"})


def permissions_for(endpoint: Endpoint) -> tuple[str, ...]:
    """The permissions of which one is enough; none are needed where it is empty."""
    if endpoint.name in _OF_NAME:
        return _OF_NAME[endpoint.name]
    looking, changing = _OF_GROUP.get(endpoint.group, ((), ()))
    return looking if endpoint.method == "GET" else changing


def describe_permissions(endpoint: Endpoint) -> str:
    """The same in words; empty where none is needed."""
    needed = " or ".join(permissions_for(endpoint))
    composed = ", and TWEET_COMPOSER for another user than the caller" if endpoint.name in COMPOSED else ""
    return needed + composed if needed else ""
