"""Numbers in headers: public vectors, and garbage that must not hurt."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.api.rate_limit import RateLimit, read_date, read_http_date, read_rate_limit, read_retry_after
from tests.api.vectors import CORPORA, vectors

VECTORS = CORPORA / "retry" / "retry_vectors.json"
NOW = 1_696_004_797.0

# Accepted by one lenient client. RFC 9110, section 5.6.7, wants two digits and GMT, as do the 49 date vectors.
LENIENT = {"Mon, 3 Jun 2019 11:00:00 UTC"}


@pytest.mark.parametrize("case", vectors(VECTORS, "http_date"))
def test_http_date_vectors(case: dict[str, Any]) -> None:
    """Each public date vector gives its second, or nothing where it is not a date."""
    assert read_http_date(case["input"]) == case["expected"].get("epoch")


@pytest.mark.parametrize("case", vectors(VECTORS, "retry_after_value"))
def test_retry_after_seconds_vectors(case: dict[str, Any]) -> None:
    """Each public vector of Retry-After in seconds gives them, or nothing where it is not a whole number."""
    assert read_retry_after({"retry-after": case["input"]}, received_at=NOW) == case["expected"].get("seconds")


@pytest.mark.parametrize("case", vectors(VECTORS, "retry_after_wait"))
def test_retry_after_date_vectors(case: dict[str, Any]) -> None:
    """Each public vector of Retry-After as a date gives the seconds until then, 0 for a past one."""
    expected = None if case["input"] in LENIENT else case["expected"]["wait_seconds"]
    assert read_retry_after({"retry-after": case["input"]}, received_at=case["now_epoch"]) == expected


@pytest.mark.parametrize("case", vectors(VECTORS, "retry_after_policy"))
def test_retry_after_policy_vectors(case: dict[str, Any]) -> None:
    """Where another client follows the header, the same seconds are read; where it does not, none or 0."""
    found = read_retry_after({"retry-after": case["input"]["retry_after"]}, received_at=case["now_epoch"])
    if "wait_seconds" in case["expected"]:
        assert found == case["expected"]["wait_seconds"]
    else:
        assert not found


def test_retry_after_counts_from_the_date_of_the_answer() -> None:
    """A date is compared with the service's own clock, not with ours an hour off."""
    headers = {"retry-after": "Sun, 06 Nov 1994 08:50:07 GMT", "date": "Sun, 06 Nov 1994 08:49:37 GMT"}
    assert read_retry_after(headers, received_at=784111777 + 3600) == 30.0


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, RateLimit()),
        (
            {"x-rate-limit-limit": "2000", "x-rate-limit-remaining": "1999", "x-rate-limit-reset": "1497039241"},
            RateLimit(limit=2000, remaining=1999, reset_at=1497039241),
        ),
        (
            {
                "x-rate-limit-limit": "10000",
                "x-rate-limit-reset": "1705420800",
                "x-account-rate-limit-limit": "1500",
                "x-account-rate-limit-remaining": "0",
                "x-account-rate-limit-reset": "1705420860",
            },
            RateLimit(limit=1500, remaining=0, reset_at=1705420860),
        ),
        (
            {"x-account-rate-limit-reset": "soon", "x-rate-limit-reset": "1705420800"},
            RateLimit(reset_at=1705420800),
        ),
        (
            {"x-account-rate-limit-limit": "1500", "x-rate-limit-reset": "1705420800"},
            RateLimit(limit=1500),
        ),
        ({"x-rate-limit-reset": "4102444800"}, RateLimit(reset_at=4102444800)),
        ({"x-rate-limit-reset": " 1705420800\t"}, RateLimit(reset_at=1705420800)),
    ],
    ids=["none", "user", "account-wins", "account-unusable", "account-without-reset", "year-2100", "spaces"],
)
def test_rate_limit(headers: dict[str, str], expected: RateLimit) -> None:
    """The account's window wins over the user's, whole; unusable ones read as absent (public service, rate limits)."""
    assert read_rate_limit(headers) == expected


@pytest.mark.parametrize(
    "reset",
    ["", "-1", "+5", "1.5", "1e9", "0x10", "nan", "inf", "soon", "1705420800000", "٣", "1 2", "1,2", "9" * 5000],
)
def test_unusable_resets_are_none(reset: str) -> None:
    """Text, signs, fractions, milliseconds and noise are no reset."""
    assert read_rate_limit({"x-rate-limit-reset": reset}).reset_at is None


@given(st.text(max_size=40), st.text(max_size=40))
def test_garbage_never_raises(first: str, second: str) -> None:
    """Whatever stands in the headers, reading them gives numbers or None."""
    headers = {"retry-after": first, "date": second, "x-rate-limit-limit": first, "x-rate-limit-reset": second}
    read_rate_limit(headers)
    read_date(headers)
    wait = read_retry_after(headers, received_at=NOW)
    assert wait is None or wait >= 0


@given(st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC)))  # noqa: DTZ001
def test_dates_as_servers_write_them(moment: datetime) -> None:
    """Every date in the form that servers send is read to the second."""
    moment = moment.replace(microsecond=0)
    assert read_http_date(format_datetime(moment, usegmt=True)) == int(moment.timestamp())
