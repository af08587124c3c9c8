"""Trees of segments: reading one with every rule checked, and counting visits.

Where the specification leaves a choice: every segment has `child_segments`, empty in a leaf; a segment is a leaf or
joins others, never both; the tree has at least one child. Missing fields get the stated defaults; `negate` is true in
the specification, but false in the public service's example, so its default depends on the profile. The root is never
negated by default.
"""

from __future__ import annotations

import operator
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from audiencekit.emulator.answers import Problem, problem
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
# Where the specification leaves room: every segment has `child_segments`, empty in a leaf; a segment is a leaf or joins
# others, never both; the tree has at least one child. What a segment leaves out gets the stated defaults; `negate` is
# true in the specification, while the public service's example fills in false, so that depends on the profile. The root
# is never negated by default.

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
