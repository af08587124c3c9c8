"""Everything that the emulator remembers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from audiencekit.emulator.accounts.initialrecords import endow
from audiencekit.emulator.accounts.records import Account
from audiencekit.emulator.audiences.flexible.evaluation import count_matched
from audiencekit.emulator.audiences.flexible.segments import Segment
from audiencekit.emulator.audiences.membership import Membership
from audiencekit.emulator.audiences.population import Population
from audiencekit.emulator.audiences.processing import PROCESSING_SECONDS
from audiencekit.emulator.audiences.records import Audience
from audiencekit.emulator.credentials import base36, long_id, make_origin
from audiencekit.emulator.data_api.outgoingevents import Outgoing
from audiencekit.emulator.do_not_reach.records import DoNotReachList
from audiencekit.emulator.journal import OperationLog, RequestLog
from audiencekit.emulator.media.initialmedia import stock
from audiencekit.emulator.oauth.tokens import Tokens
from audiencekit.emulator.options import DEFAULT_MATCH_RATE


class Store:
    """The accounts with all that is theirs, and the two logs."""

    def __init__(
        self,
        seed: int,
        now: float,
        match_rate: float = DEFAULT_MATCH_RATE,
        processing_seconds: float = PROCESSING_SECONDS,
        outside: frozenset[str] = frozenset(),
    ) -> None:
        self._seed, self._processing_seconds, self._outside = seed, processing_seconds, outside
        self.origin = make_origin(seed)
        self.operations = OperationLog()
        self.requests = RequestLog()
        self.tokens = Tokens(self.origin)
        self.users = self.tokens.users
        outgoing = Outgoing()
        self.activity, self.stream_rules, self.webhooks = outgoing.activity, outgoing.stream_rules, outgoing.webhooks
        self.population = Population(seed, match_rate)
        self.accounts: dict[str, Account] = {}
        self.ids_made = 0  # set back by who takes back what got an id
        account = self._add_account(self.origin.account_id, "Local account", self.origin.business_id, now)
        self.audience_id = self.make_audience(account, "Ready for uploads", None, now).id
        foreign_id, business_id = self.origin.foreign_account_id, self.origin.foreign_business_id
        self._add_account(foreign_id, "Account of another business", business_id, now).is_foreign = True

    def make_id(self) -> str:
        """Return an id that nothing else has."""
        # Ids do not follow each other, so that no client comes to rely on their order.
        serial = self.origin.first_serial + 37 * self.ids_made
        self.ids_made += 1
        return base36(serial)

    def make_long_id(self, now: float) -> str:
        """Return an id of the kind that tweets and cards have, which nothing else has."""
        serial = self.ids_made
        self.ids_made += 1
        return long_id(now, serial)

    def make_account(self, now: float) -> Account:
        """Return a new account of the user's business."""
        return self._add_account(self.make_id(), "Sandbox account", self.origin.business_id, now)

    def _add_account(self, account_id: str, name: str, business_id: str, now: float) -> Account:
        account = Account(account_id, name, business_id, created_at=now, updated_at=now, outside=self._outside)
        account.records.update(stock(account_id, now))
        endow(account, self.origin.user_id, self._seed)
        self.accounts[account_id] = account
        return account

    def accounts_of_user(self) -> Iterator[Account]:
        """Return the accounts that the user may address, deleted ones too."""
        return (account for account in self.accounts.values() if not account.is_foreign)

    def make_audience(
        self,
        account: Account,
        name: str,
        description: str | None,
        now: float,
        *,
        audience_type: str = "CRM",
        segments: Segment | None = None,
    ) -> Audience:
        """Return a new audience of `account`."""
        audience = Audience(
            self.make_id(), account.id, name, description, now, now, audience_type=audience_type, segments=segments
        )
        account.audiences[audience.id] = audience
        return audience

    def find_audience(self, audience_id: str) -> Audience | None:
        """Return the audience with this id, of whichever account, deleted or not."""
        for account in self.accounts.values():
            if audience_id in account.audiences:
                return account.audiences[audience_id]
        return None

    def find_list(self, list_id: str) -> Audience | DoNotReachList | None:
        """Return the audience or do-not-reach list with this id, of whichever account, deleted or not."""
        for account in self.accounts.values():
            if list_id in account.do_not_reach_lists:
                return account.do_not_reach_lists[list_id]
        return self.find_audience(list_id)

    def shared_with(self, account: Account) -> Iterator[Audience]:
        """Return the audiences of other accounts that `account` was given a permission on."""
        for owner in self.accounts.values():
            for audience in owner.audiences.values():
                if audience.permission_of(account.id) is not None:
                    yield audience

    def catch_up(self, account: Account, now: float) -> None:
        """Make the counts that fell due. To be called before anything of `account` is changed or shown."""
        for counted in account.lists():
            if not counted.deleted:
                counted.processing.catch_up(now, partial(self._count, account, counted), self._processing_seconds)

    def _count(self, account: Account, counted: Audience | DoNotReachList, moment: float) -> int:
        if isinstance(counted, Audience) and counted.segments is not None:
            return count_matched(counted.segments, account.audiences, self.population, moment)
        return self.population.count(counted.members.members(moment))

    def lose_members(self) -> None:
        """Empty every list. The logs keep what was applied: they are the witness."""
        for account in self.accounts.values():
            for emptied in account.lists():
                emptied.members = Membership()
                emptied.processing.has_changed = True
