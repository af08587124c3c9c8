"""Erasures leave the chain of the log whole, and nothing of a person anywhere in the state.

AUDIT_ERASURES sets their number (3), such as 1000.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.sync.sync import sync_async
from audiencekit.audit.log import AuditLog
from audiencekit.audit.verification import Keys, verify_log
from audiencekit.delivery.limiter import Unlimited
from audiencekit.emulator import Emulator
from audiencekit.settings import load_settings
from tests.audiences.members import members_of

ERASURES: Final = int(os.environ.get("AUDIT_ERASURES", "3"))
OTHERS: Final = 5  # people who stay


def _address(number: int) -> str:
    return f"erased.person{number}@canarymail.com"


def _forms(address: str) -> Iterator[bytes]:
    """Yield the traces that a file could hold of a person: the address, its name, and its digest as bytes and texts."""
    digest = hashlib.sha256(address.encode()).digest()
    yield from (address.encode(), address.partition("@")[0].encode(), address.upper().encode(), digest)
    yield from (digest.hex().encode(), digest.hex().upper().encode(), base64.b64encode(digest).rstrip(b"="))


@pytest.mark.slow
async def test_the_chain_stays_whole_and_the_people_are_nowhere(emulator: Emulator, tmp_path: Path) -> None:
    """They were put in by a sync; each is erased alone. Each erasure has two entries."""
    settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / "state")
    run: Any = {"settings": settings, "limiter": Unlimited()}
    people, source = [_address(number) for number in range(ERASURES + OTHERS)], tmp_path / "list.csv"
    source.write_text("\n".join(["email", *people]) + "\n")
    await sync_async(source, audience=emulator.audience_id, **run)
    log = AuditLog.of(settings)
    before = len(list(log.read()))
    for number in range(ERASURES):
        receipt = await forget_async([_address(number)], **run)
        assert receipt.state == "complete"
    lines = [line for line, _ in log.read()]
    assert verify_log(lines, Keys.of(log.key)).fault == ""
    assert len(lines) == before + 2 * ERASURES
    assert len(await members_of(emulator, emulator.audience_id)) == OTHERS
    kept = b"\0".join(path.read_bytes() for path in settings.state_dir.rglob("*") if path.is_file())
    found = {number for number in range(ERASURES) for form in _forms(_address(number)) if form in kept}
    assert found == set()
