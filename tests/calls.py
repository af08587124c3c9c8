"""The command line, called in this process: what a process would print and how it would end, without its start.

For signals, terminals, locks between processes and starts, `tests/processes.py` begins a process.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from audiencekit import cli
from audiencekit.cli.main import begin_manner, end_manner
from audiencekit.process.signals import ENDINGS


def call(
    *arguments: str, env: Mapping[str, str], cwd: Path, text: str = "", encoding: str = "utf-8"
) -> subprocess.CompletedProcess[str]:
    """One command from its start to its end; `text` is what it finds on its stdin, `encoding` that of its stdout."""
    out = io.TextIOWrapper(io.BytesIO(), encoding, "strict", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True)
    stdin = io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "surrogateescape")), "utf-8", "surrogateescape")
    argv = ["audiencekit", *arguments]
    with (
        mock.patch.dict(os.environ, env, clear=True),
        mock.patch.object(tempfile, "tempdir", None),  # which `env` may name
        mock.patch.multiple(sys, argv=argv, stdin=stdin, stdout=out, stderr=err),
        _directory(cwd),
        _same_signals(),
    ):
        code = cli._run()
        end_manner(code)
        begin_manner()  # nothing listens to the log for a later test
    said, told = (stream.buffer.getvalue().decode(stream.encoding) for stream in (out, err))  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(arguments, code, said, told)


@contextmanager
def _directory(cwd: Path) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(cwd)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _same_signals() -> Iterator[None]:
    """A command that sends leaves its own handlers, as its process would end then."""
    before = {ending: signal.getsignal(ending) for ending in ENDINGS}
    try:
        yield
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)
