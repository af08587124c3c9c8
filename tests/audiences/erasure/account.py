"""A tiny account on virtual time: audiences in pages, Deletes that match any key, faults, and what arrives late.

It shares no code with the client or the emulator, and applies what it was sent even when the client is gone.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

from audiencekit.api.exchange import ApiRequest, ApiResponse
from tests.simulator.faults import BLAMING, EFFECTS, Effect, deliver
from tests.virtualtime import VirtualClock

ACCOUNT, PAGE = "18ce54d4x5t", 7
Key = tuple[str, str]
Keys = frozenset[Key]
Answer = tuple[int, dict[str, str], Any]
USERS = re.compile(r"/12/accounts/18ce54d4x5t/custom_audiences/(\w+)/users")
LISTS = {"lists": "/12/accounts/18ce54d4x5t/do_not_reach_lists"}
LIST_USERS = re.compile(r"/12/batch/accounts/18ce54d4x5t/do_not_reach_lists/(\w+)/users")
# Faults that hide a list that is asked for.
AWAY = [number for number in EFFECTS if number in {2, 4, 8, 10, 12, 13}]


@dataclass
class Audience:
    """One audience, and the key sets in it."""

    id: str
    type: str = "CRM"
    owner: str = ACCOUNT
    members: set[Keys] = field(default_factory=set)
    deleted: bool = False

    def document(self) -> dict[str, Any]:
        return {
            "id": self.id, "name": f"audience {self.id}", "audience_type": self.type, "owner_account_id": self.owner,
            "deleted": self.deleted,
        }  # fmt: skip


class Account:
    """The far end of every exchange of one erasure, over all its processes.

    `faults` maps the number of an exchange, from 1, to the number of the fault it meets.
    """

    def __init__(self, chance: random.Random, clock: VirtualClock, faults: Mapping[int, int] | None = None) -> None:
        self.chance, self.clock, self._faults = chance, clock, dict(faults or {})
        self.audiences: dict[str, Audience] = {}
        self.do_not_reach: Audience | None = None
        self.exchanges = 0
        self.met: list[int] = []
        self.sent: list[tuple[str, list[dict[str, Any]]]] = []

    def add(self, audience_id: str, **more: Any) -> Audience:
        self.audiences[audience_id] = Audience(audience_id, **more)
        return self.audiences[audience_id]

    async def exchange(self, request: ApiRequest) -> ApiResponse:
        """The Transport of the client under test."""
        self.exchanges += 1
        fault = self._faults.pop(self.exchanges, None)
        if fault is not None:
            self.met.append(fault)
        found = USERS.fullmatch(request.path) or LIST_USERS.fullmatch(request.path)
        if found is None:
            return await self._listed(request, fault)
        body = b"".join(bytes(piece) for piece in request.body.slices(1 << 20))  # type: ignore[union-attr]
        effect = self.chance.choice(EFFECTS[fault]) if fault else Effect()
        if fault in BLAMING and body.count(b'":["') < 2:
            effect = Effect()  # what is refused alone is bad, by the service's last word
        answer = deliver(self.chance, effect, lambda: self.apply(found[1], json.loads(body)))
        await self.clock.sleep(effect.seconds(self.chance))
        return effect.answer(self, await asyncio.shield(answer))  # type: ignore[arg-type]

    # --- lists ---

    async def _listed(self, request: ApiRequest, fault: int | None) -> ApiResponse:
        effect = self.chance.choice(EFFECTS[fault]) if fault in AWAY else Effect()
        await self.clock.sleep(0.1)
        return effect.answer(self, self._list(request))  # type: ignore[arg-type]

    def _list(self, request: ApiRequest) -> Answer:
        if request.path == LISTS["lists"]:
            if request.method == "POST":
                self.do_not_reach = self.do_not_reach or Audience("dnr1")
                return 200, {}, {"data": self.do_not_reach.document()}
            return 200, {}, {"data": [self.do_not_reach.document()] if self.do_not_reach else []}
        query = dict(request.query)
        is_ours = query.get("permission_scope", "OWNER") == "OWNER"
        listed = [one for one in self.audiences.values() if (one.owner == ACCOUNT) is is_ours and not one.deleted]
        start = int(query.get("cursor", "c0")[1:])
        page = [one.document() for one in listed[start : start + PAGE]]
        cursor = f"c{start + PAGE}" if start + PAGE < len(listed) else None
        return 200, {}, {"data": page, "next_cursor": cursor}

    # --- users ---

    def apply(self, audience_id: str, operations: list[dict[str, Any]]) -> Answer:
        """Apply one request as the service does."""
        listed = self.do_not_reach if self.do_not_reach and audience_id == self.do_not_reach.id else None
        audience = listed or self.audiences[audience_id]
        if audience.deleted or audience.type == "FLEXIBLE" or audience.owner != ACCOUNT:
            return 404, {}, {"errors": [{"code": "NOT_FOUND", "message": "no"}]}
        self.sent.append((audience_id, operations))
        users = 0
        for operation in operations:
            for user in operation["params"]["users"]:
                users += 1
                keys = frozenset((kind, value) for kind, values in user.items() for value in values)
                if operation["operation_type"] == "Update":
                    audience.members.add(keys)
                else:
                    audience.members = {member for member in audience.members if not member & keys}
        counts = {"success_count": users, "total_count": users}
        return 200, {}, {"data": counts}

    def response(self, status: int, headers: Mapping[str, str], document: Any) -> ApiResponse:
        """An answer with the service's `Date`; `document` is JSON, or bytes as they are."""
        now = self.clock.now()
        date = {"date": format_datetime(datetime.fromtimestamp(int(now), UTC), usegmt=True)}
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        return ApiResponse(status=status, headers=date | dict(headers), body=body, received_at=now)
