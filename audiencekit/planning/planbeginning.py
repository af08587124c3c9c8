"""The beginning of pass one: spools, key sets, and the people of suppression sources, before the first row is read."""

from __future__ import annotations

from collections.abc import Sequence

from audiencekit.machine.spool import SealedFile, Spool
from audiencekit.planning.batchresults import BatchResults
from audiencekit.planning.planinputs import Means, Terms
from audiencekit.planning.suppressedpeople import SuppressedPeople
from audiencekit.planning.suppression import ReadList, read_lists
from audiencekit.preparation.batches import ColumnMapping
from audiencekit.preparation.chunks import RecordChunk
from audiencekit.selection.keysets import KeySets
from audiencekit.selection.sharedvalues import SharedValueSearch
from audiencekit.selection.tags import Tagger


def begin_plan(
    mapping: ColumnMapping, terms: Terms, means: Means, *, spool: SealedFile | None, tagger: Tagger | None = None
) -> tuple[BatchResults, tuple[ReadList, ...]]:
    """The results, without batches yet but with all who are suppressed, and what was read of these.

    The records go into `spool`, or a new one.
    """
    aside = means.stack.enter_context(Spool(means.spool_dir))
    most = terms.options.shared_people
    keysets = KeySets(
        aside, mixed=mapping.operation is not None, suppressing=terms.options.suppresses,
        memories=terms.memories, tagger=tagger, search=None if most is None else SharedValueSearch(aside, most),
    )  # fmt: skip
    people = SuppressedPeople(aside)

    def hear(forms: Sequence[RecordChunk]) -> None:
        for chunk in forms:
            means.on_suppressed(chunk)
        if most is not None:
            people.add(forms)

    lists = read_lists(terms.options, keysets, progress=means.progress, on_records=hear)
    records = means.stack.enter_context(Spool(means.spool_dir)) if spool is None else spool
    keeps = _keeps_records(mapping, terms, means)
    return BatchResults(records, aside, keysets, terms.form, people, keeps_records=keeps), lists


def _keeps_records(mapping: ColumnMapping, terms: Terms, means: Means) -> bool:
    """Whether the plan needs the records themselves, beside their tags.

    Where values are shared, erased people are known by their hashes, and users that hold texts are measured again. The
    members of an audience are compared by hashes, too.
    """
    holds_texts = any(not column.kind.is_hashed for column in mapping.columns)
    return means.keeps_records or bool(terms.memories) or terms.members is not None or holds_texts
