"""Users: their tokens and permissions, and what they have of an account (specification part 1, section 4.9)."""

from __future__ import annotations

import random
import string
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Final

from audiencekit.emulator.answers import Answer, RefusalError, refuse, success
from audiencekit.emulator.authentication import Origin
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.accounts import USER_KIND
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources import Record, Resource
from audiencekit.emulator.routing import Match

# --- Credentials that are issued and invalidated (specification part 0, sections 2.1 and 3) ---

OUT_OF_BAND: Final = "oob"
_LETTERS: Final = string.ascii_letters + string.digits


@dataclass(slots=True)
class RequestToken:
    """A pending authorization; it has a verifier once the user approved it."""

    token: str
    secret: str = field(repr=False)
    callback: str
    may_write: bool = True
    verifier: str | None = field(default=None, repr=False)
    user: User | None = None  # the one who approved it


class Tokens:
    """The tokens of one application and its users. The same calls give the same tokens."""

    def __init__(self, origin: Origin) -> None:
        self.users = Users(origin)
        self.access = {user.access_token: user.access_token_secret for user in self.users.all()}
        self.requests: dict[str, RequestToken] = {}
        self.readers: set[str] = set()  # the access tokens that may only read
        self.bearer: str | None = None
        self.logged_in: User | None = None  # who approved the application on a page last
        self._chance = random.Random(f"tokens of {origin.credentials.consumer_key}")

    def make_request_token(self, callback: str, *, may_write: bool) -> RequestToken:
        """Return a new pending authorization."""
        made = RequestToken(self._letters(22), self._letters(32), callback, may_write)
        self.requests[made.token] = made
        return made

    def approve(self, pending: RequestToken, user: User) -> None:
        """Note the approval of a user; return a PIN for a person to copy, or a verifier for the callback."""
        digits = pending.callback == OUT_OF_BAND
        pending.verifier = f"{self._chance.randrange(10**7):07}" if digits else self._letters(32)
        pending.user = self.logged_in = user

    def exchange(self, pending: RequestToken, user: User) -> tuple[str, str]:
        """Return a new access token of a user and its secret; the request token is used up."""
        del self.requests[pending.token]
        token, secret = f"{user.id}-{self._letters(30)}", self._letters(40)
        self.access[token] = secret
        if not pending.may_write:
            self.readers.add(token)
        return token, secret

    def give_bearer(self) -> str:
        """Return the application's bearer token: the same until it is invalidated.

        It has a character that URLs escape.
        """
        if self.bearer is None:
            self.bearer = f"{self._letters(40)}%2F{self._letters(20)}"
        return self.bearer

    def _letters(self, count: int) -> str:
        return "local" + "".join(self._chance.choices(_LETTERS, k=count))


# --- The users that there are: one for each permission, so that a refusal can be rehearsed (specification part 1,
# 4.9) ---
#
# All of them are users of the same application and business, and have their permissions on every account of it. The
# first is the FULL promotable user of each account, and the owner of the application.

TWEET_COMPOSER: Final = "TWEET_COMPOSER"
FIRST_NAME: Final = "local_user"
# By their names. TWEET_COMPOSER goes with the first three permissions alone.
_PERMISSIONS: Final[Mapping[str, tuple[str, ...]]] = {
    FIRST_NAME: ("ACCOUNT_ADMIN", TWEET_COMPOSER),
    "local_account_admin": ("ACCOUNT_ADMIN",),
    "local_ad_manager": ("AD_MANAGER", TWEET_COMPOSER),
    "local_creative_manager": ("CREATIVE_MANAGER",),
    "local_tweet_composer": ("CREATIVE_MANAGER", TWEET_COMPOSER),
    "local_campaign_analyst": ("CAMPAIGN_ANALYST",),
    "local_analyst": ("ANALYST",),
    "local_partner_audience_manager": ("PARTNER_AUDIENCE_MANAGER",),
}
USER_NAMES: Final = tuple(_PERMISSIONS)


@dataclass(frozen=True, slots=True)
class User:
    """One user, with a token of the application from the start."""

    id: str
    screen_name: str
    permissions: tuple[str, ...]
    access_token: str
    access_token_secret: str = field(repr=False)

    def document(self) -> dict[str, object]:
        """Return the user as a control endpoint shows them, with their token, which is invalid elsewhere."""
        return {
            "user_id": self.id,
            "screen_name": self.screen_name,
            "permissions": list(self.permissions),
            "access_token": self.access_token,
            "access_token_secret": self.access_token_secret,
        }


class Users:
    """All users, by id and by name."""

    def __init__(self, origin: Origin) -> None:
        self.first = _make_first(origin)
        others = (_make(origin, name) for name in USER_NAMES if name != FIRST_NAME)
        self._by_id = {user.id: user for user in (self.first, *others)}

    def of(self, user_id: str) -> User:
        """Return the user with this id; the first one for an unknown id."""
        return self._by_id.get(user_id, self.first)

    def named(self, screen_name: str) -> User:
        """Return the user with the name that a login page is given; the first one for any other name."""
        asked = screen_name.strip().removeprefix("@").casefold()
        return next((user for user in self._by_id.values() if user.screen_name == asked), self.first)

    def all(self) -> list[User]:
        """Return all users, the first one first."""
        return list(self._by_id.values())


def _make_first(origin: Origin) -> User:
    credentials = origin.credentials
    token, secret = credentials.access_token, credentials.access_token_secret
    return User(origin.user_id, FIRST_NAME, _PERMISSIONS[FIRST_NAME], token, secret)


def _make(origin: Origin, name: str) -> User:
    chance = random.Random(f"{origin.account_id} {name}")
    user_id = str(chance.randrange(10**10, 10**11))  # a digit more than that of the first user
    token, secret = ("local" + "".join(chance.choices(_LETTERS, k=length)) for length in (30, 40))
    return User(user_id, name, _PERMISSIONS[name], f"{user_id}-{token}", secret)


# --- The calls that each permission allows (specification part 1, section 4.9) ---
#
# The specification describes each permission in a sentence. Here every path below an account belongs to an area, and a
# permission allows to read an area, or to change it, too. Every permission allows the account itself, its apps, its
# features, access rights, promotable users, reference data and a user's own settings.


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
    segments = match.route.path.replace("/batch/", "/").split("/")[2:]
    if segments[:2] != ["accounts", "{account_id}"]:
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
