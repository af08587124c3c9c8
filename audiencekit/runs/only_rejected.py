"""`only_rejected`: of a list that was repaired, send the rows that an earlier run rejected and that are valid now.

The proof that a row is one that RUN rejected:

- The journal of RUN is under the state key, and complete. It has a digest of all records of RUN, by row. Beside it,
  `rejected.sealed` has the rows with a rejection, and the tag of the record of each (`selection.row_tags`).
- From the repaired source the records of then are made again: without those of rejected rows that had none, and without
  the identifiers that are new in the others. They must have the digest in the journal. So each row that RUN took is
  unchanged at its place, and a rejected row is known by the rows around it. All that was inserted, removed, sorted or
  edited besides changes the digest, and then nothing is sent.
- In an opened file of sealed rejections each line has a proof under the key of RUN, a row comes once, the columns are
  those of RUN, and a row still has the identifiers that RUN sent of it.

A row goes with all its identifiers that are valid now, so that the service knows them as those of one person. Those
that were sent before are repeated, which changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

import numpy as np
import pyarrow as pa

from audiencekit.errors import InputOutputFailed, MappingRefused, PlanRefused, ResumeRefused, SourceRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords, RawColumns, guarded
from audiencekit.planning.plan import PlannedRun
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.planning.planner import open_planned, plan_opened
from audiencekit.planning.reading import BatchResults
from audiencekit.records.batches import CELL_FAULT_SCHEMA, PROOF, ROW, ColumnMapping, MappedColumn, TextBatch
from audiencekit.records.chunks import RecordChunk, from_chunk, to_chunk
from audiencekit.records.columns.arrays import arrow_array
from audiencekit.records.record_bits import Bits, Bools, Indices
from audiencekit.records.rejected_rows import opened_names
from audiencekit.runs.journal.digests import RECORDS, RecordsFingerprint
from audiencekit.runs.journal.facts import PlanFacts, RunFacts
from audiencekit.runs.rejected_rows import REJECTED, read_rejected
from audiencekit.runs.reports import find_repairs, opened_journal, summary_of
from audiencekit.runs.store import LAST, RunStore
from audiencekit.selection.row_tags import MOST_IDENTIFIERS, RowProofs, RowTags, find_new, have_records, row_tagger
from audiencekit.selection.selection import Selection, SelectionLayout
from audiencekit.selection.tag_arrays import TAG, Tags
from audiencekit.selection.tags import Tagger, are_among
from audiencekit.selection.without_shared_values import without_values
from audiencekit.settings import Settings
from audiencekit.sources.files import AnySource
from audiencekit.sources.source import Source
from audiencekit.state.keys import SubKey, existing_state_key
from audiencekit.text import option

_WHOLE_LIST: Final = "upload the whole list: people who were sent before are sent again, which changes nothing"
_SAME_OPTIONS: Final = "give the options of that run again"
# Options that decide what becomes of a row: they are those of the earlier run.
_DECIDING: Final = ("operation", "operation_column", "consent_column")


# --- The run whose rejected rows are sent, and the runs that have sent some of them since ---


def find_rejected_run(store: RunStore, given: str) -> str:
    """Return the id of the run that `given` means, as `Store.find` does; `last` is none that repaired another one."""
    if given == LAST:
        given = next((run_id for run_id in store.ids() if not store.summary(run_id).get("repair_of")), given)
    return store.find(given)


@dataclass(frozen=True, slots=True)
class RejectedRun:
    """A complete run, its key, and its rows with a rejection: `then` with the records that it sent of them.

    `sent` are the same rows with the records that were sent of them until now, by repairs, too.
    """

    run_id: str
    facts: RunFacts
    plan: PlanFacts
    key: SubKey
    then: RowTags
    sent: RowTags

    @property
    def mapping(self) -> ColumnMapping:
        """The columns of identifiers of its list."""
        columns = ({**column, "kind": Kind(column["kind"])} for column in self.plan.mapping["columns"])
        return ColumnMapping(columns=tuple(MappedColumn(**column) for column in columns))

    def columns(self) -> set[tuple[Kind, str, bool]]:
        """Return kind and name of each, and whether it holds hashes."""
        return {(column.kind, column.name, column.hashed) for column in self.mapping.columns}

    def opened_columns(self) -> set[tuple[Kind, str, bool]]:
        """Return the same for an opened file of its rejections."""
        mapping = self.mapping
        names = opened_names(mapping)
        return {(column.kind, names[mapping.field_name(column)], column.hashed) for column in mapping.columns}

    @classmethod
    def of(cls, run: RunFacts, settings: Settings) -> RejectedRun:
        """Return the one that `run` repairs. Raises PlanRefused for one that cannot be repaired so, or not yet."""
        try:
            return cls._read(run, settings, run.only_rejected or "")
        except (ResumeRefused, InputOutputFailed) as error:
            error.bare()
            message = f"the rejected rows of run {run.only_rejected} are not proved: {error}"
            failure = PlanRefused(message, hint=_WHOLE_LIST)
        raise failure

    @classmethod
    def _read(cls, run: RunFacts, settings: Settings, run_id: str) -> RejectedRun:
        store, state_key = RunStore(settings.state_dir), existing_state_key(settings.state_dir, settings.key)
        with opened_journal(store.directory(run_id)) as journal:
            if state_key is None:
                raise PlanRefused(f"the state key of run {run_id} is missing", hint="give the key of then")
            key = journal.check_by(run_id, state_key)
            facts, plan, ending = journal.facts(), journal.plan(), journal.ending()
        _refuse_run(facts, is_complete=ending is not None and ending.state == "complete")
        _refuse_other(facts, run)
        if plan is None:
            raise PlanRefused(f"run {run_id} has no plan", hint=_WHOLE_LIST)
        then = read_rejected(store.directory(run_id), key)
        if not len(then.rows) and _has_rejected(store, run_id):
            raise PlanRefused(
                f"run {run_id} has not kept which rows it rejected ({REJECTED} is missing)", hint=_WHOLE_LIST
            )
        sent = then
        for document in reversed(find_repairs(store, run_id, before=run.run_id)):
            repair_id = document["run_id"]
            if document["state"] == "complete":
                sent = sent.updated(_sent_by(store, repair_id, state_key))
            elif summary_of(store.state_dir, repair_id, state_key)["resumable"]:
                hint = f"`audiencekit resume {repair_id}` finishes it"
                message = f"run {repair_id} sends rejected rows of run {run_id}, and is not finished"
                raise PlanRefused(message, hint=hint)
        return cls(run_id, facts, plan, key, then, sent)


def _sent_by(store: RunStore, repair_id: str, state_key: Any) -> RowTags:
    """Return the rows that a complete repair sent, with the tags of what it sent of them."""
    with opened_journal(store.directory(repair_id)) as journal:
        key = journal.check_by(repair_id, state_key)
        refused = [each.row for each in journal.sums().refused]
    return read_rejected(store.directory(repair_id), key).without(np.array(refused, dtype=np.int64))


def _has_rejected(store: RunStore, run_id: str) -> bool:
    """Whether cells or rows were rejected when the list of a run was read, by its report."""
    found = {reason for reason, count in store.read(run_id)["rejections"].items() if count}
    return bool(found - {"shared", "refused_by_service"})


def _refuse_run(facts: RunFacts, *, is_complete: bool) -> None:
    """Raise PlanRefused for a run whose rejected rows are not sent so."""
    if facts.only_rejected is not None:
        hint = f"name that run: {option('only_rejected', facts.only_rejected)}"
        raise PlanRefused(f"run {facts.run_id} itself sends rejected rows of run {facts.only_rejected}", hint=hint)
    if facts.repeat_command:
        hint = f"after the repair, {facts.repeat_command} sends what has become valid"
        raise PlanRefused(f"run {facts.run_id} is a {facts.operation}", hint=hint)
    if not is_complete:
        hint = f"`audiencekit resume {facts.run_id}` finishes it, before its list is repaired; or {_WHOLE_LIST}"
        raise PlanRefused(f"run {facts.run_id} is not complete", hint=hint)


def _refuse_other(facts: RunFacts, now: RunFacts) -> None:
    """Raise PlanRefused for options of `now` by which other rows than the rejected ones could be sent, or elsewhere."""
    if (facts.account_id, facts.target, facts.address) != (now.account_id, now.target, now.address):
        raise PlanRefused(
            f"run {facts.run_id} sent to {_place(facts)}, and not to {_place(now)}",
            hint=f"send its rejected rows to {_place(facts)}",
        )
    for name in _DECIDING:
        if facts.keywords.get(name) != now.keywords.get(name):
            raise PlanRefused(f"`{name}=` is not as in run {facts.run_id}", hint=_SAME_OPTIONS)
    if facts.keywords.get("suppress") and not now.keywords.get("suppress"):
        hint = "name the lists of people to keep out as they are now, with `suppress=`"
        raise PlanRefused(f"run {facts.run_id} kept people out by lists, and no list is given", hint=hint)


def _place(facts: RunFacts) -> str:
    return f"{facts.target} of account {facts.account_id} at {facts.address or 'no address'}"


# --- The plan: the whole list is read and judged as ever, then all but the repaired rows are left out ---


def plan_repaired(
    rejected: RejectedRun, source: AnySource, terms: PlanTerms, resources: PlanResources
) -> tuple[PlannedRun, RowTags]:
    """Return a plan of `source` that sends only repaired rows, and these rows with their tags.

    Raises PlanRefused where it is not proved that they are rows which were rejected.
    """
    options = replace(terms.options.source, rejected_columns=tuple(sorted(rejected.opened_columns())))
    terms = replace(terms, options=replace(terms.options, source=options))
    opened = open_planned(source, terms, resources)
    is_opened_file = opened.mapping.proof is not None
    refuse_other_columns(opened, rejected)
    if is_opened_file:
        _refuse_order(rejected)
        opened = opened.renumbered(Renumbering(RowProofs(rejected.key), rejected.run_id))
        # Most of such rows may still be rejected: a wrong mapping, which the limits are there to find, is found above.
        bounds = replace(terms.options.bounds, max_rejected_share=1.0, max_rejected_column_share=1.0)
        terms = replace(terms, options=replace(terms.options, bounds=bounds))
    repair = Repair(rejected, is_whole=not is_opened_file)
    on_records = resources.on_records

    def compare(chunk: RecordChunk, refusing: Bools | None) -> None:
        repair.add(chunk, refusing)
        if on_records is not None:
            on_records(chunk, refusing)

    planned = plan_opened(opened, terms, replace(resources, on_records=compare), choose=repair.choose)
    planned.rejected_before = len(rejected.then.rows)
    planned.repair_notes = (repair.in_words(),)
    return planned, repair.chosen


def _refuse_order(rejected: RejectedRun) -> None:
    if rejected.facts.keywords.get("operation_column"):
        raise PlanRefused(
            "an opened file lacks the rows after a repaired one, which may take the same person out",
            hint="repair the rows in the list itself, and give that",
        )


def refuse_other_columns(opened: Source, rejected: RejectedRun) -> None:
    """Raise MappingRefused for columns that are not used as in the run: their identifiers were not rejected."""
    then = rejected.columns() if opened.mapping.proof is None else rejected.opened_columns()
    now = {(column.kind, column.name, column.hashed) for column in opened.mapping.columns}
    if others := now - then:
        names = ", ".join(sorted(name for _, name, _ in others))
        wanted = option("columns", {kind.value: name for kind, name, _ in sorted(then)})
        raise MappingRefused(
            f"columns are not used as in run {rejected.run_id}: {names}", hint=f"name those that it used: {wanted}"
        )


class Renumbering:
    """Give the rows of an opened file the numbers that they had in the list of the run. Raises SourceRefused."""

    def __init__(self, proofs: RowProofs, run_id: str) -> None:
        self._proofs, self._run_id = proofs, run_id
        self._last = 0

    def __call__(self, batch: TextBatch) -> TextBatch:
        """Return `batch` with the numbers that its proofs are of."""
        return _renumbered(self, batch)


@guarded
def _renumbered(to: Renumbering, batch: TextBatch) -> TextBatch:
    columns = batch.columns.unwrap()
    lines = columns.column(ROW).to_pylist()
    if batch.faults.num_rows:
        _refuse_line(batch.faults.column(0)[0].as_py(), "cannot be read", "write it as `rejections open` did")
    rows: list[int] = []
    for line, proof in zip(lines, columns.column(PROOF).to_pylist(), strict=True):
        row = to._proofs.row_of(proof)
        if row is None:
            what = f"has no proof that run {to._run_id} rejected it"
            _refuse_line(line, what, "keep each line's `proof`, and leave out lines that are new")
        if row <= to._last:
            hint = "give each line once, in the order of the opened file"
            _refuse_line(line, f"is row {row:,} of the list, which came before", hint)
        to._last = row
        rows.append(row)
    renumbered = columns.set_column(columns.schema.get_field_index(ROW), ROW, pa.array(rows, pa.int64()))
    faults, new = batch.cell_faults, dict(zip(lines, rows, strict=True))
    if faults.num_rows:
        numbers = pa.array([new[line] for line in faults.column(0).to_pylist()], pa.int64())
        faults = pa.RecordBatch.from_arrays([numbers, *faults.columns[1:]], schema=CELL_FAULT_SCHEMA)
    return TextBatch(RawColumns(renumbered), batch.faults, faults)


def _refuse_line(line: int, what: str, hint: str) -> NoReturn:
    raise SourceRefused(f"row {line:,} {what}: nothing was sent", row=line, hint=hint)


# --- The comparison of all records with those of the run, batch by batch, and the choice of the repaired ones ---


class Repair:
    """Compare records with those that a run sent, and choose those that are repaired.

    `is_whole` says that all rows of the list are read. `chosen` are the rows that are sent, with their tags.
    """

    def __init__(self, rejected: RejectedRun, *, is_whole: bool) -> None:
        self._rejected, self._is_whole = rejected, is_whole
        self._tagger = row_tagger(rejected.key)
        self._fingerprint = RecordsFingerprint({RECORDS: rejected.key})
        self._now: Tags = np.zeros(len(rejected.then.rows), dtype=TAG)
        self._changed = Bits()  # of every record: whether it is repaired
        self._records: list[Indices] = [np.zeros(0, dtype=np.int64)]  # the repaired ones
        self._places: list[Indices] = [np.zeros(0, dtype=np.int64)]  # of these among the rejected rows
        self._gone: list[int] = []
        self.chosen = RowTags.joined([])

    def __repr__(self) -> str:
        return f"<Repair of run {self._rejected.run_id}>"

    def add(self, chunk: RecordChunk, refusing: Bools | None) -> None:
        """Compare the next batch."""
        then, kept = _as_then(self, from_chunk(chunk))
        if self._is_whole:
            self._fingerprint.add(then, None if refusing is None else refusing[kept])

    def choose(self, gathered: BatchResults, selection: Selection) -> Selection:
        """Return those of `selection` that are repaired. Raises PlanRefused where that is not proved."""
        self._refuse_changes()
        unchanged = Bits()
        unchanged.append(~self._changed.slice(0, len(self._changed)))
        chosen = selection.chosen.copy()
        chosen.subtract(unchanged)
        later = {wave: records[chosen.at(records)] for wave, records in selection.later.items()}
        self._refuse_contradictions(gathered, selection, chosen)
        records, places = np.concatenate(self._records), np.concatenate(self._places)
        places = places[chosen.at(records)]
        self.chosen = RowTags(self._rejected.then.rows[places], self._now[places])
        return replace(
            selection,
            chosen=chosen,
            later={wave: records for wave, records in later.items() if len(records)},
            unchanged=selection.chosen.count() - chosen.count(),
        )

    def in_words(self) -> str:
        """Return how many of the rejected rows are sent now, were sent before, or are not sent."""
        then, sent, now = self._rejected.then, self._rejected.sent, len(self.chosen.rows)
        before = int(np.count_nonzero((then.tags != sent.tags) & ~np.isin(then.rows, self.chosen.rows)))
        rows = f"{len(then.rows):,} {'row' if len(then.rows) == 1 else 'rows'} with a rejection in run"
        what = f"of {rows} {self._rejected.run_id}, {now:,} {'is' if now == 1 else 'are'} repaired and sent now"
        left = len(then.rows) - now - before
        return f"{what}, {before:,} {'was' if before == 1 else 'were'} sent before, and {left:,} left as it was" + (
            "" if now else ": nothing is sent"
        )

    def _refuse_changes(self) -> None:
        then, run_id = self._rejected.then, self._rejected.run_id
        if self._is_whole:
            lost = have_records(then.tags) & ~have_records(self._now)
            self._gone += then.rows[lost].tolist()
        if self._gone:
            raise PlanRefused(
                f"row {min(self._gone):,} has not all identifiers that run {run_id} sent of it (or more than"
                f" {MOST_IDENTIFIERS}): it may be another row",
                hint=f"repair only what was rejected; or {_WHOLE_LIST}",
            )
        if self._is_whole and self._fingerprint.finish(RECORDS) != self._rejected.plan.fingerprint:
            raise PlanRefused(
                f"the list differs from that of run {run_id} in more than the rows that were rejected: rows were"
                " inserted, removed or edited, or the options are others",
                hint=f"{_SAME_OPTIONS}, and repair the rows in their places; or repair the opened rejections"
                f" (`audiencekit rejections open {run_id}`); or {_WHOLE_LIST}",
            )

    def _refuse_contradictions(self, gathered: BatchResults, selection: Selection, chosen: Bits) -> None:
        """Raise PlanRefused where rows after a repaired one say the opposite of the same person, and were sent before.

        Sent alone, the repaired row would have the last word.
        """
        later = np.concatenate([np.zeros(0, dtype=np.int64), *selection.later.values()])
        if not (left := len(later) - int(np.count_nonzero(chosen.at(later)))) or not chosen.count():
            return
        left_out, layout = later[~chosen.at(later)], SelectionLayout(selection, gathered.batch_records)
        start, kept, dropped = 0, [np.zeros(0, dtype=TAG)], [np.zeros(0, dtype=TAG)]
        for number in layout.batches():
            end = start + gathered.batch_records[number]
            places = left_out[(left_out >= start) & (left_out < end)] - start
            theirs, others = _keys_at(gathered.spool.unseal(number), self._tagger, chosen.slice(start, end), places)
            kept.append(theirs)
            dropped.append(others)
            start = end
        if are_among(np.concatenate(kept), np.sort(np.concatenate(dropped))).any():
            what = f"{left:,} rows" if left != 1 else "1 row"
            raise PlanRefused(
                f"{what} that run {self._rejected.run_id} sent may contradict repaired rows before them, which would be"
                " applied after them",
                hint="upload the whole list, in which the order of the rows decides",
            )


@guarded
def _as_then(repair: Repair, records: HashedRecords) -> tuple[RecordChunk, Bools]:
    """Return the records of a batch as they were in the run, and which of those of now are among them."""
    batch, rejected = records.unwrap(), repair._rejected
    places, is_rejected = rejected.then.places_of(batch.column(ROW).to_numpy())
    kept, changed = np.ones(batch.num_rows, dtype=bool), np.zeros(batch.num_rows, dtype=bool)
    own, first = np.flatnonzero(is_rejected), len(repair._changed)
    new: list[int] = []
    if len(own):
        tagged = repair._tagger.tag(batch)
        now, places = tagged.of_sets()[own], places[own]
        then = rejected.then.tags[places]
        repair._now[places] = now
        changed[own] = now != rejected.sent.tags[places]
        kept[own] = have_records(then)
        for record, before in zip(own[kept[own] & (now != then)], then[kept[own] & (now != then)], strict=True):
            found = find_new(tagged, int(record), before)
            if found is None:
                repair._gone.append(int(batch.column(ROW)[int(record)].as_py()))
            new += found or ()
        repair._records.append(np.flatnonzero(changed) + first)
        repair._places.append(places[changed[own]])
    repair._changed.append(changed)
    earlier = without_values(records, np.array(sorted(new), dtype=np.int64)) if new else records
    return to_chunk(HashedRecords(earlier.unwrap().filter(arrow_array(kept)))), kept


@guarded
def _keys_at(records: HashedRecords, tagger: Tagger, chosen: Bools, places: Indices) -> tuple[Tags, Tags]:
    """Return the tags of the keys of the `chosen` records of a batch, and of those at `places`."""
    tagged = tagger.tag(records.unwrap())
    owners = tagged.owners()
    return tagged.tags[chosen[owners]], tagged.tags[np.isin(owners, places)]
