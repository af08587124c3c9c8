"""One row of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from audiencekit.api.catalogue.parameters import ACCOUNT_ID, CURSOR, WITH_TOTAL_COUNT, Parameter
from audiencekit.api.catalogue.rules import Rule
from audiencekit.limits import REQUESTS_PER_WINDOW, WINDOW_SECONDS

Method: TypeAlias = Literal["GET", "POST", "PUT", "DELETE"]
Base: TypeAlias = Literal["ads_url", "ads_sandbox_url", "base_url"]
BodyShape: TypeAlias = Literal["json_array_of_operations", "json_object"]
# `user` signs with the token of a person, `app` without one (OAuth 1.0a both); `basic` is the pair of the application.
Auth: TypeAlias = Literal["user", "app", "basic", "bearer"]
# `pairs` and `credential` hold secrets; a `page` is for a browser; a `stream` is one object a line.
AnswerForm: TypeAlias = Literal["json", "v2", "pairs", "credential", "page", "stream"]

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
    """A group of endpoints that one section of the specification shows: it makes their rows."""

    group: str
    part: int = field(kw_only=True)
    section: str = field(kw_only=True)

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
        return Endpoint(
            name=name,
            group=self.group,
            method=method,
            path=path,
            part=self.part,
            section=self.section,
            parameters=parameters,
            **columns,
        )
