"""Do-not-reach lists: at most one for each account (specification part 2, section 4.6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from audiencekit.emulator.answers import Answer, format_time, success, success_of_items
from audiencekit.emulator.bodies import collector_paused
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.audience_members import Membership
from audiencekit.emulator.endpoints.audience_users import (
    TimeRules,
    UserRules,
    apply_operations,
    echo_item,
    read_operations,
)
from audiencekit.emulator.endpoints.custom_audiences import Processing
from audiencekit.emulator.parameters import Parameters, read_document

# --- A do-not-reach list: its stored form, and the form in which the service shows it ---

NAME: Final = "Do Not Reach List"  # all of them have it (public documentation)


@dataclass(slots=True)
class DoNotReachList:
    """People that the campaigns of an account must not reach; times in epoch seconds."""

    id: str
    account_id: str
    description: str | None
    created_at: float
    updated_at: float
    deleted: bool = False
    members: Membership = field(default_factory=Membership)
    processing: Processing = field(init=False)

    def __post_init__(self) -> None:
        self.processing = Processing(self.created_at)

    def document(self) -> dict[str, Any]:
        """Return the record as the service shows it: with `list_size` in place of `audience_size`."""
        return {
            "targetable": self.processing.is_targetable and not self.deleted,
            "name": NAME,
            "description": self.description,
            "id": self.id,
            "reasons_not_targetable": self.processing.reasons,
            "created_at": format_time(self.created_at),
            "list_size": None if self.deleted else self.processing.shown_size,
            "updated_at": format_time(self.updated_at),
            "deleted": self.deleted,
        }


# --- Do-not-reach lists: one for each account at most (specification part 2, section 4.6) ---


def find_list(call: Call) -> DoNotReachList:
    """Return the list of the path. Raises RefusalError (404) when there is none, or it was deleted."""
    list_id = call.ids["do_not_reach_list_id"]
    found = call.account.do_not_reach_lists.get(list_id)
    if found is None or found.deleted:
        message = f"Do Not Reach List {list_id} was not found for Account {call.account.id}"
        raise call.refuse(404, "NOT_FOUND", message, "do_not_reach_list_id")
    return found


def show_lists(call: Call) -> Answer:
    """Answer `GET …/do_not_reach_lists`: one list or none; also deleted ones with `with_deleted`."""
    parameters = Parameters(call)
    with_deleted = parameters.boolean("with_deleted")
    parameters.finish()
    call.store.catch_up(call.account, call.now)
    lists = [each for each in call.account.do_not_reach_lists.values() if with_deleted or not each.deleted]
    return success(parameters.echo, [each.document() for each in lists], next_cursor=None)


def create_list(call: Call) -> Answer:
    """Answer `POST …/do_not_reach_lists`: refused while there is one."""
    parameters = Parameters(call)
    description = parameters.text("description", empty=True)
    parameters.finish()
    if any(not each.deleted for each in call.account.do_not_reach_lists.values()):
        # The public service's code for this is documented nowhere.
        raise call.refuse(400, "INVALID", f"Account {call.account.id} has a Do Not Reach List")
    made = DoNotReachList(call.store.make_id(), call.account.id, description or None, call.now, call.now)
    call.account.do_not_reach_lists[made.id] = made
    return success(parameters.echo, made.document())


def delete_list(call: Call) -> Answer:
    """Answer `DELETE …/do_not_reach_lists/:do_not_reach_list_id`: the second time with 404."""
    parameters = Parameters(call)
    parameters.finish()
    deleted = find_list(call)
    call.store.catch_up(call.account, call.now)
    deleted.deleted, deleted.updated_at = True, call.now
    return success(parameters.echo, deleted.document())


# --- `POST …/batch/accounts/:account_id/do_not_reach_lists/:do_not_reach_list_id/users` (specification part 2,
# section 4.6): emails and phone numbers, from now on, for less than 13 months. No audience is touched ---
#
# The answer is that of a batch: counts for each operation, and an echo of each without its users.

_FIELDS: Final = ("email", "phone_number")
_TERMS: Final = TimeRules(times=("expires_at",), caps_expiry=True)


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
