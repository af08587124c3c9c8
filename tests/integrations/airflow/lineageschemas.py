"""Events of lineage, held to the JSON schemas that OpenLineage publishes. Nothing is fetched."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CORE = "https://openlineage.io/spec/2-0-2/OpenLineage.json"


class LineageSchemas:
    """The schemas of `spec`, a folder of the repository OpenLineage/OpenLineage, found by their addresses.

    `valid` counts the events and the facets that fit theirs.
    """

    def __init__(self, spec: Path) -> None:
        from jsonschema import Draft202012Validator, FormatChecker
        from referencing import Registry, Resource

        found = [json.loads(path.read_text()) for path in (spec / "OpenLineage.json", *spec.glob("facets/*.json"))]
        self._addresses = {each["$id"]: each for each in found}
        resources = [(each["$id"], Resource.from_contents(each)) for each in found]
        self._registry: Any = Registry().with_resources(resources)
        self._validator, self._formats = Draft202012Validator, FormatChecker()
        self.valid = Counter[str]()

    def check(self, lines: str) -> list[dict[str, Any]]:
        """Return the events of a file. Fails for one that does not fit the schema that it names, and for its facets."""
        events = [json.loads(line) for line in lines.splitlines()]
        for event in events:
            assert event["schemaURL"].rpartition("#")[0] == CORE, event["schemaURL"]
            self._check(event, event["schemaURL"], event["eventType"])
            for name, facet in _facets_of(event):
                self._check(facet, facet["_schemaURL"], name)
        return events

    def _check(self, document: Any, address: str, name: str) -> None:
        schema = {"$ref": self._known(address)}
        validator = self._validator(schema, registry=self._registry, format_checker=self._formats)
        assert [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)] == [], name
        self.valid[name] += 1

    def _known(self, address: str) -> str:
        """The address of the schema, at the published version: a later one of the same model accepts what it did."""
        place, _, part = address.partition("#")
        if place in self._addresses:
            return address
        folder, version, name = place.rsplit("/", 2)
        (known,) = [
            each for each in self._addresses
            if each.startswith(f"{folder}/{version.partition('-')[0]}-") and each.endswith(f"/{name}")
        ]  # fmt: skip
        return f"{known}#{part}"


def _facets_of(event: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for place in (event["run"], event["job"], *event["inputs"], *event["outputs"]):
        for kind in ("facets", "inputFacets", "outputFacets"):
            yield from place.get(kind, {}).items()
