"""Accounts: listed, shown and changed; in the sandbox made and deleted (specification part 1, section 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from audiencekit.emulator.answers import Answer, RefusalError, refuse, success
from audiencekit.emulator.bodies import parse_json
from audiencekit.emulator.calls import Address, Call
from audiencekit.emulator.endpoints.account_records import APP_KIND, GATES, GRANTED_AT_THE_DOOR, Account
from audiencekit.emulator.paging import MAX_QUERY_LENGTH, Listing, read_list_query
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources import Resource
from audiencekit.emulator.routing import READS, WRITES, Route
from audiencekit.service_words import INDUSTRIES, SANDBOX_FEATURES

# --- Accounts: listed, shown, changed; made and deleted in the sandbox (specification part 1, section 4.1) ---

_LISTING: Final = Listing(sortable=("name", "created_at", "updated_at", "deleted"))


def list_accounts(call: Call) -> Answer:
    """Answer `GET /accounts`: a page of the accounts of the user."""
    parameters = Parameters(call)
    query = read_list_query(parameters, _LISTING)
    prefix = (parameters.text("q", longest=MAX_QUERY_LENGTH) or "").casefold()
    ids = parameters.words("account_ids")
    parameters.finish()

    def wanted(account: Account) -> bool:
        return account.name.casefold().startswith(prefix) and (ids is None or account.id in ids)

    page = query.page(parameters, list(call.store.accounts_of_user()), wanted)
    return success(parameters.echo, [account.document() for account in page.records], **page.members())


def show_account(call: Call) -> Answer:
    """Answer `GET /accounts/:account_id`; a deleted one with `with_deleted`."""
    parameters = Parameters(call)
    with_deleted = parameters.boolean("with_deleted")
    parameters.finish()
    if call.account.deleted and not with_deleted:
        raise call.refuse(404, "NOT_FOUND", f"Account {call.account.id} was not found", "account_id")
    return success(parameters.echo, call.account.document())


def create_account(call: Call) -> Answer:
    """Answer `POST /accounts`, in the sandbox: a list of one account, of the same business as the first."""
    parameters = Parameters(call)
    parameters.finish()
    return success(parameters.echo, [call.store.make_account(call.now).document()], next_cursor=None)


def change_account(call: Call) -> Answer:
    """Answer `PUT /accounts/:account_id`."""
    parameters = Parameters(call)
    name = parameters.text("name")
    industry_type = parameters.choice("industry_type", INDUSTRIES, "")
    parameters.finish()
    account = call.account
    account.name = name or account.name
    account.industry_type = industry_type or account.industry_type
    account.updated_at = call.now
    return success(parameters.echo, account.document())


def delete_account(call: Call) -> Answer:
    """Answer `DELETE /accounts/:account_id`, in the sandbox. Then the account is refused like an unknown one."""
    parameters = Parameters(call)
    parameters.finish()
    call.account.deleted, call.account.updated_at = True, call.now
    return success(parameters.echo, call.account.document())


# --- The access that the user has to an account (specification part 1, section 4.9) ---


def show_access(call: Call) -> Answer:
    """Answer `GET …/authenticated_user_access`."""
    parameters = Parameters(call)
    parameters.finish()
    user = call.store.users.of(call.user_id)
    return success(parameters.echo, {"user_id": user.id, "permissions": list(user.permissions)})


# --- Mobile apps of an account (specification part 1, section 4.1): those that it has from the start ---

ACCOUNT_APPS: Final = Resource(kind=APP_KIND, noun="Account App", id_name="account_app_id", has_ids=False)


# --- The door `/__accounts/ID`: what an account manager of the service would do for an account, and the API cannot

MOST_ACTIVE_CAMPAIGNS: Final = 8_000  # that an account can be raised to; specification part 1, section 8
_KEYS: Final = frozenset({*SANDBOX_FEATURES, *GRANTED_AT_THE_DOOR})
_NAMES: Final[Mapping[str, frozenset[str]]] = {"outside": frozenset(GATES), "features": _KEYS}
_MOST: Final = "max_active_campaigns"


def show_settings(account: Account) -> dict[str, Any]:
    """Return the settings of an account as the control endpoint shows and takes them."""
    return {
        "outside": sorted(account.outside),
        "features": sorted(account.features),
        _MOST: account.max_active_campaigns,
    }


def change_settings(account: Account, body: bytes) -> None:
    """Replace the settings that a body names. Raises RefusalError (400)."""
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


# --- Features of an account: shown, and given or taken away in the sandbox (specification part 1, section 4.12) ---

_READABLE: Final = ("REACH_AND_FREQUENCY_ANALYTICS", "REACH_FREQUENCY_CAP", "WEBSITE_CLICKS_CPM_BILLING")


def list_features(call: Call) -> Answer:
    """Answer `GET …/features`: the keys that the account has, among those that are requested."""
    parameters = Parameters(call)
    asked = parameters.words("feature_keys", choices=_READABLE)
    parameters.finish()
    keys = sorted(key for key in call.account.features if asked is None or key in asked)
    return success(parameters.echo, keys, next_cursor=None)


def add_features(call: Call) -> Answer:
    """Answer `POST …/features`, in the sandbox: all keys that the account has afterwards."""
    parameters = Parameters(call)
    keys = _read_keys(parameters)
    call.account.features |= keys
    return success(parameters.echo, sorted(call.account.features), next_cursor=None)


def remove_features(call: Call) -> Answer:
    """Answer `DELETE …/features`, in the sandbox: all keys that the account has afterwards."""
    parameters = Parameters(call)
    keys = _read_keys(parameters)
    call.account.features -= keys
    return success(parameters.echo, sorted(call.account.features), next_cursor=None)


def _read_keys(parameters: Parameters) -> set[str]:
    keys = parameters.required_words("feature_keys", choices=SANDBOX_FEATURES)
    parameters.finish()
    return set(keys)


# --- Tax settings of an account (specification part 1, section 4.11): every one of them optional, and unset when
# empty ---

_TEXTS: Final = (
    "client_address_street1",
    "client_address_street2",
    "address_name",
    "tax_exemption_id",
    "tax_id",
)
_CHOICES: Final = {
    "invoice_jurisdiction": ("LOI_SAPIN", "NONE", "NOT_SET"),
    "tax_category": ("BUSINESS_NO_VAT", "BUSINESS_WITH_VAT", "INDIVIDUAL"),
}


def change_tax_settings(call: Call) -> Answer:
    """Answer `PUT …/tax_settings`: all of them after the change."""
    parameters = Parameters(call)
    changes: dict[str, Any] = {}
    for name in _TEXTS:
        if parameters.given(name) is not None:
            changes[name] = parameters.text(name, empty=True) or None
    for name, choices in _CHOICES.items():
        if parameters.given(name) is not None:
            changes[name] = parameters.choice(name, choices, "")
    parameters.finish()
    call.account.tax_settings.update(changes)
    return success(parameters.echo, {**dict.fromkeys((*_TEXTS, *_CHOICES)), **call.account.tax_settings})


# --- The endpoints of accounts, of the user's access to them, and of what belongs to them alone ---

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
