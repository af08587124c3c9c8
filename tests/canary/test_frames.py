"""Nothing of a table in memory is shown, whether it can be read or not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from audiencekit.emulator import Emulator
from audiencekit.errors import AudiencekitError
from audiencekit.pipeline import upload_async
from audiencekit.settings import Settings
from tests.canary.markers import WORD, leaks_by_place
from tests.canary.witnesses import Printed, files_in, frames_of


@pytest.mark.parametrize("fault", ["", "late", "numbers"])
async def test_a_frame_shows_nothing(
    tmp_path: Path,
    printed: Printed,
    emulator: Emulator,
    settings: Settings,
    fault: str,
) -> None:
    """Neither one that is uploaded, nor one that cannot be read to its end, nor one without a column to read."""
    sound = pa.record_batch({f"email {WORD}": [f"{WORD}{number}@example.com" for number in range(2_000)]})

    def batches() -> Iterator[Any]:
        yield sound
        if fault == "late":
            raise ValueError(f"{WORD}@example.com")

    frame = pa.RecordBatchReader.from_batches(sound.schema, batches())
    given = frame if fault != "numbers" else pa.table({"email": [1.5550147e10], WORD: [WORD]})
    shown: dict[str, bytes] = {}
    try:
        report = await upload_async(given, audience=emulator.audience_id, settings=settings)
        shown["report"] = json.dumps(report.to_json()).encode() + repr(report).encode()
    except AudiencekitError as error:
        shown["error"] = frames_of(error) + error.hint.encode()
    assert list(shown) == ["error" if fault else "report"]
    shown |= printed()
    assert leaks_by_place(shown) == {}
    assert leaks_by_place(files_in(tmp_path, but=tmp_path)) == {}
