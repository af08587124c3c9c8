"""One audience of a setup: its run, the pace that it shares with others, and its result."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from audiencekit.audiences.do_not_reach import do_not_reach_upload_async
from audiencekit.audiences.dry_runs import dry_sync_async, dry_upload_async, plan_upload_async
from audiencekit.audiences.setups.setup import AudienceSetup, Setup
from audiencekit.audiences.sync.sync import plan_sync, sync_async
from audiencekit.delivery.limiter import RateLimiter, open_limiter
from audiencekit.delivery.limiter.pacing import JointLimiter
from audiencekit.delivery.retry import SystemClock
from audiencekit.destinations.ads import AUDIENCE, DO_NOT_REACH_LIST
from audiencekit.destinations.known_audiences import KnownAudiences
from audiencekit.destinations.target import Target
from audiencekit.errors import AudiencekitError, DefinitionRefused, NotFinished
from audiencekit.pipeline import check, upload_async
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Plan, Report
from audiencekit.reporting.text import warning_line
from audiencekit.runs.reports import find_unfinished_run
from audiencekit.runs.start import audience_id_of, check_settings
from audiencekit.settings import Settings
from audiencekit.state.keys import known_state_key
from audiencekit.text import shown

# --- The result of a setup: the counts of each of its audiences ---

SetupState: TypeAlias = Literal["complete", "incomplete", "refused", "planned", "not begun"]

# From the worst to the best: first what no second try cures.
EXIT_CODES: Final = (1, 2, 3, 74, 77, 69, 75, 0)
_CHANGES: Final = {"additions": "put in", "renewals": "renewed", "removals": "taken out", "unchanged": "unchanged"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceResult:
    """The result of one audience: `report`, `plan` or `error`; none of them if it was not begun."""

    setup: AudienceSetup
    account_id: str
    audience_id: str = ""
    report: Report | None = None
    plan: Plan | None = None
    error: AudiencekitError | None = None

    @property
    def state(self) -> SetupState:
        """The state of its run. A plan with refusals is refused."""
        if self.report is not None:
            return self.report.state
        if self.plan is not None:
            return "refused" if self.plan.refusals else "planned"
        if self.error is None:
            return "not begun"
        return "refused" if self.error.state == "refused" else "incomplete"

    @property
    def exit_code(self) -> int:
        """The exit code of a command for this audience alone; 75 for one that was not begun."""
        if self.report is not None:
            return 0
        if self.plan is not None:
            return self.plan.exit_code
        return NotFinished.exit_code if self.error is None else self.error.exit_code

    @property
    def problem(self) -> str:
        """Why it is not complete; empty when it is."""
        if self.plan is not None and self.plan.refusals:
            return str(self.plan.refusals[0])
        return "" if self.error is None else str(self.error)

    @property
    def document(self) -> Mapping[str, Any]:
        """The report or the plan as JSON, if there is one."""
        whole = self.report or self.plan
        return whole.to_json() if whole is not None else (self.error and self.error.document) or {}

    def to_json(self) -> dict[str, Any]:
        """The facts, and the whole report or plan."""
        setup = self.setup
        return {
            "name": setup.name,
            "command": setup.command,
            "operation": setup.operation,
            "account": setup.account,
            "account_id": self.account_id,
            "audience_id": self.audience_id or None,
            "state": self.state,
            "exit_code": self.exit_code,
            "problem": self.problem or None,
            "hint": (self.error.hint or None) if self.error is not None else None,
            "plan" if self.plan is not None else "report": dict(self.document) or None,
        }


@dataclass(frozen=True, slots=True)
class SetupReport:
    """The results of all audiences, in the order of the file."""

    results: tuple[AudienceResult, ...]

    @property
    def exit_code(self) -> int:
        """The worst exit code of the results: 0 when all are complete, or would be."""
        return min((result.exit_code for result in self.results), key=EXIT_CODES.index, default=0)

    @property
    def worst(self) -> AudienceResult | None:
        """The first result with the worst exit code; None when all are good."""
        if not self.exit_code:
            return None
        return next(result for result in self.results if result.exit_code == self.exit_code)

    @property
    def state(self) -> SetupState:
        """The state of all: complete, refused when nothing was sent, or incomplete when something is left to do."""
        states = {result.state for result in self.results}
        if states <= {"complete"} or states <= {"planned"}:
            return "planned" if "planned" in states else "complete"
        return "refused" if states <= {"refused", "planned"} else "incomplete"

    def to_json(self) -> dict[str, Any]:
        """Return the document that `run --json` prints."""
        audiences = [result.to_json() for result in self.results]
        return {"state": self.state, "exit_code": self.exit_code, "audiences": audiences}

    def __str__(self) -> str:
        return "\n".join([*self._lines(), "", f"state: {self.state}"])

    def _lines(self) -> Iterator[str]:
        width = max((len(result.setup.name) for result in self.results), default=0)
        for result in self.results:
            cells = [result.state, *_counts(result.document)]
            yield f"{result.setup.name:<{width}}  {', '.join(cells)}"
            if result.problem:
                yield f"{'':<{width}}  problem: {shown(result.problem)}"
            for warning in result.document.get("warnings") or ():
                yield f"{'':<{width}}  {warning_line(warning)}"


def _counts(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the changes in the audience, made or planned; for an upload the rows."""
    if (changes := document.get("changes")) and document.get("state", "complete") == "complete":
        yield from (f"{changes[name]:,} {words}" for name, words in _CHANGES.items() if changes.get(name))
        yield f"{changes['members_after']:,} members"
    elif rows := document.get("rows"):
        words = {"pending": "to send"} if "verdict" in document else {}
        yield from (f"{count:,} {words.get(name, name)}" for name, count in rows.items() if count and name != "read")


# --- The command of one audience of a setup: carried out, tried in a dry run, or planned ---
#
# The id of the audience is empty for the do-not-reach list, which each account has one of.

Made: TypeAlias = dict[str, Any]  # a report or a plan, by its name in a result


async def send_audience(one: AudienceSetup, audience_id: str, progress: Progress, own: Settings) -> Made:
    """Return the report of the command, at the pace of all accounts. Raises the errors of the command's function.

    An upload that was cut short goes on, if its list and keywords are the same.
    """
    async with shared_limiter(own) as pace:
        given: dict[str, Any] = {"settings": own, "progress": progress, "limiter": pace, **one.keywords}
        if one.command == "sync":
            return {"report": await sync_async(one.sources, audience=audience_id, **given)}
        destination = AUDIENCE if one.command == "upload" else DO_NOT_REACH_LIST
        key = known_state_key(own.state_dir, own.key)
        given["run_id"] = find_unfinished_run(own.state_dir, destination.name, audience_id or None, key)
        if one.command == "do-not-reach":
            return {"report": await do_not_reach_upload_async(one.sources, **given)}
        return {"report": await upload_async(one.sources, audience=audience_id, **given)}


async def preview_audience(one: AudienceSetup, audience_id: str, progress: Progress, own: Settings) -> Made:
    """Return the plan, after a check of the audience at the service.

    Nothing is sent. Raises what refuses the command.
    """
    given: dict[str, Any] = {"settings": own, "progress": progress, **one.keywords}
    if one.command == "do-not-reach":
        return {"plan": await dry_upload_async(one.sources, **given)}
    if one.command == "sync":
        return {"plan": await dry_sync_async(one.sources, audience=audience_id, **given)}
    return {"plan": await plan_upload_async(Target.audience(audience_id), one.sources, **given)}


def plan_audience(one: AudienceSetup, audience_id: str, progress: Progress, own: Settings) -> Made:
    """Return the plan by the facts on this machine, without the service. Raises what refuses the command."""
    check_settings(own)
    given: dict[str, Any] = {"settings": own, "progress": progress, **one.keywords}
    if one.command == "do-not-reach":
        return {"plan": check(one.sources, destination=DO_NOT_REACH_LIST, **given)}
    if one.command == "sync":
        return {"plan": plan_sync(one.sources, audience=audience_id, **given)}
    return {"plan": check(one.sources, **given)}


# --- The pace of a setup: each account has its quota, and all accounts share one pace ---

_ALL_ACCOUNTS: Final = "all accounts"  # no account is called so


@asynccontextmanager
async def shared_limiter(own: Settings) -> AsyncIterator[RateLimiter]:
    """Return the limiter for the account of `own`. Other processes share it, and all accounts share one pace."""
    clock, everywhere = SystemClock(), replace(own, account_id=_ALL_ACCOUNTS)
    async with (
        open_limiter(everywhere, AUDIENCE.quota, clock=clock) as common,
        open_limiter(own, AUDIENCE.quota, clock=clock) as alone,
    ):
        yield JointLimiter(alone, common)


# --- Conflicts: two syncs of one audience with two lists, which would each remove the people of the other ---

Answers: TypeAlias = dict[str, str | AudiencekitError]  # the id of an audience, or why it has none, by its name here

_CHOOSE_PEOPLE: Final = ("sheet", "columns", "consent_column", "suppress")


def find_conflicts(
    audiences: Iterable[AudienceSetup], target: Callable[[AudienceSetup], Hashable]
) -> Iterator[tuple[str, str]]:
    """Yield the place of each sync whose `target` another sync makes equal to another list, and the problem."""
    known: dict[Hashable, AudienceSetup] = {}
    for one in audiences:
        other = known.setdefault(target(one), one) if one.command == "sync" else one
        if _people(other) != _people(one):
            why = f"audiences.{other.name} makes it equal to another list: put the people of both into one list"
            yield f"audiences.{one.name}.audience", why


def refuse_conflicts(setup: Setup, settings: Settings, answers: Mapping[str, str | AudiencekitError]) -> None:
    """Raise DefinitionRefused when an id and a name, or two spellings of the account, are one audience.

    `answers` are those of the service; other names are looked up on this machine.
    """

    def target(one: AudienceSetup) -> Hashable:
        own = one.settings(settings)
        answer = answers.get(one.name)
        if isinstance(answer, str):
            return own.account_id, answer
        try:
            return own.account_id, KnownAudiences(own.state_dir, own.account_id).find(one.audience)
        except AudiencekitError:  # its own turn says so
            return own.account_id, one.audience

    if problems := list(find_conflicts(setup.audiences, target)):
        raise DefinitionRefused(str(setup.path), problems)


async def look_up_conflicts(setup: Setup, chosen: Iterable[AudienceSetup], settings: Settings) -> Answers:
    """Return the service's ids for the names of `chosen` syncs whose account has another sync in the setup."""
    accounts = [one.settings(settings).account_id for one in setup.audiences if one.command == "sync"]
    answers: Answers = {}
    for one in chosen:
        own = one.settings(settings)
        if one.command == "sync" and accounts.count(own.account_id) > 1:
            try:
                answers[one.name] = await audience_id_of(one.audience, own)
            except AudiencekitError as error:
                answers[one.name] = error.bare()
    return answers


def _people(one: AudienceSetup) -> tuple[object, ...]:
    """Return all keywords that decide who is in its list."""
    return (one.sources, *map(one.keywords.get, _CHOOSE_PEOPLE))
