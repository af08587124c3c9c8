"""The file `rejected.sealed` of a run: its rows with a rejection, and the tags of their records. It holds no value."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from audiencekit.selection.row_tags import RejectedListener, RowTags, row_tagger
from audiencekit.state.keys import SubKey
from audiencekit.state.spool import KeptSpool, destroy_spool

REJECTED: Final = "rejected.sealed"


@contextmanager
def listed_rejected(directory: Path, key: SubKey) -> Iterator[RejectedListener]:
    """Return the listener that writes the file, in the place of an unfinished one, under the `key` of the run.

    Without such rows there is none. Raises InputOutputFailed.
    """
    path, spools = directory / REJECTED, list[KeptSpool]()
    destroy_spool(path)

    def add(rows: RowTags) -> None:
        if not spools:
            spools.append(KeptSpool.create(path, key))
        spools[0].append(rows.to_bytes())

    try:
        yield RejectedListener(row_tagger(key), add)
        for spool in spools:
            spool.finish()
    except BaseException:
        destroy_spool(path)
        raise
    finally:
        for spool in spools:
            spool.close()


def write_rejected(directory: Path, key: SubKey, rows: RowTags) -> None:
    """Write a file of `rows`, if there are any. Raises InputOutputFailed."""
    with listed_rejected(directory, key) as listener:
        if len(rows.rows):
            listener.add(rows)


def read_rejected(directory: Path, key: SubKey) -> RowTags:
    """Return all rows; none without a file. Raises SpoolDamaged for one that was changed, and InputOutputFailed."""
    path = directory / REJECTED
    if not path.exists():
        return RowTags.joined([])
    with KeptSpool.open(path, key) as spool:
        return RowTags.joined([RowTags.from_bytes(chunk) for chunk in spool.chunks()])
