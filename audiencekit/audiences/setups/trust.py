"""Setups that were said to be trusted: a file that lies in the working directory may be another person's."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final

from audiencekit.errors import UsageError
from audiencekit.machine.checkeddocuments import decode_checked, encode_checked
from audiencekit.machine.fileowners import is_ours, others_may
from audiencekit.machine.privatefiles import explained, read_file, replace_file
from audiencekit.machine.statedirectory import check_root, make_directory
from audiencekit.optiontext import option

FILE: Final = "setups.json"
_FORM: Final = "audiencekit-setups/1"
_PATHS: Final = "paths"
_MAX_FILE_BYTES: Final = 1_000_000


class TrustedSetups:
    """The paths that were said once, in the state directory `state_dir`."""

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir

    def remember(self, path: Path) -> None:
        """From now on the file at `path` is trusted without being named. Raises InputOutputFailed."""
        make_directory(self._state_dir)
        paths = sorted({*self._paths(), str(path.resolve())})
        with explained("the setup cannot be remembered", self._state_dir):
            replace_file(self._state_dir / FILE, encode_checked({_PATHS: paths}, _FORM))

    def check(self, path: Path) -> Path:
        """`path`, which was said before. Raises UsageError for a file that was not, or that others may write."""
        again = f"look at it, then name it: {option('setup', path.name)}; with `remember=True` it is named for good"
        if not path.is_file():
            raise UsageError(f"there is no {path.name} in this directory", hint="name a setup: `setup=FILE`")
        path = path.absolute()
        if str(path.resolve()) not in self._paths():
            raise UsageError(f"{str(path)!r} was not named before, and may be another person's", hint=again)
        status = path.stat()
        if not is_ours(status, or_of_root=True) or others_may(status, stat.S_IWOTH):
            raise UsageError(f"{str(path)!r} can be written by others", hint=again)
        return path

    def _paths(self) -> list[str]:
        check_root(self._state_dir)
        try:
            content = read_file(file := self._state_dir / FILE, _MAX_FILE_BYTES)
        except OSError:
            return []
        document, is_as_written = decode_checked(content, _FORM, file)
        paths = document.get(_PATHS) if document and is_as_written else None
        return [path for path in paths if isinstance(path, str)] if isinstance(paths, list) else []
