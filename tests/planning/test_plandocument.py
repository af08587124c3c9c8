"""`audiencekit.planning.plandocument`."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from audiencekit.planning.options import read_keywords
from audiencekit.planning.plandocument import to_manifest, to_plan
from audiencekit.planning.planinputs import Means, Terms
from audiencekit.planning.planner import plan_run
from audiencekit.profile import find_profile
from audiencekit.reporting.plan import Plan
from tests.planning.withheld import write

WITHOUT_COUNTRY = [f"p{number}@example.com,0301234{number:04}" for number in range(200)]


def _planned(tmp_path: Path, rows: list[str], **keywords: Any) -> tuple[Plan, dict[str, Any]]:
    source, profile = write(tmp_path / "list.csv", "email,phone", *rows), find_profile("spec")
    with ExitStack() as stack:
        terms = Terms.pinned(read_keywords(keywords, profile), profile, now=datetime.now(UTC))  # type: ignore[arg-type]
        planned = plan_run(source, terms, Means(stack=stack))
        plan = to_plan(planned)
        return plan, to_manifest(planned, plan)


@pytest.mark.parametrize(
    ("rows", "keywords", "verdict"),
    [
        (["ada@example.com,", "bob@example.com,"], {}, "ready"),
        (WITHOUT_COUNTRY, {}, "ready_with_warnings"),
        (WITHOUT_COUNTRY, {"fail_on_warnings": True}, "refused"),
        (["ada@example.com,no"], {"consent_column": "phone=yes", "allow_empty": True}, "empty"),
    ],
)
def test_the_verdict_follows_from_refusals_requests_and_warnings(
    tmp_path: Path, rows: list[str], keywords: dict[str, Any], verdict: str
) -> None:
    """In this order."""
    plan, _ = _planned(tmp_path, rows, **keywords)
    assert plan.verdict == verdict


def test_the_manifest_lists_the_sizes_of_each_request(tmp_path: Path) -> None:
    """Their sums are those of the plan, and no value is in it."""
    plan, manifest = _planned(tmp_path, [f"p{number}@example.com," for number in range(50)], max_body_bytes=2_000)
    listed = manifest["requests"]
    assert [each["number"] for each in listed] == list(range(1, plan.requests + 1))
    assert plan.requests > 1
    sums = [sum(each[name] for each in listed) for name in ("records", "operations", "bytes")]
    assert sums == [plan.records, plan.operations, plan.bytes]
    assert (plan.records, plan.rows.pending, plan.rows.read) == (50, 50, 50)
    assert manifest["format"] == "audiencekit-prepared/1"
    assert "@example.com" not in str(manifest)
