"""The endpoints that this package calls, one row each. Facts only: nothing here does anything on the wire.

Source: the specification, whose endpoints.json has the same rows under the same names; a test compares both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from audiencekit.limits import (
    MAX_BODY_BYTES,
    MAX_OPERATIONS,
    REQUESTS_PER_WINDOW,
    WINDOW_SECONDS,
)

VERSION: Final = "12"  # the version segment that the paths below are written with


@dataclass(frozen=True, slots=True, kw_only=True)
class RateWindow:
    """At most `requests` in `seconds`."""

    requests: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One endpoint. A limit or window that the specification does not state is None.

    `parameters` are all names the endpoint knows: in the path, the query and the body. `ambiguities` name
    what the specification leaves open and how it is read here.
    """

    name: str
    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    parameters: tuple[str, ...]
    base: Literal["ads_url", "ads_sandbox_url", "base_url"] = "ads_url"
    params_in: Literal["query", "body"] | None = "query"
    body: Literal["json_array_of_operations"] | None = None
    window: RateWindow | None = None
    window_with_total_count: RateWindow | None = None
    operations: int | None = None
    body_bytes: int | None = None
    section: str = ""
    ambiguities: tuple[str, ...] = ()


_WITH_TOTAL_COUNT: Final = RateWindow(requests=200, seconds=900.0)  # specification part 1, section 4.0
_AUDIENCES: Final = "/12/accounts/{account_id}/custom_audiences"
_AUDIENCE: Final = _AUDIENCES + "/{custom_audience_id}"
_CURSOR_NAME: Final = "the member with the next cursor is not shown: read as next_cursor"
_ENTITY_SHAPE: Final = "the answer is not shown: data is read as an object, or a list of one"

ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    Endpoint(
        name="list_custom_audiences",
        method="GET",
        path=_AUDIENCES,
        parameters=(
            "account_id",
            "count",
            "cursor",
            "permission_scope",
            "q",
            "sort_by",
            "custom_audience_ids",
            "with_deleted",
            "with_total_count",
        ),
        window_with_total_count=_WITH_TOTAL_COUNT,
        section="4.3",
        ambiguities=(_CURSOR_NAME,),
    ),
    Endpoint(
        name="get_custom_audience",
        method="GET",
        path=_AUDIENCE,
        parameters=("account_id", "custom_audience_id", "with_deleted"),
        section="4.3",
        ambiguities=(_ENTITY_SHAPE,),
    ),
    Endpoint(
        name="create_custom_audience",
        method="POST",
        path=_AUDIENCES,
        parameters=("account_id", "name", "description"),
        section="4.3",
        ambiguities=(_ENTITY_SHAPE, "status and code of a name in use are not stated"),
    ),
    Endpoint(
        name="delete_custom_audience",
        method="DELETE",
        path=_AUDIENCE,
        parameters=("account_id", "custom_audience_id"),
        params_in=None,
        section="4.3",
        ambiguities=(_ENTITY_SHAPE,),
    ),
    Endpoint(
        name="add_custom_audience_users",
        method="POST",
        path=_AUDIENCE + "/users",
        parameters=(
            "account_id",
            "custom_audience_id",
            "operation_type",
            "params",
            "users",
            "effective_at",
            "expires_at",
            "email",
            "device_id",
            "handle",
            "platform_id",
            "phone_number",
            "partner_user_id",
        ),
        params_in="body",
        body="json_array_of_operations",
        window=RateWindow(requests=REQUESTS_PER_WINDOW, seconds=WINDOW_SECONDS),
        operations=MAX_OPERATIONS,
        body_bytes=MAX_BODY_BYTES,
        section="4.4",
        ambiguities=("where the two counts stand is not shown: data, an object or a list of objects to be summed",),
    ),
)

BY_NAME: Final[Mapping[str, Endpoint]] = MappingProxyType({endpoint.name: endpoint for endpoint in ENDPOINTS})

# Names that an error message may repeat; anything else that an answer calls a parameter could be a value.
PARAMETER_NAMES: Final = frozenset(name for endpoint in ENDPOINTS for name in endpoint.parameters)
