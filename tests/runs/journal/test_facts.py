"""Plans are compared; sums are added."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from audiencekit.delivery.results import Delivered, RefusedRow
from audiencekit.destinations.target import Target
from audiencekit.errors import Outcome
from audiencekit.limits import EXCHANGE_TIMEOUT_SECONDS
from audiencekit.runs.journal.facts import Moment, PlannedBody, Sums, seconds_in_the_past, this_moment
from tests.cases import each_case
from tests.runs.journal.conftest import FACTS, PLAN, result_of

# --- Plans are compared; sums are added ---


@each_case(
    "change, reason, words",
    [
        ({}, None, ""),
        ({"found": {"format": "parquet"}}, None, ""),
        ({"mapping": {"columns": []}}, "mapping", "the columns with identifiers"),
        ({"rules": {"phone_form": "digits", "expires_at": "2027-12-21T01:30:00Z"}}, "options", ": phone_form"),
        ({"rules": {"phone_form": "e164"}}, "options", ": expires_at"),
        ({"rules": {**PLAN.rules, "new": 1}}, "options", ": new"),
        ({"rows_read": 41}, "source", "it had 40 rows, 10 of them rejected, and now has 41, 10 of them"),
        ({"rows_rejected": 11}, "source", "40, 11"),
        ({"fingerprint": "ff" * 16}, "source", "not the same"),
        ({"suppression": "ff" * 16}, "suppression", "the people to suppress"),
        ({"records": 29}, "suppression", "the people to suppress"),
        ({"suppression": "", "fingerprint": "", "records": 1}, "source", "not the same"),
        ({"requests": PLAN.requests[:2]}, "requests", "other requests"),
        ({"requests": (*PLAN.requests[:2], PlannedBody(3, 0, 10, 999))}, "requests", "other requests"),
        ({"requests": (*PLAN.requests[:2], PlannedBody(3, 1, 10, 1_000))}, "requests", "other requests"),
        ({"mapping": {}, "rules": {}, "rows_read": 1, "requests": ()}, "mapping", ""),
    ],
)
def test_the_first_difference_is_named(change: dict[str, Any], reason: str | None, words: str) -> None:
    """Columns before options before rows before requests: what comes first explains what comes after."""
    found = PLAN.difference(replace(PLAN, **change))
    assert (found and found[0]) == reason
    assert found is None or words in found[1]


def test_sums_go_on_where_they_were() -> None:
    """Counts are added; what is in doubt after a delivery is what it left in doubt, and what was before."""
    delivered = Delivered(
        confirmed=2, records_confirmed=20, body_bytes=2_000, success_count=20, total_count=20, attempts=5,
        rate_limited=1, pending=(result_of(3, Outcome.UNKNOWN, 2), result_of(4, None, 0)), is_read_to_end=False,
        error=None, refused=(RefusedRow(7, ("BAD",)), RefusedRow(9, ())),
    )  # fmt: skip
    earlier = Sums(
        confirmed=1, unknown=1, records_confirmed=10, body_bytes=1_000, success_count=10, total_count=10, attempts=2,
        refused=(RefusedRow(8, ()),),
    )  # fmt: skip
    assert earlier.plus(delivered) == Sums(
        confirmed=3, unknown=2, records_confirmed=30, body_bytes=3_000, success_count=30, total_count=30, attempts=7,
        rate_limited=1, refused=(RefusedRow(7, ("BAD",)), RefusedRow(8, ()), RefusedRow(9, ())),
    )  # fmt: skip


@each_case("sums, touched", [(Sums(), False), (Sums(confirmed=1), True), (Sums(unknown=1), True)])
def test_a_doubt_counts_as_touched(sums: Sums, touched: bool) -> None:
    """As a confirmation does."""
    assert sums.is_touched is touched


def test_a_run_has_a_key_of_its_own() -> None:
    """Two runs under one id have two; and the salt of the journal's digests cannot be told from it."""
    facts = replace(FACTS, salt="5a17" * 8)
    assert facts.idempotency_key == replace(facts, target=Target.audience("9z"), started_at="").idempotency_key
    assert facts.idempotency_key.startswith(f"{facts.run_id}-")
    keys = {each.idempotency_key for each in (facts, replace(facts, salt="00"), replace(facts, run_id="another-run"))}
    assert len(keys) == 3
    assert facts.salt not in facts.idempotency_key


# --- How long ago bytes left: never more than is certain ---

HERE = Moment("this start", 10_000.0)


@each_case(
    "earlier, seconds",
    [
        (Moment("this start", 4_000.0), 6_000.0),
        (Moment("this start", 10_000.0), 0.0),
        (Moment("this start", 11_000.0), 0.0),  # the clock cannot have gone back; this is not believed
        (Moment("another start", 4_000.0), 0.0),
        (Moment("unknown-boot", 4_000.0), 0.0),
    ],
)
def test_time_between_two_moments(earlier: Moment, seconds: float) -> None:
    """Of one start of a machine it is known; of two it is not."""
    assert HERE.seconds_since(earlier) == seconds


def test_machines_that_do_not_tell_their_start_are_not_one() -> None:
    """Two of them look alike."""
    assert Moment("unknown-boot", 900.0).seconds_since(Moment("unknown-boot", 1.0)) == 0.0


@each_case(
    "departures, seconds",
    [
        ([], math.inf),
        ([4_000.0], 6_000.0 - EXCHANGE_TIMEOUT_SECONDS),
        ([4_000.0, 9_500.0, 200.0], 500.0 - EXCHANGE_TIMEOUT_SECONDS),
        ([9_999.0], 0.0),
    ],
)
def test_the_last_attempt_counts_and_may_have_taken_all_its_time(departures: list[float], seconds: float) -> None:
    """Nothing is infinitely long ago."""
    assert seconds_in_the_past([Moment("this start", each) for each in departures], HERE) == seconds


def test_this_machine_has_a_moment() -> None:
    """And the next is not before it."""
    first = this_moment()
    assert this_moment().seconds >= first.seconds > 0
