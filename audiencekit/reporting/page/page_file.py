"""The file of a page: written where the caller says, in place of an earlier page only."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final

from audiencekit.errors import UsageError
from audiencekit.state.files import explained, replace_file

_BEGINNING: Final = b"<!doctype html>"


def refuse_other_file(path: str) -> None:
    """Raise UsageError for a path of anything but an earlier page: a list, a device or a link is not replaced."""
    place = Path(path)
    try:
        if stat.S_ISREG(place.lstat().st_mode):
            with place.open("rb") as file:
                if file.read(len(_BEGINNING)) in (b"", _BEGINNING):
                    return
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        pass  # it cannot be read, so it is not known to be a page
    raise UsageError(f"{path!r} is another file than a web page, and stays", hint="give the name of a new file")


def write_page(path: str, page: str) -> None:
    """Write a page. Raises UsageError as `refuse_other_file`, and InputOutputFailed."""
    refuse_other_file(path)  # the run itself may have written there, such as its rejections
    hint = "name a file in a directory in which you may write"
    with explained("the page cannot be written", Path(path), hint=hint):
        replace_file(Path(path), page.encode())
