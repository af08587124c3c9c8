"""Settings of a user for an account (specification part 1, section 4.9): only the user's own, whatever they administer.

Which notifications there are, the specification does not show, so any words are taken.
"""

from __future__ import annotations

from typing import Any, Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters

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
