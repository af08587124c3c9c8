"""The sums of a delivery."""

from __future__ import annotations

from hypothesis import given, strategies as st

from audiencekit.delivery.results import RequestResult
from audiencekit.delivery.tally import DeliveryTally
from audiencekit.errors import NotFinished, Outcome

RESULTS = st.lists(
    st.builds(
        RequestResult,
        number=st.integers(1, 500),
        outcome=st.sampled_from([*Outcome, None]),
        attempts=st.integers(0, 20),
        rate_limited=st.integers(0, 9),
        records=st.integers(0, 60_000),
        body_bytes=st.integers(0, 5_000_000),
        success_count=st.integers(0, 60_000),
        total_count=st.integers(0, 60_000),
    )
)


@given(RESULTS)
def test_sums_close(results: list[RequestResult]) -> None:
    """Confirmed and pending are all there is, and only confirmed records are counted."""
    tally = DeliveryTally()
    for result in results:
        tally.add(result)
    delivered = tally.close(None)
    confirmed = [result for result in results if result.outcome is Outcome.CONFIRMED]
    assert delivered.confirmed + len(delivered.pending) == len(results)
    assert delivered.records_confirmed + sum(r.records for r in delivered.pending) == sum(r.records for r in results)
    assert delivered.success_count == sum(r.success_count for r in confirmed), "what the service said, not what we sent"
    assert delivered.total_count == sum(r.total_count for r in confirmed)
    assert delivered.body_bytes == sum(r.body_bytes for r in confirmed)
    assert delivered.attempts == sum(r.attempts for r in results)
    assert delivered.rate_limited == sum(r.rate_limited for r in results)
    assert [r.number for r in delivered.pending] == sorted(r.number for r in results if r not in confirmed)


def test_close_keeps_what_stopped_the_delivery() -> None:
    """The error, and whether the plan was read to its end, come back as they were noted."""
    tally, error = DeliveryTally(), NotFinished("interrupted")
    assert tally.close(error).error is error
    assert not tally.close(None).is_read_to_end
    tally.is_read_to_end = True
    assert tally.close(None).is_read_to_end
