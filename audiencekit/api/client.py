"""The ads API as methods: arguments are checked, one request is sent, its answer is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audiencekit.api.accounts import AccountCalls
from audiencekit.api.activity.calls import ActivityCalls
from audiencekit.api.audiences import AudienceCalls
from audiencekit.api.do_not_reach import DoNotReachCalls
from audiencekit.api.permissions import PermissionCalls

if TYPE_CHECKING:
    from audiencekit.api.endpointcalls import CallByName, ItemsByName, LinkByName, PagesByName


class AdsClient(AccountCalls, AudienceCalls, PermissionCalls, DoNotReachCalls, ActivityCalls):
    """The endpoints of one account, each by `call`, and those around audiences by methods of their own.

    Checkers of types know the names and the parameters of all endpoints. For a name that is known only when the program
    runs there is `find_endpoint`.

    Every method raises UsageError before anything is sent, and an ExchangeError for what was not confirmed.
    """

    if TYPE_CHECKING:
        # An overload for each endpoint. What is narrower than in `Calls` are names and parameters, on purpose.
        call: CallByName  # type: ignore[assignment]
        pages: PagesByName  # type: ignore[assignment]
        items: ItemsByName  # type: ignore[assignment]
        link: LinkByName  # type: ignore[assignment]
