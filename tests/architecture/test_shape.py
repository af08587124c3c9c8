"""Where people go is a behaviour: no room but `destinations` asks which destination it is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INSIDE = ("audiencekit/destinations/", "audiencekit/emulator/")  # which have the destinations themselves
ASKED = re.compile(
    r"is_audience|\.destination(\.name)? (is|==|!=|in|not in) |isinstance\(.*[dD]estination"
    r"|(is|is not|==|!=) (AUDIENCE|DO_NOT_REACH_LIST)\b"
)


def test_no_room_asks_which_destination_it_is() -> None:
    """By identity, type or name."""
    paths = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "audiencekit").rglob("*.py"))]
    rooms = [path for path in paths if not path.startswith(INSIDE)]
    assert [path for path in rooms if ASKED.search((ROOT / path).read_text(encoding="utf-8"))] == []
