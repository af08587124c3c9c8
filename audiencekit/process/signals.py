"""Signals from the first line of a command on, while it still imports: it leaves with the code that is promised.

Nothing is sent before `cli.interruption` takes the signals over, so that there is nothing to finish. This imports
little: what comes before it is not covered.
"""

from __future__ import annotations

import os
import signal
import sys

NOT_FINISHED = 75  # errors.NotFinished.exit_code
INTERRUPTED = 130
_FIRST = 1  # the number of the first process of a container
_BY_SIGNAL = 128  # as a shell tells the end by a signal
# They ask a process from outside to end: SIGHUP is not known to Windows, whose SIGBREAK is Ctrl-Break.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
ENDINGS: tuple[signal.Signals, ...] = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))

# Commands that end in good order, once they are at work (`cli.interruption`).
_SENDING = (("upload",), ("resume",), ("sync",), ("run",), ("renew",), ("forget",), ("do-not-reach", "upload"))
_MESSAGE = "interrupted before the first request: nothing was sent"
_DOCUMENT = """{{
  "state": "incomplete",
  "continue_with": null,
  "error": {{
    "type": "{}",
    "message": "{}",
    "hint": "{}"
  }}
}}
"""


def sends(arguments: list[str]) -> bool:
    """Whether `arguments` are those of a command that ends in good order when it is interrupted."""
    words = tuple(word for word in arguments if not word.startswith("-"))
    return any(words[: len(command)] == command for command in _SENDING)


def heed_first_signals() -> None:
    """Have the process leave at once when it is asked to: with 75 where it is to send, else at Ctrl-C with 130.

    A signal that the parent process has ignored stays ignored. Of the process with the number 1, as that of a
    container, every signal is ignored that it has no handler for: there all have one.
    """
    is_to_send = sends(sys.argv[1:])
    for ending in ENDINGS:
        if signal.getsignal(ending) is signal.SIG_IGN:
            continue
        if is_to_send:
            signal.signal(ending, _leave_unfinished)
        elif ending == signal.SIGINT:
            signal.signal(ending, _leave_interrupted)
        else:
            let_end(ending)


def let_end(ending: int) -> None:
    """Have the signal `ending` end the process at once, as it ends any other program, also the process 1."""
    signal.signal(ending, _leave_ended if os.getpid() == _FIRST else signal.SIG_DFL)


def hand_over_interrupt() -> None:
    """Ctrl-C is KeyboardInterrupt again in a command that sends nothing: it is caught now."""
    if signal.getsignal(signal.SIGINT) is _leave_interrupted:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave_ended(ending: int, _frame: object) -> None:
    os._exit(_BY_SIGNAL + ending)


def _leave_unfinished(_ending: int, _frame: object) -> None:
    _write(2, f"error: {_MESSAGE}\n  what to do: give the same command again\n")
    if "--json" in sys.argv:
        _write(1, _DOCUMENT.format("NotFinished", _MESSAGE, "give the same command again"))
    os._exit(NOT_FINISHED)


def _leave_interrupted(_ending: int, _frame: object) -> None:
    _write(2, "interrupted\n")
    if "--json" in sys.argv:
        _write(1, _DOCUMENT.format("Interrupted", "interrupted", ""))
    os._exit(INTERRUPTED)


def _write(descriptor: int, text: str) -> None:
    try:
        os.write(descriptor, text.encode())
    except OSError:  # closed, or no one reads it
        return
