"""Lists: order, filters that every list has, and pages (specification part 1, section 4.0)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from audiencekit.emulator.parameters import Parameters
from audiencekit.limits import MAX_PAGE_ROWS


class Listed(Protocol):
    """A record in a list. Deleted records stay, so that cursors keep their place."""

    id: str
    deleted: bool

    def value(self, attribute: str) -> Any:
        """Return the value by which a list is sorted."""


R = TypeVar("R", bound=Listed)


@dataclass(frozen=True, slots=True)
class Page(Generic[R]):
    """Some records, and the cursor of the next page; `total_count` is None unless requested."""

    records: list[R]
    next_cursor: str | None
    total_count: int | None

    def members(self) -> dict[str, Any]:
        """Return the members of the envelope of a list, besides its data."""
        total = {} if self.total_count is None else {"total_count": self.total_count}
        return {"next_cursor": self.next_cursor, **total}


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The parameters that every list takes."""

    count: int
    cursor: str | None
    with_deleted: bool
    with_total_count: bool
    order: tuple[tuple[str, bool], ...]  # attribute, whether descending

    def page(self, parameters: Parameters, records: Sequence[R], wanted: Callable[[R], bool]) -> Page[R]:
        """Return the records of one page. Raises RefusalError for an unknown cursor."""
        arranged = list(records)
        for attribute, descending in reversed(self.order):
            arranged.sort(key=lambda record: _place(record.value(attribute)), reverse=descending)
        chosen = [record for record in arranged if wanted(record) and (self.with_deleted or not record.deleted)]
        rest = chosen if self.cursor is None else self._after(parameters, arranged, chosen)
        shown = rest[: self.count]
        more = len(rest) > len(shown)
        return Page(shown, f"c-{shown[-1].id}" if more else None, len(chosen) if self.with_total_count else None)

    def _after(self, parameters: Parameters, arranged: Sequence[R], chosen: Sequence[R]) -> list[R]:
        places = {f"c-{record.id}": place for place, record in enumerate(arranged)}
        place = places.get(self.cursor or "")
        if place is None:
            raise parameters.fault("cursor", "The cursor is not valid")
        later = {record.id for record in arranged[place + 1 :]}
        return [record for record in chosen if record.id in later]


def _place(value: Any) -> tuple[bool, Any]:
    """Return a sort key that puts records without a value first."""
    return (False, 0) if value is None else (True, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The usual parameters that an endpoint takes, and its bounds of `count`."""

    sortable: Collection[str] = ("created_at", "updated_at", "deleted")
    default_count: int = 200
    max_count: int = MAX_PAGE_ROWS
    takes_count: bool = True
    takes_sort_by: bool = True
    takes_with_deleted: bool = True
    takes_with_total_count: bool = True


def read_list_query(parameters: Parameters, listing: Listing) -> ListQuery:
    """Read count, cursor, sort_by, with_deleted and with_total_count. Raises RefusalError."""
    if listing.takes_with_total_count and parameters.given("with_total_count") == "true":
        parameters.exclusive("with_total_count", "cursor")
    count = listing.default_count
    if listing.takes_count:
        count = parameters.number("count", default=count, least=1, most=listing.max_count)
    words = parameters.words("sort_by") if listing.takes_sort_by else None
    return ListQuery(
        count=count,
        cursor=parameters.text("cursor"),
        with_deleted=listing.takes_with_deleted and parameters.boolean("with_deleted"),
        with_total_count=listing.takes_with_total_count and parameters.boolean("with_total_count"),
        order=tuple(_direction(parameters, word, listing.sortable) for word in words or ()),
    )


def _direction(parameters: Parameters, word: str, sortable: Collection[str]) -> tuple[str, bool]:
    attribute, _, direction = word.rpartition("-")
    if attribute not in sortable or direction not in ("asc", "desc"):
        raise parameters.fault("sort_by", f"Expected {' or '.join(sortable)} with -asc or -desc for sort_by")
    return attribute, direction == "desc"
