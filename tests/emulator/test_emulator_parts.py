"""`audiencekit.emulator.emulator_parts`."""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.emulator import EmulatorOptions, StateError
from audiencekit.emulator.emulator_parts import EmulatorParts
from tests.cases import each_case

START = 1_800_000_000.25


def _parts(state: Path | None, **options: int) -> EmulatorParts:
    return EmulatorParts(EmulatorOptions(clock=lambda: START, state=state, **options))  # type: ignore[arg-type]


@each_case("has_state", [True, False])
def test_parts_go_on_from_a_state_file(tmp_path: Path, has_state: bool) -> None:
    """The same ids and the same time; without a file the clock begins anew."""
    state = tmp_path / "emulator.state" if has_state else None
    parts = _parts(state)
    account_id = parts.store.origin.account_id
    parts.clock.advance(3_600)
    if parts.state is not None:
        parts.state.store("clock_offset", parts.clock.offset_seconds)
    parts.close()
    later = _parts(state)
    assert later.store.origin.account_id == account_id
    assert later.clock.now() == START + 3_600 * has_state
    later.close()


def test_a_state_file_of_other_options_is_refused(tmp_path: Path) -> None:
    """And while another emulator has it."""
    parts = _parts(tmp_path / "emulator.state")
    with pytest.raises(StateError):
        _parts(tmp_path / "emulator.state")
    parts.close()
    with pytest.raises(StateError, match="seed"):
        _parts(tmp_path / "emulator.state", seed=1)


async def test_nothing_late_is_applied_after_the_end() -> None:
    """Although its moment has come."""
    parts = _parts(None)
    parts.late.add(0, lambda: pytest.fail("applied after the end"))
    parts.close()
    parts.late.run_due()
