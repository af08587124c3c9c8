"""`overlap`: how many people are in several lists and audiences. Nothing is sent, and no hash leaves the process."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Literal, Unpack

import numpy as np

from audiencekit.audiences.sync.sync import snapshot_store
from audiencekit.destinations.known_audiences import KnownAudiences
from audiencekit.errors import PlanRefused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords, guarded
from audiencekit.planning.keywords import SourceKeywords, with_keywords
from audiencekit.planning.plan import PlannedRun
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.planning.planner import plan_run
from audiencekit.process.workers import cores, in_order
from audiencekit.records.batches import IS_DELETE
from audiencekit.records.columns.arrays import arrow_array
from audiencekit.reporting.overlap import ComparedPeople, FoundByKind, FoundPeople, Overlap, floored, floored_part
from audiencekit.reporting.page.privacy import FLOOR, masked
from audiencekit.reporting.progress import Progress, progress_or_default
from audiencekit.selection.overlap import MOST_LISTS, ListCounts, PeopleOfLists, TaggedPeople
from audiencekit.settings import Settings, load_settings
from audiencekit.snapshots.files import PARTS, Snapshot
from audiencekit.snapshots.members import DOUBTFUL, chosen, day_of, days_of
from audiencekit.sources.bytes.files import STANDARD_INPUT
from audiencekit.sources.files import AnySource, Item, items_of, names_of
from audiencekit.state.spool import Spool

_FLOORED: Final = f"counts are rounded to tens, and counts below {FLOOR} are hidden"


@dataclass(frozen=True, slots=True)
class _Compared:
    """A list or an audience whose people were added, and notes on it."""

    name: str
    source: Literal["list", "audience"]
    notes: tuple[str, ...] = ()


@with_keywords(SourceKeywords)
def overlap(
    *sources: AnySource,
    audiences: Sequence[str] = (),
    share: bool = False,
    phone_validity: Literal["valid", "possible"] = "valid",
    settings: Settings | None = None,
    progress: Progress | None = None,
    now: datetime | None = None,
    **keywords: Unpack[SourceKeywords],
) -> Overlap:
    """Count the people of lists and audiences who are in several of them. Sends nothing, and needs no credentials.

    Each of `sources` is one list: a path, a directory that `prepare` wrote, a data frame, or a list of these. Its
    people are those that `upload` would put in. `audiences` are under sync, and given by id or by a name that was used
    on this machine before; their people are the members in the snapshot whose entries have not expired `now`. A person
    is found in another list that has any identifier of the person. The keywords are about all lists. Counts are floored
    where an audience takes part, and with `share` (see `Overlap`). Raises UsageError for fewer than two or more than
    eight lists and audiences, SourceRefused and MappingRefused for a list that cannot be read, PlanRefused for a
    list of which no person was read, for two without a kind in common, and for an audience that is not under sync,
    SnapshotRefused for a snapshot that cannot be trusted.
    """
    settings, progress = settings or load_settings(), progress_or_default(progress)
    lists, names = list(map(items_of, sources)), [audiences] if isinstance(audiences, str) else list(audiences)
    given: Any = {name: value for name, value in keywords.items() if value is not None}
    _check(lists, names, given)
    now = now or datetime.now(UTC)
    given["phone_validity"] = phone_validity
    terms = PlanTerms.of(given, settings, now=now)
    with Spool(Path(tempfile.gettempdir())) as scratch:
        people = PeopleOfLists(scratch)
        compared = [_add_list(people, items, terms, progress) for items in lists]
        compared += [_add_audience(people, one, settings, progress, now) for one in _ids(names, settings)]
        counts = people.count()
    _refuse_apart([one.name for one in compared], counts)
    return _result(compared, counts, is_floored=share or bool(names))


def _refuse_apart(names: Sequence[str], counts: Sequence[ListCounts]) -> None:
    """Raise PlanRefused for two lists without a kind in common: that no one is in both was not found out."""
    kinds = [{kind for kind in one.by_kind if one.people(kind)} for one in counts]
    for (name, own), (other_name, others) in combinations(zip(names, kinds, strict=True), 2):
        if own and others and not own & others:
            raise PlanRefused(
                f"{name} has {_listed(own)} alone, and {other_name} {_listed(others)}: whether anyone is in both cannot"
                " be seen",
                hint="give lists with a kind of identifier that all of them have",
            )


def _listed(kinds: Collection[Kind]) -> str:
    return " and ".join(sorted(kind.value for kind in kinds))


def _check(lists: Sequence[Sequence[Item]], audiences: Sequence[str], keywords: Any) -> None:
    """Raise UsageError for a number of lists that cannot be compared, and for keywords without a list."""
    count = len(lists) + len(audiences)
    if not 2 <= count <= MOST_LISTS:
        raise UsageError(
            f"from 2 to {MOST_LISTS} lists and audiences are compared, and {count} {'was' if count == 1 else 'were'}"
            " given",
            hint="give files, directories that `prepare` wrote, or audiences under sync",
        )
    paths = [os.fspath(item) for items in lists for item in items if isinstance(item, str | os.PathLike)]
    if paths.count(STANDARD_INPUT) > 1:
        raise UsageError("standard input is given twice", hint="it is one list")
    if keywords and not lists:
        raise UsageError("options of lists were given, and no list", hint="leave them out: audiences need none")


def _ids(given: Sequence[str], settings: Settings) -> list[str]:
    known = KnownAudiences(settings.state_dir, settings.account_id)
    found = [known.find(one) for one in given]
    if len(set(found)) < len(found):
        raise UsageError("an audience is given twice", hint="give it once")
    return found


# --- A list: the people that `upload` would put in ---


def _add_list(people: PeopleOfLists, items: Sequence[Item], terms: PlanTerms, progress: Progress) -> _Compared:
    names = names_of(items)
    name = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    people.begin_list()
    with ExitStack() as stack:
        planned = plan_run(list(items), terms, PlanResources(stack=stack, progress=progress))
        batches, is_any = planned.layout.batches(), False
        for batch in in_order(partial(_tag_batch, people, planned), batches, workers=cores()):
            people.add(batch)
            is_any = is_any or batch[0] > 0
        if not is_any and planned.refusals:  # that no person of it is elsewhere would be no finding
            refusal = planned.refusals[0]
            hint = (
                f"{refusal.hint}; if only some of the lists are hashed, give the directory that `prepare` makes of each"
            )
            raise PlanRefused(f"{name}: no person was read: {refusal}", hint=hint)
        return _Compared(name, "list", tuple(_notes_on(planned)))


@guarded
def _tag_batch(people: PeopleOfLists, planned: PlannedRun, number: int) -> TaggedPeople:
    records, places = planned.chosen_records(number)
    batch = records.unwrap()
    deletes = batch.column(IS_DELETE).to_numpy(zero_copy_only=False)
    return people.tag(HashedRecords(batch.take(arrow_array(places[~deletes[places]]))))


def _notes_on(planned: PlannedRun) -> Iterator[str]:
    """Yield the reasons for which the list would be refused, and large losses: people who are not counted."""
    for refusal in planned.refusals:
        yield f"`upload` would refuse it: {refusal}"
    for loss in planned.warnings:
        yield loss.message + (f": {loss.remedy}" if loss.remedy else "")
    yield from planned.suppression_notes


# --- An audience under sync: the members whose entries have not expired ---


def _add_audience(
    people: PeopleOfLists, audience_id: str, settings: Settings, progress: Progress, now: datetime
) -> _Compared:
    store, name = snapshot_store(audience_id, settings), KnownAudiences(settings.state_dir, settings.account_id).names()
    if not store.exists():
        raise PlanRefused(
            f"audience {audience_id} is not under sync: this machine does not know its members",
            hint="`audiencekit sync SOURCE --audience ID` begins it; or compare the list that was uploaded",
        )
    people.begin_list()
    with closing(store.open()) as snapshot:
        tag = partial(_tag_part, people, snapshot, day_of(now) - 1)
        for number, part in enumerate(in_order(tag, range(PARTS), workers=cores()), start=1):
            people.add(part)
            progress.step("reading the snapshot", number, PARTS, unit="parts")
    unsettled = "a run is at work, or was interrupted: its changes are not counted"
    return _Compared(
        name.get(audience_id) or audience_id, "audience", (unsettled,) if store.changes_path.exists() else ()
    )


@guarded
def _tag_part(people: PeopleOfLists, snapshot: Snapshot, lapsed_before: int, part: int) -> TaggedPeople:
    members = snapshot.members(part)
    days = days_of(members)
    return people.tag(chosen(members, np.flatnonzero((days == DOUBTFUL) | (days >= lapsed_before))))


# --- The result, floored or exact ---


def _result(compared: Sequence[_Compared], counts: Sequence[ListCounts], *, is_floored: bool) -> Overlap:
    names = list(_distinct(one.name for one in compared))
    whole, part = (floored, floored_part) if is_floored else (int, _exact)
    lists = tuple(
        ComparedPeople(
            name=name,
            source=one.source,
            people=whole(count.people()),
            only_here=part(count.only_here, count.people()),
        )
        for name, one, count in zip(names, compared, counts, strict=True)
    )
    found = tuple(
        FoundPeople(
            of=names[count.number],
            within=names[other.number],
            people=whole(count.people()),
            found=part(count.found_in(other.number), count.people()),
            kinds=tuple(
                FoundByKind(
                    kind=kind.value,
                    people=whole(count.people(kind)),
                    found=part(count.found_in(other.number, kind), count.people(kind)),
                )
                for kind in Kind
                if kind in count.by_kind and count.people(kind)
            ),
        )
        for count in counts
        for other in counts
        if other is not count
    )
    told = [f"{name}: {note}" for name, one in zip(names, compared, strict=True) for note in one.notes]
    return Overlap(
        lists=lists,
        found=found,
        in_all=part(counts[0].found_in_all(len(counts)), counts[0].people()),
        floor=FLOOR if is_floored else 0,
        notes=(*(map(masked, told) if is_floored else told), *([_FLOORED] if is_floored else [])),
    )


def _exact(part: int, whole: int) -> int:
    return part


def _distinct(names: Iterable[str]) -> Iterator[str]:
    """Yield the names, those that come again with a number."""
    seen = Counter[str]()
    for name in names:
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name} ({seen[name]})"
