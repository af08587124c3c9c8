"""The state key from a program: a key management service, a vault, or a file that is encrypted for a person."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import Final, TypeAlias

from audiencekit.errors import CredentialsRefused, UsageError
from audiencekit.machine.programs import find_program, start_program
from audiencekit.personal import Secret

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
    hint = "run it in a shell: it must print 64 hex digits and nothing else; its own error messages stand above"
    return CredentialsRefused(f"the command of {COMMAND_VARIABLE} {what}", hint=hint)
