"""The dry run of an upload: pass one, and no pass two."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Unpack

from audiencekit.api.calls import check_identifier
from audiencekit.audiences.dryruns.plansteps import look_and_plan
from audiencekit.destinations.target import Target
from audiencekit.planning.options import Keywords, plain_keywords, read_keywords
from audiencekit.planning.plan import known_members
from audiencekit.planning.plan_inputs import Terms
from audiencekit.planning.planner import preview
from audiencekit.reporting.progress import Progress, heard_by
from audiencekit.reporting.report import Plan
from audiencekit.settings import Settings, load_settings
from audiencekit.sources.files import AnySource, FilePath, items_of


async def plan_upload_async(
    target: Target,
    source: AnySource,
    *,
    settings: Settings | None = None,
    rejections: FilePath | None = None,
    progress: Progress | None = None,
    **keywords: Unpack[Keywords],
) -> Plan:
    """The plan of the run that `upload_to` would make. The target is looked at as for a run; nothing is sent or kept.

    Raises what `upload_to` raises before its first request, but for what is in the plan as `refusals`.
    """
    source, settings, progress = items_of(source), settings or load_settings(), heard_by(progress)
    read_keywords(plain_keywords(keywords, few_people=settings.few_people), settings.profile)
    session = target.connect(settings)
    check_identifier(target.destination.words.noun, target.id)

    def plan_source(progress: Progress) -> Plan:
        terms = Terms.of(keywords, settings, now=datetime.now(UTC), destination=target.destination)
        terms = replace(terms, members=known_members(target, settings))
        return preview(source, terms, rejections=rejections, progress=progress)

    return await look_and_plan(session, progress, plan_source)
