"""Counts as JSON text: a partition's counts travel as a row of its outcomes, which an engine keeps exactly once.

The text comes back from a place where others may write: it is read by the types of the counts, and builds nothing else.
"""

from __future__ import annotations

import contextlib
import json
import types
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from audiencekit.errors import SourceRefused
from audiencekit.records.tally import Tally


def write_tally(tally: Tally) -> str:
    """`tally` as JSON: mappings are lists of pairs, because their keys can be numbers and tuples."""
    return json.dumps(_plain(tally), separators=(",", ":"))


def read_tally(text: str) -> Tally:
    """The tally that `write_tally` wrote. Raises SourceRefused for any other text."""
    with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
        found: Tally = _read(Tally, json.loads(text))
        return found
    raise SourceRefused("the counts of a partition are damaged", hint="write the records again")


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(count)] for key, count in value.items()]
    return list(value) if isinstance(value, tuple) else value


def _read(kind: Any, found: Any) -> Any:
    """`found` as a value of the type `kind`. Raises ValueError, TypeError or KeyError for what is none."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):  # a type or None
        return None if found is None else _read(arguments[0], found)
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**{name: _read(hint, found[name]) for name, hint in _hints(kind).items()})
    if origin is Counter:
        return Counter({_read(arguments[0], key): _read(int, count) for key, count in found})
    if origin is dict:
        return {_read(arguments[0], key): _read(arguments[1], value) for key, value in found}
    if origin is tuple:
        return tuple(_read(each, one) for each, one in zip(arguments, found, strict=True))
    if type(found) is not (kind if kind in (int, bool) else str):
        raise TypeError(kind)
    return kind(found)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
