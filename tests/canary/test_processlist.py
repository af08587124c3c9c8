"""Nothing is shown to those who list the processes of the machine."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from audiencekit.emulator import Emulator
from tests.canary.markers import leaks, leaks_by_place
from tests.canary.sources import SOURCES
from tests.canary.witnesses import files_in, said_of
from tests.processes import ROOT, start

RUNNER = """
import logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
from audiencekit.cli import main
main()
"""


@pytest.mark.slow
async def test_the_process_list_shows_nothing(tmp_path: Path, emulator: Emulator) -> None:
    """Neither arguments nor environment of the command or its children, nor anything it prints at DEBUG."""
    source = tmp_path / "source"
    source.write_bytes(SOURCES["row faults"])
    environment = {
        **os.environ, **emulator.env, "AUDIENCEKIT_STATE_DIR": str(tmp_path / "state"), "PYTHONASYNCIODEBUG": "1",
        "TMPDIR": str(tmp_path), "HOME": str(tmp_path), "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    command = [sys.executable, "-c", RUNNER, "upload", str(source), "--audience", emulator.audience_id]
    seen = bytearray()
    process = start(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    ended = asyncio.create_task(asyncio.to_thread(process.communicate))
    # No event announces a child: a look each millisecond. There is a first, since this very loop answers the command.
    while not ended.done():
        seen += said_of(process.pid)
        await asyncio.sleep(0.001)
    out, err = await ended
    assert process.returncode == 0, err.decode()[-300:]
    assert b"source" in seen
    assert leaks(bytes(seen)) == []
    assert leaks(out) == []
    assert leaks(err) == []
    assert leaks_by_place(files_in(tmp_path, but=source)) == {}
