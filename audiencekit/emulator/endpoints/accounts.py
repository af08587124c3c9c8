"""Accounts: their records, and their apps, features and tax settings (specification part 1, section 4)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from audiencekit.emulator.answers import Answer, RefusalError, format_time, refuse, success
from audiencekit.emulator.authentication import base36, long_id
from audiencekit.emulator.bodies import parse_json
from audiencekit.emulator.calls import Call
from audiencekit.emulator.paging import Listing, read_list_query
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources import Record, Resource
from audiencekit.limits import MAX_QUERY_LENGTH
from audiencekit.service_words import INDUSTRIES, SANDBOX_FEATURES

if TYPE_CHECKING:
    from audiencekit.emulator.endpoints.custom_audiences import Audience
    from audiencekit.emulator.endpoints.do_not_reach import DoNotReachList


# --- The partner whose tweets an account may promote: their profile, and tweets that have every field of the data API
# (specification part 0, sections 2.3 to 2.6). All of it is invented ---

SCREEN_NAME: Final = "local_partner"
KNOWN: Final = "known"  # the field of a tweet with what the data API shows of it beyond its text
_AGE_SECONDS: Final = 3_600  # of the tweets when the account is made
_SITE: Final = "https://harbour.example/"
PROFILE: Final[dict[str, Any]] = {
    "description": "News of the #harbour, with @local_user",
    "location": "Hamburg",
    "url": _SITE,
    "verified": True,
    "verified_type": "business",
    "public_metrics": {"followers_count": 1_250, "following_count": 12, "tweet_count": 4, "listed_count": 3},
}
# Facts of the address in a tweet besides its text.
_PAGE: Final = {
    "unwound_url": _SITE + "hours",
    "status": 200,
    "title": "Opening hours",
    "description": "When the harbour is open",
    "images": [{"url": "https://media.example/harbour.jpg", "width": 1_200, "height": 628}],
}
_TOPIC: Final = {
    "domain": {"id": "131", "name": "Place", "description": "Places of the world"},
    "entity": {"id": "1001", "name": "Harbour", "description": "Where ships are"},
}


def make_tweets(account: Account, user_id: str) -> dict[str, Record]:
    """Return two plain tweets, an answer to the first with a link, and a quote of the second with media."""
    made, serial = account.created_at - _AGE_SECONDS, int(account.id, 36)
    ids = [long_id(made, serial + place) for place in range(4)]
    contents = _contents(account, user_id, ids)
    return {each: Record(each, made, made, content) for each, content in zip(ids, contents, strict=True)}


def _contents(account: Account, user_id: str, ids: list[str]) -> Iterator[dict[str, Any]]:
    video = next(key for key in account.records["media_library"] if key.startswith("13_"))
    yield _tweet(user_id, "Spring has come to the harbour", lang="en")
    yield _tweet(user_id, "The harbour is open on Sundays", lang="en")
    answer = f"@{SCREEN_NAME} Harbour hours, thanks to @local_user: {_SITE}h #spring"
    yield _tweet(
        user_id,
        answer,
        lang="en",
        in_reply_to_user_id=user_id,
        referenced_tweets=[{"type": "replied_to", "id": ids[0]}],
        context_annotations=[_TOPIC],
        annotations=[_annotation(answer, "Harbour")],
        pages={f"{_SITE}h": _PAGE},
    )
    quote = {"lang": "en", "possibly_sensitive": True, "referenced_tweets": [{"type": "quoted", "id": ids[1]}]}
    yield _tweet(user_id, "Every Sunday, and see how it looks", **quote) | {"media_keys": [video]}


def _tweet(user_id: str, text: str, **known: Any) -> dict[str, Any]:
    return {
        "text": text,
        "user_id": user_id,
        "card_uri": None,
        "media_keys": [],
        "nullcast": False,
        "name": None,
        "conversation_settings": "EVERYONE",
        KNOWN: known,
    }


def _annotation(text: str, word: str) -> dict[str, Any]:
    start = text.index(word)
    return {
        "start": start,
        "end": start + len(word),
        "probability": 0.93,
        "type": "Place",
        "normalized_text": word,
    }


# --- Records that an account has from the start, which no endpoint makes: promotable users, tweets of a partner, apps

FULL, RETWEETS_ONLY = "FULL", "RETWEETS_ONLY"
USER_KIND, APP_KIND, TWEET_KIND = "promotable_users", "account_apps", "tweets"
_APPS: Final[tuple[dict[str, Any], ...]] = (
    {
        "app_store_identifier": "com.example.local",
        "conversion_tracking_enabled": False,
        "deep_link_pattern": "local://",
        "os_type": "Android",
    },
    {
        "app_store_identifier": "4000000000",
        "conversion_tracking_enabled": True,
        "deep_link_pattern": None,
        "os_type": "iOS",
    },
    {
        "app_store_identifier": "com.example.withdrawn",
        "conversion_tracking_enabled": False,
        "deep_link_pattern": None,
        "os_type": "Android",
    },
)


def seed_account(account: Account, user_id: str, seed: int) -> None:
    """Give a new account a user, a partner whose tweets it may promote, and three apps, one of them deleted.

    The partner has tweets, and the account has its media already. The same seed and account give the same ids.
    """
    chance = random.Random(f"{seed} {account.id} endowment")
    partner_id = str(chance.randrange(10**17, 10**18))
    users = ({"user_id": user_id, "type": FULL}, {"user_id": partner_id, "type": RETWEETS_ONLY})
    account.records[USER_KIND] = _records(account, chance, users)
    account.records[TWEET_KIND] = make_tweets(account, partner_id)
    account.records[APP_KIND] = apps = _records(account, chance, _APPS)
    [*apps.values()][-1].delete(account.created_at)


def _records(account: Account, chance: random.Random, all_fields: tuple[dict[str, Any], ...]) -> dict[str, Record]:
    ids = [base36(serial) for serial in chance.sample(range(36**4, 36**5), len(all_fields))]
    made = account.created_at
    return {each: Record(each, made, made, fields) for each, fields in zip(ids, all_fields, strict=True)}


# --- An advertising account, and everything that belongs to it ---

SHARING_FEATURE: Final = "SHARE_AUDIENCE_OUTSIDE_BUSINESS"


@dataclass(slots=True)
class Account:
    """One account; times in epoch seconds. Deleted records stay, marked. `is_foreign` is for another user's account."""

    id: str
    name: str
    business_id: str
    created_at: float
    updated_at: float
    industry_type: str | None = None
    deleted: bool = False
    is_foreign: bool = False
    features: set[str] = field(default_factory=set)
    outside: frozenset[str] = frozenset()  # of what is in beta or limited release, unless a feature opens it
    max_active_campaigns: int = 200  # by default; specification part 1, section 8
    audiences: dict[str, Audience] = field(default_factory=dict)
    do_not_reach_lists: dict[str, DoNotReachList] = field(default_factory=dict)
    tax_settings: dict[str, str | None] = field(default_factory=dict, repr=False)
    user_settings: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)  # by the id of the user
    records: dict[str, dict[str, Record]] = field(default_factory=dict)  # of all other kinds, by kind and id

    def has_name(self, name: str) -> bool:
        """Whether an audience has, or had before its deletion, this name: names are unique for good."""
        return any(audience.name == name for audience in self.audiences.values())

    def lists(self) -> list[Audience | DoNotReachList]:
        """Return everything with members."""
        return [*self.audiences.values(), *self.do_not_reach_lists.values()]

    def value(self, attribute: str) -> Any:
        """Return the value by which a list is sorted."""
        return getattr(self, attribute)

    def document(self) -> dict[str, Any]:
        """Return the record as the service shows it."""
        return {
            "name": self.name,
            "business_name": None,
            "timezone": "America/Los_Angeles",
            "timezone_switch_at": None,
            "id": self.id,
            "created_at": format_time(self.created_at),
            "updated_at": format_time(self.updated_at),
            "industry_type": self.industry_type,
            "business_id": self.business_id,
            "approval_status": "ACCEPTED",
            "deleted": self.deleted,
        }


# --- Betas and limited releases (specification part 1, sections 4.12, 5 and 9, and part 2, section 4.3) ---
#
# Every account is let into all of them, unless it is put outside: by an option of the emulator, or at a door, where the
# account manager of the specification would stand. An account that is outside is refused what the name stands for,
# until the sandbox gives it the feature, or the door lets it in.

# Betas, which the API gives to no account.
ACCOUNT_HISTORY, RECOMMENDATIONS, FLEXIBLE_AUDIENCES = "ACCOUNT_HISTORY", "RECOMMENDATIONS", "FLEXIBLE_AUDIENCES"
BETAS: Final = (ACCOUNT_HISTORY, RECOMMENDATIONS, FLEXIBLE_AUDIENCES)
CPM_BILLING: Final = "WEBSITE_CLICKS_CPM_BILLING"
# Keys of features that open something here.
OBJECTIVES_OF_FEATURES: Final[Mapping[str, str]] = {
    "REACH": "AWARENESS_OBJECTIVE",
    "PREROLL_VIEWS": "PREROLL_VIEWS_OBJECTIVE",
}
CRITERIA_OF_FEATURES: Final[Mapping[str, str]] = {
    "AGE": "AGE_TARGETING",
    "APP_STORE_CATEGORY": "INSTALLED_APP_CATEGORY_TARGETING",
    "ENGAGEMENT_TYPE": "ENGAGER_RETARGETING",
    "EVENT": "EVENT_TARGETING",
}
CONVERSATION_CARD, FOUR_OPTIONS, UNLOCK = (
    "CONVERSATION_CARD",
    "CONVERSATION_CARD_FOUR_OPTIONS",
    "CONVERSATION_CARD_UNLOCK",
)
APP_CARDS_OF_VIDEO: Final = "VIDEO_APP_DOWNLOAD_CARD"
GATES: Final = (
    *BETAS,
    *OBJECTIVES_OF_FEATURES.values(),
    *CRITERIA_OF_FEATURES.values(),
    CONVERSATION_CARD,
    FOUR_OPTIONS,
    UNLOCK,
    APP_CARDS_OF_VIDEO,
    CPM_BILLING,
)
# Features granted only by a door of the emulator: part 2, section 4.2; in the sandbox, the key can be read and not set.
GRANTED_AT_THE_DOOR: Final = (SHARING_FEATURE, CPM_BILLING)


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
