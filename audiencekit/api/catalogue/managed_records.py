"""Records that are managed alike, campaigns and line items: listed, got, deleted, and changed in batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from audiencekit.api.catalogue.endpoint import Endpoint, Method
from audiencekit.api.catalogue.parameters import (
    ACCOUNT_ID,
    COUNT,
    CURSOR,
    SORT_BY,
    WITH_DELETED,
    WITH_TOTAL_COUNT,
    Parameter,
    Q,
    flag,
    ids,
    in_path,
    json_object,
    one_of,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL, RequiredIn
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
        parameters = (
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
        return self.row(f"list_{self.plural}", "GET", *parameters, rules=(CURSOR_OR_TOTAL,))

    def get(self) -> Endpoint:
        """Return the row that shows one."""
        return self.row(f"get_{self.singular}", "GET", in_path(self.id_name), WITH_DELETED)

    def create(self, *parameters: Parameter, **columns: Any) -> Endpoint:
        """Return the row that makes one."""
        return self.row(f"create_{self.singular}", "POST", *parameters, **columns)

    def update(self, *parameters: Parameter, **columns: Any) -> Endpoint:
        """Return the row that changes one."""
        return self.row(f"update_{self.singular}", "PUT", in_path(self.id_name), *parameters, **columns)

    def delete(self) -> Endpoint:
        """Return the row that deletes one."""
        return self.row(f"delete_{self.singular}", "DELETE", in_path(self.id_name))

    def batch(self, **columns: Any) -> Endpoint:
        """Return the row that makes, changes and deletes several."""
        return self.row(
            f"batch_{self.plural}",
            "POST",
            one_of("operation_type", "Create", "Delete", "Update", place="body", required=True, at=("item",)),
            json_object(
                "params",
                place="body",
                required=True,
                at=("item",),
                note=f"as for one {self.singular.replace('_', ' ')}",
            ),
            path=f"/12/batch/accounts/{{account_id}}/{self.plural}",
            body="json_array_of_operations",
            operations=MAX_CAMPAIGN_OPERATIONS,
            rules=(
                RequiredIn("Update", (self.id_name,), at="params"),
                RequiredIn("Delete", (self.id_name,), at="params"),
            ),
            params_of=(("Create", f"create_{self.singular}"), ("Update", f"update_{self.singular}")),
            **columns,
        )

    def row(self, name: str, method: Method, *parameters: Parameter, **columns: Any) -> Endpoint:
        """Return a row of this kind. Without `path` it is that of the list, or of one where its id is a parameter."""
        is_of_one = any(each.name == self.id_name and each.place == "path" for each in parameters)
        path = f"/12/accounts/{{account_id}}/{self.plural}" + (f"/{{{self.id_name}}}" if is_of_one else "")
        common = {"path": path, "group": self.plural, "part": 1, "section": self.section, "shown": self.shown}
        return Endpoint(
            name=name,
            method=method,
            parameters=(ACCOUNT_ID, *parameters),
            **{**common, "ambiguities": self.ambiguities, **columns},
        )
