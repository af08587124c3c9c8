"""The calls that each permission allows (specification part 1, section 4.9).

The specification says it in a sentence for each. Here every path below an account belongs to an area, and a permission
is to read an area or to change it, too. The account itself, its apps, its features, who may do what, promotable users,
reference data and a user's own settings are there for every permission.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final

from audiencekit.emulator.envelope import RefusalError, refuse
from audiencekit.emulator.people.users import User
from audiencekit.emulator.routing import Match


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
    """Raises RefusalError (403) when no permission of the user allows the call."""
    area = _area_of(match)
    changes = match.route.writes
    if area is None or (area is Area.SETTINGS and not changes):
        return
    enough = [name for name, allowed in _ALLOWED.items() if area in allowed[changes]]
    if not set(enough).intersection(user.permissions):
        raise refuse_for_want_of(" or ".join(enough), match.ids)


def refuse_for_want_of(permission: str, ids: Mapping[str, str]) -> RefusalError:
    """Return the refusal of a user who has not got a permission. The specification states no code."""
    return refuse(403, "ACTION_NOT_ALLOWED", f"This needs the permission {permission} on the account", params=ids)


def _area_of(match: Match) -> Area | None:
    segments = match.route.path.strip("/").removeprefix("batch/").split("/")
    if segments[:2] != ["accounts", ":account_id"]:
        return None
    if segments[-1] == "targeted":  # it shows campaigns
        return Area.CAMPAIGNS
    return _AREAS.get(segments[2] if len(segments) > 2 else "")
