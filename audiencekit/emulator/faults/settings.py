"""The settings of a kind of fault, and the check of each."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

_PREFIX: Final = re.compile(r"[0-9a-f]{1,64}", re.ASCII)
_ADDRESS: Final = re.compile(r"[!-~]{1,2000}", re.ASCII)
_RESETS: Final = ("missing", "past", "far_future", "text", "negative", "float", "milliseconds", "huge")
_RETRIES: Final = ("missing", "nan", "1e400")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its default, its description, and its check."""

    default: Any
    expected: str
    accepts: Callable[[Any], bool]


def is_number(given: object, least: float, most: float) -> bool:
    """Whether `given` is a number of JSON between two bounds; a boolean is not one."""
    return type(given) in (int, float) and math.isfinite(given) and least <= given <= most  # type: ignore[arg-type, operator]


def is_whole(given: object, least: int, most: int) -> bool:
    """Whether `given` is a whole number between two bounds."""
    return type(given) is int and least <= given <= most


def choice(*words: Any) -> Setting:
    """Return a setting of one of several words or numbers, the first by default."""
    return Setting(words[0], "one of " + ", ".join(map(str, words)), lambda given: given in words)


def seconds(default: float | None, most: float = 86_400.0) -> Setting:
    """Return a setting of a time; with the default None also null."""
    return Setting(
        default,
        f"seconds from 0 to {most:.0f}" + (" or null" if default is None else ""),
        lambda given: is_number(given, 0, most) or (given is None and default is None),
    )


def whole(default: int | None, most: int, least: int = 0) -> Setting:
    """Return a setting of a whole number; with the default None also null."""
    return Setting(
        default,
        f"a whole number from {least} to {most}" + (" or null" if default is None else ""),
        lambda given: is_whole(given, least, most) or (given is None and default is None),
    )


def rate(default: float) -> Setting:
    """Return a setting of bytes a second."""
    return Setting(default, "bytes a second, more than 0", lambda given: is_number(given, 1e-3, 1e9))


def skew(default: float) -> Setting:
    """Return a setting of the seconds by which a clock is wrong, in either direction."""
    return Setting(default, "seconds from -100000000 to 100000000", lambda given: is_number(given, -1e8, 1e8))


def reset(default: float | str) -> Setting:
    """Return a setting of the reset of a quota: seconds from now, or a wrong form of it."""
    return Setting(
        default,
        "seconds from now, or one of " + ", ".join(_RESETS),
        lambda given: given in _RESETS if isinstance(given, str) else is_number(given, -1e8, 1e8),
    )


def retry_after() -> Setting:
    """Return a setting of a number of seconds, a date so many seconds ahead, an invalid text, or nothing."""
    return Setting(
        1,
        f'seconds from -1e8 to 1e8, one of {", ".join(_RETRIES)}, or {{"date": seconds}}',
        lambda given: (
            given in _RETRIES
            if isinstance(given, str)
            else is_number(given, -1e8, 1e8)
            or (isinstance(given, dict) and set(given) == {"date"} and is_number(given["date"], -1e8, 1e8))
        ),
    )


def address(default: str) -> Setting:
    """Return a setting of the target of a redirect."""
    return Setting(
        default,
        "an address of at most 2000 visible ASCII characters",
        lambda given: isinstance(given, str) and _ADDRESS.fullmatch(given) is not None,
    )


def bad_operations() -> Setting:
    """Return a setting of the bad operations or records of a request, or of a wrong place for the bad one."""
    words = ("all", "out_of_range", "wrong_type")
    return Setting(
        0,
        'an index, a list of indexes, {"prefix": hex digits}, {"share": 0 to 1}, or one of ' + ", ".join(words),
        lambda given: given in words if isinstance(given, str) else _is_index(given) or _is_rule(given),
    )


def _is_index(given: object) -> bool:
    indexes = given if isinstance(given, list) and given else [given]
    return all(is_whole(index, 0, 1_000_000) for index in indexes)


def _is_rule(given: object) -> bool:
    if not isinstance(given, dict) or len(given) != 1:
        return False
    (name, rule), *_ = given.items()
    if name == "prefix":
        return isinstance(rule, str) and _PREFIX.fullmatch(rule) is not None
    return name == "share" and is_number(rule, 0, 1)
