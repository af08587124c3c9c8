"""The parts of one emulator with a state, and the handling of authorized calls."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from audiencekit.emulator.answers import Answer, RefusalError, refuse
from audiencekit.emulator.authentication import decode_pairs
from audiencekit.emulator.calls import Address, Call, is_form
from audiencekit.emulator.endpoints.accounts import change_settings, show_settings
from audiencekit.emulator.endpoints.campaigns import seed_funding_instrument
from audiencekit.emulator.endpoints.users import check_permission
from audiencekit.emulator.endpoints.webhooks import NewPosts
from audiencekit.emulator.faults.late_answers import LateApplies
from audiencekit.emulator.faults.orders import Register
from audiencekit.emulator.options import EmulatorOptions
from audiencekit.emulator.routes import ROUTES
from audiencekit.emulator.routing import EARLIER, Match, Router
from audiencekit.emulator.store import (
    LOST_MEMBERS,
    SET_ACCOUNT,
    Clock,
    ReceivedCall,
    StateError,
    StateFile,
    Store,
    open_state,
)

# --- From an authorized call to the answer of its handler; changes are stored for the next start ---

_REFUSED: Final = (
    "a call that the state file holds is refused now: it was made with other options or by another version, "
    "or it is damaged"
)


class Handlers:
    """Carries out calls on one store, and repeats those of a state file."""

    def __init__(self, store: Store, options: EmulatorOptions, state: StateFile | None) -> None:
        self._store, self._options, self._state = store, options, state
        self._new_posts = NewPosts(store)
        if options.profile == "x":
            for account in store.accounts_of_user():
                seed_funding_instrument(account)

    def handle(self, match: Match, received: ReceivedCall) -> Answer:
        """Return the answer of the endpoint. Raises RefusalError, and then nothing has changed."""
        answer = match.route.handler(self._make_call(match, received))
        self.look_for_posts(received.now)
        if self._state is not None and (received.method != "GET" or match.route.changes):
            self._state.add_call(received)
        return answer

    def look_for_posts(self, now: float) -> None:
        """Notify linked webhooks of the posts since the last look."""
        self._new_posts.look(now)

    def check_access(self, match: Match, user_id: str) -> None:
        """Raise RefusalError (403) for another user's account, and for a call without the permission."""
        account_id = match.ids.get("account_id")
        account = self._store.accounts.get(account_id or "")
        deleted = account is not None and account.deleted and not match.route.takes_deleted_account
        if account_id is not None and (account is None or account.is_foreign or deleted):
            raise refuse(403, "NOT_FOUND", f"Account {account_id} was not found")
        check_permission(self._store.users.of(user_id), match)

    def set_account(self, account_id: str, body: bytes, now: float) -> dict[str, Any]:
        """Change what the API cannot. Raises RefusalError: 404, and 400 for an invalid order."""
        account = self._store.accounts.get(account_id)
        if account is None:
            raise refuse(404, "NOT_FOUND", "There is no account with this id")
        if body:
            change_settings(account, body)
            if self._state is not None:
                self._state.add_call(replace(LOST_MEMBERS, method=SET_ACCOUNT, path=account_id, body=body, now=now))
        return show_settings(account)

    def lose_members(self, now: float) -> None:
        """Empty every list, as a service that restarts without its data."""
        self._store.lose_members()
        if self._state is not None:
            self._state.add_call(replace(LOST_MEMBERS, now=now))

    def restore(self, router: Router, state: StateFile) -> None:
        """Repeat the calls of the state file. Raises StateError when one is refused now."""
        self._store.requests.restore(state.requests())
        try:
            for saved in state.calls():
                if saved.method == LOST_MEMBERS.method:
                    self._store.lose_members()
                    continue
                if saved.method == SET_ACCOUNT:
                    change_settings(self._store.accounts[saved.path], saved.body)
                    continue
                match = router.find(saved.method, saved.path, Address(saved.address))
                match.route.handler(self._make_call(match, saved))
                self.look_for_posts(saved.now)
        except RefusalError:
            state.close()
            raise StateError(_REFUSED) from None

    def _make_call(self, match: Match, received: ReceivedCall) -> Call:
        # Only parsed here, so that a call from the file is read in the same way as one from the wire.
        query = decode_pairs(received.query)
        if self._options.profile == "x" and is_form(received.media_type) and match.route.writes:
            query += decode_pairs(received.body)  # clients of the public service send parameters of writes in a form
        return Call(
            address=Address(received.address),
            ids=match.ids,
            query=query,
            attributes=json.loads(received.attributes),
            media_type=received.media_type,
            body=received.body,
            now=received.now,
            store=self._store,
            options=self._options,
        )


# --- The parts ---


class EmulatorParts:
    """The parts, made from the options and the state file. Raises StateError for a file that cannot be restored."""

    def __init__(self, options: EmulatorOptions) -> None:
        self.options = options
        self.clock = Clock(options.clock)
        self.state = open_state(options, self.clock)
        started_at = self.state.fact("started_at", self.clock.now()) if self.state else self.clock.now()
        self.store = Store(options.seed, started_at, options.match_rate, options.processing_seconds, options.outside)
        self.faults = Register(options.faults)
        self.late = LateApplies(self.clock)
        self.router = Router(ROUTES, EARLIER if options.profile == "x" else ())
        self.handlers = Handlers(self.store, options, self.state)
        if self.state is not None:
            self.handlers.restore(self.router, self.state)

    def lose_members(self) -> None:
        """Empty every list, as a service that restarts without its data."""
        self.handlers.lose_members(self.clock.now())

    def close(self) -> None:
        """Drop the bodies to be applied later, and release the state file."""
        self.late.close()
        if self.state is not None:
            self.state.close()
