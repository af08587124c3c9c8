"""The calls that each permission allows, and the users of an account (specification part 1, section 4.9).

The specification describes each permission in a sentence. Here every path below an account belongs to an area, and a
permission allows to read an area, or to change it, too. Every permission allows the account itself, its apps, its
features, access rights, promotable users, reference data and a user's own settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum, auto
from typing import Any, Final

from audiencekit.emulator.answers import Answer, RefusalError, refuse, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.account_records import USER_KIND
from audiencekit.emulator.endpoints.users import User
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.records import Record
from audiencekit.emulator.resources import Resource
from audiencekit.emulator.routing import READS, WRITES, Match, Route

# --- The calls that each permission allows (specification part 1, section 4.9) ---
#
# The specification says it in a sentence for each. Here every path below an account belongs to an area, and a
# permission is to read an area or to change it, too. The account itself, its apps, its features, who may do what,
# promotable users, reference data and a user's own settings are there for every permission.


class Area(Enum):
    """A group of resources that a permission reads, or reads and changes."""

    SETTINGS = auto()
    CAMPAIGNS = auto()
    CREATIVES = auto()
    AUDIENCES = auto()
    INSIGHTS = auto()


# By the segment of the path that follows the account.
_AREAS: Final[Mapping[str, Area]] = {
    **dict.fromkeys(("", "tax_settings", "features"), Area.SETTINGS),
    **dict.fromkeys(
        (
            "account_history",
            "campaigns",
            "do_not_reach_lists",
            "funding_instruments",
            "line_item_curated_categories",
            "line_items",
            "promoted_accounts",
            "promoted_tweets",
            "recommendations",
            "scheduled_promoted_tweets",
            "targeting_criteria",
            "tracking_tags",
        ),
        Area.CAMPAIGNS,
    ),
    **dict.fromkeys(
        (
            "account_media",
            "cards",
            "draft_tweets",
            "media_creatives",
            "media_library",
            "scheduled_tweets",
            "tweet",
            "tweet_previews",
            "tweets",
        ),
        Area.CREATIVES,
    ),
    **dict.fromkeys(("custom_audiences", "tailored_audiences"), Area.AUDIENCES),
    "audience_estimate": Area.INSIGHTS,
}
_ALL: Final = frozenset(Area)
_WORK: Final = _ALL - {Area.SETTINGS}
# To read, and to change.
_ALLOWED: Final[Mapping[str, tuple[frozenset[Area], frozenset[Area]]]] = {
    "ACCOUNT_ADMIN": (_ALL, _ALL),
    "AD_MANAGER": (_ALL, _WORK),
    "CREATIVE_MANAGER": (frozenset({Area.CREATIVES}), frozenset({Area.CREATIVES})),
    "CAMPAIGN_ANALYST": (_WORK, frozenset()),
    "ANALYST": (frozenset({Area.INSIGHTS}), frozenset()),
    "PARTNER_AUDIENCE_MANAGER": (frozenset({Area.AUDIENCES}), frozenset({Area.AUDIENCES})),
    "TWEET_COMPOSER": (frozenset(), frozenset()),
}


def check_permission(user: User, match: Match) -> None:
    """Raise RefusalError (403) unless a permission of the user allows the call."""
    area = _area_of(match)
    changes = match.route.writes
    if area is None or (area is Area.SETTINGS and not changes):
        return
    enough = [name for name, allowed in _ALLOWED.items() if area in allowed[changes]]
    if not set(enough).intersection(user.permissions):
        raise refuse_missing_permission(" or ".join(enough), match.ids)


def refuse_missing_permission(permission: str, ids: Mapping[str, str]) -> RefusalError:
    """Return the refusal of a user without a permission. The specification gives no code."""
    return refuse(403, "ACTION_NOT_ALLOWED", f"This needs the permission {permission} on the account", params=ids)


def _area_of(match: Match) -> Area | None:
    segments = match.route.path.strip("/").removeprefix("batch/").split("/")
    if segments[:2] != ["accounts", ":account_id"]:
        return None
    if segments[-1] == "targeted":  # it shows campaigns
        return Area.CAMPAIGNS
    return _AREAS.get(segments[2] if len(segments) > 2 else "")


# --- Users whose content an account may promote (specification part 1, section 4.9): its own, and a partner's tweets
#
# The specification calls the kind of a user `type`; the public service's record says `promotable_user_type`.

PROMOTABLE_USERS: Final = Resource(kind=USER_KIND, noun="Promotable User", id_name="promotable_user_id")


def list_promotable_users(call: Call) -> Answer:
    """Answer `GET …/promotable_users`: a page of them."""
    return _as_shown(call).list_records(call)


def show_promotable_user(call: Call) -> Answer:
    """Answer `GET …/promotable_users/:promotable_user_id`."""
    return _as_shown(call).show_record(call)


def type_of(call: Call, user_id: int) -> str | None:
    """Return FULL or RETWEETS_ONLY; None for a user whose content the account may not promote."""
    users = (user for user in PROMOTABLE_USERS.all(call).values() if not user.deleted)
    return next((user.fields["type"] for user in users if user.fields["user_id"] == str(user_id)), None)


def _as_shown(call: Call) -> Resource:
    is_public = call.options.profile == "x"
    return replace(PROMOTABLE_USERS, show=_show_public) if is_public else PROMOTABLE_USERS


def _show_public(user: Record) -> dict[str, Any]:
    document = user.document()
    document["promotable_user_type"] = document.pop("type")
    return document


# --- Settings of a user for an account (specification part 1, section 4.9): only the user's own, whatever they
# administer ---
#
# Which notifications there are, the specification does not show, so any words are taken.

_TEXTS: Final = ("notification_email", "contact_phone", "contact_phone_extension")
_TYPES: Final = "subscribe_email_types"


def show_settings(call: Call) -> Answer:
    """Answer `GET …/user_settings/:user_id`."""
    parameters = Parameters(call)
    user_id = parameters.path_long("user_id")
    parameters.finish()
    if str(user_id) != call.user_id:
        raise call.refuse(403, "USER_NOT_FOUND", f"User {user_id} was not found for Account {call.account.id}")
    return success(parameters.echo, _document(call))


def change_settings(call: Call) -> Answer:
    """Answer `PUT …/user_settings/:user_id`: an empty value unsets a setting."""
    parameters = Parameters(call)
    user_id = parameters.path_long("user_id")
    changes: dict[str, Any] = {}
    for name in _TEXTS:
        text = parameters.text(name, empty=True)
        if text is not None:
            changes[name] = text
    if parameters.given(_TYPES) is not None:
        changes[_TYPES] = _read_types(parameters)
    parameters.finish()
    if str(user_id) != call.user_id:
        raise call.refuse(403, "ACTION_NOT_ALLOWED", "Settings are changed by the user that they belong to")
    call.account.user_settings.setdefault(call.user_id, {}).update(changes)
    return success(parameters.echo, _document(call))


def _read_types(parameters: Parameters) -> list[str]:
    if parameters.given(_TYPES) == "":
        parameters.text(_TYPES, empty=True)
        return []
    return parameters.words(_TYPES) or []


def _document(call: Call) -> dict[str, Any]:
    return {**dict.fromkeys(_TEXTS, ""), _TYPES: [], **call.account.user_settings.get(call.user_id, {})}


# --- The endpoints of the users around an account ---

_PROMOTABLE: Final = "/accounts/:account_id/promotable_users"
_SETTINGS: Final = "/accounts/:account_id/user_settings/:user_id"

ROUTES: Final = (
    Route("GET", _PROMOTABLE, list_promotable_users, READS),
    Route("GET", _PROMOTABLE + "/:promotable_user_id", show_promotable_user, READS),
    Route("GET", _SETTINGS, show_settings, READS),
    Route("PUT", _SETTINGS, change_settings, WRITES),
)
