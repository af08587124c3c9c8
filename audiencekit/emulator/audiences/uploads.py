"""`POST …/custom_audiences/:custom_audience_id/users`: all of a request is applied, or nothing of it (specification
part 2, section 4.4)."""

from __future__ import annotations

from audiencekit.emulator.bodies import collector_paused, parse_json
from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success

from .lifecycle import find_audience
from .operations import Operation, read_operations
from .records import Audience
from .sink import count_users
from .users import UserRules


def upload_users(call: Call) -> Answer:
    """The number of users received, over all operations, twice."""
    audience = find_audience(call)
    if call.query:
        raise call.refuse(400, "INVALID_PARAMETER", "This endpoint takes no query parameters")
    check_media_type(call)
    rules = UserRules.of(call.options.profile, upper_case=call.options.accept_upper_case)
    users = count_users(call.body, rules) if call.options.sink else None
    if users is None:
        with collector_paused():
            users = _read_and_apply(call, audience, rules)
    return success(call.ids, {"success_count": users, "total_count": users})


def check_media_type(call: Call) -> None:
    """Refuses (415) a body that is not declared as JSON in UTF-8."""
    media_type, _, parameter = call.media_type.replace(" ", "").lower().partition(";")
    if media_type != "application/json" or parameter not in ("", "charset=utf-8", 'charset="utf-8"'):
        # The public service answers 415 here; its code is documented nowhere.
        raise call.refuse(415, "UNSUPPORTED_MEDIA_TYPE", "Expected Content-Type application/json")


def _read_and_apply(call: Call, audience: Audience, rules: UserRules) -> int:
    operations = _read(call, rules)
    if not call.options.sink:
        _apply(call, audience, operations)
    return sum(len(operation.key_sets) for operation in operations)


def _read(call: Call, rules: UserRules) -> list[Operation]:
    try:
        document = parse_json(call.body)
    except ValueError:
        message = "The body is not valid JSON, or repeats a key"
        raise call.refuse(400, "INVALID_PARAMETER", message) from None
    return read_operations(document, rules, call.now, call.ids)


def _apply(call: Call, audience: Audience, operations: list[Operation]) -> None:
    for operation in operations:
        apply = audience.members.update if operation.operation_type == "Update" else audience.members.delete
        apply(operation.key_sets, operation.span, call.now)
    call.store.operations.append(call.now, audience.id, call.body, operations)
