"""JSON bodies of calls."""

from __future__ import annotations

from typing import Any

from audiencekit.emulator.bodies import parse_json
from audiencekit.emulator.calls import Call, is_form


def check_body(call: Call) -> None:
    """Refuse a query (400), and a body that is not declared as JSON in UTF-8 (415)."""
    if call.query and not is_form(call.media_type):  # of a form, the type is what is wrong
        raise call.refuse(400, "INVALID_PARAMETER", "This endpoint takes no query parameters")
    media_type, _, parameter = call.media_type.replace(" ", "").lower().partition(";")
    if media_type != "application/json" or parameter not in ("", "charset=utf-8", 'charset="utf-8"'):
        # The public service answers 415 here; its code is documented nowhere.
        raise call.refuse(415, "UNSUPPORTED_MEDIA_TYPE", "Expected Content-Type application/json")


def read_document(call: Call) -> Any:
    """The JSON of a call that takes a body, and no query. Raises RefusalError: 415 for another type, else 400."""
    check_body(call)
    try:
        return parse_json(call.body)
    except ValueError:
        raise call.refuse(400, "INVALID_PARAMETER", "The body is not valid JSON, or repeats a key") from None
