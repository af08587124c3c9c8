"""The definition of a flexible audience: a document, a tree of conditions, and its description for people."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from audiencekit.audiences.setups.setup import read_definition
from audiencekit.errors import DefinitionRefused
from audiencekit.limits import FLEXIBLE_BATCH_ITEMS, FLEXIBLE_LEAVES, FLEXIBLE_MAX_DEPTH, MAX_QUERY_LENGTH
from audiencekit.service_words import is_service_id
from audiencekit.text import shown

# --- Flexible audiences: a name and a tree of segments (specification part 2, sections 2 and 4.3) ---

LOOKBACK_DAYS: Final = (1, 7, 14, 30)  # specification part 2, section 4.3


class Operator(StrEnum):
    """How the members of a group are joined, as the service writes it."""

    AND = "AND"
    OR = "OR"


class Comparator(StrEnum):
    """How often a person was active, against `frequency`, as the service writes it."""

    AT_LEAST = "NUM_GTE"
    MORE_THAN = "NUM_GT"
    EXACTLY = "NUM_EQ"
    AT_MOST = "NUM_LTE"
    LESS_THAN = "NUM_LT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """The people of one custom audience who were active `comparator` `frequency` times in the last `lookback_days`.

    `audience` is its id, or its name as long as that was not looked up.
    """

    audience: str
    lookback_days: int
    frequency: int = 1
    comparator: Comparator = Comparator.AT_LEAST
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """At least one segment, joined by `operator`."""

    operator: Operator
    segments: tuple[Segment, ...]
    negated: bool = False


Segment: TypeAlias = Leaf | Group


@dataclass(frozen=True, slots=True, kw_only=True)
class FlexibleAudience:
    """One flexible audience to create. It cannot be changed afterwards."""

    name: str
    root: Group


def leaves(segment: Segment) -> Iterator[Leaf]:
    """Yield every leaf below `segment`, from left to right."""
    if isinstance(segment, Leaf):
        yield segment
    else:
        for one in segment.segments:
            yield from leaves(one)


# --- A file of flexible audiences, TOML or JSON -> trees; every broken rule with its place in the file ---
#
#     [[audiences]]
#     name = "Lapsed buyers"
#     segments = { and = [
#         { audience = "Spring customers", lookback = 30 },
#         { not = { audience = "1nmtj", lookback = 7, frequency = 2, comparator = ">" } },
#     ] }
#
# In JSON the same members have the same names. A segment is an audience, `and`, `or` or `not`, and nothing is negated
# unless it says so.

COMPARATORS: Final = {
    ">=": Comparator.AT_LEAST,
    ">": Comparator.MORE_THAN,
    "=": Comparator.EXACTLY,
    "<=": Comparator.AT_MOST,
    "<": Comparator.LESS_THAN,
    **{comparator.value: comparator for comparator in Comparator},
}
_GROUPS: Final = {"and": Operator.AND, "or": Operator.OR}
_LEAF_MEMBERS: Final = ("audience", "lookback", "frequency", "comparator")
_HEADS: Final = ("audience", *_GROUPS, "not")


class Problem(NamedTuple):
    """One broken rule, and its place in the file, such as `audiences[0].segments.and[1].lookback`."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Document:
    """The audiences of a file, in its order.

    `paths` are the places of errors from the service, `leaf_paths` the places that give a custom audience, by its id or
    its name; `source` is the file's name. `names` are those of audiences by their ids, as far as they are known.
    """

    audiences: tuple[FlexibleAudience, ...]
    leaf_paths: Mapping[str, tuple[str, ...]]
    source: str = field(compare=False)
    names: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def paths(self) -> tuple[str, ...]:
        """The place of each audience in the file."""
        return tuple(f"audiences[{index}]" for index in range(len(self.audiences)))

    def with_ids(self, ids: Mapping[str, str]) -> Document:
        """Return the same with the ids in place of the names that are in `ids`."""
        leaf_paths: dict[str, tuple[str, ...]] = {}
        for given, paths in self.leaf_paths.items():
            audience = ids.get(given, given)
            leaf_paths[audience] = (*leaf_paths.get(audience, ()), *paths)
        audiences = tuple(replace(one, root=_with_ids(one.root, ids)) for one in self.audiences)
        return replace(self, audiences=audiences, leaf_paths=leaf_paths)


def _with_ids(group: Group, ids: Mapping[str, str]) -> Group:
    segments = (
        _with_ids(one, ids) if isinstance(one, Group) else replace(one, audience=ids.get(one.audience, one.audience))
        for one in group.segments
    )
    return replace(group, segments=tuple(segments))


def read_document(path: Path) -> Document:
    """Return the audiences defined in the file at `path`, which is TOML unless its name ends in `.json`.

    Raises InputOutputFailed when it cannot be read, DefinitionRefused with every broken rule.
    """
    content = _load(path)
    reader = _Reader()
    audiences = reader.read(content)
    if reader.problems:
        raise DefinitionRefused(str(path), list(reader.problems))
    return Document(audiences, reader.leaf_paths, str(path))


def _load(path: Path) -> Any:
    content = read_definition(path)
    try:
        if path.suffix.lower() == ".json":
            return json.loads(content, object_pairs_hook=_without_twins)
        return tomllib.loads(content.decode())
    except RecursionError:
        problem = "it is nested too deeply"
    except UnicodeDecodeError:
        problem = "it is not UTF-8"
    except tomllib.TOMLDecodeError as error:
        problem = f"it is not TOML: {error}"
    except ValueError as error:
        place = f": line {error.lineno}" if isinstance(error, json.JSONDecodeError) else f": {error}"
        problem = f"it is not JSON{place}"
    raise DefinitionRefused(str(path), [("", problem)])


def _without_twins(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("a member stands twice in one object")
    return found


class _Reader:
    """Read on after a broken rule, so that all of them are reported at once."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.leaf_paths: dict[str, tuple[str, ...]] = {}

    def read(self, content: Any) -> tuple[FlexibleAudience, ...]:
        listed = content.get("audiences") if isinstance(content, dict) else None
        if not isinstance(listed, list) or not listed:
            self._refuse("audiences", "a list of at least one audience is needed here")
            return ()
        self._refuse_unknown("", content, ("audiences",))
        if len(listed) > FLEXIBLE_BATCH_ITEMS:
            self._refuse("audiences", f"{len(listed)} audiences, and one batch holds {FLEXIBLE_BATCH_ITEMS}")
        found = [self._audience(f"audiences[{index}]", one) for index, one in enumerate(listed)]
        self._refuse_equal_names(listed)
        return tuple(audience for audience in found if audience is not None)

    def _audience(self, path: str, content: Any) -> FlexibleAudience | None:
        if not isinstance(content, dict):
            self._refuse(path, "a name and segments are needed here")
            return None
        self._refuse_unknown(path, content, ("name", "segments"))
        name = content.get("name")
        if not isinstance(name, str) or not name.strip():
            self._refuse(f"{path}.name", "a name is needed")
        segment = self._segment(f"{path}.segments", content.get("segments"), 1)
        if segment is None:
            return None
        if (count := sum(1 for _ in leaves(segment))) > FLEXIBLE_LEAVES:
            self._refuse(f"{path}.segments", f"{count} audiences, and a tree holds {FLEXIBLE_LEAVES}")
        root = segment if isinstance(segment, Group) and not segment.negated else _alone(segment)
        return FlexibleAudience(name=str(name), root=root)

    def _segment(self, path: str, content: Any, depth: int) -> Segment | None:
        if depth > FLEXIBLE_MAX_DEPTH:
            self._refuse(path, f"deeper than {FLEXIBLE_MAX_DEPTH} levels")
            return None
        heads = [head for head in _HEADS if head in content] if isinstance(content, dict) else []
        if len(heads) != 1:
            self._refuse(path, "a segment has one of: audience, and, or, not")
            return None
        (head,) = heads
        if head == "audience":
            return self._leaf(path, content)
        self._refuse_unknown(path, content, (head,))
        if head == "not":
            return self._negated(f"{path}.not", content["not"], depth)
        return self._group(f"{path}.{head}", _GROUPS[head], content[head], depth)

    def _negated(self, path: str, content: Any, depth: int) -> Segment | None:
        segment = self._segment(path, content, depth + 1)
        if segment is not None and segment.negated:
            self._refuse(path, "this is negated twice: leave both out")
        return None if segment is None else replace(segment, negated=True)

    def _group(self, path: str, operator: Operator, content: Any, depth: int) -> Group | None:
        if not isinstance(content, list) or not content:
            self._refuse(path, "a list of at least one segment is needed here")
            return None
        found = [self._segment(f"{path}[{index}]", one, depth + 1) for index, one in enumerate(content)]
        segments = tuple(segment for segment in found if segment is not None)
        return Group(operator=operator, segments=segments) if segments else None

    def _leaf(self, path: str, content: dict[str, Any]) -> Leaf:
        self._refuse_unknown(path, content, _LEAF_MEMBERS)
        lookback, frequency = content.get("lookback"), content.get("frequency", 1)
        comparator = content.get("comparator", ">=")
        audience = self._given_audience(f"{path}.audience", content["audience"])
        if type(lookback) is not int or lookback not in LOOKBACK_DAYS:
            allowed = ", ".join(map(str, LOOKBACK_DAYS))
            self._refuse(f"{path}.lookback", f"one of {allowed} (days) is needed")
        if type(frequency) is not int or frequency < 1:
            self._refuse(f"{path}.frequency", "a whole number of at least 1 is needed")
        if not isinstance(comparator, str) or comparator not in COMPARATORS:
            self._refuse(f"{path}.comparator", f"one of {', '.join(COMPARATORS)} is needed")
        return Leaf(
            audience=audience,
            lookback_days=lookback if type(lookback) is int else 0,
            frequency=frequency if type(frequency) is int else 0,
            comparator=COMPARATORS.get(str(comparator), Comparator.AT_LEAST),
        )

    def _given_audience(self, path: str, content: Any) -> str:
        if not isinstance(content, str) or not content.strip() or len(content) > MAX_QUERY_LENGTH:
            self._refuse(path, "the id or the name of a custom audience is needed, in quotes")
            return ""
        self.leaf_paths[content] = (*self.leaf_paths.get(content, ()), path)
        return content

    def _refuse_equal_names(self, listed: list[Any]) -> None:
        seen: dict[str, int] = {}
        for index, name in _names(listed):
            if name in seen:
                self._refuse(f"audiences[{index}].name", f"the same name as audiences[{seen[name]}]")
            seen.setdefault(name, index)

    def _refuse_unknown(self, path: str, content: dict[str, Any], known: tuple[str, ...]) -> None:
        for member in content:
            if member not in known:
                allowed = ", ".join(known)
                self._refuse(f"{path}.{member}".lstrip("."), f"this is not known here; allowed: {allowed}")

    def _refuse(self, path: str, message: str) -> None:
        self.problems.append(Problem(path, message))


def _names(listed: list[Any]) -> Iterator[tuple[int, str]]:
    for index, one in enumerate(listed):
        name = one.get("name") if isinstance(one, dict) else None
        if isinstance(name, str) and name.strip():
            yield index, name


def _alone(segment: Segment) -> Group:
    return Group(operator=Operator.AND, segments=(segment,))


# --- A flexible audience for people: as one sentence, and as a drawing of its tree ---

_COMPARED: Final = {
    Comparator.AT_LEAST: "at least",
    Comparator.MORE_THAN: "more than",
    Comparator.EXACTLY: "exactly",
    Comparator.AT_MOST: "at most",
    Comparator.LESS_THAN: "less than",
}


_UNNAMED: Final[Mapping[str, str]] = MappingProxyType({})


def to_sentence(audience: FlexibleAudience, names: Mapping[str, str] = _UNNAMED) -> str:
    """Return one sentence without the name: `People in A (…), and not in B (…).`; `names` are those of ids."""
    return f"People {_phrase(audience.root, names)}."


def draw(audience: FlexibleAudience, names: Mapping[str, str] = _UNNAMED) -> str:
    """Return the tree as lines of text, its name first; `names` are those of ids."""
    return "\n".join([shown(audience.name), *_lines(audience.root, "", names, is_last=True)])


def _phrase(segment: Segment, names: Mapping[str, str]) -> str:
    if isinstance(segment, Leaf):
        called = _name(segment, names) or segment.audience
        return f"{'not ' if segment.negated else ''}in {called} ({_activity(segment)})"
    joined = f" {segment.operator.value.lower()} ".join(_part(one, names) for one in segment.segments)
    return f"not ({joined})" if segment.negated else joined


def _part(segment: Segment, names: Mapping[str, str]) -> str:
    """Return a segment inside a group, groups in brackets, so that operator precedence does not matter."""
    is_bare = isinstance(segment, Leaf) or segment.negated or len(segment.segments) == 1
    return _phrase(segment, names) if is_bare else f"({_phrase(segment, names)})"


def _name(leaf: Leaf, names: Mapping[str, str]) -> str:
    """Return the name of its audience in quotes; empty for an id whose name is not known."""
    name = names.get(leaf.audience, "" if is_service_id(leaf.audience) else leaf.audience)
    return repr(name) if name else ""  # which escapes what does not print


def _activity(leaf: Leaf) -> str:
    times = "once" if leaf.frequency == 1 else f"{leaf.frequency} times"
    days = "the last day" if leaf.lookback_days == 1 else f"the last {leaf.lookback_days} days"
    return f"{_COMPARED[leaf.comparator]} {times} in {days}"


def _lines(segment: Segment, margin: str, names: Mapping[str, str], *, is_last: bool) -> Iterator[str]:
    yield f"{margin}{'└── ' if is_last else '├── '}{_label(segment, names)}"
    children = segment.segments if isinstance(segment, Group) else ()
    for index, child in enumerate(children, 1):
        yield from _lines(child, margin + ("    " if is_last else "│   "), names, is_last=index == len(children))


def _label(segment: Segment, names: Mapping[str, str]) -> str:
    if isinstance(segment, Group):
        words = segment.operator.lower()
    else:
        name, is_id = _name(segment, names), is_service_id(segment.audience)
        called = f"{name} ({segment.audience})" if name and is_id else name or segment.audience
        words = f"{called}: {_activity(segment)}"
    return f"not {words}" if segment.negated else words


# --- The definition of a flexible audience as its file has it: for another file, and for the memory of this machine ---

_SYMBOLS: Final = {comparator: symbol for symbol, comparator in reversed(COMPARATORS.items())}


def to_definition(audience: FlexibleAudience) -> dict[str, Any]:
    """Return the audience as a file defines it: its name and its segments."""
    return {"name": audience.name, "segments": _definition(audience.root)}


def read_audience(definition: Any) -> FlexibleAudience | None:
    """Return the audience that `to_definition` has written; None for anything else."""
    reader = _Reader()
    found = reader.read({"audiences": [definition]})
    return found[0] if found and not reader.problems else None


def _definition(segment: Segment) -> dict[str, Any]:
    if segment.negated:
        return {"not": _definition(replace(segment, negated=False))}
    if isinstance(segment, Group):
        return {segment.operator.lower(): [_definition(one) for one in segment.segments]}
    return {
        "audience": segment.audience,
        "lookback": segment.lookback_days,
        "frequency": segment.frequency,
        "comparator": _SYMBOLS[segment.comparator],
    }
