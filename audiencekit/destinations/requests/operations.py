"""The requests of the ads API: a JSON array of operations, at most 2,500 and 5,000,000 bytes (specification 2, 4.4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from audiencekit.destinations.requests.entries import Octets
from audiencekit.destinations.requests.packing import ENTRY_LOOPS, EncodedUsers, measure_users
from audiencekit.destinations.requests.request_plan import (
    OPERATION_SUFFIX,
    BodyLimits,
    PlannedRequest,
    Sizes,
    SizesOf,
    operation_prefix,
    plan_requests,
)
from audiencekit.personal import HashedRecords
from audiencekit.profile import Profile
from audiencekit.records.plan_times import PlanTimes
from audiencekit.records.records import DELETE, UPDATE

if TYPE_CHECKING:
    from audiencekit.destinations.requests.operations_body import OperationsBody
    from audiencekit.packed_request import PackedRequest


USERS: Final = "users"  # the service counts requests with people together, whatever they go to (part 2, section 8)

_OPEN: Final = b"["
_CLOSE: Final = b"]"


@dataclass(frozen=True, slots=True)
class OperationsForm:
    """A RequestForm of Updates, then Deletes, spread over as many operations as fit."""

    times: PlanTimes
    profile: Profile
    limits: BodyLimits = field(default_factory=BodyLimits)

    def measure(self, records: HashedRecords) -> Sizes:
        """The bytes of the entry of each record, without its comma."""
        return measure_users(records, self.profile)

    def plan(self, waves: Iterable[int], sizes_of: SizesOf) -> list[PlannedRequest]:
        """Return as few requests as hold the records."""
        return plan_requests(waves, sizes_of, times=self.times, limits=self.limits)

    def write(self, request: PlannedRequest, updates: EncodedUsers, deletes: EncodedUsers, body: Octets) -> int:
        """Write the JSON into `body`; return the number of bytes."""
        end = len(_OPEN)
        verbs = ((UPDATE, updates, request.update_operations), (DELETE, deletes, request.delete_operations))
        for verb, users, operations in verbs:
            if operations:
                prefix = operation_prefix(verb, self.times)
                end += ENTRY_LOOPS.write_operations(
                    body[end:], prefix, OPERATION_SUFFIX, operations, users.entries.unwrap()
                )
        body[0], body[end - 1] = ord(_OPEN), ord(_CLOSE)  # the last operation has no comma
        return end

    def open_body(self, request: PackedRequest) -> OperationsBody:
        """Return the place of each record of the body."""
        from audiencekit.destinations.requests.operations_body import OperationsBody  # needed once in a great many runs

        return OperationsBody(request, self.limits)
