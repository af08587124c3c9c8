"""No raw value, no header cell and no hash of a list reaches anything that a person or a program could read.

A marker stands in every cell and every header of lists with all kinds of faults. It is then looked for, in many
encodings, in stdout, stderr, the logs of every library at DEBUG, the frames of exceptions, every file written, and
every byte spooled.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from audiencekit.audiences.machine import look_at_machine
from audiencekit.audiences.overlap import overlap
from audiencekit.emulator import Emulator
from audiencekit.errors import AudiencekitError
from audiencekit.pipeline import check, prepare, upload_async
from audiencekit.reporting.page.machine_page import machine_page
from audiencekit.reporting.page.page import OWN, plan_page, report_page
from audiencekit.settings import Settings, load_settings
from tests.canary.markers import leaks, leaks_by_place
from tests.canary.sources import SOURCES
from tests.canary.witnesses import Printed, files_in, frames_of


@pytest.mark.parametrize("name", SOURCES)
def test_check_and_prepare_show_nothing(tmp_path: Path, printed: Printed, spooled: bytearray, name: str) -> None:
    """Plan, files, logs and errors hold no marker; what is prepared holds hashes and nothing raw."""
    source = tmp_path / "source"
    source.write_bytes(SOURCES[name])
    settings = load_settings({}, directory=tmp_path, state_dir=tmp_path / "state")
    shown: dict[str, bytes] = {}
    try:
        plan = check(
            source, settings=settings, rejections=tmp_path / "rejections.csv", max_rejected_share=1.0, doctor=True
        )
        shown["plan"] = json.dumps(plan.to_json()).encode() + repr(plan).encode()
        shown["page"] = (plan_page(plan.to_json()) + plan._repr_html_()).encode()
        for number, refusal in enumerate(plan.refusals):
            shown[f"refusal {number}"] = frames_of(refusal) + refusal.hint.encode()
    except AudiencekitError as error:
        shown["error"] = frames_of(error) + error.hint.encode()
    try:
        prepare(source, out=tmp_path / "out", requests=True, settings=settings, max_rejected_share=1.0)
    except AudiencekitError as error:
        shown["error of prepare"] = frames_of(error)
    shown |= printed()
    assert leaks_by_place(shown) == {}
    written = files_in(tmp_path, but=source)
    if manifest := written.get("out/manifest.json"):  # it has the digests of files, and no others
        for part in json.loads(manifest)["parts"]:
            assert part["sha256"] == hashlib.sha256(written[f"out/{part['name']}"]).hexdigest()
            manifest = manifest.replace(part["sha256"].encode(), b"")
        written["out/manifest.json"] = manifest
    for file, content in written.items():
        assert leaks(content, hashes_allowed=file.startswith("out/re")) == [], file
    assert leaks(bytes(spooled)) == []


@pytest.mark.parametrize("name", SOURCES)
def test_overlap_shows_nothing(tmp_path: Path, printed: Printed, spooled: bytearray, name: str) -> None:
    """A list that is compared with a copy of itself: result, files, logs and errors hold no marker and no hash."""
    sources = [tmp_path / "source", tmp_path / "copy"]
    for source in sources:
        source.write_bytes(SOURCES[name])
    settings = load_settings({}, directory=tmp_path, state_dir=tmp_path / "state")
    shown: dict[str, bytes] = {}
    try:
        found = overlap(*sources, settings=settings)
        shown["result"] = json.dumps(found.to_json()).encode() + found.to_text().encode() + repr(found).encode()
    except AudiencekitError as error:
        shown["error"] = frames_of(error) + error.hint.encode()
    shown |= printed()
    assert leaks_by_place(shown) == {}
    for file, content in files_in(tmp_path, but=sources[0]).items():
        assert file == "copy" or leaks(content) == [], file
    assert leaks(bytes(spooled)) == []


async def test_upload_shows_nothing(
    tmp_path: Path, printed: Printed, spooled: bytearray, emulator: Emulator, settings: Settings
) -> None:
    """Neither a whole run nor one that the service refuses leaves a marker or a hash anywhere but on the wire."""
    source = tmp_path / "source"
    source.write_bytes(SOURCES["row faults"])
    settings = replace(settings, events=tmp_path / "events.jsonl")
    report = await upload_async(source, audience=emulator.audience_id, settings=settings)
    assert (tmp_path / "events.jsonl").stat().st_size > 0
    shown = {"report": json.dumps(report.to_json()).encode() + repr(report).encode()}
    shown["pages"] = (report_page(report.to_json()) + machine_page(look_at_machine(settings), OWN)).encode()
    assert report.rows.sent > 0
    with pytest.raises(AudiencekitError) as caught:
        await upload_async(source, audience="zzzz", settings=settings)
    shown["error"] = frames_of(caught.value)
    shown |= printed()
    assert leaks_by_place(shown) == {}
    assert leaks_by_place(files_in(tmp_path, but=source)) == {}
    assert spooled
    assert leaks(bytes(spooled)) == []
    for secret in settings.secrets.values():
        everything = b"".join(shown.values()) + b"".join(files_in(tmp_path, but=source).values())
        assert secret.unwrap().encode() not in everything
