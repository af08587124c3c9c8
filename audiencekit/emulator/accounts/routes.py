"""The endpoints of accounts, of the user's access to them, and of what belongs to them alone."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.accounts.access import show_access
from audiencekit.emulator.accounts.apps import ACCOUNT_APPS
from audiencekit.emulator.accounts.features import add_features, list_features, remove_features
from audiencekit.emulator.accounts.lifecycle import (
    change_account,
    create_account,
    delete_account,
    list_accounts,
    show_account,
)
from audiencekit.emulator.accounts.tax import change_tax_settings
from audiencekit.emulator.calls import Address
from audiencekit.emulator.rate_limits import READS, WRITES
from audiencekit.emulator.routing import Route

_SANDBOX: Final = frozenset({Address.SANDBOX})
_ONE: Final = "/accounts/:account_id"

ROUTES: Final = (
    Route("GET", "/accounts", list_accounts, READS),
    Route("POST", "/accounts", create_account, WRITES, _SANDBOX),
    Route("GET", _ONE, show_account, READS, takes_deleted_account=True),
    Route("PUT", _ONE, change_account, WRITES),
    Route("DELETE", _ONE, delete_account, WRITES, _SANDBOX),
    Route("GET", _ONE + "/authenticated_user_access", show_access, READS),
    Route("GET", _ONE + "/account_apps", ACCOUNT_APPS.list_records, READS),
    Route("PUT", _ONE + "/tax_settings", change_tax_settings, WRITES),
    Route("GET", _ONE + "/features", list_features, READS),
    Route("POST", _ONE + "/features", add_features, WRITES, _SANDBOX),
    Route("DELETE", _ONE + "/features", remove_features, WRITES, _SANDBOX),
)
