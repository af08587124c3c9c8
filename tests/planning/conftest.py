"""A list of people; some are not to be sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.planning.withheld import write


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Four people: two with both kinds, one with each."""
    return write(
        tmp_path / "list.csv",
        "email,phone,marketing",
        "ada@example.com,+12015550101,yes",
        "bob@example.com,+12015550102,no",
        "cyd@example.com,,Yes",
        ",+12015550104,",
    )
