"""`POST …/batch/accounts/:account_id/do_not_reach_lists/:do_not_reach_list_id/users` (specification part 2, section
4.6): emails and phone numbers, from now on, for less than 13 months. No audience is touched.

The answer is that of a batch: counts for each operation, and an echo of each without its users.
"""

from __future__ import annotations

from typing import Any, Final

from audiencekit.emulator.audiences.application import apply_operations
from audiencekit.emulator.audiences.operations import Terms, echo_item, read_operations
from audiencekit.emulator.audiences.users import UserRules
from audiencekit.emulator.bodies import collector_paused
from audiencekit.emulator.calls import Call
from audiencekit.emulator.do_not_reach.lists import find_list
from audiencekit.emulator.documents import read_document
from audiencekit.emulator.envelope import Answer, success_of_items

_FIELDS: Final = ("email", "phone_number")
_TERMS: Final = Terms(times=("expires_at",), caps_expiry=True)


def upload_users(call: Call) -> Answer:
    """Return the number of users of each operation, twice."""
    changed = find_list(call)
    rules = UserRules.of(call.options.profile, upper_case=call.options.accept_upper_case).only(_FIELDS)
    with collector_paused():
        document = read_document(call)
        operations = read_operations(document, rules, call.now, call.ids, _TERMS)
        if not call.options.sink:
            apply_operations(call, call.account, changed, operations)
    counts = [len(operation.key_sets) for operation in operations]
    data = [{"success_count": count, "total_count": count} for count in counts]
    return success_of_items(data, [_echo(call, item) for item in document])


def _echo(call: Call, item: dict[str, Any]) -> dict[str, Any]:
    echo = echo_item(item, call.ids)
    if "expires_at" in item["params"]:
        echo["params"]["expires_at"] = item["params"]["expires_at"]
    return echo
