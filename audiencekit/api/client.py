"""The ads API as methods: arguments are checked, one request is sent, its answer is read."""

from __future__ import annotations

from audiencekit.api.accounts import AccountCalls
from audiencekit.api.activity.calls import ActivityCalls
from audiencekit.api.audiences import AudienceCalls
from audiencekit.api.do_not_reach import DoNotReachCalls
from audiencekit.api.permissions import PermissionCalls


class AdsClient(AccountCalls, AudienceCalls, PermissionCalls, DoNotReachCalls, ActivityCalls):
    """The endpoints of one account, each by `call`, and those around audiences by methods of their own.

    Every method raises UsageError before anything is sent, and an ExchangeError for what was not confirmed.
    """
