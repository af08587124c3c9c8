"""Requests of earlier runs that may still be applied to a target, because their answers were lost."""

from __future__ import annotations

import math
import os
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Final

from audiencekit.destinations.target import Target
from audiencekit.errors import InputOutputFailed, ResumeRefused
from audiencekit.limits import EXCHANGE_TIMEOUT_SECONDS, SETTLE_SECONDS
from audiencekit.preparation.plantimes import parse_time
from audiencekit.runs.journal.facts import DELETES, UPDATES, PlanFacts
from audiencekit.runs.journal.refusals import NOTHING_SENT
from audiencekit.runs.journal.schema import JOURNAL
from audiencekit.runs.journal.senttimes import Moment, seconds_in_the_past
from audiencekit.runs.store import RUN_ID, RUNS
from audiencekit.runs.storedreports import opened_journal

_WHY_WAIT: Final = "a request of an earlier run may still be applied, and would undo what is sent now"
# A journal that was not written for so long is not opened. Steps of the wall clock are far smaller.
_LONG_AGO: Final = timedelta(days=7).total_seconds()
# An entry that expires this much earlier than it should makes no difference.
_SAME_END: Final = timedelta(days=1)

# Seconds until nothing that was sent to a target before can be applied any more.
Doubts = Callable[[Target], float]


class EarlierRuns:
    """The journals under a state directory, of the runs of one account; `except_run` is the run that asks.

    To be asked under the lock of the target, when no other run can be at work on it. `now` is in epoch seconds.
    """

    def __init__(
        self,
        state_dir: Path,
        account_id: str,
        *,
        now: Callable[[], float],
        moment: Callable[[], Moment],
        except_run: str | None = None,
    ) -> None:
        self._runs, self._account_id, self._except = state_dir / RUNS, account_id, except_run
        self._now, self._moment = now, moment

    def seconds_left(self, target: Target, plan: PlanFacts | None = None) -> float:
        """Seconds until no request of another run can be applied to `target` any more and undo what `plan` sends.

        Without a `plan`, until none can be applied at all. A journal that cannot be read may hide any request.
        """
        return max((self._left(path, target, plan) for path in self._journals()), default=0.0)

    async def wait(
        self,
        target: Target,
        plan: PlanFacts | None,
        sleep: Callable[[float], Awaitable[None]],
        tell: Callable[[str], None],
    ) -> None:
        """Returns when no request of another run can undo what `plan` sends to `target`; says how long it takes."""
        if plan is not None and plan.requests and (seconds := self.seconds_left(target, plan)) > 0:
            tell(f"waiting {math.ceil(seconds)} s: {_WHY_WAIT}")
            await sleep(seconds)

    def _journals(self) -> list[Path]:
        try:
            entries = list(os.scandir(self._runs))
        except FileNotFoundError:
            return []
        runs = (entry for entry in entries if entry.name != self._except and RUN_ID.fullmatch(entry.name))
        return [Path(entry.path) / JOURNAL for entry in runs]

    def _left(self, path: Path, target: Target, plan: PlanFacts | None) -> float:
        try:
            # Of a clock that was ahead then, or is behind now, nothing is heard: it was just now.
            age = max(0.0, self._now() - (path if path.exists() else path.parent).stat().st_mtime)
        except OSError:
            return 0.0
        if age > _LONG_AGO:
            return 0.0
        try:
            with opened_journal(path.parent) as journal:
                facts, earlier, departures = journal.facts(), journal.plan(), journal.departures()
        except ResumeRefused as refusal:
            return 0.0 if refusal.reason in NOTHING_SENT else max(0.0, SETTLE_SECONDS - age)
        except InputOutputFailed:
            return max(0.0, SETTLE_SECONDS - age)
        # A destination that is not known here may be another name of the same place.
        is_known = facts.target.is_known
        if facts.account_id != self._account_id or earlier is None or (is_known and facts.target != target):
            return 0.0
        plan = plan if is_known else None
        left = [moment for number, moment in departures.items() if plan is None or _undoes(earlier, number, plan)]
        if not left:
            return 0.0
        # Of another start of the machine a departure tells nothing; but it stands in the journal before bytes leave,
        # so that none left later than the file was written.
        elapsed = seconds_in_the_past(left, self._moment()) or age - EXCHANGE_TIMEOUT_SECONDS
        return max(0.0, SETTLE_SECONDS - max(0.0, elapsed))


def _undoes(earlier: PlanFacts, number: int, plan: PlanFacts) -> bool:
    """Whether request `number` of `earlier` would undo something of `plan`, were it applied after it.

    A repeated Update or Delete changes nothing; but an Update with an earlier end makes people expire too soon.
    """
    verbs = earlier.verbs_of(number)
    if (UPDATES in verbs and plan.sends(DELETES)) or (DELETES in verbs and plan.sends(UPDATES)):
        return True
    return UPDATES in verbs and plan.sends(UPDATES) and _lapses_sooner(earlier, plan)


def _lapses_sooner(earlier: PlanFacts, plan: PlanFacts) -> bool:
    ends = [each.rules["expires_at"] for each in (earlier, plan)]
    if None in ends:
        return ends[0] is not None
    until, until_now = (parse_time(end, "the end of an entry") for end in ends)
    return until < until_now - _SAME_END
