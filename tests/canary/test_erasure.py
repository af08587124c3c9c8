"""Nothing of people who are forgotten is shown."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.erasure.verification import verify_erasures
from audiencekit.destinations.target import Target
from audiencekit.emulator import Emulator
from audiencekit.errors import AudiencekitError
from audiencekit.runs.store import TargetLock
from audiencekit.selection.exports import export_memory, import_memory, list_imports, recipient_of, sender_of
from audiencekit.settings import Settings
from tests.canary.markers import DIGITS, WORD, leaks_by_place
from tests.canary.sources import SOURCES
from tests.canary.witnesses import Printed, files_in, frames_of


async def test_forget_shows_nothing(tmp_path: Path, printed: Printed, emulator: Emulator, settings: Settings) -> None:
    """Neither an erasure that is refused, nor one that ends early, nor one that is complete."""
    source = tmp_path / "source"
    source.write_bytes(SOURCES["row faults"])
    lines = [f"{WORD}@example.com", f"partner_user_id={WORD}-1", f"+1201{DIGITS}"]
    shown: dict[str, bytes] = {}
    for name, asked in (("lines", [*lines, f"{WORD} {WORD}", f"email={WORD}"]), ("lines of no person", [WORD])):
        with pytest.raises(AudiencekitError) as refused:
            await forget_async(asked, settings=settings)
        shown[name] = frames_of(refused.value) + refused.value.hint.encode()
    with pytest.raises(AudiencekitError) as refused:
        await forget_async(source=source, settings=settings)
    shown["source"] = frames_of(refused.value)
    busy = TargetLock(settings.state_dir, settings.require_account(), Target.audience(emulator.audience_id), "run")
    with busy, pytest.raises(AudiencekitError) as ended:
        await forget_async(lines, settings=settings)
    shown["ended early"] = frames_of(ended.value) + json.dumps(ended.value.document).encode()
    assert leaks_by_place(files_in(tmp_path, but=source)) == {}
    receipt = await forget_async(source=source, skip_rejected=True, do_not_reach=True, settings=settings)
    shown["receipt"] = json.dumps(receipt.to_json()).encode() + repr(receipt).encode() + receipt.to_text().encode()
    shown |= printed()
    assert leaks_by_place(shown) == {}
    assert leaks_by_place(files_in(tmp_path, but=source)) == {}


async def test_another_host_is_shown_nothing(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """Neither the export nor what the recipient writes and says holds anything of the people."""
    await forget_async([f"{WORD}@example.com", f"+1201{DIGITS}"], settings=settings)
    there, export = tmp_path / "there", tmp_path / "export"
    export_memory(settings.state_dir, settings.key, recipient_of(there, settings.key), export)
    sender = sender_of(settings.state_dir, settings.key)
    said: list[Any] = [import_memory(there, settings.key, export, sender)]
    (tmp_path / "source.csv").write_text(f"email\n{WORD}@example.com\nother@example.com\n")
    with pytest.raises(AudiencekitError) as refused:
        import_memory(there, settings.key, tmp_path / "source.csv", sender)
    source = str(tmp_path / "source.csv")
    said.append(await asyncio.to_thread(verify_erasures, replace(settings, state_dir=there), [source]))
    said.append(list_imports(there, settings.key))
    assert said[1]["files"][0]["erased"] == 1
    assert leaks_by_place({"said": json.dumps(said).encode(), "refused": frames_of(refused.value)}) == {}
    assert leaks_by_place(files_in(tmp_path, but=tmp_path / "source.csv")) == {}
