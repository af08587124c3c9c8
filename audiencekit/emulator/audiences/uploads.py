"""`POST …/custom_audiences/:custom_audience_id/users`: all of a request is applied, or nothing of it (specification
part 2, section 4.4)."""

from __future__ import annotations

from audiencekit.emulator.audiences.application import apply_operations
from audiencekit.emulator.audiences.lifecycle import find_audience
from audiencekit.emulator.audiences.operations import read_operations
from audiencekit.emulator.audiences.records import Audience
from audiencekit.emulator.audiences.sink import count_users
from audiencekit.emulator.audiences.users import UserRules
from audiencekit.emulator.bodies import collector_paused
from audiencekit.emulator.calls import Call
from audiencekit.emulator.documents import check_body, read_document
from audiencekit.emulator.envelope import Answer, success


def upload_users(call: Call) -> Answer:
    """Return the number of users received, over all operations, twice."""
    audience = find_audience(call, to_write=True)
    check_body(call)
    if audience.segments is not None:
        raise call.refuse(400, "INVALID_PARAMETER", "A flexible audience has no users of its own", "custom_audience_id")
    rules = UserRules.of(call.options.profile, upper_case=call.options.accept_upper_case)
    users = count_users(call.body, rules) if call.options.sink else None
    if users is None:
        with collector_paused():
            users = _read_and_apply(call, audience, rules)
    return success(call.ids, {"success_count": users, "total_count": users})


def _read_and_apply(call: Call, audience: Audience, rules: UserRules) -> int:
    operations = read_operations(read_document(call), rules, call.now, call.ids)
    if not call.options.sink:
        apply_operations(call, call.store.accounts[audience.account_id], audience, operations)
    return sum(len(operation.key_sets) for operation in operations)
