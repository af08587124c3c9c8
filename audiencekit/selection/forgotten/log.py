"""`forgotten.log`: a line for each time that the memory of erased people was changed by other means than `forget`."""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson

from audiencekit.preparation.plantimes import format_time
from audiencekit.state.files import CHANGE, explained, own_user, read_file, sync_directory

LOG: Final = "forgotten.log"
_MOST_BYTES: Final = 16_000_000


def append_line(state_dir: Path, **line: Any) -> dict[str, Any]:
    """Append a line with the time and the user, durably; the line comes back. Raises InputOutputFailed."""
    path, line = state_dir / LOG, {"at": format_time(datetime.now(UTC)), "uid": own_user(), **line}
    with explained("the change of the memory of erased people cannot be logged", path):
        file = os.open(path, CHANGE | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(file, "wb") as stream:
            stream.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
            stream.flush()
            os.fsync(stream.fileno())
        sync_directory(path.parent)
    return line


def read_log(state_dir: Path) -> list[dict[str, Any]]:
    """The lines so far, oldest first; those that cannot be read are left out."""
    try:
        lines = read_file(state_dir / LOG, _MOST_BYTES).splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        with contextlib.suppress(ValueError):
            found.append(orjson.loads(line))
    return found
