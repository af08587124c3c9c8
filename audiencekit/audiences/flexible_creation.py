"""The creation of flexible audiences at the service: the requests, and their results."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal, Protocol, TypeAlias

from audiencekit.api.answers import Answer
from audiencekit.api.client import PermissionScope
from audiencekit.audiences.flexible import Comparator, Document, FlexibleAudience, Leaf, Problem, Segment
from audiencekit.delivery.retry import Clock
from audiencekit.errors import (
    AudiencekitError,
    DefinitionRefused,
    ExchangeError,
    MalformedAnswer,
    NotFinished,
    Outcome,
    RequestRefused,
    ServiceError,
)
from audiencekit.limits import CREATION_LOOKUP_SECONDS, CREATION_LOOKUPS, MAX_PAGE_ROWS, MAX_QUERY_LENGTH
from audiencekit.service_words import is_service_id

# --- The flexible audiences of a file: looked up in the account, then created as one batch, never twice ---
#
# A batch is created whole or not at all (specification part 2, section 4.3), and it must not be sent again when its
# answer was lost: what is there is found out by the names, which are unique in an account.

CreationState: TypeAlias = Literal["created", "found", "missing", "unknown"]

_NOTHING_CREATED: Final = "nothing was created: a batch is created whole or not at all"
_AGAIN: Final = "run `flexible create` again in a while: it looks the names up first and creates none of them twice"


class FlexibleService(Protocol):
    """The two methods of AdsClient that are needed here."""

    def iterate_custom_audiences(
        self,
        *,
        q: str | None = None,
        permission_scope: PermissionScope | None = None,
        count: int | None = None,
        custom_audience_ids: Sequence[str] = (),
        with_deleted: bool | None = None,
    ) -> AsyncIterator[Answer]:
        """Yield every page of audiences."""

    async def create_flexible_audiences(self, operations: Sequence[Mapping[str, Any]]) -> Answer:
        """The new audiences, all of them or none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Creation:
    """The result for one audience of the file; `path` is its place there, `id` None unless it exists.

    The state is `created` (confirmed by the service), `found` (it was there when the answer was lost), `missing` (it
    was not), or `unknown`.
    """

    path: str
    name: str
    id: str | None
    state: CreationState

    def to_json(self) -> dict[str, Any]:
        """Return path, name, id, state."""
        return asdict(self)


async def create_audiences(document: Document, service: FlexibleService, *, clock: Clock) -> tuple[Creation, ...]:
    """Create every audience of `document`; return them in its order, each `created` or `found`.

    Raises DefinitionRefused when nothing was created, with the places in the file: a leaf that is missing, deleted or
    not ours, a name that is taken, or other refusals of the service. Raises NotFinished when it is not known what was
    created, with the known facts in `document`, and an ExchangeError when nothing was.
    """
    document = await look_up(document, service)
    try:
        answer = await service.create_flexible_audiences(to_operations(document.audiences))
        return _read_created(document, answer)
    except ExchangeError as error:
        if error.outcome is not Outcome.UNKNOWN:
            raise _told_at_its_place(document, error) from None
        failure = error.bare()
    return await _find_out(document, service, clock, failure)


async def look_up(document: Document, service: FlexibleService) -> Document:
    """Return `document` with ids in place of the names of audiences, and with the names of all. Nothing is created.

    Raises DefinitionRefused with the places in the file: an audience that is missing, deleted or not ours, a name that
    several audiences have, or a new name that is taken.
    """
    ids, problems = await _ids_of_names(document, service)
    document = document.with_ids(ids)
    given = [audience for audience in document.leaf_paths if is_service_id(audience)]
    owned = await _look_up(service, given, "OWNER") if given else {}
    strange = [audience_id for audience_id in given if audience_id not in owned]
    shared = await _look_up(service, strange, "SHARED") if strange else {}
    complaints = {audience_id: _complaint(audience_id, owned, shared) for audience_id in given}
    problems += _at_places(document, complaints)
    problems += await _name_problems(document, service)
    if problems:
        raise DefinitionRefused(document.source, problems, hint=_NOTHING_CREATED)
    return replace(document, names={audience_id: str(one.get("name", "")) for audience_id, one in owned.items()})


async def _ids_of_names(document: Document, service: FlexibleService) -> tuple[dict[str, str], list[Problem]]:
    """Return the ids of the audiences that are given by name, and the problems of those that have none."""
    ids: dict[str, str] = {}
    complaints: dict[str, str] = {}
    for name in document.leaf_paths:
        if not is_service_id(name):
            found = await _named(service, name)
            alive = [str(one.get("id")) for one in found if not one.get("deleted")]
            if len(alive) == 1:
                ids[name] = alive[0]
            elif alive:
                complaints[name] = f"{len(alive)} audiences of this name: give an id: {', '.join(sorted(alive))}"
            else:
                complaints[name] = "audience of this name is deleted" if found else "no audience has this name"
    return ids, _at_places(document, complaints)


def _at_places(document: Document, complaints: Mapping[str, str]) -> list[Problem]:
    return [
        Problem(path, message)
        for audience, message in complaints.items()
        if message
        for path in document.leaf_paths[audience]
    ]


async def _look_up(
    service: FlexibleService, audience_ids: list[str], scope: PermissionScope
) -> dict[str, dict[str, Any]]:
    """Return those of `audience_ids` that exist, also deleted ones, by their ids."""
    pages = service.iterate_custom_audiences(
        custom_audience_ids=audience_ids, permission_scope=scope, with_deleted=True, count=MAX_PAGE_ROWS
    )
    return {str(audience.get("id")): audience async for page in pages for audience in page.data}


def _complaint(audience_id: str, owned: Mapping[str, Any], shared: Mapping[str, Any]) -> str:
    if audience_id in shared:
        return f"audience {audience_id} belongs to another account; only our own can be used"
    if audience_id not in owned:
        return f"there is no audience {audience_id} in the account"
    return f"audience {audience_id} is deleted" if owned[audience_id].get("deleted") else ""


async def _name_problems(document: Document, service: FlexibleService) -> list[Problem]:
    problems = []
    for path, audience in zip(document.paths, document.audiences, strict=True):
        for taken in await _named(service, audience.name):
            was = "was deleted, and a name is not given twice" if taken.get("deleted") else "is there"
            problems.append(Problem(f"{path}.name", f"audience {taken.get('id')} of this name {was}"))
    return problems


async def _named(service: FlexibleService, name: str) -> list[dict[str, Any]]:
    """Return our audiences, also deleted ones, whose name is exactly `name`."""
    pages = service.iterate_custom_audiences(
        q=name[:MAX_QUERY_LENGTH], permission_scope="OWNER", with_deleted=True, count=MAX_PAGE_ROWS
    )
    return [audience async for page in pages for audience in page.data if audience.get("name") == name]


def _read_created(document: Document, answer: Answer) -> tuple[Creation, ...]:
    """Return the audiences.

    Raises MalformedAnswer, whose outcome is unknown, unless the answer has each at its place.
    """
    ids = [audience.get("id") for audience in answer.data]
    names = [audience.get("name") for audience in answer.data]
    if names != [audience.name for audience in document.audiences] or not all(map(is_service_id, ids)):
        raise MalformedAnswer("the answer does not name the audiences of the batch", status=answer.status)
    return _creations(document, ids, "created")


def _told_at_its_place(document: Document, error: ExchangeError) -> AudiencekitError:
    problems = _service_problems(document, error)
    if not isinstance(error, RequestRefused) or not problems:
        return error
    said = f"; the service says: {error.service_words}" if error.service_words else ""
    return DefinitionRefused(document.source, problems, hint=_NOTHING_CREATED + said)


def _service_problems(document: Document, error: ExchangeError) -> list[Problem]:
    given = error.operation_errors if isinstance(error, ServiceError) else {}
    places = dict(enumerate(document.paths))
    return [
        Problem(places.get(index, "audiences"), f"the service refuses it: {', '.join(codes) or 'it does not say why'}")
        for index, codes in sorted(given.items())
    ]


async def _find_out(
    document: Document, service: FlexibleService, clock: Clock, failure: ExchangeError
) -> tuple[Creation, ...]:
    """Return the audiences of a batch whose answer was lost. Raises NotFinished unless all of them exist."""
    known: tuple[Creation, ...] = _creations(document, [None] * len(document.audiences), "unknown")
    for turn in range(CREATION_LOOKUPS):
        if turn:
            await clock.sleep(CREATION_LOOKUP_SECONDS)
        try:
            known = await _find_by_names(document, service)
        except ExchangeError:
            continue
        if all(creation.state == "found" for creation in known):
            return known
    raise _unfinished(document, known, failure)


async def _find_by_names(document: Document, service: FlexibleService) -> tuple[Creation, ...]:
    ids = []
    for audience in document.audiences:
        # Nothing had this name before the batch was sent.
        alive = [one for one in await _named(service, audience.name) if not one.get("deleted")]
        ids.append(str(alive[0].get("id")) if alive else None)
    return _creations(document, ids, "found")


def _creations(document: Document, ids: Sequence[str | None], state: CreationState) -> tuple[Creation, ...]:
    """Return one result for each audience; those without an id are missing, unless nothing is known of any."""
    absent: CreationState = "unknown" if state == "unknown" else "missing"
    return tuple(
        Creation(path=path, name=audience.name, id=audience_id, state=state if audience_id else absent)
        for path, audience, audience_id in zip(document.paths, document.audiences, ids, strict=True)
    )


def _unfinished(document: Document, known: tuple[Creation, ...], failure: ExchangeError) -> NotFinished:
    facts = [f"{creation.path} is {creation.state}" for creation in known]
    facts += [f"{path}: {message}" for path, message in _service_problems(document, failure)]
    error = NotFinished(
        f"whether the batch was created is not known ({failure}); by its names: {', '.join(facts)}", hint=_AGAIN
    )
    error.document = {"state": "incomplete", "audiences": [creation.to_json() for creation in known]}
    return error


# --- Flexible audiences as the service takes them: fields with a disputed default are always written ---

# The service's example fills these in for groups (public documentation, "flexible audiences").
_GROUP_FREQUENCY: Final = 1
_GROUP_COMPARATOR: Final = Comparator.AT_LEAST


def to_operations(audiences: Iterable[FlexibleAudience]) -> list[dict[str, Any]]:
    """Return the JSON array of one batch that creates `audiences` (specification part 2, section 4.3)."""
    return [
        {
            "operation_type": "Create",
            "params": {"name": audience.name, "audience_type": "FLEXIBLE", "segments": _to_json(audience.root)},
        }
        for audience in audiences
    ]


def _to_json(segment: Segment) -> dict[str, Any]:
    if isinstance(segment, Leaf):
        return {
            "custom_audience_id": segment.audience,
            "lookback_window": segment.lookback_days,
            "frequency": segment.frequency,
            "frequency_comparator": segment.comparator.value,
            "negate": segment.negated,
            "child_segments": [],
        }
    return {
        "boolean_operator": segment.operator.value,
        "frequency": _GROUP_FREQUENCY,
        "frequency_comparator": _GROUP_COMPARATOR.value,
        "negate": segment.negated,
        "child_segments": [_to_json(one) for one in segment.segments],
    }
