"""Nothing of people stands in what a purge says, keeps or leaves."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.runs import PurgeOrder, plan_purge, purge
from audiencekit.emulator import Emulator
from audiencekit.errors import AudiencekitError, NotFinished
from audiencekit.pipeline import upload_async
from audiencekit.settings import Settings
from tests.canary.markers import WORD, leaks_by_place
from tests.canary.sources import SOURCES
from tests.canary.witnesses import Printed, files_in, frames_of
from tests.runs.begun import EndsAfter

ORDER = PurgeOrder(older_than=timedelta(days=30), unfinished=True, receipts=True)
DAY = 86_400


async def test_a_purge_shows_nothing_and_leaves_nothing(
    tmp_path: Path, printed: Printed, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a run that is complete, of one that kept its spool, and of an erasure; also when a file cannot go."""
    source = tmp_path / "source"
    source.write_bytes(SOURCES["row faults"])
    await upload_async(source, audience=emulator.audience_id, settings=settings)
    with pytest.raises(NotFinished):
        await upload_async(
            source, audience=emulator.audience_id, settings=settings, limiter=EndsAfter(0), keep_spool=True
        )
    await forget_async([f"{WORD}@example.com"], settings=settings)
    moment, now = time.time() - 40 * DAY, datetime.now(UTC)
    for path in settings.state_dir.glob("*/*"):
        os.utime(path, (moment, moment))
    shown = {"plan": _all_of(plan_purge(ORDER, settings, now))}

    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied", WORD)

    with monkeypatch.context() as patched:
        patched.setattr("audiencekit.runs.purge.shutil.rmtree", refuse)
        with pytest.raises(AudiencekitError) as failed:
            purge(ORDER, settings, now)
    shown["failure"] = frames_of(failed.value) + failed.value.hint.encode() + json.dumps(failed.value.document).encode()
    assert leaks_by_place(files_in(tmp_path, but=source)) == {}
    receipt = purge(ORDER, settings, now)
    shown["receipt"] = _all_of(receipt)
    assert receipt.removed == {"leftovers": 2}
    await upload_async(source, audience=emulator.audience_id, settings=replace(settings, retention=timedelta(hours=1)))
    shown |= printed()
    assert leaks_by_place(shown) == {}
    left = files_in(tmp_path, but=source)
    assert leaks_by_place(left) == {}
    assert len([path for path in left if path.startswith("state/purges/")]) == 2


def _all_of(receipt: object) -> bytes:
    assert hasattr(receipt, "to_json")
    assert hasattr(receipt, "to_text")
    return (json.dumps(receipt.to_json()) + receipt.to_text() + repr(receipt)).encode()
