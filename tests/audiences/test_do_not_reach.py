"""`audiencekit.audiences.do_not_reach`, on the emulator."""

from __future__ import annotations

import asyncio
import io
import threading
from pathlib import Path
from typing import Any

import pytest

from audiencekit.audiences.do_not_reach import do_not_reach_upload_async
from audiencekit.emulator import Emulator
from audiencekit.errors import MappingRefused, NotFinished, PlanRefused, Refused, UsageError
from audiencekit.settings import Settings
from tests.moments import PATIENCE_SECONDS


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "optouts.csv"
    path.write_text("email,phone\nada@example.com,+12015550101\nbob@example.com,\n,+12015550103\n")
    return path


def _lists(emulator: Emulator) -> list[Any]:
    return list(emulator.store.accounts[emulator.account_id].do_not_reach_lists.values())


async def test_the_first_upload_creates_the_list(source: Path, emulator: Emulator, settings: Settings) -> None:
    """The second finds it."""
    first = await do_not_reach_upload_async(source, settings=settings)
    second = await do_not_reach_upload_async(source, settings=settings, operation="delete")
    (made,) = _lists(emulator)
    assert (first.target.id, first.rows.sent, second.target) == (made.id, 3, first.target)
    assert list(made.members.members(emulator.clock.now())) == []


async def test_every_entry_says_when_it_expires(source: Path, emulator: Emulator, settings: Settings) -> None:
    """Under 13 months, which the emulator checks; and it takes effect at once."""
    report = await do_not_reach_upload_async(source, settings=settings, plan_time="2026-01-31T10:00:00Z")
    assert (report.expires_at, report.effective_at) == ("2027-02-27T10:00:00Z", None)
    (made,) = _lists(emulator)
    assert len(list(made.members.members(emulator.clock.now()))) == 3


@pytest.mark.parametrize(
    ("text", "keywords", "error"),
    [
        ("email,handle\nada@example.com,ada_l\nbob@example.com,bob_b\n", {}, MappingRefused),
        ("email\n", {}, PlanRefused),
        ("email\nada@example.com\n", {"operation": "delete"}, Refused),
        ("email\nada@example.com\n", {"effective_at": "2026-12-01"}, UsageError),
        ("email\nada@example.com\n", {"ttl_days": 400}, UsageError),
        ("email\nada@example.com\n", {"no_such": 1}, UsageError),
    ],
)
async def test_a_refused_source_creates_no_list(
    tmp_path: Path, emulator: Emulator, settings: Settings, text: str, keywords: dict[str, Any], error: type[Exception]
) -> None:
    """It is checked before."""
    path = tmp_path / "list.csv"
    path.write_text(text)
    with pytest.raises(error):
        await do_not_reach_upload_async(path, settings=settings, **keywords)
    assert _lists(emulator) == []


async def test_standard_input_is_read_once(
    emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch, source: Path
) -> None:
    """So the list comes first there."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(source.read_bytes())))
    report = await do_not_reach_upload_async("-", settings=settings)
    assert (report.rows.sent, len(_lists(emulator))) == (3, 1)


async def test_an_interruption_before_the_run_is_not_finished(
    source: Path, emulator: Emulator, settings: Settings
) -> None:
    """While the source is checked for a list that is not there yet; the same again does no harm."""
    loop = asyncio.get_running_loop()

    class Impatient:
        def step(self, *_: Any, **__: Any) -> None:
            loop.call_soon_threadsafe(cancel)
            assert cancelled.wait(PATIENCE_SECONDS)

        def tell(self, message: str) -> None:
            raise AssertionError(message)

    def cancel() -> None:
        uploading.cancel()
        cancelled.set()

    cancelled = threading.Event()
    uploading = asyncio.create_task(do_not_reach_upload_async(source, settings=settings, progress=Impatient()))
    with pytest.raises(asyncio.CancelledError) as caught:
        await uploading
    why = caught.value.__cause__
    assert isinstance(why, NotFinished)
    assert "before people were put on" in str(why)
    assert why.document == {"state": "incomplete"}
    assert _lists(emulator) == []
