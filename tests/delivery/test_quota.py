"""Re-sends are paid for, and successes give back."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from audiencekit.delivery.quota import RetryQuota
from audiencekit.errors import UsageError


def test_hundred_resends_without_a_success_are_the_end() -> None:
    """The 101st re-send in a row is no longer in the budget (reliability bar, P9: 500 tokens, 5 each)."""
    quota = RetryQuota()
    assert [quota.spend() for _ in range(102)] == [True] * 100 + [False] * 2


def test_success_after_a_resend_gives_its_price_back() -> None:
    """A success that needed a re-send pays for one more; five that needed none do too."""
    quota = RetryQuota(5, cost=5)
    assert quota.spend()
    quota.refund(after_resend=True)
    assert quota.spend()
    for _ in range(4):
        quota.refund(after_resend=False)
    assert not quota.spend()
    quota.refund(after_resend=False)
    assert quota.spend()


@given(st.integers(0, 40), st.integers(1, 9), st.lists(st.sampled_from(["spend", "resent", "quiet"])))
def test_quota_never_leaves_its_range(capacity: int, cost: int, events: list[str]) -> None:
    """Whatever happens, there are between 0 and `capacity` tokens, and a refused re-send costs nothing."""
    quota = RetryQuota(capacity, cost=cost)
    for event in events:
        before = quota.tokens
        if event == "spend":
            assert quota.spend() == (before >= cost)
            assert quota.tokens == (before - cost if before >= cost else before)
        else:
            quota.refund(after_resend=event == "resent")
        assert 0 <= quota.tokens <= capacity


@pytest.mark.parametrize(("capacity", "cost"), [(-1, 5), (500, 0), (500, -5)])
def test_impossible_quota_is_refused(capacity: int, cost: int) -> None:
    """A quota that could not be spent or never ends is a usage error."""
    with pytest.raises(UsageError):
        RetryQuota(capacity, cost=cost)
