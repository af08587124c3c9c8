"""Uploads of lists that lie elsewhere: what is kept of their addresses, and nothing is sent of what is in doubt."""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.emulator import Emulator
from audiencekit.errors import SourceRefused, UsageError
from audiencekit.pipeline import check, resume_async, upload_async
from audiencekit.settings import Settings
from tests.runs.begun import requests_received
from tests.sources.remote.webserver import Manner, serving

LIST = b"email\n" + b"".join(b"person%03d@example.com\n" % number for number in range(200))
SIGNATURE = "X-Signature=invented-secret"


async def test_the_query_of_an_address_is_not_kept(emulator: Emulator, settings: Settings, tmp_path: Path) -> None:
    """Neither in the journal nor in the report; and the same address with another signature is the same source."""
    audience_id, run_id = emulator.audience_id, "20261124-signed"
    with serving(Manner(body=LIST)) as server:
        for signature in (SIGNATURE, "X-Signature=newer"):
            report = await upload_async(
                f"{server.url}?{signature}", audience=audience_id, settings=settings, run_id=run_id
            )
            assert (report.run_id, report.rows.sent) == (run_id, 200)
    assert requests_received(emulator) == 1
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert any(b"/lists/people.csv?" in file.read_bytes() for file in files)
    assert not [file for file in files if b"invented-secret" in file.read_bytes()]


async def test_a_list_that_changed_sends_nothing(emulator: Emulator, settings: Settings) -> None:
    """It was another one at its end."""
    manner = Manner(body=LIST, changes_at=3)  # after a look and the beginning comes the look in the end
    with serving(manner) as server, pytest.raises(SourceRefused, match="changed"):
        await upload_async(server.url, audience=emulator.audience_id, settings=settings)
    assert requests_received(emulator) == 0


async def test_a_run_is_resumed_from_its_address(emulator: Emulator, settings: Settings) -> None:
    """The journal keeps all of one that has no query."""
    with serving(Manner(body=LIST)) as server:
        report = await upload_async(server.url, audience=emulator.audience_id, settings=settings)
        assert (await resume_async(report.run_id, settings=settings)).rows.sent == 200


def test_a_suppression_source_with_a_query_is_refused(settings: Settings) -> None:
    """It is read again by a run that is resumed."""
    with serving(Manner(body=LIST)) as server, pytest.raises(UsageError, match="not kept") as caught:
        check(server.url, suppress=[f"{server.url}?{SIGNATURE}"], settings=settings)
    assert "invented" not in str(caught.value)
