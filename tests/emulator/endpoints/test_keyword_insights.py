"""Keyword insights, over the wire."""

from __future__ import annotations

from typing import Any

from tests.cases import each_case

PATH = "/12/insights/keywords/search"
DAYS = {
    "granularity": "DAY",
    "keywords": "tea,coffee",
    "start_time": "2027-01-10T00:00:00Z",
    "end_time": "2027-01-13T00:00:00Z",
}


async def _search(caller: Any, **changes: Any) -> Any:
    query = {name: text for name, text in {**DAYS, **changes}.items() if text is not None}
    return await caller.call("GET", PATH, query=query)


async def _volume(caller: Any, **changes: Any) -> Any:
    return (await _search(caller, **changes)).body["data"]["tweet_volume"]


async def test_there_is_a_number_for_each_unit(caller: Any) -> None:
    """A day holds its hours; a part of a unit counts as one."""
    days = await _volume(caller)
    hours = await _volume(caller, granularity="HOUR")
    assert (len(days), len(hours)) == (3, 72)
    assert days == [sum(hours[24 * day : 24 * day + 24]) for day in range(3)]
    assert all(hour > 0 for hour in hours)
    assert len(await _volume(caller, end_time="2027-01-13T00:00:01Z")) == 4
    assert len(await _volume(caller, granularity="HOUR", end_time="2027-01-10T00:30:00Z")) == 1


async def test_keywords_add_up_and_negative_ones_take_away(caller: Any) -> None:
    """Whatever their order; a keyword is a keyword in capitals, too; another country has other numbers."""
    both = await _volume(caller)
    tea, coffee = await _volume(caller, keywords="tea"), await _volume(caller, keywords="coffee")
    assert both == [sum(pair) for pair in zip(tea, coffee, strict=True)]
    assert await _volume(caller, keywords="Coffee,TEA") == both
    less = await _volume(caller, negative_keywords="milk")
    assert all(0 < few < many for few, many in zip(less, both, strict=True))
    assert await _volume(caller, location="96683cc9126741d1") != both


async def test_thirty_keywords_are_related(caller: Any) -> None:
    """None of them given, none of them twice."""
    given = ["tea", "best tea", "coffee"]
    related = (await _search(caller, keywords=",".join(given), negative_keywords="big tea")).body["data"]
    words = related["related_keywords"]
    assert (len(words), len(set(words))) == (30, 30)
    assert not {*given, "big tea"} & set(words)


async def test_the_search_ends_now(caller: Any) -> None:
    """Unless an end is given; lists and times are echoed as they were read."""
    reply = await _search(caller, granularity="HOUR", end_time=None, start_time="2027-01-15T04:30:00+0000")
    assert len(reply.body["data"]["tweet_volume"]) == 4
    assert reply.body["request"]["params"] == {
        "granularity": "HOUR",
        "keywords": ["tea", "coffee"],
        "start_time": "2027-01-15T04:30:00Z",
    }


@each_case(
    "changes",
    [
        {"keywords": ",".join("abcdefghij")},
        {"keywords": "a,b,c,d,e", "negative_keywords": "f,g,h,i,j"},
        {"start_time": "2027-01-06T00:00:00Z"},
        {"end_time": "2027-01-10T00:00:01Z"},
    ],
)
async def test_searches_at_the_bounds_are_good(caller: Any, changes: dict[str, str]) -> None:
    """Ten keywords in all, seven days, one second."""
    assert (await _search(caller, **changes)).status == 200


@each_case(
    "changes, code, parameter",
    [
        ({"keywords": ",".join("abcdefghijk")}, "INVALID_PARAMETER", "keywords"),
        ({"negative_keywords": ",".join("abcdefghi")}, "INVALID_PARAMETER", "negative_keywords"),
        ({"start_time": "2027-01-05T23:59:59Z"}, "INVALID_TIME_WINDOW", "end_time"),
        ({"start_time": "2027-01-13T00:00:00Z"}, "INVALID_TIME_WINDOW", "end_time"),
        ({"start_time": "2027-01-16T00:00:00Z", "end_time": None}, "INVALID_TIME_WINDOW", "end_time"),
        ({"location": "US"}, "INVALID_PARAMETER", "location"),
    ],
)
async def test_faulty_searches_are_refused(caller: Any, changes: dict[str, Any], code: str, parameter: str) -> None:
    """Each rule, broken once."""
    refused = await _search(caller, **changes)
    assert refused.status == 400
    assert [(error["code"], error["parameter"]) for error in refused.body["errors"]] == [(code, parameter)]


async def test_searches_have_a_rate_of_their_own(caller: Any) -> None:
    """Five hundred in a quarter of an hour."""
    reply = await _search(caller)
    assert (reply.headers["x-rate-limit-limit"], reply.headers["x-rate-limit-remaining"]) == ("500", "499")
