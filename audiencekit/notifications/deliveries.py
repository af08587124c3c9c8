"""The delivery of a notification to a program, which ends in time, whatever it does."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from typing import Final

from audiencekit.process.exchanges import Deadline
from audiencekit.process.programs import start_program

MOST_SECONDS: Final = 5.0  # for all that one command delivers


def run_program(words: Sequence[str], body: bytes, deadline: Deadline) -> str:
    """Run a program with `body` on its standard input; return an empty text when it ended well, else why not.

    It has none of our variables. Its output is dropped, since stdout is for data, and it is killed when time is over.
    """
    try:
        process = start_program(
            words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
    except OSError as error:
        return f"the program cannot be run: {error.strerror or type(error).__name__}"
    try:
        process.communicate(body, timeout=max(deadline.left, 0.001))
    except subprocess.TimeoutExpired:
        _end(process)
        return f"the program did not end in time: {deadline.in_words}"
    except OSError as error:
        _end(process)
        return f"the program cannot be given its input: {error.strerror or type(error).__name__}"
    return "" if not process.returncode else f"the program ended with exit code {process.returncode}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the program and those that it started."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
