"""Whether people who were erased still stand in files of the state directory, in prepared directories, or in lists.

The memory of erased people says who they are, the receipts say whether every erasure is finished.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from audiencekit.audiences.erasure.erasurestore import ErasureStore
from audiencekit.audiences.erasure.storedrecords import StoredRecords, stored_records
from audiencekit.errors import AudiencekitError
from audiencekit.machine.keys import find_state_key
from audiencekit.personal import HashedRecords, guarded
from audiencekit.pipeline import check
from audiencekit.preparation.batches import IS_DELETE
from audiencekit.preparation.recordbits import Bools
from audiencekit.selection.forgotten.memoryacceptance import describe_memory
from audiencekit.selection.forgotten.people import Forgotten, read_forgotten
from audiencekit.settings import Settings

_SOUND: Final = ("sound", "none")
SOURCE: Final = "source"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedFile:
    """One file, and how many of its `records` hold a key of an erased person.

    `kind` is that of StoredRecords, or source; `name` the audience, the run or the path. Both counts are None for a
    file that cannot be read. `why` says so, or how erased people leave it.
    """

    kind: str
    name: str
    records: int | None = None
    erased: int | None = None
    why: str = ""


def verify_erasures(settings: Settings, sources: Sequence[str] = ()) -> dict[str, Any]:
    """Look for erased people in the state directory, and in `sources`: prepared directories, or any lists.

    A JSON document: `verified`, `memory` (as `forgotten show --json`), `erasures` (`complete`, how many, and
    `unfinished`, their ids), `files` (each with the fields of VerifiedFile). It is verified when the memory is the
    last, every erasure is finished, every file was read, and none of them holds an erased person. Deletes may name
    them.
    """
    memory = describe_memory(settings.state_dir, settings.key)
    summaries = ErasureStore(settings.state_dir).summaries()
    unfinished = [str(one["run_id"]) for one in summaries if one["state"] != "complete"]
    is_sound = memory["state"] in _SOUND
    files = list(_look(settings, sources)) if is_sound else []
    return {
        "verified": is_sound and not unfinished and all(file.erased == 0 for file in files),
        "memory": memory,
        "erasures": {"complete": len(summaries) - len(unfinished), "unfinished": unfinished},
        "files": [asdict(file) for file in files],
    }


def _look(settings: Settings, sources: Sequence[str]) -> Iterator[VerifiedFile]:
    forgotten = read_forgotten(settings.state_dir, settings.key)
    if forgotten is not None:
        for stored in stored_records(settings.state_dir, find_state_key(settings.state_dir, settings.key)):
            yield _in_file(stored, forgotten)
    for source in sources:
        yield _in_source(source, settings)


def _in_file(stored: StoredRecords, forgotten: Forgotten) -> VerifiedFile:
    records = erased = 0
    try:
        for batch in stored.batches():
            added = _added(batch)
            records += len(added)
            erased += int(np.count_nonzero(forgotten.holds_any(batch) & added))
    except AudiencekitError as error:
        return VerifiedFile(kind=stored.kind, name=stored.name, why=_words(error))
    why = stored.removal if erased else ""
    return VerifiedFile(kind=stored.kind, name=stored.name, records=records, erased=erased, why=why)


@guarded
def _added(records: HashedRecords) -> Bools:
    """Of each record, whether it is of a person who is in, or is to be put in: a Delete is not."""
    batch = records.unwrap()
    if IS_DELETE not in batch.schema.names:
        return np.ones(batch.num_rows, dtype=bool)
    added: Bools = ~batch.column(IS_DELETE).to_numpy(zero_copy_only=False)
    return added


def _in_source(source: str, settings: Settings) -> VerifiedFile:
    """Found by what an upload of the source would leave out."""
    try:
        rows = check(source, settings=settings, shared_values="keep").rows
    except AudiencekitError as error:
        return VerifiedFile(kind=SOURCE, name=source, why=_words(error))
    why = "uploads leave them out; prepare a prepared directory again" if rows.suppressed else ""
    return VerifiedFile(kind=SOURCE, name=source, records=rows.read, erased=rows.suppressed, why=why)


def _words(error: AudiencekitError) -> str:
    return f"{error}; {error.hint}" if error.hint else str(error)
