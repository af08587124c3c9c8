"""Which notices follow from the end of a run."""

from __future__ import annotations

from typing import Any

import pytest

from audiencekit.errors import UsageError
from audiencekit.notifications.notices import Rules, find_notices, notice_id
from audiencekit.reporting.report import RowCounts
from tests.cases import each_case
from tests.notifications.endings import ending, report

EMPTY = RowCounts(read=0)
SYNCED = {"members_after": 800}
LOST = {"code": "no_country", "column": "phone", "share": 0.1, "message": "many"}


@each_case("rules, end, expected", [
        ([], ending(), []),
        ([], ending("incomplete"), ["failed"]),
        ([], ending("incomplete", was_killed=True), ["killed"]),
        ([], ending("refused"), ["refused"]),
        ([], ending("refused", {}), ["refused"]),
        ([], ending(document=report(warnings=({"message": "many"},))), ["warnings"]),
        ([], ending("refused", report(warnings=({"message": "many"},))), ["refused"]),
        ([], ending(document=report(warnings=(LOST,)), before=report()), ["warnings"]),
        ([], ending(document=report(warnings=(LOST,)), before=report(warnings=(LOST,))), []),
        ([], ending(document=report(warnings=({**LOST, "share": 0.2},)), before=report(warnings=(LOST,))),
         ["warnings"]),
        ([], ending(document=report(warnings=({**LOST, "share": 0.19},)), before=report(warnings=(LOST,))), []),
        ([], ending(document=report(warnings=({**LOST, "column": "fax"},)), before=report(warnings=(LOST,))),
         ["warnings"]),
        ([], ending(document=report(warnings=(LOST,)), before=report(warnings=(LOST, {**LOST, "code": "shared"}))),
         ["warnings"]),
        ([], ending(before=report(warnings=(LOST,))), []),
        ([], ending(has_failed_before=True), ["recovered"]),
        ([], ending("incomplete", has_failed_before=True), ["failed"]),
        (["rejected=0.05"], ending(), ["rejected"]),
        (["rejected=0.1"], ending(), []),
        (["rejected=0"], ending(document={}), []),
        (["fewer=0.1"], ending(before=report(sent=1_001)), ["fewer"]),
        (["fewer=0.1"], ending(before=report(sent=1_000)), []),
        (["fewer=0"], ending(before=report(sent=909)), []),  # of fewer than ten people nothing is said
        (["fewer=0"], ending(before=report(sent=910)), ["fewer"]),
        (["fewer=0.1"], ending(before=None), []),
        (["fewer=0.1"], ending("incomplete", before=report(sent=2_000)), ["failed"]),
        (["fewer=0.1"], ending(document=report(changes=SYNCED), before=report(sent=1_000)), ["fewer"]),
        (["match-rate=0.2"], ending(match_rates=(0.5, 0.39)), ["match-rate"]),
        (["match-rate=0.2"], ending(match_rates=(0.5, 0.4)), []),
        (["match-rate=0.2"], ending(match_rates=None), []),
        (["minutes=9.5"], ending(), ["minutes"]),
        (["minutes=10"], ending(), []),
        (["empty"], ending(document=report(rows=EMPTY, rejections={})), ["empty"]),
        (["empty"], ending("refused", report(rows=EMPTY)), ["refused", "empty"]),
        (["empty"], ending("incomplete", report(rows=EMPTY)), ["failed"]),
        (["expiry=30d"], ending(document=report(expires_at="2026-12-28T03:30:00Z")), ["expiry"]),
        (["expiry=30d"], ending(document=report(expires_at="2026-12-28T03:30:01Z")), []),
        (["expiry=30d"], ending(expiring=1), ["expiry"]),
        (["expiry=30d"], ending(document=report(expires_at="2026-12-01T00:00:00Z"), expiring=0), []),
    ])  # fmt: skip
def test_a_notice_follows_from_the_end_of_a_run(rules: list[str], end: Any, expected: list[str]) -> None:
    assert list(find_notices(end, Rules.read(rules))) == expected


@each_case("rule", ["", "failed", "empty=1", "rejected", "rejected=", "rejected=1.1", "rejected=-0.1", "rejected=nan",
             "fewer=1e-3", "minutes=inf", "expiry=soon", "size=3"])  # fmt: skip
def test_an_invalid_rule_is_refused(rule: str) -> None:
    with pytest.raises(UsageError):
        Rules.read([rule])


def test_a_rule_is_given_once() -> None:
    with pytest.raises(UsageError, match="twice"):
        Rules.read(["empty", "empty"])


def test_the_id_of_a_notice_is_of_its_run_and_rule() -> None:
    """It is not that of another run or rule, and no hash of 64 digits as those of people."""
    ids = [notice_id(run, rule) for run in ("run-1", "run-2") for rule in ("failed", "killed")]
    assert len({*ids, notice_id("run-1", "failed")}) == 4
    assert {len(each) for each in ids} == {32}
