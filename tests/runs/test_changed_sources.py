"""A run whose source, rules or key are others now is refused with the reason, and nothing is sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from audiencekit.destinations.requests.request_plan import BodyLimits
from audiencekit.emulator import Emulator
from audiencekit.errors import ResumeRefused
from audiencekit.personal import Secret
from audiencekit.pipeline import resume_async
from audiencekit.settings import Settings
from tests.runs.begun import HEADER, LINES, ROWS, begin, members, rewrite_journal, sent
from tests.shortened import shortened

pytestmark = pytest.mark.usefixtures("small_requests")


def _edit(number: int, old: str, new: str) -> Callable[[list[str]], list[str]]:
    return lambda lines: [*lines[:number], lines[number].replace(old, new), *lines[number + 1 :]]


CHANGES: dict[str, tuple[str, Callable[[list[str]], list[str]]]] = {
    "an email": ("source", _edit(20, "person19", "person99")),
    "a phone number": ("source", _edit(20, "0019", "0099")),
    "an email that was sent": ("source", _edit(1, "person0", "person98")),
    "an email of the last row": ("source", _edit(ROWS, "person", "someone")),
    "an email that is none now": ("source", _edit(5, "@", " at ")),
    "a row that is rejected now": ("source", _edit(5, "person4@example.com,+12015550004", "null,null")),
    "a row more": ("source", lambda lines: [*lines, "late@example.com,,x"]),
    "a rejected row more": ("source", lambda lines: [*lines, "null,,x"]),
    "a duplicate more": ("source", lambda lines: [*lines, lines[1]]),
    "a row fewer": ("source", lambda lines: lines[:-1]),
    "the first row gone": ("source", lambda lines: [lines[0], *lines[2:]]),
    "half of it": ("source", lambda lines: lines[: ROWS // 2]),
    "two rows swapped": ("source", lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]]),
    "the order turned": ("source", lambda lines: [lines[0], *reversed(lines[1:])]),
    "two phone numbers swapped": ("source", lambda lines: _edit(2, "0001", "0000")(_edit(1, "0000", "0001")(lines))),
    "another list": ("source", lambda lines: [lines[0], *(line.replace("person", "other") for line in lines[1:])]),
    "no row": ("source", lambda lines: lines[:1]),
    "nothing": ("source", lambda lines: []),
    "a line cut off": ("source", lambda lines: [*lines[:-1], '"person']),
    "a column renamed": ("mapping", _edit(0, "phone", "telephone")),
    "a column gone": ("mapping", lambda lines: [line.split(",")[0] + ",x" for line in lines]),
    "columns turned": ("mapping", lambda lines: [",".join(reversed(line.split(","))) for line in lines]),
    "a column more": ("mapping", lambda lines: [f"{line},{'mobile' if line == HEADER else ''}" for line in lines]),
}


@pytest.mark.parametrize("change", shortened(CHANGES, 4))
async def test_a_source_that_has_changed_is_refused(
    source: Path, emulator: Emulator, settings: Settings, change: str
) -> None:
    """Nothing is sent, the run stays as it was, and goes on when the source is what it was."""
    run_id = await begin(source, emulator, settings)
    kept = (settings.state_dir / "runs" / run_id / "report.json").read_bytes()
    before = sent(emulator)
    reason, changed = CHANGES[change]
    original = source.read_text()
    source.write_text("".join(f"{line}\n" for line in changed([HEADER, *LINES])))
    with pytest.raises(ResumeRefused) as caught:
        await resume_async(run_id, settings=settings)
    assert (caught.value.reason, caught.value.exit_code) == (reason, 3)
    assert "nothing more was sent" in str(caught.value)
    assert caught.value.document is not None
    assert caught.value.document["state"] == "incomplete"
    assert sent(emulator) == before
    assert (settings.state_dir / "runs" / run_id / "report.json").read_bytes() == kept
    source.write_text(original)
    assert (await resume_async(run_id, settings=settings)).rows.sent == ROWS


@pytest.mark.parametrize(
    "changed",
    [lambda lines: [f"{line}z" for line in lines[:1]] + [f"{line}!" for line in lines[1:]], lambda lines: [*lines, ""]],
    ids=["a column that is not read", "a blank line more"],
)
async def test_changes_that_change_no_request_are_none(
    source: Path, emulator: Emulator, settings: Settings, changed: Callable[[list[str]], list[str]]
) -> None:
    """The rows and their identifiers are the same, so the bytes are."""
    run_id = await begin(source, emulator, settings)
    source.write_text("".join(f"{line}\n" for line in changed([HEADER, *LINES])))
    assert (await resume_async(run_id, settings=settings)).state == "complete"
    assert members(emulator) == ROWS


async def test_a_source_that_is_gone_is_refused(source: Path, emulator: Emulator, settings: Settings) -> None:
    """With its name and the way out."""
    run_id = await begin(source, emulator, settings)
    source.unlink()
    with pytest.raises(ResumeRefused, match=r"list\.csv.*no such file") as caught:
        await resume_async(run_id, settings=settings)
    assert caught.value.reason == "source"


async def test_other_rules_are_refused(
    source: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profile that would write the same people in another way."""
    run_id = await begin(source, emulator, settings)
    other = replace(settings.profile, phone_form="digits")
    monkeypatch.setattr("audiencekit.runs.run.find_profile", lambda name: other)
    with pytest.raises(ResumeRefused, match="phone_form") as caught:
        await resume_async(run_id, settings=settings)
    assert caught.value.reason == "options"


async def test_a_version_that_cuts_otherwise_is_refused(
    source: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same records in other requests are not the same requests."""
    run_id = await begin(source, emulator, settings)
    monkeypatch.setattr(BodyLimits, "within", lambda _: BodyLimits(max_body_bytes=1_400))
    with pytest.raises(ResumeRefused) as caught:
        await resume_async(run_id, settings=settings)
    assert caught.value.reason == "requests"


async def test_a_body_that_left_must_be_the_same_bytes(source: Path, emulator: Emulator, settings: Settings) -> None:
    """It is compared, by its keyed digest, before the first request is sent again."""
    run_id = await begin(source, emulator, settings)
    change = "UPDATE requests SET state = 'intended', digest = zeroblob(16) WHERE number = 4"
    rewrite_journal(settings, run_id, change)
    before = sent(emulator)
    with pytest.raises(ResumeRefused, match="request 4 would not be the bytes") as caught:
        await resume_async(run_id, settings=settings)
    assert caught.value.reason == "requests"
    assert sent(emulator) == before


async def test_another_key_is_refused(source: Path, emulator: Emulator, settings: Settings) -> None:
    """A fingerprint under one key cannot be compared under another."""
    run_id = await begin(source, emulator, settings)
    with pytest.raises(ResumeRefused, match="another state key") as caught:
        await resume_async(run_id, settings=replace(settings, key=Secret("ab" * 32)))
    assert caught.value.reason == "key"
