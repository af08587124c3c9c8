"""`sync`: make an audience equal to a source by sending what has changed since the last time, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any, Final, TypedDict, Unpack

from audiencekit.api.opening import open_client
from audiencekit.api.paths import check_identifier
from audiencekit.audiences.synchronisation.plannedsync import SyncPlanner
from audiencekit.audiences.synchronisation.session import Opened, Session, open_snapshot
from audiencekit.delivery.clock import SystemClock
from audiencekit.delivery.journal.facts import SYNC
from audiencekit.delivery.limiter import RateLimiter, open_limiter
from audiencekit.delivery.locks import TargetLock
from audiencekit.delivery.runs import new_run_id
from audiencekit.errors import UsageError
from audiencekit.limits import DEFAULT_ALLOWED_SHRINK
from audiencekit.planning.options import Keywords, Options, plain_keywords, read_keywords
from audiencekit.preparation.target import Target
from audiencekit.reporting.plan import Plan
from audiencekit.reporting.progress import NoProgress, Progress
from audiencekit.reporting.report import Report
from audiencekit.runs.run import Run
from audiencekit.settings import Settings, load_settings
from audiencekit.sources.files import FilePath
