"""Tell the receiver how a command ended, and what earlier commands could not tell: the way in and out of this room.

A run of a command that notifies is watched (`runs.watched`). Of a watched run that is not at work, and of which nothing
was told, the next command that notifies tells the receiver of that run: its process was killed.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from audiencekit.errors import AudiencekitError, InputOutputFailed
from audiencekit.notifications.deliveries import MOST_SECONDS, run_program
from audiencekit.notifications.messages import SIGNATURE, body_of, compose, sign
from audiencekit.notifications.notices import BAD, EXPIRY, MATCH_RATE, Ending, Rules, find_notices, notice_id
from audiencekit.notifications.receivers import Receiver, find_receiver
from audiencekit.process.connections import Connections
from audiencekit.process.exchanges import Address, Deadline, Exchange
from audiencekit.runs.reports import find_earlier_report, read_report, summary_of
from audiencekit.runs.store import ERASURE_HOME, RUN_HOME, RunStore, Store, at_work
from audiencekit.runs.watched import Told, left_to_tell, read_told, write_told
from audiencekit.service_words import is_service_id
from audiencekit.settings import Settings
from audiencekit.state.directory import make_directory
from audiencekit.state.keys import known_state_key
from audiencekit.state.locks import locked

LOCK: Final = "notifications.lock"
_LOOK_AGAIN_SECONDS: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of a command for one audience or list: its report or receipt, and the error that it ended with.

    `exit_code` is None for a run of an earlier command. `audience` is the id or the name that was given, for a command
    that ended before it had a run.
    """

    settings: Settings
    receiver: Receiver
    rules: Rules
    command: str
    document: Mapping[str, Any] = field(default_factory=dict)
    error: AudiencekitError | None = None
    exit_code: int | None = None
    audience: str = ""

    @property
    def run_id(self) -> str | None:
        """The id of its run or erasure; None without one."""
        found = self.document.get("run_id") or self.document.get("erasure_id")
        return None if found is None else str(found)

    @property
    def state(self) -> str:
        """complete, incomplete or refused."""
        return "complete" if self.error is None else self.error.state


class Notifier:
    """Tells what is to be told, within `seconds` for all of it. `problems` say what was not delivered, and why."""

    def __init__(
        self,
        settings: Settings,
        *,
        ping: Address | None = None,
        now: datetime | None = None,
        seconds: float = MOST_SECONDS,
    ) -> None:
        self._settings, self._ping, self._now = settings, ping, now or datetime.now(UTC)
        self._connections = Connections(proxy=settings.proxy, ca_bundle=settings.ca_bundle)
        self._deadline = Deadline(seconds)
        self._unreached: set[str] = set()  # the names of receivers that would be waited for again
        self.problems: list[str] = []

    def tell(self, ended: Sequence[Ended], *, is_good: bool) -> None:
        """Tell each, then what earlier commands left; a good command also calls the address of the ping."""
        ping = None
        if is_good and self._ping is not None:
            ping = Exchange(self._ping, connections=self._connections, deadline=self._deadline)
        if ended:
            self._tell_all(ended)
        if ping is not None and (why := ping.wait()):
            self.problems.append(f"the ping was not delivered: {why}")

    def _tell_all(self, ended: Sequence[Ended]) -> None:
        with self._alone() as is_alone:
            if not is_alone:
                self.problems.append("another command is notifying: the next command tells it")
                return
            for one in ended:
                self._tell_run(one)
            self._tell_of_earlier({one.run_id for one in ended}, ended[0])

    def _tell_run(self, one: Ended) -> None:
        directory = _directory(one.settings.state_dir, one.run_id)
        told = (read_told(directory) if directory is not None else None) or Told()
        self._tell_ending(one, _ending_of(one, one.state, told, self._now), directory, told)

    def _tell_of_earlier(self, known: set[str | None], one: Ended) -> None:
        """Tell of watched runs of which no command has told. A receiver that was not reached is left alone."""
        unknown = set[str]()
        for store in (RunStore(one.settings.state_dir), Store(one.settings.state_dir, ERASURE_HOME)):
            left = {}
            for run_id in store.last_changes().keys() - known:
                if (told := left_to_tell(store.directory(run_id))) is not None:
                    left[run_id] = told
            for run_id in sorted(left.keys() - (at_work(one.settings.state_dir, left) if left else set())):
                told = left[run_id]
                earlier = _watcher(told, one)
                if earlier is None:
                    unknown.add(told.watch.receiver if told.watch is not None else "")
                elif earlier.receiver.name not in self._unreached:
                    self._tell_earlier(store, run_id, told, earlier)
        for name in sorted(unknown):
            why = "is not described here: its notices of earlier runs wait for a command that can reach it"
            self.problems.append(f"the receiver {name} {why}")

    def _tell_earlier(self, store: Store, run_id: str, told: Told, one: Ended) -> None:
        directory = store.directory(run_id)
        if told.is_settled and told.pending is not None:
            self._deliver_noted(told.pending, one.receiver, directory, replace(told, pending=None), is_noted=True)
            return
        document = _document_of(store, run_id, one.settings)
        state = str(document.get("state") or "incomplete")
        command = str(document.get("operation") or ("forget" if store.home is ERASURE_HOME else "run"))
        earlier = replace(one, document=document, command=command, error=None, exit_code=None)
        was_killed = state not in ("complete", "refused") and not document.get("finished_at")
        ending = replace(_ending_of(earlier, state, told, self._now), was_killed=was_killed)
        self._tell_ending(earlier, ending, directory, told)

    def _tell_ending(self, one: Ended, ending: Ending, directory: Path | None, told: Told) -> None:
        """Tell the notices that were not told yet, with those that could not be delivered before."""
        run_id, is_noted = one.run_id, one.exit_code is None and not told.is_settled
        identity = run_id or secrets.token_hex(16)
        pending = [each["rule"] for each in (told.pending or {}).get("notices", ())]
        notices = dict.fromkeys([*pending, *find_notices(ending, one.rules)])
        left = [name for name in notices if notice_id(identity, name) not in told.ids]
        told = replace(told, is_settled=True, was_cut_short=False, pending=None)
        if not left:
            _write(directory, told)
            return
        document = compose(
            ending, left, run_id=run_id, identity=identity, command=one.command, exit_code=one.exit_code,
            error=None if one.error is None else type(one.error).__name__, place=_place_of(one),
        )  # fmt: skip
        self._deliver_noted(document, one.receiver, directory, told, is_noted=is_noted)

    def _deliver_noted(
        self, document: dict[str, Any], receiver: Receiver, directory: Path | None, told: Told, *, is_noted: bool
    ) -> None:
        """Write what is to be told, deliver it, and write that it was.

        Of an earlier run the disk says already that something `is_noted` to be told, and the next command finds the
        same: many runs may wait, and there are seconds for all.
        """
        if not is_noted:
            _write(directory, replace(told, pending=document))
        why = self._deliver(document, receiver)
        if why:
            if is_noted:
                _write(directory, replace(told, pending=document))
            again = "" if directory is None else "; the next command that notifies tries it again"
            self._unreached.add(receiver.name)
            self.problems.append(f"the notification to {receiver.name} was not delivered: {why}{again}")
            return
        _write(directory, replace(told, ids=(*told.ids, *(each["id"] for each in document["notices"]))))

    def _deliver(self, document: Mapping[str, Any], receiver: Receiver) -> str:
        if not self._deadline.left:
            return self._deadline.in_words
        body = body_of(document, receiver.form)
        if receiver.address is None:
            return run_program(receiver.words, body, self._deadline)
        headers = {"Content-Type": "application/json"}
        if receiver.secret is not None:
            headers[SIGNATURE] = sign(body, receiver.secret, self._now)
        return Exchange(
            receiver.address, connections=self._connections, deadline=self._deadline, body=body, headers=headers
        ).wait()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[bool]:
        """Whether no other command notifies meanwhile; it waits for another one until its time is over."""
        path = make_directory(self._settings.state_dir) / LOCK
        with contextlib.ExitStack() as stack:
            while True:
                try:
                    stack.enter_context(locked(path, wait=False))
                    break
                except BlockingIOError:
                    if not self._deadline.left:
                        yield False
                        return
                time.sleep(_LOOK_AGAIN_SECONDS)
            yield True


def _ending_of(one: Ended, state: str, told: Told, now: datetime) -> Ending:
    """Return the end of a run with what its rules look at; what cannot be read is not known."""
    document, settings, run_id = one.document, one.settings, one.run_id
    audience_id = document.get("audience_id")
    has_failed = told.was_cut_short or any(notice_id(run_id or "", name) in told.ids for name in BAD)
    before, rates, expiring = None, None, None
    if state == "complete" and run_id is not None and document.get("target"):  # no rule for others looks back
        with contextlib.suppress(AudiencekitError, OSError):
            before = find_earlier_report(settings.state_dir, document)
        with contextlib.suppress(AudiencekitError, OSError):
            has_failed = has_failed or _has_failed_before(run_id, document["target"], settings)
    with contextlib.suppress(AudiencekitError, OSError):
        if audience_id and MATCH_RATE in one.rules.bounds:
            from audiencekit.audiences.match_rate import size_history  # loads all of a sync, as the next one does

            known = [each["match_rate"] for each in size_history(str(audience_id), settings)]
            found = [rate for rate in known if rate is not None][-2:]
            rates = (found[0], found[1]) if len(found) > 1 else None
    with contextlib.suppress(AudiencekitError, OSError):
        span = one.rules.bounds.get(EXPIRY)
        if audience_id and isinstance(span, timedelta):
            from audiencekit.audiences.sync.sync import expiry, is_under_sync

            if is_under_sync(str(audience_id), settings):
                days = expiry(audience=str(audience_id), settings=settings, now=now).days
                expiring = sum(count for day, count in days.items() if day <= (now + span).date())
    return Ending(
        state=state, report=document, before=before, has_failed_before=has_failed, match_rates=rates,
        expiring=expiring, now=now,
    )  # fmt: skip


def _watcher(told: Told, one: Ended) -> Ended | None:
    """Return `one` with the receiver and the rules of an earlier run; None if the receiver is not known any more."""
    watched = told.watch
    if watched is None:
        return one
    try:
        named = watched.receiver == one.receiver.name
        receiver = one.receiver if named else find_receiver(one.settings, watched.receiver)
        return None if receiver is None else replace(one, receiver=receiver, rules=Rules.read(watched.rules))
    except AudiencekitError:
        return None


def _has_failed_before(run_id: str, target: Mapping[str, Any], settings: Settings) -> bool:
    """Whether the run before, of the same target, is not complete."""
    ids = RunStore(settings.state_dir).ids()
    for earlier in ids[ids.index(run_id) + 1 :] if run_id in ids else ():
        summary = summary_of(settings.state_dir, earlier)
        if summary.get("target") == target and not summary["running"]:
            return bool(summary["state"] != "complete")
    return False


def _document_of(store: Store, run_id: str, settings: Settings) -> Mapping[str, Any]:
    """Return the report or receipt of an earlier run, or what is known of it."""
    try:
        if store.home is RUN_HOME:
            return read_report(settings.state_dir, run_id, known_state_key(settings.state_dir, settings.key))
        return store.read(run_id)
    except InputOutputFailed as error:
        return {"run_id": run_id, **(error.document or {})}
    except AudiencekitError:  # it was purged meanwhile, or the key is missing
        return {"run_id": run_id}


def _place_of(one: Ended) -> dict[str, Any]:
    if target := one.document.get("target"):
        return {**target, "name": one.document.get("audience_name")}
    if one.run_id is None and one.audience:
        return {"id" if is_service_id(one.audience) else "name": one.audience}
    return {}


def _directory(state_dir: Path, run_id: str | None) -> Path | None:
    """Return the directory of a run or erasure that is there; None for any other."""
    for home in (RUN_HOME, ERASURE_HOME):
        if run_id is not None and home.ids.fullmatch(run_id):
            directory = state_dir / home.name / run_id
            if directory.is_dir():
                return directory
    return None


def _write(directory: Path | None, told: Told) -> None:
    if directory is not None:
        write_told(directory, told)
