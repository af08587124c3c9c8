"""The access that the user has to an account (specification part 1, section 4.9)."""

from __future__ import annotations

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters


def show_access(call: Call) -> Answer:
    """`GET …/authenticated_user_access`: the user is the administrator of every account that is theirs."""
    parameters = Parameters(call)
    parameters.finish()
    permissions = ["ACCOUNT_ADMIN", "TWEET_COMPOSER"]
    return success(parameters.echo, {"user_id": call.store.origin.user_id, "permissions": permissions})
