"""Rules between the parameters of one endpoint: facts only. `words` say the rule to people."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from audiencekit.api.catalogue.parameters import Level


@dataclass(frozen=True, slots=True)
class Between:
    """Where a rule holds: `top` is the query, or the top of a JSON body."""

    at: Level = field(default="top", kw_only=True)


@dataclass(frozen=True, slots=True)
class NotTogether(Between):
    """At most one of `names` is given; a flag counts as given when it is true."""

    names: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"{' and '.join(self.names)} do not go together"


@dataclass(frozen=True, slots=True)
class ExactlyOneOf(Between):
    """One of `names` is given, and no other."""

    names: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"exactly one of {' and '.join(self.names)} is given"


@dataclass(frozen=True, slots=True)
class RequiredIf(Between):
    """`name` is given when `other` is, and is not empty."""

    name: str
    other: str

    @property
    def words(self) -> str:
        return f"{self.name} is required with {self.other}"


@dataclass(frozen=True, slots=True)
class RequiredIn(Between):
    """The params of an `operation` of a batch hold one of `names`; an empty list counts, an empty text does not."""

    operation: str
    names: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"{' or '.join(self.names)} is required in {self.operation}"


@dataclass(frozen=True, slots=True)
class NotIn(Between):
    """The params of an `operation` of a batch have no `name`, or none that is `value`."""

    operation: str
    name: str
    value: str | None = None

    @property
    def words(self) -> str:
        return f"{' '.join(filter(None, (self.name, self.value)))} does not go with {self.operation}"


@dataclass(frozen=True, slots=True)
class Present(Between):
    """`name` is given, and may be empty."""

    name: str

    @property
    def words(self) -> str:
        return f"{self.name} is required, even when it is empty"


@dataclass(frozen=True, slots=True)
class RequiredUnless(Between):
    """`name` is given when `other` is not."""

    name: str
    other: str

    @property
    def words(self) -> str:
        return f"{self.name} is required without {self.other}"


@dataclass(frozen=True, slots=True)
class OnlyIf(Between):
    """`name` is given only when `other` is `value`; when `other` is left out, its default counts."""

    name: str
    other: str
    value: str

    @property
    def words(self) -> str:
        return f"{self.name} goes only with {self.other} {self.value}"


@dataclass(frozen=True, slots=True)
class NotAbove(Between):
    """The number `name` is at most the number `other`."""

    name: str
    other: str

    @property
    def words(self) -> str:
        return f"{self.name} is at most {self.other}"


@dataclass(frozen=True, slots=True)
class LaterThan(Between):
    """The moment `name` is later than the moment `other`, which is now when it is left out."""

    name: str
    other: str

    @property
    def words(self) -> str:
        return f"{self.name} is later than {self.other}"


@dataclass(frozen=True, slots=True)
class ItemsTogether(Between):
    """The lists `names` hold at most `max_items` entries together."""

    names: tuple[str, ...]
    max_items: int

    @property
    def words(self) -> str:
        return f"{' and '.join(self.names)} hold at most {self.max_items} entries together"


@dataclass(frozen=True, slots=True)
class MediaTogether(Between):
    """The list `name` holds keys of images, or one of a GIF or a video. A key of another form may be an image."""

    name: str

    @property
    def words(self) -> str:
        return f"{self.name} are images, or one animated GIF, or one video"


@dataclass(frozen=True, slots=True)
class DaysBetween(Between):
    """The moments `start` and `end` are in this order and at most `days` apart; `end` is now when it is left out."""

    start: str
    end: str
    days: int

    @property
    def words(self) -> str:
        return f"{self.end} is at most {self.days} days after {self.start}"


@dataclass(frozen=True, slots=True)
class UnderMonthsAhead(Between):
    """The moment `name` is later than now, and less than `months` calendar months away."""

    name: str
    months: int

    @property
    def words(self) -> str:
        return f"{self.name} is later than now and under {self.months} months away"


Rule: TypeAlias = (
    NotTogether
    | ExactlyOneOf
    | RequiredIf
    | RequiredIn
    | NotIn
    | Present
    | RequiredUnless
    | OnlyIf
    | NotAbove
    | LaterThan
    | ItemsTogether
    | MediaTogether
    | DaysBetween
    | UnderMonthsAhead
)

CURSOR_OR_TOTAL: Final = NotTogether(("cursor", "with_total_count"))
