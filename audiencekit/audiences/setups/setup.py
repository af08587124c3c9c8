"""A setup: the content of its file, and the files that are trusted."""

from __future__ import annotations

import codecs
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from audiencekit.errors import DefinitionRefused, InputOutputFailed, UsageError
from audiencekit.limits import MAX_DEFINITION_BYTES
from audiencekit.settings import Basis, Settings, Watch
from audiencekit.sources.files import FilePath
from audiencekit.state.directory import check_root, make_directory
from audiencekit.state.files import (
    decode_checked,
    encode_checked,
    explained,
    is_ours,
    others_may,
    read_file,
    replace_file,
)
from audiencekit.text import option

# --- A setup: the audiences that one file describes, each with its list and its account ---

Command: TypeAlias = Literal["sync", "upload", "do-not-reach"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceSetup:
    """One audience: `audience` is its id or its name. `account_id` None is the account of the settings.

    With the command `do-not-reach` it is the do-not-reach list of the account, and `audience` is empty. `keywords` are
    those of the function that `command` names; `schedule` is a note for people. `notify` names the receiver that the
    command line tells how it ended, `notify_on` are the rules; `watch` is set by a command that does so. `purpose` and
    `basis` are for the audit log.
    """

    name: str
    command: Command
    audience: str
    sources: tuple[FilePath, ...]
    account: str | None = None
    account_id: str | None = None
    schedule: str = ""
    notify: str | None = None
    notify_on: tuple[str, ...] = ()
    purpose: str = ""
    basis: Basis | None = None
    keywords: Mapping[str, Any] = field(default_factory=dict)
    watch: Watch | None = None

    def settings(self, common: Settings) -> Settings:
        """Return the `common` settings, with its account, and its purpose and basis where it has them."""
        purpose, basis = self.purpose or common.purpose, self.basis or common.basis
        own = replace(common, watch=self.watch, purpose=purpose, basis=basis)
        return own if self.account is None else own.for_account(self.account, self.account_id)

    @property
    def operation(self) -> str:
        """The operation in words: sync, update, delete, or update and delete."""
        if self.command == "sync":
            return "sync"
        return "update and delete" if "operation_column" in self.keywords else self.keywords.get("operation", "update")


@dataclass(frozen=True, slots=True)
class Setup:
    """The audiences of the file at `path`, in its order."""

    path: Path
    audiences: tuple[AudienceSetup, ...]

    def chosen(self, names: Iterable[str] | None) -> tuple[AudienceSetup, ...]:
        """Return the audiences with these names, in the order of the file; all for None.

        Raises UsageError for unknown names.
        """
        if names is None:
            return self.audiences
        wanted, known = list(names), [one.name for one in self.audiences]
        for name in wanted:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"perhaps {near[0]}" if near else f"the setup has: {', '.join(known)}"
                raise UsageError(f"there is no audience {name!r} in the setup", hint=hint)
        return tuple(one for one in self.audiences if one.name in wanted)


# --- The file that defines flexible audiences or a setup, as bytes ---


def read_definition(path: Path) -> bytes:
    """Return the content of the file at `path`.

    Raises InputOutputFailed, and DefinitionRefused for a file that is too large.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_DEFINITION_BYTES + 1)
    except OSError as error:
        raise InputOutputFailed(f"{str(path)!r} cannot be read: {error.strerror}") from None
    if len(content) > MAX_DEFINITION_BYTES:
        raise DefinitionRefused(str(path), [("", f"the file is larger than {MAX_DEFINITION_BYTES:,} bytes")])
    return content.removeprefix(codecs.BOM_UTF8)  # some editors begin a text with it


# --- Trusted setups: a file in the working directory may be another person's ---

FILE: Final = "setups.json"
_FORM: Final = "audiencekit-setups/1"
_PATHS: Final = "paths"
_MAX_FILE_BYTES: Final = 1_000_000


class TrustedSetups:
    """The paths of setups that were named before, in the state directory `state_dir`."""

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir

    def remember(self, path: Path) -> None:
        """Trust the file at `path` from now on without naming it. Raises InputOutputFailed."""
        make_directory(self._state_dir)
        paths = sorted({*self._paths(), str(path.resolve())})
        with explained("the setup cannot be remembered", self._state_dir):
            replace_file(self._state_dir / FILE, encode_checked({_PATHS: paths}, _FORM))

    def check(self, path: Path) -> Path:
        """Return `path` if it was named before. Raises UsageError if it was not, or others may write to it."""
        again = f"look at it, then name it: {option('setup', path.name)}; with `remember=True` it is named for good"
        if not path.is_file():
            raise UsageError(
                f"there is no {path.name} in this directory",
                hint="name a setup: `setup=FILE`; `audiencekit init` writes one",
            )
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
