"""The door `/__accounts/ID`: what an account manager of the service would do for an account, and the API cannot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from audiencekit.emulator.accounts.limitedreleases import GATES, GRANTED_AT_THE_DOOR
from audiencekit.emulator.accounts.records import Account
from audiencekit.emulator.bodies import parse_json
from audiencekit.emulator.envelope import RefusalError, refuse
from audiencekit.servicewords import SANDBOX_FEATURES

MOST_ACTIVE_CAMPAIGNS: Final = 8_000  # that an account can be raised to; specification part 1, section 8
_KEYS: Final = frozenset({*SANDBOX_FEATURES, *GRANTED_AT_THE_DOOR})
_NAMES: Final[Mapping[str, frozenset[str]]] = {"outside": frozenset(GATES), "features": _KEYS}
_MOST: Final = "max_active_campaigns"


def show_settings(account: Account) -> dict[str, Any]:
    """Return the settings of an account as the door shows and takes them."""
    return {
        "outside": sorted(account.outside),
        "features": sorted(account.features),
        _MOST: account.max_active_campaigns,
    }


def change_settings(account: Account, body: bytes) -> None:
    """Put those settings that a body names in the place of the ones before. Raises RefusalError (400)."""
    try:
        order = parse_json(body)
    except ValueError:
        raise _bad_order() from None
    if not isinstance(order, dict) or not order.keys() <= {*_NAMES, _MOST}:
        raise _bad_order()
    for name, known in _NAMES.items():
        given = order.get(name, [])
        if not isinstance(given, list) or not all(isinstance(each, str) and each in known for each in given):
            raise refuse(400, "INVALID_PARAMETER", f"Expected a list out of {', '.join(sorted(known))} for {name}")
    most = order.get(_MOST, account.max_active_campaigns)
    if type(most) is not int or not 0 <= most <= MOST_ACTIVE_CAMPAIGNS:
        raise refuse(400, "INVALID_PARAMETER", f"Expected int between 0 and {MOST_ACTIVE_CAMPAIGNS} for {_MOST}")
    account.outside = frozenset(order.get("outside", account.outside))
    account.features = set(order.get("features", account.features))
    account.max_active_campaigns = most


def _bad_order() -> RefusalError:
    return refuse(400, "INVALID_PARAMETER", f'Expected {{"outside": […], "features": […], "{_MOST}": number}}')
