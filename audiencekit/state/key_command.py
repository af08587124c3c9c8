"""The state key from a program: a key management service, a vault, or a file that is encrypted for a person."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

from audiencekit.errors import CredentialsRefused, InputOutputFailed, UsageError
from audiencekit.personal import Secret
from audiencekit.process.programs import find_program, start_program
from audiencekit.state.files import explained, read_file, replace_file

COMMAND_VARIABLE: Final = "AUDIENCEKIT_KEY_COMMAND"
_SECONDS: Final = 120  # a person may have to unlock something
_MOST_BYTES: Final = 10_000


class KeyCommand:
    """A command whose output is the key. It is run once, when the key is needed first, and without a shell.

    It has the environment of this process but for our own variables, which hold secrets; stderr is passed on, for
    questions and complaints.
    """

    def __init__(self, command: str) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError:
            self._words = []
        if not self._words:
            raise UsageError(f"{COMMAND_VARIABLE} is not a command", hint="give a program and its arguments")
        program = self._words[0]
        if os.path.dirname(program) and not os.path.isabs(program):
            told = f"{COMMAND_VARIABLE} names a program by a relative path, which depends on the working directory"
            raise UsageError(told, hint="give its full path")
        self._found: Secret | None = None

    def __repr__(self) -> str:
        return "<KeyCommand>"

    def read(self) -> Secret:
        """The output. Raises CredentialsRefused when there is none, and says why in words of ours."""
        if self._found is None:
            self._found = self._run()
        return self._found

    def _run(self) -> Secret:
        program = self._words[0] if os.path.isabs(self._words[0]) else find_program(self._words[0])
        if program is None:
            raise _refused("cannot be run: no directory that PATH names by its full path has the program")
        try:
            process = start_program([program, *self._words[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        except OSError as error:
            raise _refused(f"cannot be run: {error.strerror}") from None
        with process:
            try:
                printed, _ = process.communicate(timeout=_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise _refused(f"did not end within {_SECONDS} seconds") from None
        if process.returncode:
            raise _refused(f"ended with exit code {process.returncode}")
        if not printed.strip() or len(printed) > _MOST_BYTES:
            raise _refused("printed no key")
        return Secret(printed.decode("latin-1").strip())


# A key that was given, or the way to it; None where there is neither.
GivenKey: TypeAlias = Secret | KeyCommand | None


def _refused(what: str) -> CredentialsRefused:
    hint = "run it in a shell: it must print 64 hex digits and nothing else; its own error messages are above"
    return CredentialsRefused(f"the command of {COMMAND_VARIABLE} {what}", hint=hint)


NAME_FILE: Final = "key.entry"
_BEGIN: Final = "state-key-"
_NAME: Final = re.compile(rf"{_BEGIN}[0-9a-f]{{12}}")
_MOST_ENTRY_BYTES: Final = 100
_HINT: Final = "unlock it, or give AUDIENCEKIT_KEY"


def read_entry_name(directory: Path) -> str:
    """The name that the file in `directory` says; empty where there is none. Raises InputOutputFailed."""
    path = directory / NAME_FILE
    if not os.path.lexists(path):
        return ""
    with explained("the name of the keyring's entry cannot be read", path):
        name = read_file(path, _MOST_ENTRY_BYTES).decode("latin-1").strip()
    if not _NAME.fullmatch(name):
        raise InputOutputFailed(f"{str(path)!r} says no name of an entry of the keyring", hint="restore it")
    return name


def read_entry(state_dir: Path) -> Secret | None:
    """The key in the entry; None for none. Raises CredentialsRefused."""
    name = read_entry_name(state_dir)
    return read_keyring(name, hint=_HINT) if name else None


def write_entry(directory: Path, key: Secret) -> bool:
    """Whether there is a keyring: then it holds `key` in a new entry, and the file in `directory` names that."""
    name = f"{_BEGIN}{secrets.token_hex(6)}"
    with explained("the name of the keyring's entry cannot be kept", directory / NAME_FILE):
        replace_file(directory / NAME_FILE, name.encode() + b"\n")
        if write_keyring(name, key, hint=_HINT):
            return True
        os.unlink(directory / NAME_FILE)
    return False


def clear_entry(name: str) -> None:
    """Remove the entry of that name, if there is one. Raises CredentialsRefused."""
    if name and read_keyring(name, hint=_HINT) is not None:
        clear_keyring(name, hint=_HINT)


KEYRING_SERVICE: Final = "audiencekit"


def read_keyring(name: str, *, hint: str) -> Secret | None:
    """The entry of the keyring under `name`; None without the extra, without a keyring, and when it holds nothing.

    Raises CredentialsRefused, with `hint`, when there is a keyring that cannot be read.
    """
    kept = _ask("read", hint, "get_password", name)
    return None if kept is None else Secret(kept)


def write_keyring(name: str, content: Secret, *, hint: str) -> bool:
    """Whether the keyring holds `content` now: one that only pretends is none. Raises as `read_keyring`."""
    _ask("written", hint, "set_password", name, content)
    return read_keyring(name, hint=hint) == content


def clear_keyring(name: str, *, hint: str) -> None:
    """Make the keyring hold nothing under `name`, where it holds something. Raises as `read_keyring`."""
    _ask("written", hint, "delete_password", name)


def _ask(verb: str, hint: str, function: str, name: str, *content: Secret) -> str | None:
    try:
        keyring: Any = import_module("keyring")
        errors: Any = import_module("keyring.errors")
    except ImportError:
        return None
    failure: CredentialsRefused
    try:
        answer: str | None = getattr(keyring, function)(KEYRING_SERVICE, name, *(each.unwrap() for each in content))
        return answer
    except errors.NoKeyringError:
        return None
    except Exception as error:  # backends raise what they like; another secret than before would be worse than none
        failure = CredentialsRefused(f"the keyring cannot be {verb}: {type(error).__name__}", hint=hint)
    # Raised outside the handler: a context would hold the frames of the backend.
    raise failure
