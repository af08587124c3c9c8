"""Puts customers into ads audiences: normalised, hashed, counted, nothing lost and nothing leaked.

The names in `__all__` are promised; everything else may change. They load what they need when they are first used, so
that `import audiencekit` is quick and loads no optional package.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

TYPE_CHECKING = False  # that of `typing` would take two thirds of the time of this file
if TYPE_CHECKING:
    from audiencekit.api.client import AdsClient as AdsClient
    from audiencekit.audiences.do_not_reach import (
        do_not_reach_upload as do_not_reach_upload,
        do_not_reach_upload_async as do_not_reach_upload_async,
    )
    from audiencekit.audiences.erasure.forgetting import (
        forget as forget,
        forget_async as forget_async,
        resume_erasure as resume_erasure,
        resume_erasure_async as resume_erasure_async,
    )
    from audiencekit.audiences.erasure.receipt import Receipt as Receipt
    from audiencekit.audiences.overlap import overlap as overlap
    from audiencekit.audiences.runs import resume as resume, resume_async as resume_async
    from audiencekit.audiences.setups.one_audience import SetupReport as SetupReport
    from audiencekit.audiences.setups.running import (
        plan_setup as plan_setup,
        run_setup as run_setup,
        run_setup_async as run_setup_async,
    )
    from audiencekit.audiences.sync.sync import (
        Expiry as Expiry,
        expiry as expiry,
        plan_sync as plan_sync,
        renew as renew,
        renew_async as renew_async,
        sync as sync,
        sync_async as sync_async,
    )
    from audiencekit.conformance.verifying import verify as verify, verify_function as verify_function
    from audiencekit.delivery.rate_limiter import RateLimiter as RateLimiter
    from audiencekit.destinations.ads import AUDIENCE as AUDIENCE, DO_NOT_REACH_LIST as DO_NOT_REACH_LIST
    from audiencekit.destinations.destination import Destination as Destination
    from audiencekit.errors import *  # noqa: F403
    from audiencekit.mirror.opening import open_state as open_state
    from audiencekit.pipeline import check as check, prepare as prepare, upload as upload, upload_async as upload_async
    from audiencekit.planning.options import Keywords as Keywords
    from audiencekit.process.startup import prevent_dumps as prevent_dumps
    from audiencekit.reporting.overlap import Overlap as Overlap
    from audiencekit.reporting.progress import NoProgress as NoProgress, Progress as Progress
    from audiencekit.reporting.report import Plan as Plan, Report as Report
    from audiencekit.reporting.verification import Verification as Verification
    from audiencekit.runs.reports import report_from_events as report_from_events
    from audiencekit.settings import Settings as Settings, load_settings as load_settings
    from audiencekit.sources.databases.databases import DatabaseQuery as DatabaseQuery, from_sql as from_sql
    from audiencekit.sources.files import AnySource as AnySource, FilePath as FilePath
    from audiencekit.values import hash_identifier as hash_identifier, normalize as normalize

_NAMES = {
    "audiencekit.api.client": "AdsClient",
    "audiencekit.audiences.do_not_reach": "do_not_reach_upload do_not_reach_upload_async",
    "audiencekit.audiences.erasure.forgetting": "forget forget_async resume_erasure resume_erasure_async",
    "audiencekit.audiences.erasure.receipt": "Receipt",
    "audiencekit.audiences.overlap": "overlap",
    "audiencekit.audiences.runs": "resume resume_async",
    "audiencekit.audiences.setups.one_audience": "SetupReport",
    "audiencekit.audiences.setups.running": "plan_setup run_setup run_setup_async",
    "audiencekit.audiences.sync.sync": "expiry plan_sync renew renew_async sync sync_async Expiry",
    "audiencekit.conformance.verifying": "verify verify_function",
    "audiencekit.delivery.rate_limiter": "RateLimiter",
    "audiencekit.errors": (
        "AudienceBusy AudiencekitError Bug CertificateRefused CountMismatch CredentialsRefused "
        "DefinitionRefused EndlessList ExchangeError FileHeld HostRefused IdentifierRejected InputOutputFailed "
        "LongWait MalformedAnswer MappingRefused MemoryRefused NotFinished NotFound Outcome PlanRefused "
        "RateLimited Redirected Refused RequestRefused ResumeRefused ServiceError ServiceUnavailable "
        "SnapshotRefused SourceRefused StateRefused TemporarilyUnavailable TransportFailed "
        "Unauthorized UsageError"
    ),
    "audiencekit.process.startup": "prevent_dumps",
    "audiencekit.mirror.opening": "open_state",
    "audiencekit.pipeline": "check prepare upload upload_async",
    "audiencekit.planning.options": "Keywords",
    "audiencekit.reporting.overlap": "Overlap",
    "audiencekit.reporting.progress": "NoProgress Progress",
    "audiencekit.reporting.report": "Plan Report",
    "audiencekit.reporting.verification": "Verification",
    "audiencekit.runs.reports": "report_from_events",
    "audiencekit.settings": "Settings load_settings",
    "audiencekit.sources.databases.databases": "DatabaseQuery from_sql",
    "audiencekit.sources.files": "AnySource FilePath",
    "audiencekit.destinations.destination": "Destination",
    "audiencekit.destinations.ads": "AUDIENCE DO_NOT_REACH_LIST",
    "audiencekit.values": "hash_identifier normalize",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOMES)


if not TYPE_CHECKING:  # to a checker of types it would stand for every name

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(_HOMES[name]), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
