"""Users whose content an account may promote (specification part 1, section 4.9): its own, and a partner's tweets.

The specification calls the kind of a user `type`; the public service's record says `promotable_user_type`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from audiencekit.emulator.accounts.initialrecords import USER_KIND
from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.resources.resource import Resource

PROMOTABLE_USERS: Final = Resource(kind=USER_KIND, noun="Promotable User", id_name="promotable_user_id")


def list_promotable_users(call: Call) -> Answer:
    """Answer `GET …/promotable_users`: a page of them."""
    return _as_shown(call).list_records(call)


def show_promotable_user(call: Call) -> Answer:
    """Answer `GET …/promotable_users/:promotable_user_id`."""
    return _as_shown(call).show_record(call)


def type_of(call: Call, user_id: int) -> str | None:
    """FULL or RETWEETS_ONLY; None for a user whose content the account may not promote."""
    users = (user for user in PROMOTABLE_USERS.all(call).values() if not user.deleted)
    return next((user.fields["type"] for user in users if user.fields["user_id"] == str(user_id)), None)


def _as_shown(call: Call) -> Resource:
    is_public = call.options.profile == "x"
    return replace(PROMOTABLE_USERS, show=_show_public) if is_public else PROMOTABLE_USERS


def _show_public(user: Record) -> dict[str, Any]:
    document = user.document()
    document["promotable_user_type"] = document.pop("type")
    return document
