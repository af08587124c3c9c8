"""The state key from a program: a key management service, a vault, or a file that is encrypted for a person."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from typing import Final, TypeAlias

from audiencekit.errors import CredentialsRefused, UsageError
from audiencekit.personal import Secret

COMMAND_VARIABLE: Final = "AUDIENCEKIT_KEY_COMMAND"
_SECONDS: Final = 120  # a person may have to unlock something
_MOST_BYTES: Final = 10_000
_OURS: Final = "AUDIENCEKIT_"


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
        self._program = shutil.which(self._words[0]) if self._words else None
        if self._program is not None and not os.path.isabs(self._program):
            told = f"{COMMAND_VARIABLE} names a program by a relative path, which depends on the working directory"
            raise UsageError(told, hint="give its full path")
        if not self._words:
            raise UsageError(f"{COMMAND_VARIABLE} is not a command", hint="give a program and its arguments")
        self._found: Secret | None = None

    def __repr__(self) -> str:
        return "<KeyCommand>"

    def read(self) -> Secret:
        """The output. Raises CredentialsRefused when there is none, and says why in words of ours."""
        if self._found is None:
            self._found = self._run()
        return self._found

    def _run(self) -> Secret:
        others = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        try:
            done = subprocess.run(  # noqa: S603 - the words are the user's own
                self._words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=others, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise _refused(f"did not end within {_SECONDS} seconds") from None
        except OSError as error:
            raise _refused(f"cannot be run: {error.strerror}") from None
        if done.returncode:
            raise _refused(f"ended with exit code {done.returncode}")
        if not done.stdout.strip() or len(done.stdout) > _MOST_BYTES:
            raise _refused("printed no key")
        return Secret(done.stdout.decode("latin-1").strip())


# A key that was given, or the way to it; None where there is neither.
GivenKey: TypeAlias = Secret | KeyCommand | None


def _refused(what: str) -> CredentialsRefused:
    hint = "run it in a shell: it must print 64 hex digits and nothing else; its own error messages stand above"
    return CredentialsRefused(f"the command of {COMMAND_VARIABLE} {what}", hint=hint)
