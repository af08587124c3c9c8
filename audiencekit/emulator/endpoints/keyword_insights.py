"""`GET /insights/keywords/search`: how many tweets have certain words (specification part 2, section 4.1).

The numbers follow from the seed, the country and the hour of the day. The emulator has no table of places, so it cannot
distinguish a city from a country, only valid from invalid values.
"""

from __future__ import annotations

import random
import re
from typing import Final

from audiencekit.emulator.answers import Answer, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.parameters import Parameters

MAX_KEYWORDS: Final = 10  # negative ones included; specification part 2, section 8
MAX_RANGE_SECONDS: Final = 7 * 86_400
RELATED: Final = 30
_UNITS: Final = {"DAY": 86_400, "HOUR": 3_600}
_PLACE: Final = re.compile("[0-9a-f]{16}", re.ASCII)
_NEIGHBOURS: Final = (
    *("best", "big", "cheap", "cool", "daily", "early", "fast", "free", "fun", "global"),
    *("great", "live", "local", "love", "modern", "my", "new", "next", "open", "our"),
    *("popular", "real", "small", "smart", "super", "top", "true", "vintage", "viral", "weekly"),
)


def search_keywords(call: Call) -> Answer:
    """Return one number for each day or hour from start to end, and the related keywords, without numbers."""
    parameters = Parameters(call)
    unit = _UNITS[parameters.required_choice("granularity", tuple(_UNITS))]
    keywords, negative = _read_keywords(parameters)
    start, end = _read_range(parameters, call.now)
    location = parameters.text("location") or ""
    if location and not _PLACE.fullmatch(location):
        raise parameters.fault("location", "Expected targeting value of a country for location")
    parameters.finish()
    scope = f"{call.options.seed} {location}"
    volumes = [
        sum(_count(scope, keywords, negative, hour) for hour in range(moment, min(moment + unit, end), 3_600))
        for moment in range(start, end, unit)
    ]
    return success(parameters.echo, {"related_keywords": _related(keywords, negative), "tweet_volume": volumes})


def _read_keywords(parameters: Parameters) -> tuple[list[str], list[str]]:
    keywords = parameters.required_words("keywords", most=MAX_KEYWORDS)
    negative = parameters.words("negative_keywords", most=MAX_KEYWORDS) or []
    if len(keywords) + len(negative) > MAX_KEYWORDS:
        message = f"At most {MAX_KEYWORDS} keywords and negative_keywords can be given together"
        raise parameters.fault("negative_keywords", message)
    return keywords, negative


def _read_range(parameters: Parameters, now: float) -> tuple[int, int]:
    start, end = parameters.required_time("start_time"), parameters.time("end_time")
    end = int(now) if end is None else end
    if not start < end <= start + MAX_RANGE_SECONDS:
        message = "end_time must be later than start_time, by 7 days at most"
        raise parameters.fault("end_time", message, "INVALID_TIME_WINDOW")
    return start, end


def _count(scope: str, keywords: list[str], negative: list[str], moment: int) -> int:
    """Return the tweets of the hour that begins at `moment`; each negative keyword subtracts some."""
    hour = moment // 3_600
    found = sum(random.Random(f"{scope} {word.casefold()} {hour}").randrange(200, 2_000) for word in set(keywords))
    for word in set(negative):
        found -= found * random.Random(f"{scope} not {word.casefold()}").randrange(5, 30) // 100
    return found


def _related(keywords: list[str], negative: list[str]) -> list[str]:
    """Return thirty keywords that were not given."""
    near = [f"{neighbour} {keyword}" for keyword in keywords for neighbour in _NEIGHBOURS]
    far = [f"{neighbour} {word}" for word in near for neighbour in _NEIGHBOURS]
    given = {*keywords, *negative}
    return [word for word in dict.fromkeys((*near, *far)) if word not in given][:RELATED]
