"""The error of a run that ended early, with the exit code that fits the known facts."""

from __future__ import annotations

from datetime import datetime

from audiencekit.delivery.results import Delivered
from audiencekit.destinations.target import Target
from audiencekit.errors import (
    AudiencekitError,
    Bug,
    CertificateRefused,
    CredentialsRefused,
    InputOutputFailed,
    LongWait,
    NotFinished,
    Refused,
    ResumeRefused,
    ServiceUnavailable,
    Unauthorized,
)
from audiencekit.planning.plan import PlannedRun
from audiencekit.records.plan_times import format_time
from audiencekit.runs.journal.facts import RunFacts, Sums


def failure_of(delivered: Delivered, sums: Sums) -> AudiencekitError:
    """Return the error of a delivery that ended early, with the exit code that fits the known facts."""
    error = delivered.error or NotFinished("the upload was stopped before everything was sent")
    confirmed = "1 request is" if sums.confirmed == 1 else f"{sums.confirmed:,} requests are"
    facts = f"{confirmed} confirmed, {sums.unknown:,} unknown: {error}"
    if isinstance(error, Unauthorized | CredentialsRefused):
        return CredentialsRefused(facts, hint=error.hint or "check the credentials and their permissions")
    if isinstance(error, InputOutputFailed | Bug | ResumeRefused):
        return error
    if isinstance(error, LongWait):
        return LongWait(facts, seconds=error.seconds, has_progress=delivered.confirmed > 0)
    if sums.is_touched or isinstance(error, NotFinished):
        return NotFinished(facts, hint=error.hint)
    if delivered.pending_refused or isinstance(error, CertificateRefused):
        return Refused(f"nothing was accepted: {error}", hint=error.hint)
    return ServiceUnavailable(f"nothing was confirmed: {error}", hint=error.hint or "try again later")


def unreconciled(sums: Sums, target: Target) -> Bug | None:
    """Return the error of a delivery that ended well, but whose three sums differ; None when they are equal."""
    if sums.is_reconciled:
        return None
    words = target.destination.words
    return Bug(
        f"the counts do not agree: {sums.records_confirmed:,} records were sent, {words.accepted} is "
        f"{sums.success_count:,}, {words.received} is {sums.total_count:,}"
    )


def refuse_expired(planned: PlannedRun, confirmed: frozenset[int], now: datetime) -> None:
    """Raise ResumeRefused when the rest would put people in until a time that is over by now."""
    left = any(request.updates for request in planned.requests if request.number not in confirmed)
    if left and planned.times.is_over(now):
        raise ResumeRefused(
            f"the entries of the run expired on {format_time(planned.times.end)}: they would add no one",
            reason="expired",
            hint="upload the source as a new run; it sends what the run had to take out, too. If that time is not over,"
            " set the clock of this machine",
        )


def not_found_hint(facts: RunFacts) -> str:
    """Return the hint for a run whose target the service does not find."""
    return facts.target.destination.words.not_found.format(account=facts.account_id, place=facts.target)


def cannot_resume(reason: str, message: str) -> ResumeRefused:
    """Return the refusal of a run that was changed; `reason` is one word."""
    hint = "restore what was there and resume; or upload what is there now as a new run"
    return ResumeRefused(f"{message}: nothing more was sent", reason=reason, hint=hint)
