"""The counts of a run: values that were present, valid or rejected, and the reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from audiencekit.identifiers.kinds import Kind

MOST_CONSENTS: Final = 1_000  # different words that are counted


@dataclass(slots=True)
class BareNumbers:
    """Valid values that are bare digits, as many as a phone number has: `seen`.

    `plain` of them read as a number with its country's code or with a trunk prefix. `by_country` counts for each large
    country those that are plain or read as its own; without a name, those of the row's own country or the default.

    `forms` counts how each may be read: its number of digits (with a 0 in front where it begins with one), and the
    large countries whose own it may be, with "+" where it is plain. `reach` has, by number of digits, the least and
    the greatest first three digits of those that begin with no zero.
    """

    seen: int = 0
    plain: int = 0
    by_country: Counter[str] = field(default_factory=Counter)
    forms: Counter[str] = field(default_factory=Counter)
    reach: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, other: BareNumbers) -> None:
        """Count `other` in."""
        self.seen += other.seen
        self.plain += other.plain
        self.by_country.update(other.by_country)
        self.forms.update(other.forms)
        for size, (least, greatest) in other.reach.items():
            low, high = self.reach.get(size, (least, greatest))
            self.reach[size] = min(low, least), max(high, greatest)


@dataclass(slots=True)
class PaymentNumbers:
    """Valid values that are written as numbers of cards and accounts are; of those `looked_at`, `right` check."""

    looked_at: int = 0
    right: int = 0

    def add(self, other: PaymentNumbers) -> None:
        """Count `other` in."""
        self.looked_at += other.looked_at
        self.right += other.right


@dataclass(slots=True)
class PersonalShapes:
    """The shapes of the `looked_at` valid values of a sample, by the words of `identifiers.personal_shapes`.

    Of them `numbered` are words and one number, unless it is a counter's. `tried` of these numbers were read, and
    `readings` counts as which countries' (see `identifiers.bare_numbers.readings_of`).
    """

    looked_at: int = 0
    shapes: Counter[str] = field(default_factory=Counter)
    numbered: int = 0
    tried: int = 0
    readings: Counter[str] = field(default_factory=Counter)

    def add(self, other: PersonalShapes) -> None:
        """Count `other` in."""
        self.looked_at += other.looked_at
        self.shapes.update(other.shapes)
        self.numbered += other.numbered
        self.tried += other.tried
        self.readings.update(other.readings)


@dataclass(slots=True)
class Trials:
    """Trials of one column: of `tried` rejected values, by reason, `saved` by an option ("`country='US'`").

    `people` counts by reason the rows that have no valid value and lost one for it; `people_tried` and `people_saved`
    are those among the values that were tried, and saved by an option. `dubious` counts valid addresses by what is odd
    about them, and the provider that was meant.
    """

    tried: Counter[str] = field(default_factory=Counter)
    saved: Counter[tuple[str, str]] = field(default_factory=Counter)
    people: Counter[str] = field(default_factory=Counter)
    people_tried: Counter[str] = field(default_factory=Counter)
    people_saved: Counter[tuple[str, str]] = field(default_factory=Counter)
    dubious: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, other: Trials) -> None:
        """Count `other` in."""
        self.tried.update(other.tried)
        self.saved.update(other.saved)
        self.people.update(other.people)
        self.people_tried.update(other.people_tried)
        self.people_saved.update(other.people_saved)
        self.dubious.update(other.dubious)


@dataclass(slots=True)
class ColumnTally:
    """Values of one mapped column: `present` = `valid` + the sum of `reasons`.

    `likely` counts, among the rejected values that were looked at, the kinds that they look like; `by_definition` the
    values that could not be decided in bulk.
    """

    present: int = 0
    valid: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    likely: Counter[Kind] = field(default_factory=Counter)
    by_definition: int = 0
    other_hashes: int = 0  # among the rejected values that were looked at: the length of MD5, SHA-1 or SHA-512
    tried_elsewhere: int = 0  # rejected phone numbers that were read as those of other countries
    valid_elsewhere: int = 0  # of these in the one where most are
    unknown_countries: int = 0  # of numbers that were rejected for their country: the row names one that is not known
    rounded: int = 0  # ids that end as a spreadsheet rounds them
    bare_numbers: BareNumbers = field(default_factory=BareNumbers)  # of the kind that leaves unhashed
    payment_numbers: PaymentNumbers = field(default_factory=PaymentNumbers)  # of that kind, too
    personal_shapes: PersonalShapes = field(default_factory=PersonalShapes)  # of that kind, too
    trials: Trials | None = None  # where the rejected values were examined

    def add(self, other: ColumnTally) -> None:
        """Count `other` in."""
        self.present += other.present
        self.valid += other.valid
        self.reasons.update(other.reasons)
        self.likely.update(other.likely)
        self.by_definition += other.by_definition
        self.other_hashes += other.other_hashes
        self.tried_elsewhere += other.tried_elsewhere
        self.valid_elsewhere += other.valid_elsewhere
        self.unknown_countries += other.unknown_countries
        self.rounded += other.rounded
        self.bare_numbers.add(other.bare_numbers)
        self.payment_numbers.add(other.payment_numbers)
        self.personal_shapes.add(other.personal_shapes)
        if other.trials is not None:
            self.trials = self.trials or Trials()
            self.trials.add(other.trials)

    @property
    def rejected(self) -> int:
        """Values that did not qualify."""
        return self.present - self.valid


@dataclass(slots=True)
class Tally:
    """Counts over all batches so far. `rows_read` = `rows_rejected` + `records`.

    `combinations` counts the records by the kinds that they have, as bits: the first kind is 1, the second 2.
    `consents` are digests of the different words in the column of consent, up to MOST_CONSENTS of them, and whether
    each is the word that agrees.
    """

    rows_read: int = 0
    rows_rejected: int = 0
    records: int = 0
    columns: dict[str, ColumnTally] = field(default_factory=dict)  # by `MappedColumn.key`
    reasons: Counter[str] = field(default_factory=Counter)  # entries of rejections.csv by reason
    combinations: Counter[int] = field(default_factory=Counter)
    consents: dict[str, bool] = field(default_factory=dict)

    def add_consents(self, consents: Mapping[str, bool]) -> None:
        """Note words of the column of consent; beyond MOST_CONSENTS only the one that agrees."""
        for digest, agrees in consents.items():
            if agrees or len(self.consents) < MOST_CONSENTS:
                self.consents[digest] = agrees

    def of_rows(self, reason: str) -> int:
        """Return the number of rows that were rejected for `reason` as rows, and not for one of their values."""
        return self.reasons[reason] - sum(column.reasons[reason] for column in self.columns.values())

    def add(self, other: Tally) -> None:
        """Count `other` in."""
        self.rows_read += other.rows_read
        self.rows_rejected += other.rows_rejected
        self.records += other.records
        self.reasons.update(other.reasons)
        self.combinations.update(other.combinations)
        self.add_consents(other.consents)
        for key, column in other.columns.items():
            self.columns.setdefault(key, ColumnTally()).add(column)
