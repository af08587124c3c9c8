"""The time since the machine started: no clock step moves it, a suspend counts, and all processes of the host agree."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Final

BOOT_ID_FILE: Final = Path("/proc/sys/kernel/random/boot_id")
UNKNOWN_BOOT: Final = "unknown-boot"
_BOOT_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Outside Linux the monotonic clock is the nearest thing; on Windows it counts a suspend, too.
_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", None)


def boot_seconds() -> float:
    """Return the seconds since the start of the machine."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)


def boot_id(file: Path = BOOT_ID_FILE) -> str:
    """Return a name of this start of the machine for use in file names; UNKNOWN_BOOT where the system gives none."""
    try:
        text = file.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return UNKNOWN_BOOT
    return text if _BOOT_ID.fullmatch(text) else UNKNOWN_BOOT
