"""Betas and limited releases (specification part 1, sections 4.12, 5 and 9, and part 2, section 4.3).

Every account is let into all of them, unless it is put outside: by an option of the emulator, or at a door, where the
account manager of the specification would stand. An account that is outside is refused what the name stands for, until
the sandbox gives it the feature, or the door lets it in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from audiencekit.emulator.accounts.records import SHARING_FEATURE

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
