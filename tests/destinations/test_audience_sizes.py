"""The sizes of audiences that the service has told this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.destinations import audience_sizes as audiencesizes
from audiencekit.destinations.audience_sizes import FILE, AudienceSizes
from tests.cases import each_case

MORNING, EVENING, NEXT = "2026-01-01T06:00:00Z", "2026-01-01T18:00:00Z", "2026-01-02T06:00:00Z"


def test_one_size_a_day_is_kept(tmp_path: Path) -> None:
    """The last that was told, by account and audience."""
    sizes = AudienceSizes(tmp_path, "acc1")
    sizes.note("h1", 110, NEXT)
    sizes.note("h1", 100, MORNING)
    sizes.note("h1", 105, EVENING)
    sizes.note("h2", 7, MORNING)
    assert AudienceSizes(tmp_path, "acc1").of("h1") == {EVENING: 105, NEXT: 110}
    assert AudienceSizes(tmp_path, "acc2").of("h1") == {}


@pytest.mark.parametrize("size", [None, "many", 1.5, True])
def test_an_invalid_size_is_not_stored(tmp_path: Path, size: object) -> None:
    """A service that does not say has told nothing."""
    AudienceSizes(tmp_path, "acc1").note("h1", size, MORNING)
    assert not (tmp_path / FILE).exists()


def test_old_days_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file never grows without end."""
    monkeypatch.setattr(audiencesizes, "MAX_DAYS", 3)
    for day in range(1, 8):
        AudienceSizes(tmp_path, "acc1").note("h1", day, f"2026-01-0{day}T06:00:00Z")
    assert list(AudienceSizes(tmp_path, "acc1").of("h1").values()) == [5, 6, 7]


@each_case("content", [b"", b"rubbish", b"[]", b'{"acc1": 7}', b'{"acc1": {"h1": 7}}', b"\xff"])
def test_rubbish_is_not_known(tmp_path: Path, content: bytes) -> None:
    """And does not stay."""
    (tmp_path / FILE).write_bytes(content)
    sizes = AudienceSizes(tmp_path, "acc1")
    assert sizes.of("h1") == {}
    sizes.note("h1", 5, MORNING)
    assert sizes.of("h1") == {MORNING: 5}
