"""Runs the command line in processes that end where they are told to: `python -m tests.crashes.driver`.

One JSON object a line on stdin is one process: `argv`, `env`, `directory`, `stdin`, `kill`. It is forked from this
one, which has imported everything, runs `audiencekit.cli.main`, reads the file `stdin`, and writes to the files `out`
and `err` of its directory. The answer is one line: how it ended, negative for a signal. `kill` is null, `{"point",
"nth"}` for the n-th time that a point of `crashpoints` is passed, or `{"seconds"}`; with `"memory": true` that point
finds no memory instead. The first run of a state directory
has the id RUN_ID. The clock is `ahead_seconds` ahead where runs are begun.

With a job as its argument it runs that one in this process.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import signal
import sys
import threading
import time
from datetime import datetime, timedelta, tzinfo
from typing import Any

from tests.forking import import_everything

MAX_BODY_BYTES = 1_000  # so that a few rows are several requests
SETTLE_SECONDS = 0.3
RUN_ID = "20261121-013000-1f3a9c00"


def main() -> None:
    if len(sys.argv) > 1:
        run(json.loads(sys.argv[1]))
    import_everything()
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if not child:
            run(job)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def run(job: dict[str, Any]) -> None:
    """The child: never comes back."""
    os.chdir(job["directory"])
    os.environ.update(job["env"])
    os.dup2(os.open(job["stdin"], os.O_RDONLY), 0)
    for name, stream in (("out", 1), ("err", 2)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
    make_requests_small()
    make_settling_short()
    fix_run_id()
    set_clock_ahead(job.get("ahead_seconds", 0))
    arm(job["kill"])
    sys.argv = ["audiencekit", *job["argv"]]
    code = 1
    try:
        audiencekit_main()
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def audiencekit_main() -> None:
    from audiencekit.cli import main as command_line

    command_line()


def make_requests_small() -> None:
    """Bodies of at most MAX_BODY_BYTES in place of five million."""
    from audiencekit.destinations.requests.request_plan import BodyLimits

    BodyLimits.within = lambda _: BodyLimits(max_body_bytes=MAX_BODY_BYTES)  # type: ignore[method-assign,assignment]


def make_settling_short() -> None:
    """A moment in place of the quarter of an hour after which no attempt of a dead process is applied any more."""
    from audiencekit.delivery.options import Waits
    from audiencekit.runs import first_pass, second_pass

    second_pass.deliver = functools.partial(second_pass.deliver, waits=Waits(settle_seconds=SETTLE_SECONDS))  # type: ignore[assignment]
    first_pass.SETTLE_SECONDS = SETTLE_SECONDS  # type: ignore[misc]


def fix_run_id() -> None:
    """One id for the first run of a state directory, so that its files have known paths."""
    from audiencekit.runs import beginning
    from audiencekit.runs.store import RUNS

    fresh, first = beginning.new_run_id, os.path.join(os.environ["AUDIENCEKIT_STATE_DIR"], RUNS, RUN_ID)

    def new_run_id(now: float) -> str:
        taken = os.path.exists(first)
        return fresh(now) if taken else RUN_ID

    beginning.new_run_id = new_run_id


def set_clock_ahead(seconds: float) -> None:
    """Set the clock that dates new runs ahead by `seconds`."""
    from audiencekit.runs import beginning, run

    class Ahead(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + timedelta(seconds=seconds)

    beginning.datetime = run.datetime = Ahead  # type: ignore[misc]


def arm(kill: dict[str, Any] | None) -> None:
    """Have this process killed as `kill` says."""
    from audiencekit.process.crash_points import set_hook

    if kill is None:
        return
    if "seconds" in kill:  # real ones: a kill that no point of the code foresees
        threading.Thread(target=lambda: (time.sleep(kill["seconds"]), die()), daemon=True).start()
        return
    left, lock = kill["nth"], threading.Lock()

    def hook(point: str) -> None:
        nonlocal left
        with lock:
            left -= point == kill["point"]
            if not left and point == kill["point"]:
                lack_memory() if kill.get("memory") else die()

    set_hook(hook)


def lack_memory() -> None:
    raise MemoryError


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
