"""The processor time that events, notifications and the audit log take of an upload, counted within it.

    python -m benchmarks.watched [--rows 200000] [--runs 5] [--out FILE]

Whole commands with and without them do not show 2 %: the same command twice differs by a tenth and more. So each runs
in a process that counts the time of the functions through which it reaches them, with the modules that they load. The
emulator and the receiver are other processes, or this one: their time is no time of the commands.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from audiencekit.sources.bytes.files import STANDARD_INPUT
from benchmarks.benchmark import contact_list, section_parser, tell
from benchmarks.emulator_process import AUDIENCE, running_emulator
from benchmarks.live_watched import AUDIT, EVENTS, NOTIFICATIONS, WHOLE
from benchmarks.sections import publish_section
from benchmarks.series import Spread
from benchmarks.trials import start

BEGIN: Final = "<!-- watched: what follows is written by python -m benchmarks.watched -->"
END: Final = "<!-- watched: end -->"
MOST: Final = {EVENTS: 0.02, NOTIFICATIONS: 0.02, AUDIT: 0.01}  # of the processor time without
# Each command with its options. The first rule is true of a list with a rejected row, so that its receiver is told.
_RULES: Final = ("rejected=0", "fewer=0.1", "match-rate=0.1", "expiry=60d")
WAYS: Final[Mapping[str, tuple[str, ...]]] = {
    "upload": (),
    "upload, standard input": (),  # known by its records, and not by the bytes of a file
    "upload, events": ("--events", "events.jsonl"),
    **{f"upload, --notify-on {rule}": ("--notify-on", rule) for rule in _RULES},
    "sync, again": (),
    **{f"sync, again, --notify-on {rule}": ("--notify-on", rule) for rule in _RULES[2:]},
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


def counts_of(
    words: Sequence[str], environment: Mapping[str, str], plain: Path | None, counts: Path, path: Path
) -> Mapping[str, float]:
    """Run one command, which has a list as its standard input, and return the seconds of `live_watched`."""
    command = [sys.executable, "-m", "benchmarks.live_watched", str(counts), "-" if plain is None else str(plain)]
    with path.open("rb") as stdin:
        process = start([*command, *words], environment=environment, stdin=stdin)
        process.communicate()
    found: Any = json.loads(counts.read_text()) if process.returncode == 0 else {"code": process.returncode}
    if found["code"]:
        raise RuntimeError(f"the command ended with {found['code']}")
    seconds: Mapping[str, float] = found["seconds"]
    return seconds


def measure(path: Path, runs: int) -> dict[str, list[Mapping[str, float]]]:
    """Return the seconds of each way, one a round; all syncs are of one audience, which has the list already."""
    found: dict[str, list[Mapping[str, float]]] = {way: [] for way in WAYS}
    with running_emulator(sink=True) as service, receiving() as (url, bodies), tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        synced = {**service, "AUDIENCEKIT_STATE_DIR": str(directory / "synced")}
        plain = {command: directory / f"{command}.json" for command in ("upload", "sync")}
        for command, counts in plain.items():  # also so that the list and the modules were read from the disk once
            counts_of(_words(command, str(path), service), synced, None, counts, path)
        for number in range(runs):
            tell(f"round {number + 1} of {runs}")
            for way, options in WAYS.items():
                command = way.partition(",")[0]
                source = STANDARD_INPUT if "standard input" in way else str(path)
                environment = dict(synced)
                if command == "upload":
                    environment["AUDIENCEKIT_STATE_DIR"] = str(directory / f"{number} {way}")
                if "--notify-on" in options:
                    environment["AUDIENCEKIT_NOTIFY_URL"] = url
                given = [str(directory / f"{number} {one}") if one.endswith(".jsonl") else one for one in options]
                words = [*_words(command, source, service), *given]
                counts = directory / "counts.json"
                found[way].append(counts_of(words, environment, plain[command], counts, path))
    if len(bodies) < runs:
        raise RuntimeError(f"{len(bodies)} notifications came, and {runs} were due")
    return found


def _words(command: str, source: str, service: Mapping[str, str]) -> list[str]:
    return [command, source, "--audience", service[AUDIENCE], "-q", *(["--replace"] if command == "sync" else [])]


def as_table(found: Mapping[str, Sequence[Mapping[str, float]]]) -> str:
    """The medians of the whole, and the shares that were counted."""
    lines = ["| command | processor time, s | " + " | ".join(f"{name}, share" for name in MOST) + " |"]
    lines.append("|---|---|" + "---|" * len(MOST))
    for way, rounds in found.items():
        whole = Spread.of([each[WHOLE] for each in rounds]).median
        cells = []
        for name in MOST:
            shares = [each.get(name, 0.0) / (each[WHOLE] - each.get(name, 0.0)) for each in rounds]
            spread = Spread.of(shares)
            cells.append(f"{spread.median:.2%} ({spread.least:.2%} – {spread.greatest:.2%})")
        lines.append(f"| {way} | {whole:.2f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table or write it into a file that has the marks."""
    parser = section_parser("watched", "The cost of events, notifications and the audit log.", rows=200_000, runs=5)
    given = parser.parse_args(arguments)
    with contact_list(given.rows, seed=1) as path:
        with path.open("a", encoding="utf-8") as file:
            file.write("no address,no number,US\n")
        table = as_table(measure(path, given.runs))
    bounds = ", ".join(f"{name} {most:.0%}" for name, most in MOST.items())
    text = (
        f"Commands for {given.rows:,} people with email and phone, {given.runs} rounds in turns. Share: of the time of"
        f" the command without it. Must reach: at most {bounds}.\n\n{table}"
    )
    publish_section(given.out, text, begin=BEGIN, end=END)


if __name__ == "__main__":
    main()
