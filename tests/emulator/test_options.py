"""Settings of the emulator."""

from __future__ import annotations

from typing import Any

import pytest

from audiencekit.emulator import EmulatorOptions
from tests.cases import each_case


@each_case(
    "setting",
    [
        {"profile": "y"},
        {"port": -1},
        {"port": 65_536},
        {"rate": (0, 60.0)},
        {"rate": (1, 0.0)},
        {"rate": (1, float("inf"))},
        {"rate": (1, float("nan"))},
        {"processing_seconds": 0.0},
        {"processing_seconds": float("nan")},
    ],
)
def test_impossible_settings_are_refused(setting: dict[str, Any]) -> None:
    """A setting that cannot be ends in ValueError, at construction."""
    with pytest.raises(ValueError, match=r"profile|port|rate|count"):
        EmulatorOptions(**setting)


@each_case("setting", [{"profile": "x"}, {"port": 65_535}, {"rate": (1, 0.001)}])
def test_possible_settings_are_taken(setting: dict[str, Any]) -> None:
    """Settings at their bounds are taken."""
    options = EmulatorOptions(**setting)
    assert all(getattr(options, name) == value for name, value in setting.items())
