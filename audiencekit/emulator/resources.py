"""Records of the kinds that have the same form, and the endpoints that they share: list, show, delete (specification
part 1, section 4.0).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from audiencekit.emulator.answers import Answer, format_time, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.paging import Listing, read_list_query
from audiencekit.emulator.parameters import Parameters
from audiencekit.limits import MAX_QUERY_LENGTH

if TYPE_CHECKING:
    from audiencekit.emulator.endpoints.accounts import Account


# --- A record: an id, times, and fields, with their earlier states ---

_OWN: Final = ("id", "created_at", "updated_at", "deleted")


@dataclass(slots=True)
class Record:
    """One record; times in epoch seconds. A deleted one stays, marked. `past` has its earlier states in order."""

    id: str
    created_at: float
    updated_at: float
    fields: Mapping[str, Any]
    deleted: bool = False
    past: tuple[Record, ...] = field(default=(), repr=False)
    changed_by: str = ""  # the id of the user who made it what it is; empty where it was none

    def change(self, changes: Mapping[str, Any], now: float, by: str = "") -> None:
        """Change some fields, on behalf of the user `by`."""
        self._remember()
        self.fields, self.updated_at, self.changed_by = {**self.fields, **changes}, now, by

    def delete(self, now: float, by: str = "") -> None:
        """Mark the record as deleted, on behalf of the user `by`."""
        self._remember()
        self.deleted, self.updated_at, self.changed_by = True, now, by

    def states(self) -> Iterator[Record]:
        """Return the states of the record since its creation, oldest first, with the present one."""
        yield from self.past
        yield self

    def value(self, attribute: str) -> Any:
        """Return the value by which a list is sorted and filtered; None for a field that the record does not have."""
        return getattr(self, attribute) if attribute in _OWN else self.fields.get(attribute)

    def document(self) -> dict[str, Any]:
        """Return the record as the service shows it."""
        return {
            **self.fields,
            "id": self.id,
            "created_at": format_time(self.created_at),
            "updated_at": format_time(self.updated_at),
            "deleted": self.deleted,
        }

    def _remember(self) -> None:
        self.past = (*self.past, replace(self, past=()))


# --- Endpoints that most kinds of records share: list, show, delete (specification part 1, section 4.0) ---


def show_fields(record: Record) -> dict[str, Any]:
    """Return the record unchanged."""
    return record.document()


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One kind of records of an account.

    `kind` is the segment of the path; `filters` are the parameters of its list that take ids of other records, whose
    fields have the same name without the s. `has_q`: the list can be filtered by the beginning of the name, `has_ids`:
    by its ids.
    """

    kind: str
    noun: str
    id_name: str
    filters: tuple[str, ...] = ()
    listing: Listing = field(default_factory=Listing)
    has_q: bool = False
    has_ids: bool = True
    longest_q: int = MAX_QUERY_LENGTH
    show: Callable[[Record], dict[str, Any]] = show_fields

    def of(self, account: Account) -> dict[str, Record]:
        """Return the records of an account by their ids, also deleted ones."""
        return account.records.setdefault(self.kind, {})

    def all(self, call: Call) -> dict[str, Record]:
        """Return the records of the account in the path."""
        return self.of(call.account)

    def find(self, call: Call, record_id: str, *, with_deleted: bool = False) -> Record:
        """Return the record with this id. Raises RefusalError (404) when there is none, or it was deleted."""
        record = self.all(call).get(record_id)
        if record is None or (record.deleted and not with_deleted):
            message = f"{self.noun} {record_id} was not found for Account {call.account.id}"
            raise call.refuse(404, "NOT_FOUND", message, self.id_name)
        return record

    def make(self, call: Call, fields: dict[str, Any], record_id: str | None = None) -> Record:
        """Return a new record of the account, with an id of the usual form unless one is given."""
        record = Record(record_id or call.store.make_id(), call.now, call.now, fields, changed_by=call.user_id)
        self.all(call)[record.id] = record
        return record

    def list_records(self, call: Call) -> Answer:
        """Answer `GET …`: a page of records."""
        return self.list_wanted(call, Parameters(call))

    def list_wanted(
        self, call: Call, parameters: Parameters, wanted: Callable[[Record], bool] = lambda record: True
    ) -> Answer:
        """Answer `GET …`: a page of the wanted records, after the usual parameters were read."""
        query = read_list_query(parameters, self.listing)
        prefix = (parameters.text("q", longest=self.longest_q) or "").casefold() if self.has_q else ""
        own = f"{self.id_name}s"
        ids = {name: parameters.words(name) for name in (*self.filters, *([own] if self.has_ids else []))}
        parameters.finish()

        def chosen(record: Record) -> bool:
            named = not prefix or str(record.value("name")).casefold().startswith(prefix)
            listed = all(
                given is None or record.value("id" if name == own else name.removesuffix("s")) in given
                for name, given in ids.items()
            )
            return named and listed and wanted(record)

        page = query.page(parameters, list(self.all(call).values()), chosen)
        return success(parameters.echo, [self.show(record) for record in page.records], **page.members())

    def show_record(self, call: Call, parameters: Parameters | None = None) -> Answer:
        """Answer `GET …/:id`; a deleted one with `with_deleted`."""
        parameters = parameters or Parameters(call)
        with_deleted = parameters.boolean("with_deleted")
        parameters.finish()
        return success(parameters.echo, self.show(self.find(call, call.ids[self.id_name], with_deleted=with_deleted)))

    def delete_record(self, call: Call, parameters: Parameters | None = None) -> Answer:
        """Answer `DELETE …/:id`: the second time with 404."""
        parameters = parameters or Parameters(call)
        parameters.finish()
        record = self.find(call, call.ids[self.id_name])
        record.delete(call.now, call.user_id)
        return success(parameters.echo, self.show(record))
