"""Applying the operations of a request to a list, and writing them down."""

from __future__ import annotations

from collections.abc import Sequence

from audiencekit.emulator.accounts.records import Account
from audiencekit.emulator.audiences.operations import Operation
from audiencekit.emulator.audiences.records import Audience
from audiencekit.emulator.calls import Call
from audiencekit.emulator.do_not_reach.records import DoNotReachList


def apply_operations(
    call: Call, owner: Account, changed: Audience | DoNotReachList, operations: Sequence[Operation]
) -> None:
    """Change the members of a list of `owner`; counts that fell due see them as they were before."""
    call.store.catch_up(owner, call.now)
    # First, since it is what can fail: then nothing has changed.
    call.store.operations.append(call.now, changed.id, call.body, operations)
    for operation in operations:
        apply = changed.members.update if operation.operation_type == "Update" else changed.members.delete
        apply(operation.key_sets, operation.span, call.now)
    changed.processing.has_changed = True
