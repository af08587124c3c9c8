"""The cost of events and notifications: processor time of `upload` commands, with and without them, in turns.

    python -m benchmarks.watched [--rows 200000] [--runs 20] [--out FILE]

The emulator and the receiver are other processes, or this one: their time is no time of the commands. `off, again` is
the same command as `off`: its ratio is that of the machine with itself.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from benchmarks.benchmark import contact_list, section_parser, tell
from benchmarks.emulator_process import AUDIENCE, running_emulator
from benchmarks.sections import publish_section
from benchmarks.series import Spread
from benchmarks.trials import start

BEGIN: Final = "<!-- watched: what follows is written by python -m benchmarks.watched -->"
END: Final = "<!-- watched: end -->"
MOST: Final = 1.02  # of the processor time without
OFF: Final = "off"
# Each way with its options; the last two are told by a rule that is true of a list with a rejected row.
EVENTS: Final = ("--events", "events.jsonl")
RULE: Final = ("--notify-on", "rejected=0")
WAYS: Final[Mapping[str, tuple[str, ...]]] = {
    OFF: (),
    "off, again": (),
    "events": EVENTS,
    "notifications": RULE,
    "both": (*EVENTS, *RULE),
}


@contextmanager
def receiving() -> Iterator[tuple[str, list[bytes]]]:
    """The address of a receiver in this process, and what it gets."""
    bodies: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Not a matter of time."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/", bodies
        finally:
            server.shutdown()
            thread.join()


def seconds_of(path: Path, options: tuple[str, ...], environment: Mapping[str, str]) -> float:
    """Processor time of one command, from its start to its end, with a state directory of its own."""
    with tempfile.TemporaryDirectory(prefix="audiencekit-benchmark-") as directory:
        given = [option if option != EVENTS[1] else f"{directory}/{option}" for option in options]
        command = [sys.executable, "-m", "audiencekit", "upload", str(path), "--audience", environment[AUDIENCE]]
        process = start([*command, "-q", *given], environment={**environment, "AUDIENCEKIT_STATE_DIR": directory})
        assert process.stdout is not None
        with process.stdout:
            process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"the upload ended with {process.returncode}")
        return usage.ru_utime + usage.ru_stime


def measure(path: Path, runs: int) -> dict[str, list[float]]:
    """Seconds of each way, one a round; each round is begun by the next one."""
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    with running_emulator(sink=True) as environment, receiving() as (url, bodies):
        seconds_of(path, (), environment)  # what is read from the disk once
        for number in range(runs):
            tell(f"round {number + 1} of {runs}")
            first = number % len(WAYS)
            for way in (*list(WAYS)[first:], *list(WAYS)[:first]):
                more = {"AUDIENCEKIT_NOTIFY_URL": url} if set(RULE) <= set(WAYS[way]) else {}
                found[way].append(seconds_of(path, WAYS[way], {**environment, **more}))
    if len(bodies) != 2 * runs:
        raise RuntimeError(f"{len(bodies)} notifications came of {2 * runs}")
    return found


def as_table(found: Mapping[str, Sequence[float]]) -> str:
    """The medians, and the ratios to `off` of the same round."""
    lines = ["| way | processor time, s | to `off` of the same round (median, range) |", "|---|---|---|"]
    for way, seconds in found.items():
        ratio = Spread.of([one / other for one, other in zip(seconds, found[OFF], strict=True)])
        told = "" if way == OFF else f"{ratio.median:.3f} ({ratio.least:.2f} – {ratio.greatest:.2f})"
        lines.append(f"| {way} | {Spread.of(seconds).median:.2f} | {told} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table or write it into a file that has the marks."""
    parser = section_parser("watched", "The cost of events and notifications.", rows=200_000, runs=20)
    given = parser.parse_args(arguments)
    with contact_list(given.rows, seed=1) as path:
        with path.open("a", encoding="utf-8") as file:
            file.write("no address,no number,US\n")
        table = as_table(measure(path, given.runs))
    text = (
        f"`upload` of {given.rows:,} people with email and phone, {given.runs} rounds in turns. Must reach: at most"
        f" {MOST} of the processor time of `off`.\n\n{table}"
    )
    publish_section(given.out, text, begin=BEGIN, end=END)


if __name__ == "__main__":
    main()
