"""One erasure from its receipt to its end: begun or continued, remembered, carried out at the pace of the account."""

from __future__ import annotations

from audiencekit.api.client import AdsClient
from audiencekit.audiences.erasure.erasing import Erasing
from audiencekit.audiences.erasure.erasuremeans import means_of
from audiencekit.audiences.erasure.erasurestore import ErasureStore
from audiencekit.audiences.erasure.keys import keys_fingerprint
from audiencekit.audiences.erasure.receipt import Receipt
from audiencekit.audiences.erasure.subjects import Asked
from audiencekit.delivery.limiter import RateLimiter, open_limiter
from audiencekit.destinations.ads import AUDIENCE
from audiencekit.machine.keys import StateKey, find_state_key
from audiencekit.personal import HashedRecords
from audiencekit.reporting.progress import Progress
from audiencekit.runs.runclock import RunClock
from audiencekit.selection.forgotten.people import read_forgotten, remember
from audiencekit.settings import Settings


def begin_or_continue(
    asked: Asked,
    records: HashedRecords,
    store: ErasureStore,
    settings: Settings,
    progress: Progress,
    *,
    do_not_reach: bool,
) -> Receipt:
    """The receipt of a new erasure, or of one of the same people that ended early. To be called under its lock."""
    key = find_state_key(settings.state_dir, settings.key)  # it may have been rotated while people were read
    fingerprint, account_id = keys_fingerprint(records, key), settings.require_account()
    found = store.unfinished(fingerprint, account_id, settings.address, do_not_reach=do_not_reach)
    if found is not None:
        progress.tell(f"erasure {found.erasure_id} of the same people ended early: this continues it")
        return found
    receipt = Receipt.begun(asked, records, key, settings, do_not_reach=do_not_reach)
    _remember(receipt, records, key, settings)
    store.begin(receipt, records, key)
    return receipt


async def erase(
    receipt: Receipt,
    records: HashedRecords,
    client: AdsClient,
    store: ErasureStore,
    settings: Settings,
    *,
    progress: Progress,
    limiter: RateLimiter | None,
) -> Receipt:
    """The receipt of the complete erasure. Raises what `forget_async` does."""
    time = RunClock()
    key, forgotten = find_state_key(settings.state_dir, settings.key), read_forgotten(settings.state_dir, settings.key)
    if forgotten is None or not forgotten.holds_any(records).all():  # another memory was accepted since it was begun
        _remember(receipt, records, key, settings)
        forgotten = read_forgotten(settings.state_dir, settings.key)
    async with open_limiter(settings, AUDIENCE.quota, clock=time.clock, given=limiter) as pace:
        means = means_of(receipt, settings, key, forgotten, limiter=pace, time=time)
        erasing = Erasing(receipt, records, client, means, profile=settings.profile, store=store, progress=progress)
        return await erasing.run()


def _remember(receipt: Receipt, records: HashedRecords, key: StateKey, settings: Settings) -> None:
    """From now on uploads leave these people out. Raises as `remember`."""
    mark, is_noted = remember(settings.state_dir, key, records)
    receipt.remembered, receipt.memory = True, {**mark.to_json(), "noted_outside": is_noted}
