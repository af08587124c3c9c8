"""The access that the user has to an account (specification part 1, section 4.9)."""

from __future__ import annotations

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters


def show_access(call: Call) -> Answer:
    """Answer `GET …/authenticated_user_access`."""
    parameters = Parameters(call)
    parameters.finish()
    user = call.store.users.of(call.user_id)
    return success(parameters.echo, {"user_id": user.id, "permissions": list(user.permissions)})
