"""Everything that the emulator remembers."""

from __future__ import annotations

from dataclasses import dataclass, field

from .audiences.membership import Membership
from .audiences.records import Audience
from .credentials import base36, make_origin
from .journal import OperationLog, RequestLog


@dataclass(slots=True)
class Account:
    """An advertising account and what belongs to it. Deleted audiences stay."""

    id: str
    audiences: dict[str, Audience] = field(default_factory=dict)

    def has_name(self, name: str) -> bool:
        """Whether an audience has, or had when it was deleted, this name: names are unique for good."""
        return any(audience.name == name for audience in self.audiences.values())


class Store:
    """The accounts with their audiences, and the two logs."""

    def __init__(self, seed: int, now: float) -> None:
        self.origin = make_origin(seed)
        self.accounts = {self.origin.account_id: Account(self.origin.account_id)}
        self.operations = OperationLog()
        self.requests = RequestLog()
        self._audiences_made = 0
        account = self.accounts[self.origin.account_id]
        self.audience_id = self.make_audience(account, "Ready for uploads", None, now).id

    def make_audience(self, account: Account, name: str, description: str | None, now: float) -> Audience:
        """A new audience of `account`, with an id that no other has."""
        # Ids that do not follow each other, so that nobody comes to rely on it.
        serial = self.origin.first_serial + 37 * self._audiences_made
        self._audiences_made += 1
        audience = Audience(base36(serial), account.id, name, description, created_at=now, updated_at=now)
        account.audiences[audience.id] = audience
        return audience

    def find_audience(self, audience_id: str) -> Audience | None:
        """The audience with this id, of whichever account, deleted or not."""
        for account in self.accounts.values():
            if audience_id in account.audiences:
                return account.audiences[audience_id]
        return None

    def lose_members(self) -> None:
        """Empties every list. The logs keep what was applied: they are the witness."""
        for account in self.accounts.values():
            for audience in account.audiences.values():
                audience.members = Membership()
