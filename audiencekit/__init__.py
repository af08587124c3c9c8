"""Puts customers into ads audiences: normalised, hashed, counted, nothing lost and nothing leaked.

The names in `__all__` are promised; everything else may change. They load what they need when they are first used, so
that `import audiencekit` is quick and loads no optional package.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

TYPE_CHECKING = False  # that of `typing` would take two thirds of the time of this file
if TYPE_CHECKING:
    from typing import Any

    from audiencekit.api.client import AdsClient
    from audiencekit.audiences.do_not_reach import do_not_reach_upload, do_not_reach_upload_async
    from audiencekit.audiences.erasure.forgetting import forget, forget_async, resume_erasure, resume_erasure_async
    from audiencekit.audiences.erasure.receipt import Receipt
    from audiencekit.audiences.resumption import resume, resume_async
    from audiencekit.audiences.synchronisation.expiry import Expiry, expiry
    from audiencekit.audiences.synchronisation.renewal import renew, renew_async
    from audiencekit.audiences.synchronisation.sync import plan_sync, sync, sync_async
    from audiencekit.errors import AudiencekitError, IdentifierRejected, NotFinished, Refused
    from audiencekit.machine.dumps import prevent_dumps
    from audiencekit.pipeline import check, prepare, upload, upload_async
    from audiencekit.reporting.plan import Plan
    from audiencekit.reporting.report import Report
    from audiencekit.settings import Settings, load_settings
    from audiencekit.values import hash_identifier, normalize

__all__ = [
    "AdsClient",
    "AudiencekitError",
    "Expiry",
    "IdentifierRejected",
    "NotFinished",
    "Plan",
    "Receipt",
    "Refused",
    "Report",
    "Settings",
    "check",
    "do_not_reach_upload",
    "do_not_reach_upload_async",
    "expiry",
    "forget",
    "forget_async",
    "hash_identifier",
    "load_settings",
    "normalize",
    "plan_sync",
    "prepare",
    "prevent_dumps",
    "renew",
    "renew_async",
    "resume",
    "resume_async",
    "resume_erasure",
    "resume_erasure_async",
    "sync",
    "sync_async",
    "upload",
    "upload_async",
]

_HOMES = {
    "AdsClient": "audiencekit.api.client",
    "AudiencekitError": "audiencekit.errors",
    "Expiry": "audiencekit.audiences.synchronisation.expiry",
    "IdentifierRejected": "audiencekit.errors",
    "NotFinished": "audiencekit.errors",
    "Plan": "audiencekit.reporting.plan",
    "Receipt": "audiencekit.audiences.erasure.receipt",
    "Refused": "audiencekit.errors",
    "Report": "audiencekit.reporting.report",
    "Settings": "audiencekit.settings",
    "check": "audiencekit.pipeline",
    "do_not_reach_upload": "audiencekit.audiences.do_not_reach",
    "do_not_reach_upload_async": "audiencekit.audiences.do_not_reach",
    "expiry": "audiencekit.audiences.synchronisation.expiry",
    "forget": "audiencekit.audiences.erasure.forgetting",
    "forget_async": "audiencekit.audiences.erasure.forgetting",
    "hash_identifier": "audiencekit.values",
    "load_settings": "audiencekit.settings",
    "normalize": "audiencekit.values",
    "plan_sync": "audiencekit.audiences.synchronisation.sync",
    "prepare": "audiencekit.pipeline",
    "prevent_dumps": "audiencekit.machine.dumps",
    "renew": "audiencekit.audiences.synchronisation.renewal",
    "renew_async": "audiencekit.audiences.synchronisation.renewal",
    "resume": "audiencekit.audiences.resumption",
    "resume_async": "audiencekit.audiences.resumption",
    "resume_erasure": "audiencekit.audiences.erasure.forgetting",
    "resume_erasure_async": "audiencekit.audiences.erasure.forgetting",
    "sync": "audiencekit.audiences.synchronisation.sync",
    "sync_async": "audiencekit.audiences.synchronisation.sync",
    "upload": "audiencekit.pipeline",
    "upload_async": "audiencekit.pipeline",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
