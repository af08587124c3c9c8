"""Records that are managed alike, campaigns and line items: listed, got, deleted, and changed in batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from audiencekit.api.catalogue.endpoint import Endpoint, Section
from audiencekit.api.catalogue.parameters import (
    COUNT,
    CURSOR,
    SORT_BY,
    WITH_DELETED,
    WITH_TOTAL_COUNT,
    Parameter,
    Q,
    flag,
    ids,
    json_object,
    one_of,
)
from audiencekit.api.catalogue.rules import RequiredIn
from audiencekit.limits import MAX_CAMPAIGN_OPERATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Managed:
    """One kind of record; `singular` and `plural` are its names in endpoints, paths and parameters."""

    singular: str
    plural: str
    section: str
    shown: bool = True
    ambiguities: tuple[str, ...] = ()

    @property
    def id_name(self) -> str:
        """The name of its id."""
        return f"{self.singular}_id"

    def list(self, *filters: Parameter) -> Endpoint:
        """Return the row that lists them; `filters` are its own, besides those of every list."""
        return self._rows.get(
            f"list_{self.plural}",
            self._all,
            ids(f"{self.id_name}s"),
            COUNT,
            CURSOR,
            *filters,
            Q,
            SORT_BY,
            WITH_DELETED,
            flag("with_draft", default=False),
            WITH_TOTAL_COUNT,
        )

    def get(self) -> Endpoint:
        """Return the row that shows one."""
        return self._rows.get(f"get_{self.singular}", self._one, WITH_DELETED)

    def create(self, *parameters: Parameter, **columns: Any) -> Endpoint:
        """Return the row that makes one."""
        return self._rows.post(f"create_{self.singular}", self._all, *parameters, **columns)

    def update(self, *parameters: Parameter, **columns: Any) -> Endpoint:
        """Return the row that changes one."""
        return self._rows.put(f"update_{self.singular}", self._one, *parameters, **columns)

    def delete(self) -> Endpoint:
        """Return the row that deletes one."""
        return self._rows.delete(f"delete_{self.singular}", self._one)

    def batch(self, **columns: Any) -> Endpoint:
        """Return the row that makes, changes and deletes several."""
        return self._rows.post(
            f"batch_{self.plural}",
            f"/12/batch/accounts/{{account_id}}/{self.plural}",
            one_of("operation_type", "Create", "Delete", "Update", place="body", required=True, at=("item",)),
            json_object(
                "params",
                place="body",
                required=True,
                at=("item",),
                note=f"as for one {self.singular.replace('_', ' ')}",
            ),
            body="json_array_of_operations",
            operations=MAX_CAMPAIGN_OPERATIONS,
            rules=(
                RequiredIn("Update", (self.id_name,), at="params"),
                RequiredIn("Delete", (self.id_name,), at="params"),
            ),
            params_of=(("Create", f"create_{self.singular}"), ("Update", f"update_{self.singular}")),
            **columns,
        )

    @property
    def _all(self) -> str:
        return f"/12/accounts/{{account_id}}/{self.plural}"

    @property
    def _one(self) -> str:
        return f"{self._all}/{{{self.id_name}}}"

    @property
    def _rows(self) -> Section:
        columns = {"shown": self.shown, "ambiguities": self.ambiguities}
        return Section(self.plural, part=1, section=self.section, columns=columns)
