"""The permissions of the credentials of a run, as the service tells them."""

from __future__ import annotations

from typing import Final, Protocol

from audiencekit.api.wire import Answer
from audiencekit.errors import ExchangeError, UsageError
from audiencekit.shown import shown

# A user who has none but these changes no audience (specification part 1, section 4.9).
VIEWING: Final = frozenset({"ANALYST", "CAMPAIGN_ANALYST", "CREATIVE_MANAGER", "TWEET_COMPOSER"})
READS_ONLY: Final = "the token may only read"
READS_ONLY_HINT: Final = "let the application write, then `audiencekit login` makes a token that may"


class Permissions(Protocol):
    """The one call of a client that tells them."""

    async def get_authenticated_user_access(self) -> Answer:
        """The roles of the user in the account."""


def may_only_read(answer: Answer) -> bool:
    """Whether the token of an answer may not write."""
    return answer.access_level == "read"


async def viewing_permissions(client: Permissions) -> str:
    """The roles of a user who may only look at the account, in words of the service; empty for any other user.

    The service is asked once. Empty, too, where it does not say.
    """
    try:
        access = (await client.get_authenticated_user_access()).data
    except (ExchangeError, UsageError):
        return ""
    told = access.get("permissions") if isinstance(access, dict) else None
    if isinstance(told, list) and told and all(isinstance(each, str) and each in VIEWING for each in told):
        return ", ".join(map(shown, told))
    return ""
