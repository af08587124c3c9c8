"""Flexible and mobile audiences: `POST …/batch/accounts/:account_id/custom_audiences`, at most ten, all or nothing.

(Specification part 2, section 4.3.) Where the specification leaves a choice: a tree is in `segments`, or its two
members are in `params` themselves; beside `segments` an empty `child_segments` is allowed, since the specification
calls it required. Update and Delete name their audience by `custom_audience_id`; every operation names its type, Create
and Update the name, Create the tree. A mobile audience has no tree. Leaves are audiences of the account, and a flexible
one counts as its own leaves do. During the beta the public service takes only mobile audiences as leaves, which is not
required here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from audiencekit.emulator.answers import Answer, Problem, problem, refuse_items, success_of_items
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.account_records import FLEXIBLE_AUDIENCES
from audiencekit.emulator.endpoints.audience_users import check_array, echo_item, item_problems, missing, unknown
from audiencekit.emulator.endpoints.custom_audiences import Audience
from audiencekit.emulator.endpoints.flexible_audiences import Segment, SegmentReader
from audiencekit.emulator.parameters import read_document
from audiencekit.limits import FLEXIBLE_BATCH_ITEMS, FLEXIBLE_LEAVES

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
