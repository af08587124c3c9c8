"""Listing the audiences of an account, with retries."""

from __future__ import annotations

import random
from typing import Any

import pytest

from audiencekit.api.client import AdsClient
from audiencekit.audiences.erasure.erasableaudiences import list_account
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.emulator.faults.replies import HOSTILE_IDS
from audiencekit.errors import MalformedAnswer
from tests.audiences.erasure.account import ACCOUNT, PAGE, Account
from tests.virtualtime import VirtualClock, run_virtually

CLOCK = VirtualClock()


def _policy() -> RetryPolicy:
    return RetryPolicy(clock=CLOCK, randomness=random.Random(1))


def _list(account: Account) -> Any:
    async def ask() -> Any:
        return await list_account(AdsClient(account, account_id=ACCOUNT), ACCOUNT, _policy())

    return run_virtually(ask())


def test_every_page_is_read() -> None:
    """Ours to be written; deleted ones are left out, the others have their reason."""
    account = Account(random.Random(1), CLOCK)
    for number in range(2 * PAGE + 1):
        account.add(f"a{number}")
    account.add("gone", deleted=True)
    account.add("flex", type="FLEXIBLE")
    account.add("theirs", owner="18ce5other")
    listed = _list(account)
    assert [one.id for one in listed.owned] == [f"a{number}" for number in range(2 * PAGE + 1)]
    assert {one.id for one in listed.skipped} == {"flex", "theirs"}


def test_a_page_that_is_lost_is_asked_for_again() -> None:
    """From the first on, and nothing is listed twice."""
    account = Account(random.Random(1), CLOCK, {2: 12, 5: 4})
    for number in range(2 * PAGE):
        account.add(f"a{number}")
    assert len(_list(account).owned) == 2 * PAGE


def test_an_audience_without_an_id_is_no_answer() -> None:
    """Nothing is guessed."""
    account = Account(random.Random(1), CLOCK)
    for given in HOSTILE_IDS:
        account.add("a1").id = given  # type: ignore[assignment]
        with pytest.raises(MalformedAnswer):
            _list(account)
