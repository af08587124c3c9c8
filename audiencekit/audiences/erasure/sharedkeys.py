"""Whether people to be erased have an identifier that many members of an audience under sync share.

Snapshots know their members. Of other audiences nothing is known here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from audiencekit.machine.keys import StateKey
from audiencekit.personal import HashedRecords
from audiencekit.snapshots.shared_keys import refuse_shared
from audiencekit.snapshots.store import SnapshotStore

_HINT: Final = (
    "leave them out of the input, or say `shared_values='keep'` to take out all who have one; other identifiers of the"
    " same people take out them alone"
)


def refuse_shared_in_any(
    records: HashedRecords, most: int | None, *, state_dir: Path, account_id: str, key: StateKey
) -> None:
    """Return when no key of `records` stands for more than `most` members of an audience of the account under sync.

    With None every key may. Raises as `refuse_shared`.
    """
    for audience_id in SnapshotStore.audiences(state_dir, account_id) if most is not None else ():
        refuse_shared([records], most or 0, SnapshotStore(state_dir, account_id, audience_id, key), hint=_HINT)
