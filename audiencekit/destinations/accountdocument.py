"""A document in the state directory with a part for each account: what the service told this machine, as a help."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from audiencekit.machine.checkeddocuments import decode_checked, encode_checked
from audiencekit.machine.privatefiles import read_file, replace_file
from audiencekit.machine.statedirectory import check_root, make_directory

MAX_FILE_BYTES: Final = 16_000_000


class AccountDocument:
    """The file `name` of `state_dir`, in the format `form`.

    Raises an AudiencekitError or OSError when it cannot be read or written.
    """

    def __init__(self, state_dir: Path, name: str, form: str) -> None:
        self._state_dir, self._path, self._form = state_dir, state_dir / name, form

    def read(self) -> dict[str, dict[str, Any]]:
        """{account id: its part}; empty for a file that is missing, or is not as it was written."""
        check_root(self._state_dir)
        try:
            content = read_file(self._path, MAX_FILE_BYTES)
        except FileNotFoundError:
            return {}
        document, is_as_written = decode_checked(content, self._form, self._path)
        found = document if is_as_written and document else {}
        return {account: part for account, part in found.items() if isinstance(part, dict)}

    def replace(self, account_id: str, part: Mapping[str, Any]) -> None:
        """Put `part` in the place of that of `account_id`."""
        accounts = {**self.read(), account_id: dict(part)}
        make_directory(self._state_dir)
        replace_file(self._path, encode_checked(accounts, self._form))
