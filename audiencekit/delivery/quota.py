"""The budget of re-sends of a run: a service in trouble must not be stormed."""

from __future__ import annotations

from typing import Final

from audiencekit.errors import UsageError

# The figures of botocore's standard mode: 100 re-sends in a row without one success, then no more.
QUOTA_CAPACITY: Final = 500
RESEND_COST: Final = 5
QUIET_SUCCESS_REFUND: Final = 1


class RetryQuota:
    """Tokens shared by all requests of a run: a re-send costs, a success gives back (reliability bar, P9)."""

    def __init__(self, capacity: int = QUOTA_CAPACITY, *, cost: int = RESEND_COST) -> None:
        if capacity < 0 or cost < 1:
            raise UsageError("a retry quota needs a capacity of at least 0 and a cost of at least 1")
        self._capacity, self._cost, self._tokens = capacity, cost, capacity

    @property
    def tokens(self) -> int:
        """The rest, from 0 to the capacity."""
        return self._tokens

    def spend(self) -> bool:
        """Whether one re-send is still in the budget; if so it is paid."""
        if self._tokens < self._cost:
            return False
        self._tokens -= self._cost
        return True

    def refund(self, *, after_resend: bool) -> None:
        """Gives back the price of a re-send after a success that needed one, a little after any other."""
        given_back = self._cost if after_resend else QUIET_SUCCESS_REFUND
        self._tokens = min(self._capacity, self._tokens + given_back)
