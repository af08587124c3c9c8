"""Flexible and mobile audiences: their trees, who is in them, and the batch that makes them (specification part 2,
sections 2 and 4.3).
"""

from __future__ import annotations

import operator
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_
from typing import Any, Final

from audiencekit.emulator.answers import Answer, Problem, problem, refuse_items, success_of_items
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.accounts import FLEXIBLE_AUDIENCES
from audiencekit.emulator.endpoints.audience_users import check_array, echo_item, item_problems, missing, unknown
from audiencekit.emulator.endpoints.custom_audiences import Audience, Population
from audiencekit.emulator.parameters import read_document
from audiencekit.limits import FLEXIBLE_BATCH_ITEMS, FLEXIBLE_LEAVES
from audiencekit.service_words import FREQUENCY_COMPARATORS

# --- The tree of a flexible audience: segments that are audiences, or that join others (specification part 2,
# sections 2 and 4.3) ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A leaf with `custom_audience_id`, or children joined by `boolean_operator`; defaults are filled in."""

    boolean_operator: str | None
    child_segments: tuple[Segment, ...]
    custom_audience_id: str | None
    lookback_window: int | None
    frequency: int
    frequency_comparator: str
    negate: bool

    def leaves(self) -> Iterator[Segment]:
        """Return the leaves under this segment, itself when it is one."""
        if not self.child_segments:
            yield self
        for child in self.child_segments:
            yield from child.leaves()

    def document(self) -> dict[str, Any]:
        """Return the segment as `metadata` shows it: a window and an operator only where there is one."""
        shown: dict[str, Any] = {
            "frequency": self.frequency,
            "frequency_comparator": self.frequency_comparator,
            "negate": self.negate,
            "child_segments": [child.document() for child in self.child_segments],
        }
        for name in ("boolean_operator", "custom_audience_id", "lookback_window"):
            if getattr(self, name) is not None:
                shown[name] = getattr(self, name)
        return shown


# --- Reading a tree of segments, every rule of it checked ---
#
# Where the specification leaves a choice: every segment has `child_segments`, empty in a leaf; a segment is a leaf or
# joins others, never both; the tree has at least one child. Missing fields get the stated defaults; `negate` is true in
# the specification, but false in the public service's example, so its default depends on the profile. The root is never
# negated by default.

_MAX_DEPTH: Final = 100  # no limit of the specification; JSON that is deeper is refused, not followed
_OPERATORS: Final = ("AND", "OR")
_WINDOWS: Final = (1, 7, 14, 30)
_FIELDS: Final = frozenset(Segment.__dataclass_fields__)


@dataclass(slots=True)
class SegmentReader:
    """Reads one tree. `problems` are all problems found; a tree is valid without any."""

    negates: bool  # the default of `negate`
    problems: list[Problem] = field(default_factory=list)

    @classmethod
    def of(cls, profile: str) -> SegmentReader:
        """Return a reader with the defaults of a profile."""
        return cls(negates=profile == "spec")

    def read_root(self, document: object) -> Segment | None:
        """Return the tree; None if it is invalid."""
        root = self._read(document, 0, negates=False)
        if root is not None and not root.child_segments:
            self._fault("child_segments", "Expected at least one child segment")
        return None if self.problems else root

    def _read(self, document: object, depth: int, *, negates: bool) -> Segment | None:
        if not isinstance(document, dict):
            self._fault("child_segments", "Expected object for segment")
            return None
        if depth > _MAX_DEPTH:
            self._fault("child_segments", "The segments are nested too deeply", "REQUEST_TOO_COMPLEX")
            return None
        self.problems += _segment_problems(document)
        children = self._read_children(document.get("child_segments"), depth)
        self.problems += _place_problems(document, depth)
        audience_id = document.get("custom_audience_id")
        return Segment(
            boolean_operator=document.get("boolean_operator"),
            child_segments=children,
            # Ids are kept in lower case, whatever the case they are sent in (public documentation).
            custom_audience_id=audience_id.lower() if isinstance(audience_id, str) else None,
            lookback_window=document.get("lookback_window"),
            frequency=document.get("frequency", 1),
            frequency_comparator=document.get("frequency_comparator", "NUM_GTE"),
            negate=document.get("negate", negates),
        )

    def _read_children(self, document: object, depth: int) -> tuple[Segment, ...]:
        if not isinstance(document, list):
            return ()
        read = [self._read(child, depth + 1, negates=self.negates) for child in document]
        return tuple(child for child in read if child is not None)

    def _fault(self, name: str, message: str, code: str = "INVALID_PARAMETER") -> None:
        self.problems.append(problem(code, message, name))


def _segment_problems(document: Mapping[str, Any]) -> Iterator[Problem]:
    """Return the problems in the fields of one segment, each checked alone. A boolean is not a number here."""
    if not document.keys() <= _FIELDS:
        yield problem("INVALID_PARAMETER", "A segment has a member that is not known", "child_segments")
    if "child_segments" not in document:
        yield problem("MISSING_PARAMETER", '"child_segments" is a required parameter', "child_segments")
    for name, wanted in (
        ("child_segments", "array"),
        ("custom_audience_id", "string"),
        ("boolean_operator", "one of AND, OR"),
        ("lookback_window", "one of 1, 7, 14, 30"),
        ("frequency", "int of at least 1"),
        ("frequency_comparator", f"one of {', '.join(FREQUENCY_COMPARATORS)}"),
        ("negate", "boolean"),
    ):
        if name in document and not _is_good(name, document[name]):
            yield problem("INVALID_PARAMETER", f"Expected {wanted} for {name}", name)


def _is_good(name: str, value: object) -> bool:
    good = {
        "child_segments": isinstance(value, list),
        "custom_audience_id": isinstance(value, str) and value != "",
        "boolean_operator": isinstance(value, str) and value in _OPERATORS,
        "lookback_window": type(value) is int and value in _WINDOWS,
        "frequency": type(value) is int and value >= 1,
        "frequency_comparator": isinstance(value, str) and value in FREQUENCY_COMPARATORS,
        "negate": isinstance(value, bool),
    }
    return good[name]


def _place_problems(document: Mapping[str, Any], depth: int) -> Iterator[Problem]:
    """Return the problems of a segment as a leaf, or as one that joins other segments."""
    if document.get("child_segments"):
        if "boolean_operator" not in document:
            message = '"boolean_operator" is a required parameter with child_segments'
            yield problem("MISSING_PARAMETER", message, "boolean_operator")
        if "custom_audience_id" in document:
            message = "custom_audience_id and child_segments are exclusive parameters"
            yield problem("EXCLUSIVE_PARAMETERS", message, "custom_audience_id")
    elif depth > 0 and "custom_audience_id" not in document:
        yield problem("MISSING_PARAMETER", '"custom_audience_id" is a required parameter', "custom_audience_id")


# --- Visits of people, which lookback and frequency count (specification part 2, sections 2 and 4.3) ---
#
# The specification does not say how a visit is known. Here the entry of a person in an audience is one, at the moment
# when it takes effect, and the seed decides how often the person came and comes besides: every 1, 2, 5, 10 or 20 days,
# from thirty days before on, or never. So a leaf that asks for one visit, and has no window, holds every member.

_DAY: Final = 86_400.0
_PERIODS_DAYS: Final = (1, 2, 5, 10, 20, None)
_BEFORE_SECONDS: Final = 30 * _DAY
_COMPARATORS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "NUM_GTE": operator.ge,
    "NUM_GT": operator.gt,
    "NUM_EQ": operator.eq,
    "NUM_LTE": operator.le,
    "NUM_LT": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Joining:
    """One person's entry in one audience: the moment when it took effect, in epoch seconds."""

    audience_id: str
    moment: float


def count_visits(key_set: bytes, joinings: Iterable[Joining], salt: int, moment: float, window_days: int | None) -> int:
    """Return the visits of a person up to `moment`, in the last `window_days` if they are given."""
    return sum(_count(key_set, joining, salt, moment, window_days) for joining in joinings)


def is_often_enough(segment: Segment, visits: int) -> bool:
    """Whether a leaf accepts so many visits."""
    return _COMPARATORS[segment.frequency_comparator](visits, segment.frequency)


def _count(key_set: bytes, joining: Joining, salt: int, moment: float, window_days: int | None) -> int:
    since = float("-inf") if window_days is None else moment - window_days * _DAY
    chance = zlib.crc32(key_set, zlib.crc32(joining.audience_id.encode(), salt))
    period_days = _PERIODS_DAYS[chance % len(_PERIODS_DAYS)]
    if period_days is None:
        return int(since < joining.moment <= moment)
    period = period_days * _DAY
    last = (moment - joining.moment) // period
    # The last one that is too early: before the window, or more than thirty days before the person joined.
    early = (max(since - joining.moment, -_BEFORE_SECONDS)) // period
    return max(0, int(last - early))


# --- How many people a flexible audience holds: its tree is evaluated over the people of its leaves ---
#
# A leaf holds the people of its audience who came as often as required within its window. People who are in none of the
# audiences of the leaves are not counted: a negated segment means the other people of all these audiences.


# The people of an audience, by key set, with the entries that put them there.
People = Mapping[bytes, tuple[Joining, ...]]


def count_matched(root: Segment, audiences: Mapping[str, Audience], population: Population, moment: float) -> int:
    """Return the number of matched people among those who were in the leaves at `moment` (epoch seconds)."""
    return len(_Evaluation(audiences, population, moment).people(root))


class _Evaluation:
    def __init__(self, audiences: Mapping[str, Audience], population: Population, moment: float) -> None:
        self._audiences, self._population, self._moment = audiences, population, moment

    def people(self, root: Segment) -> People:
        """Return the people of a tree, each with the entries that they have in its audiences."""
        ids = {leaf.custom_audience_id for leaf in root.leaves()}
        leaves = {audience_id: self._audience(audience_id) for audience_id in ids}
        universe: dict[bytes, tuple[Joining, ...]] = {}
        for members in leaves.values():
            for key_set, joinings in members.items():
                universe[key_set] = (*universe.get(key_set, ()), *joinings)
        found = self._resolve(root, leaves, frozenset(universe))
        return {key_set: universe[key_set] for key_set in found}

    def _resolve(
        self, segment: Segment, leaves: Mapping[str | None, People], universe: frozenset[bytes]
    ) -> frozenset[bytes]:
        if segment.child_segments:
            join = and_ if segment.boolean_operator == "AND" else or_
            found = reduce(join, (self._resolve(child, leaves, universe) for child in segment.child_segments))
        else:
            found = frozenset(self._frequent(segment, leaves[segment.custom_audience_id]))
        return universe - found if segment.negate else found

    def _frequent(self, leaf: Segment, members: People) -> Iterator[bytes]:
        salt = self._population.salt
        for key_set, joinings in members.items():
            visits = count_visits(key_set, joinings, salt, self._moment, leaf.lookback_window)
            if is_often_enough(leaf, visits):
                yield key_set

    def _audience(self, audience_id: str | None) -> People:
        audience = self._audiences.get(audience_id or "")
        if audience is None or audience.deleted:
            return {}
        if audience.segments is not None:
            return self.people(audience.segments)
        spans = dict(audience.members.members(self._moment))
        matched = self._population.matched(spans.items())
        return {key_set: (Joining(audience.id, spans[key_set].effective_at),) for key_set in matched}


# --- `POST …/batch/accounts/:account_id/custom_audiences`: at most ten, all or nothing (specification part 2, section
# 4.3) ---
#
# Where the specification leaves a choice: a tree is in `segments`, or its two members are in `params` themselves;
# beside `segments` an empty `child_segments` is allowed, since the specification calls it required. Update and Delete
# name their audience by `custom_audience_id`; every operation names its type, Create and Update the name, Create the
# tree. A mobile audience has no tree. Leaves are audiences of the account, and a flexible one counts as its own leaves
# do. During the beta the public service takes only mobile audiences as leaves, which is not required here.

_OPERATION_TYPES: Final = ("Create", "Update", "Delete")
# The types of the batch, as records name them (public documentation).
_AUDIENCE_TYPES: Final[Mapping[str, str]] = {"FLEXIBLE": "FLEXIBLE", "MOBILE_AUDIENCE": "MOBILE"}
_MEMBERS: Final = frozenset({"audience_type", "name", "child_segments"})
_MEMBERS_OF_FLEXIBLE: Final = _MEMBERS | {"segments", "boolean_operator"}

Change = Callable[[], Audience]


def batch_audiences(call: Call) -> Answer:
    """Return the created, changed or deleted audiences, in the order of the items."""
    call.require_feature(FLEXIBLE_AUDIENCES)
    items = check_array(read_document(call), call.ids, most=FLEXIBLE_BATCH_ITEMS)
    reader = _Reader(call)
    read = [reader.read(item) for item in items]
    changes = [found for found in read if not isinstance(found, list)]
    if len(changes) < len(read):
        problems = [found if isinstance(found, list) else [] for found in read]
        raise refuse_items(problems, [echo_item(item, call.ids, _OPERATION_TYPES) for item in items])
    call.store.catch_up(call.account, call.now)
    echoes = [{**item, "params": {**item["params"], **call.ids}} for item in items]
    return success_of_items([show_item(change()) for change in changes], echoes)


def show_item(audience: Audience) -> dict[str, Any]:
    """Return the record of an audience, with its tree under `metadata` when it has one."""
    document = audience.document()
    if audience.segments is not None:
        document["metadata"] = [
            {
                "custom_audience_id": audience.id,
                "account_id": audience.account_id,
                "name": audience.name,
                "audience_source": "FLEXIBLE_AUDIENCE",
                "upload_status": "UPLOADED",
                "segments": audience.segments.document(),
            }
        ]
    return document


class _Reader:
    """Reads the items of one batch into changes, which are made later."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._names: set[str] = set()
        self._deleted: set[str] = set()

    def read(self, item: object) -> Change | list[Problem]:
        """Return a change, or its problems."""
        if not isinstance(item, dict):
            return [problem("INVALID_PARAMETER", "Expected object for operation", "operation")]
        problems = item_problems(item, _OPERATION_TYPES)
        params = item.get("params")
        if problems or not isinstance(params, dict):
            return problems
        audience_type = params.get("audience_type")
        if "audience_type" not in params:
            return [missing("audience_type")]
        if not isinstance(audience_type, str) or audience_type not in _AUDIENCE_TYPES:
            message = f"Expected one of {', '.join(_AUDIENCE_TYPES)} for audience_type"
            return [problem("INVALID_PARAMETER", message, "audience_type")]
        reads = {"Create": self._create, "Update": self._update, "Delete": self._delete}
        return reads[item["operation_type"]](params, _AUDIENCE_TYPES[audience_type])

    def _create(self, params: Mapping[str, Any], audience_type: str) -> Change | list[Problem]:
        known = _MEMBERS_OF_FLEXIBLE if audience_type == "FLEXIBLE" else _MEMBERS
        problems = [*unknown(params, known, "params"), *self._name_problems(params)]
        if audience_type == "FLEXIBLE":
            root, tree_problems = self._tree(params)
        else:
            root, tree_problems = None, _no_tree(params)
            problems += [] if "child_segments" in params else [missing("child_segments")]
        problems += tree_problems
        if problems:
            return problems
        call, name = self._call, params["name"]
        return lambda: call.store.make_audience(
            call.account, name, None, call.now, audience_type=audience_type, segments=root
        )

    def _update(self, params: Mapping[str, Any], audience_type: str) -> Change | list[Problem]:
        if audience_type == "FLEXIBLE":
            message = "A flexible audience cannot be changed after its creation"
            return [problem("INVALID_PARAMETER", message, "operation_type")]
        problems = [*unknown(params, _MEMBERS | {"custom_audience_id"}, "params"), *_no_tree(params)]
        audience = self._audience(params, audience_type, problems)
        problems += self._name_problems(params, audience)
        if audience is None or problems:
            return problems
        return lambda: _rename(audience, params["name"], self._call.now)

    def _delete(self, params: Mapping[str, Any], audience_type: str) -> Change | list[Problem]:
        known = _MEMBERS_OF_FLEXIBLE if audience_type == "FLEXIBLE" else _MEMBERS
        problems = unknown(params, known | {"custom_audience_id"}, "params")
        audience = self._audience(params, audience_type, problems)
        if audience is None or problems:
            return problems
        self._deleted.add(audience.id)
        return lambda: _delete(audience, self._call.now)

    def _audience(self, params: Mapping[str, Any], audience_type: str, problems: list[Problem]) -> Audience | None:
        if "custom_audience_id" not in params:
            problems.append(missing("custom_audience_id"))
            return None
        audience_id = params["custom_audience_id"]
        audience = self._call.account.audiences.get(audience_id) if isinstance(audience_id, str) else None
        gone = audience is None or audience.deleted or audience.id in self._deleted
        if audience is None or gone or audience.audience_type != audience_type:
            message = f"There is no such Custom Audience in Account {self._call.account.id}"
            problems.append(problem("NOT_FOUND", message, "custom_audience_id"))
            return None
        return audience

    def _name_problems(self, params: Mapping[str, Any], audience: Audience | None = None) -> Iterator[Problem]:
        name = params.get("name")
        if "name" not in params:
            yield missing("name")
        elif not isinstance(name, str) or not name:
            yield problem("INVALID_PARAMETER", "Expected string for name", "name")
        elif name in self._names or (self._call.account.has_name(name) and (not audience or audience.name != name)):
            message = "A Custom Audience with this name exists, or existed, in the Account"
            yield problem("INVALID_PARAMETER", message, "name")
        else:
            self._names.add(name)

    def _tree(self, params: Mapping[str, Any]) -> tuple[Segment | None, list[Problem]]:
        flat = {name: params[name] for name in ("boolean_operator", "child_segments") if name in params}
        if "segments" in params and flat not in ({}, {"child_segments": []}):
            message = "segments and child_segments are exclusive parameters"
            return None, [problem("EXCLUSIVE_PARAMETERS", message, "segments")]
        reader = SegmentReader.of(self._call.options.profile)
        root = reader.read_root(params.get("segments", flat))
        return root, [*reader.problems, *(self._leaf_problems(root) if root else ())]

    def _leaf_problems(self, root: Segment) -> Iterator[Problem]:
        found = [self._call.account.audiences.get(leaf.custom_audience_id or "") for leaf in root.leaves()]
        if sum(map(self._count_leaves, found)) > FLEXIBLE_LEAVES:
            message = f"A flexible audience has at most {FLEXIBLE_LEAVES} leaves, those of flexible leaves among them"
            yield problem("REQUEST_TOO_COMPLEX", message, "child_segments")
        if any(audience is None or audience.deleted for audience in found):
            message = f"A segment names a Custom Audience that was not found for Account {self._call.account.id}"
            yield problem("NOT_FOUND", message, "custom_audience_id")

    def _count_leaves(self, audience: Audience | None) -> int:
        """Return the custom audiences that an audience is made of: 1 unless it is flexible."""
        if audience is None or audience.segments is None:
            return 1
        inner = (self._call.account.audiences.get(leaf.custom_audience_id or "") for leaf in audience.segments.leaves())
        return sum(map(self._count_leaves, inner))


def _no_tree(params: Mapping[str, Any]) -> list[Problem]:
    if params.get("child_segments", []) == []:
        return []
    return [problem("INVALID_PARAMETER", "A mobile audience has no segments", "child_segments")]


def _rename(audience: Audience, name: str, now: float) -> Audience:
    audience.name = name
    audience.updated_at = now
    return audience


def _delete(audience: Audience, now: float) -> Audience:
    audience.deleted = True
    audience.updated_at = now
    return audience
