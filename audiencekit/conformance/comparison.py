"""Raw values beside the digests that a pipeline made of them: which are right, and by which faults the others came."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import phonenumbers
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.conformance.fault_classes import (
    BY_CODE,
    CLASSES,
    LEFT_OUT,
    OTHER_ROW,
    RANKS,
    UNKNOWN,
    FaultClass,
    Step,
    Value,
    add_up,
    digests,
)
from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind, Reason, Rules
from audiencekit.identifiers.texts import trim
from audiencekit.records.batches import MappedColumn
from audiencekit.records.columns.arrays import VALID, arrow_array, code_of
from audiencekit.records.columns.hashes import to_hex
from audiencekit.records.deciding import VALUE_LOOPS

Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]
Faults = frozenset[FaultClass]

_LOOKED_AT: Final = 150  # wrong values of a round, drawn from the list
_IN_PAIRS: Final = 24  # of these, for which every pair of faults is tried
_IN_THREES: Final = 8  # faults of which any three are tried together
_ROUNDS: Final = 6
_SEED: Final = 49
_BATCH: Final = 65_536  # values that are decided, or held as objects of Python, at a time
_HEX: Final = re.compile("[0-9a-f]{64}")
_NO_DIGITS: Final = re.compile("[^0-9]")
_EMPTY: Final = code_of(Reason.EMPTY)
_NOT_HASHED: Final = BY_CODE["not_hashed"]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """The raw cells of one column, and beside them, or in any order, those of the column of digests, as they are.

    `countries` are the codes of the rows, None where no row names one. Faults are counted in `counted` wrong values at
    most, drawn from the list. Holds personal data.
    """

    kind: Kind
    texts: Any = field(repr=False)
    actual: Any = field(repr=False)
    countries: Any | None = field(default=None, repr=False)
    rules: Rules = DEFAULT_RULES
    counted: int = 10_000

    @cached_property
    def decided(self) -> tuple[npt.NDArray[Any], Any]:
        """The decision on each raw cell (a place in REASONS), and the right digests of the valid ones as hex texts.

        Holds raw values: to be asked for in a guarded function only.
        """
        codes, found = [], []
        column = MappedColumn(kind=self.kind, position=0, name=self.kind.value)
        for begin in range(0, len(self.texts), _BATCH):
            countries = None if self.countries is None else self.countries.slice(begin, _BATCH)
            decided = VALUE_LOOPS.decide(self.texts.slice(begin, _BATCH), column, countries, self.rules)
            codes.append(decided.codes)
            found.append(to_hex(decided.values))
        if not codes:
            return np.zeros(0, dtype=np.int8), pa.array([], pa.string())
        return np.concatenate(codes), pa.concat_arrays(found)

    @property
    def are_beside(self) -> bool:
        """Whether the digests belong to the values beside them, as far as one can see."""
        if len(self.texts) != len(self.actual):
            return False
        codes, right = self.decided
        valid = self.actual.filter(arrow_array(codes == VALID))
        if 2 * (pc.sum(pc.equal(valid, right)).as_py() or 0) >= len(right):
            return True
        looked_at = arrow_array(_spread(np.arange(len(right)), self.counted))
        some, others = right.take(looked_at), valid.take(looked_at)
        there = self.actual.filter(pc.is_in(self.actual, value_set=some))
        beside = pc.sum(pc.equal(others, some)).as_py() or 0
        return bool(2 * beside >= (pc.sum(pc.is_in(some, value_set=there)).as_py() or 0))

    @property
    def show_rows(self) -> bool:
        """Whether right digests beside their values show that the rows are the same: in most rows, and of most values.

        One value in every row would be beside itself in any order.
        """
        if len(self.texts) != len(self.actual):
            return False
        codes, right = self.decided
        beside = pc.fill_null(pc.equal(self.actual.filter(arrow_array(codes == VALID)), right), False)
        different = pc.count_distinct(right.filter(beside)).as_py() or 0
        return bool(different and 2 * different >= len(right))


@dataclass(slots=True)
class Compared:
    """The results of one column: of each raw cell whether it is wrong, and how many have which fault.

    `is_value` says where there is something to compare, `is_valid` where this is a valid value in the clear. Where
    digests are in any order, `of_no_row` counts wrong ones of which no row is known, `strangers` those that belong to
    no raw value, and `rejected` the raw values that were not compared. `is_estimate` says that the faults were counted
    in a part of the wrong values.
    """

    is_value: Bools
    is_wrong: Bools
    is_valid: Bools
    counts: Counter[str]
    of_no_row: int = 0
    strangers: int = 0
    rejected: int = 0
    is_estimate: bool = False

    @property
    def wrong(self) -> int:
        """How many are wrong."""
        return int(np.count_nonzero(self.is_wrong)) + self.of_no_row

    @property
    def right(self) -> int:
        """How many are right."""
        return int(np.count_nonzero(self.is_value & ~self.is_wrong))

    @property
    def unexplained(self) -> int:
        """How many digests no fault of one value explains."""
        return self.counts[UNKNOWN[0]] + self.counts[OTHER_ROW[0]]


def compare(pairs: Pairs, *, same_rows: bool) -> Compared:
    """Return which values are right, and the faults of the others. With `same_rows` cells belong to those beside them.

    Holds raw values: to be called from a guarded function only.
    """
    return _beside(pairs, *pairs.decided) if same_rows else _in_any_order(pairs, *pairs.decided)


def _are_blank(cells: Any) -> Bools:
    lengths = pc.utf8_length(pc.utf8_trim_whitespace(pc.fill_null(cells, "")))
    blank: Bools = pc.equal(lengths, 0).to_numpy(zero_copy_only=False)
    return blank


# --- Rows beside rows ---


def _beside(pairs: Pairs, codes: npt.NDArray[Any], right: Any) -> Compared:
    blank, valid = _are_blank(pairs.actual), codes == VALID
    is_right = np.zeros(len(codes), dtype=bool)
    beside = pairs.actual.filter(arrow_array(valid))
    is_right[valid] = pc.fill_null(pc.equal(beside, right), False).to_numpy(zero_copy_only=False)
    is_value = valid | ~blank
    missing = valid & blank
    wrong = np.flatnonzero(is_value & ~is_right & ~missing)
    values = _Values(pairs, valid, right)
    found = _explain(values, wrong, lambda place, digest: digest == values.actual(place))
    is_wrong = is_value & ~is_right
    is_wrong[found.harmless] = False
    left = pairs.actual.take(arrow_array(found.left))
    others = int(pc.sum(pc.is_in(left, value_set=right)).as_py() or 0) if len(left) else 0
    found.counts[OTHER_ROW[0]] = others
    found.counts[UNKNOWN[0]] = len(left) - others
    counts = found.projected()
    counts[LEFT_OUT[0]] = int(np.count_nonzero(missing))
    return Compared(is_value, is_wrong, valid, +counts, is_estimate=found.share < 1)


# --- Digests in any order ---

_CONSTANT: Final = (BY_CODE["empty_hashed"], BY_CODE["null_hashed"])  # one digest, whatever the value


def _in_any_order(pairs: Pairs, codes: npt.NDArray[Any], right: Any) -> Compared:
    valid = codes == VALID
    there = pairs.actual.filter(arrow_array(~_are_blank(pairs.actual)))
    is_right = np.zeros(len(codes), dtype=bool)
    is_right[valid] = pc.is_in(right, value_set=there).to_numpy(zero_copy_only=False)
    foreign = Counter(there.filter(pc.invert(pc.is_in(there, value_set=right))).to_pylist())
    counts = Counter[str]()
    for fault in _CONSTANT:
        for digest in set(_constants(pairs.kind, fault)):
            counts[fault.code] += foreign.pop(digest, 0)
    explained = set[str]()
    refused = ~valid & (codes != _EMPTY)
    asked = np.flatnonzero((valid & ~is_right) | refused)
    values = _Values(pairs, valid, right)
    found = _explain(values, asked, lambda _, digest: digest in foreign, without=_CONSTANT, note=explained.add)
    is_wrong = valid & ~is_right
    is_wrong[found.explained] = True  # a refused value without a digest is as it should be
    is_wrong[found.harmless] = False
    refused[found.harmless] = False
    left = round(np.count_nonzero(valid[found.left]) / found.share)
    known = round(sum(foreign[digest] for digest in explained) / found.share)
    strangers, constants = max(0, foreign.total() - known), counts.total()
    counts += found.projected()
    without = max(0, left - strangers)  # valid values that became a constant, or have no digest
    counts[UNKNOWN[0]] = min(left, strangers)
    counts[LEFT_OUT[0]] = max(0, without - constants)
    return Compared(
        valid | is_wrong,
        is_wrong,
        valid,
        +counts,
        of_no_row=max(0, constants - without),
        strangers=max(0, strangers - left),
        rejected=int(np.count_nonzero(refused & ~is_wrong)),
        is_estimate=found.share < 1,
    )


def mark_mixed_rows(pairs: Sequence[Pairs], results: Sequence[Compared]) -> None:
    """Count the right digests that are in a row with one of another person, where rows are in any order.

    A row of digests is compared with the rows of values that have its digest in an earlier column. The person of that
    row is wrong. Holds raw values: to be called from a guarded function only.
    """
    known = [_numbers(one) for one in pairs]
    mixed = [np.zeros(len(one.actual), dtype=bool) for one in pairs]
    for later in range(1, len(pairs)):
        for earlier in range(later):
            _mark_mixed(known, mixed, earlier, later, results[later])
        results[later].counts[OTHER_ROW[0]] += int(np.count_nonzero(mixed[later]))
        results[later].counts = +results[later].counts


def _mark_mixed(
    known: Sequence[tuple[Places, Places]], mixed: Sequence[Bools], earlier: int, later: int, result: Compared
) -> None:
    """Mark the rows whose digests in two columns are in no row of values together."""
    (people, others), (rows, digests) = known[earlier], known[later]
    asked = np.flatnonzero((others >= 0) & (digests >= 0) & ~mixed[earlier] & ~mixed[later])
    size = len(rows) + 1
    apart = asked[~np.isin(others[asked] * size + digests[asked], people * size + rows)]
    mixed[later][apart] = True
    order = np.argsort(people, kind="stable")
    owners = order[np.searchsorted(people, others[apart], sorter=order)]  # the first row of each
    result.is_value[owners] = True
    result.is_wrong[owners] = True


def _numbers(pairs: Pairs) -> tuple[Places, Places]:
    """Return the numbers of the right digests, of each raw row and of each row of digests; -1 where there is none."""
    codes, right = pairs.decided
    encoded = right.dictionary_encode()
    numbers = np.full(len(codes), -1, dtype=np.int64)
    numbers[codes == VALID] = encoded.indices.to_numpy(zero_copy_only=False)
    there = pc.fill_null(pc.index_in(pairs.actual, value_set=encoded.dictionary), -1)
    return numbers, there.to_numpy(zero_copy_only=False).astype(np.int64)


def _constants(kind: Kind, fault: FaultClass) -> Iterator[str]:
    """The digests of the words of a class, in each form."""
    word = Value(kind, "")
    word.__dict__["ruling"] = ""
    for show in (None, *(one for one in CLASSES if one.step in (Step.SHOW, Step.DIGEST))):
        if show is None or show.code not in ("truncated", "not_hashed"):
            yield from digests(word, frozenset({fault, show} if show else {fault}))


# --- The faults of wrong values: looked for in a few, then counted in all ---


class _Values:
    """The wrong values by their place. The definition is asked once for each, unless a likely form is proven right."""

    def __init__(self, pairs: Pairs, valid: Bools, right: Any) -> None:
        self.pairs, self._valid, self._right = pairs, valid, right
        self._ranks = np.cumsum(valid) - 1  # of the valid ones, among `right`
        self._held: dict[int, Value] = {}

    def load(self, places: Places) -> None:
        """Make the values at `places`; those of before are forgotten."""
        chosen = arrow_array(places)
        texts = self.pairs.texts.take(chosen)
        countries = self.pairs.countries
        where = [None] * len(places) if countries is None else countries.take(chosen).to_pylist()
        self._held.clear()
        for place, raw, country, known in zip(
            places.tolist(), texts.to_pylist(), where, self._known(texts, where, places), strict=True
        ):
            value = Value(self.pairs.kind, raw or "", country, self.pairs.rules)
            if known is not None:
                value.__dict__["ruling"] = known
            self._held[place] = value

    def _known(self, texts: Any, countries: Sequence[str | None], places: Places) -> list[str | None]:
        """The normalised forms that need not be asked for: a likely one whose hash is the right digest."""
        valid = self._valid[places]
        known: list[str | None] = [None] * len(places)
        if not valid.any():
            return known
        right = self._right.take(arrow_array(self._ranks[places[valid]])).to_pylist()
        written = texts.to_pylist()
        for place, digest in zip(np.flatnonzero(valid).tolist(), right, strict=True):
            country = countries[place] or self.pairs.rules.default_country
            likely = _likely(self.pairs.kind, written[place] or "", country)
            known[place] = next((one for one in likely if hashlib.sha256(one.encode()).hexdigest() == digest), None)
        return known

    def __getitem__(self, place: int) -> Value:
        return self._held[place]

    def actual(self, place: int) -> str:
        """The cell beside the value."""
        return self.pairs.actual[place].as_py() or ""


def _likely(kind: Kind, text: str, country: str | None) -> Iterator[str]:
    """Yield the normalised form that most spellings of a value have."""
    if kind is Kind.EMAIL:
        yield trim(text).lower()
    elif kind is Kind.PHONE_NUMBER:
        digits = _NO_DIGITS.sub("", text)
        yield f"+{digits}"
        if country is not None:
            code = phonenumbers.country_code_for_region(country)
            yield f"+{code}{digits.lstrip('0')}"
            yield f"+{code}{digits}"


IsMade = Callable[[int, str], bool]


def _ignore(_: str) -> None:
    """Note nothing."""


@dataclass(slots=True)
class _Explained:
    """The faults of wrong values, counted in a `share` of them.

    `explained` are the places of values with a known fault, `left` of those without; `harmless` ones are right after
    all.
    """

    left: Places
    counts: Counter[str]
    explained: list[int]
    harmless: list[int]
    share: float

    def projected(self) -> Counter[str]:
        """How many of all wrong values have which fault."""
        return Counter({code: round(count / self.share) for code, count in self.counts.items()})


def _explain(
    values: _Values,
    wrong: Places,
    is_made: IsMade,
    without: Collection[FaultClass] = (),
    note: Callable[[str], None] = _ignore,
) -> _Explained:
    """Return the faults of the values at the places `wrong`. `note` gets each digest that a fault explains."""
    explanations: list[Faults] = []
    classes = [one for one in CLASSES if values.pairs.kind in one.kinds and one not in without]
    left, is_new = _spread(wrong, values.pairs.counted), True
    result = _Explained(left, Counter(), [], [], len(left) / max(1, len(wrong)) or 1.0)
    for _ in range(_ROUNDS):
        if not len(left) or not is_new:
            break
        looked_at = _spread(left, _LOOKED_AT)
        values.load(looked_at)
        before = len(explanations)
        explanations = _search(values, looked_at.tolist(), classes, is_made, explanations)
        is_new = len(explanations) > before or before == 0
        if is_new:
            left = _count(values, left, explanations, is_made, note, result)
    result.left = _count_unhashed(values, left, is_made, note, result)
    return result


def _spread(places: Places, most: int) -> Places:
    """Return at most `most` of `places`, drawn from all of them, the same each time.

    Every n-th one would not do: where lists are put together in turns, it could be always of the same list.
    """
    if len(places) <= most:
        return places
    return np.sort(np.random.default_rng(_SEED).choice(places, most, replace=False))


def _count(
    values: _Values,
    wrong: Places,
    explanations: Sequence[Faults],
    is_made: IsMade,
    note: Callable[[str], None],
    result: _Explained,
) -> Places:
    """Count the faults of all `wrong` values into `result`; return the places that are left."""
    left = list[int]()
    for place, value in _loaded(values, wrong):
        if _is_harmless(values, place, is_made):
            result.harmless.append(place)
            if value.reason is Reason.ALREADY_HASHED:
                note(trim(value.raw).lower())
        elif (found := _first(value, place, explanations, is_made)) is not None:
            result.counts.update(fault.code for fault in found[0])
            result.explained.append(place)
            note(found[1])
        else:
            left.append(place)
    return np.array(left, dtype=np.int64)


def _count_unhashed(
    values: _Values, wrong: Places, is_made: IsMade, note: Callable[[str], None], result: _Explained
) -> Places:
    """Count the cells that are passed on as they are, with more faults than are tried together; return the others."""
    left = list[int]()
    for place, value in _loaded(values, wrong):
        text = next((one for one in (value.raw, trim(value.raw)) if one and is_made(place, one)), None)
        if text is None:
            left.append(place)
        else:
            result.counts[_NOT_HASHED.code] += 1
            result.explained.append(place)
            note(text)
    return np.array(left, dtype=np.int64)


def _loaded(values: _Values, places: Places) -> Iterator[tuple[int, Value]]:
    """Yield the places with their values, of which so many are held at a time."""
    for begin in range(0, len(places), _BATCH):
        some = places[begin : begin + _BATCH]
        values.load(some)
        for place in some.tolist():
            yield place, values[place]


def _first(value: Value, place: int, explanations: Sequence[Faults], is_made: IsMade) -> tuple[Faults, str] | None:
    for faults in explanations:
        for digest in digests(value, faults):
            if is_made(place, digest):
                return faults, digest
    return None


def _is_harmless(values: _Values, place: int, is_made: IsMade) -> bool:
    """Whether a digest is passed on as it is, or each of several values in the cell has its digest beside it."""
    value = values[place]
    if value.reason is Reason.ALREADY_HASHED:
        return is_made(place, trim(value.raw).lower())
    if not value.parts or len(values.pairs.actual) != len(values.pairs.texts):
        return False
    each = [hashlib.sha256(part.encode()).hexdigest() for part in value.parts]
    return _HEX.findall(values.actual(place)) == each


def _search(
    values: _Values, places: list[int], classes: Sequence[FaultClass], is_made: IsMade, known: list[Faults]
) -> list[Faults]:
    """Return the explanations of the values at `places`, `known` ones first, then those of the most values."""
    singles = [frozenset({one}) for one in classes]
    explained = {place: _all(values[place], place, [*known, *singles], is_made) for place in places}
    seen = {fault for found in explained.values() for faults in found for fault in faults}
    most = Counter(fault for found in explained.values() for fault in set().union(*found)).most_common(1)
    # Also where one fault would do that no pipeline with the commonest one has.
    common = {fault for fault, _ in most}
    left = [
        place
        for place, found in explained.items()
        if all(any(_excludes(fault, common) for fault in faults) for faults in found)
    ]
    if seen and left:
        near = [pair for pair in _pairs(classes) if pair & seen]
        for place in left:
            explained[place] += _all(values[place], place, near, is_made)
    left = [place for place in places if not explained[place]]
    found = dict[Faults, None]()
    for place in left[:: max(1, len(left) // _IN_PAIRS)][:_IN_PAIRS]:
        # One pair explains most of those that are left, as a rule, and to try every pair takes long.
        explained[place] = _all(values[place], place, found, is_made) or _all(
            values[place], place, _pairs(classes), is_made
        )
        found |= dict.fromkeys(explained[place])
    left = [place for place in places if not explained[place]]
    seen = {fault for each in explained.values() for faults in each for fault in faults}
    if left and len(seen) <= _IN_THREES:
        several = [frozenset(three) for three in combinations(sorted(seen, key=RANKS.__getitem__), 3) if add_up(three)]
        for place in left:
            explained[place] = _all(values[place], place, several, is_made)
    return [*known, *(faults for faults in _covering(explained) if faults not in known)]


def _excludes(fault: FaultClass, used: Collection[FaultClass]) -> bool:
    """Whether a pipeline with a fault that is `used` cannot have this one."""
    return fault not in used and any(not add_up((fault, other)) for other in used if other.step is not Step.REFUSE)


def _pairs(classes: Sequence[FaultClass]) -> list[Faults]:
    return [frozenset(pair) for pair in combinations(classes, 2) if add_up(pair)]


def _all(value: Value, place: int, tried: Collection[Faults], is_made: IsMade) -> list[Faults]:
    return [faults for faults in tried if any(is_made(place, digest) for digest in digests(value, faults))]


def _covering(explained: dict[int, list[Faults]]) -> list[Faults]:
    """The fewest explanations of all values: again and again the one of the most values that are left."""
    left = {place: found for place, found in explained.items() if found}
    chosen, used = list[Faults](), set[FaultClass]()
    while left:
        reach = Counter(faults for found in left.values() for faults in found)
        best = min(
            reach,
            key=lambda faults: (
                len(faults - used) > 1 and any(not each - used for each in reach),
                -reach[faults],
                sum(_excludes(fault, used) for fault in faults),
                len(faults - used),
                len(faults),
                sorted(map(RANKS.__getitem__, faults)),
            ),
        )
        chosen.append(best)
        used |= best
        left = {place: found for place, found in left.items() if best not in found}
    return chosen
