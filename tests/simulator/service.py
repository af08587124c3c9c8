"""A tiny service on virtual time: members, atomic requests, Deletes that match any key, and faults on its way.

It shares no code with the client or the emulator, and applies what it was sent even when the client is gone.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

from audiencekit.api.exchange import ApiRequest, ApiResponse
from tests.simulator.faults import BLAMING, EFFECTS, Effect, deliver
from tests.simulator.sources import Keys
from tests.virtualtime import VirtualClock

Answer = tuple[int, dict[str, str], Any]


class Service:
    """The far end of every exchange of one simulated run, over all its processes.

    `faults` maps the number of an exchange, from 1, to the number of the fault it meets. `bad` are key sets that are
    refused; `names` says how the operations of bad records are named.
    """

    def __init__(
        self, chance: random.Random, faults: Mapping[int, int], bad: frozenset[Keys], names: str, clock: VirtualClock
    ) -> None:
        self.chance, self.clock = chance, clock
        self._faults, self._bad, self._names = dict(faults), bad, names
        self.members: dict[Keys, str] = {}
        self.exchanges = 0
        self.on_fault: Callable[[int], None] = lambda fault: None
        self.met: list[int] = []
        self.arrivals: list[float] = []

    async def exchange(self, request: ApiRequest) -> ApiResponse:
        """The Transport of the client under test."""
        assert request.body is not None
        self.exchanges += 1
        self.arrivals.append(self.clock.monotonic())
        body = b"".join(bytes(piece) for piece in request.body.slices(1 << 20))
        fault = self._faults.pop(self.exchanges, None)
        effect = self.chance.choice(EFFECTS[fault]) if fault else Effect()
        if fault:
            self.met.append(fault)
            self.on_fault(fault)
        if fault in BLAMING and body.count(b'{"email"') + body.count(b'{"handle"') < 2:
            effect = Effect()  # what is refused alone is bad, by the service's last word
        answer = deliver(self.chance, effect, lambda: self._apply(json.loads(body)))
        await self.clock.sleep(effect.seconds(self.chance))
        return effect.answer(self, await asyncio.shield(answer))

    def _apply(self, operations: list[dict[str, Any]]) -> Answer:
        refused = [place for place, operation in enumerate(operations) if self._holds_bad(operation)]
        if refused:
            if self._names == "none":
                return 400, {}, {"errors": [{"code": "INVALID_PARAMETER", "message": "not shown"}], "request": []}
            return 400, {}, {"operation_errors": self._blame(refused, len(operations)), "request": []}
        users = 0
        for operation in operations:
            for user in operation["params"]["users"]:
                users += 1
                self._apply_one(operation["operation_type"], _keys(user), operation["params"]["expires_at"])
        return 200, {}, {"data": {"success_count": users, "total_count": users}}

    def _apply_one(self, verb: str, keys: Keys, expires_at: str) -> None:
        if verb == "Delete":
            self.members = {member: until for member, until in self.members.items() if not member & keys}
        else:
            self.members[keys] = expires_at

    def _holds_bad(self, operation: dict[str, Any]) -> bool:
        return any(_keys(user) in self._bad for user in operation["params"]["users"])

    def _blame(self, refused: list[int], operations: int) -> list[Any]:
        error = {"code": "INVALID_PARAMETER", "message": "not shown", "parameter": "users"}
        named = {"all": refused, "first": refused[:1], "beyond": [operations + 1], "zero": [0]}[self._names]
        if self._names == "zero":
            return [error]
        size = max([operations, *(index + 1 for index in named)])
        return [[error] if index in named else [] for index in range(size)]

    def response(self, status: int, headers: Mapping[str, str], document: Any) -> ApiResponse:
        """An answer with the service's `Date`; `document` is JSON, or bytes as they are."""
        now = self.clock.now()
        date = {"date": format_datetime(datetime.fromtimestamp(int(now), UTC), usegmt=True)}
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        return ApiResponse(status=status, headers=date | dict(headers), body=body, received_at=now)


def _keys(user: dict[str, list[str]]) -> Keys:
    return frozenset(value for values in user.values() for value in values)
